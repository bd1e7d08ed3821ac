"""Small sets shaped like those of Oro et al. (2024), and the Italian prompts that `language` selects."""

import json
from pathlib import Path

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.prompts import ANSWER_RATING, STATEMENTS, VERDICTS, read_folder
from ragmetrics_core.testing import ScriptedJudge

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
REPLIES = {
    "verdicts": {
        "verdicts": [{"number": 1, "reason": "è nel testo", "evidence": "trenta giorni", "verdict": "yes"}]
    },
    "answer_rating": {"reason": "tratta la domanda", "rating": 8},
    "statements": {"statements": ["Il prestito dura trenta giorni."]},
}


def rows(name):
    return [json.loads(line) for line in (EXAMPLES / "data" / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(("name", "sets"), [("stories.jsonl", {"book", "script"}), ("italian.jsonl", {"it"})])
def test_each_set_has_references_contexts_and_ratings_of_five_points(name, sets):
    samples = rows(name)
    assert {sample["set"] for sample in samples} == sets
    assert all(sample["references"] and sample["contexts"] for sample in samples)
    assert {sample["quality"] for sample in samples} <= {1, 2, 3, 4, 5}


def test_the_italian_folder_has_the_places_and_forms_of_the_librarys_prompts():
    texts = read_folder(EXAMPLES / "prompts_it")
    assert set(texts) == {"statements.it", "verdicts.it", "answer_rating.it"}
    for prompt in (STATEMENTS, VERDICTS, ANSWER_RATING):
        text = texts[f"{prompt.name}.it"]
        for place in (
            "{{ question }}",
            "{{ answer }}",
            "{{ answer.sentences }}",
            "{{ contexts }}",
            "{{ items }}",
        ):
            assert (place in text.user) == (place in prompt.user)
        assert text.user.splitlines().count("Rispondi soltanto in JSON, in questa forma:") == 1


def asked(sample):
    judge = ScriptedJudge(REPLIES)
    run = evaluate(
        [sample],
        metrics=["faithfulness", "answer_relevance_rating"],
        judge=judge,
        prompts=EXAMPLES / "prompts_it",
    )
    return run, {request.prompt.id for request in judge.asked}, judge.asked[0].messages


def test_language_it_selects_the_italian_prompts_and_other_samples_are_asked_in_english():
    (italian, *_), (english, *_) = rows("italian.jsonl"), rows("stories.jsonl")
    run, names, messages = asked(italian)
    assert names == {"statements.v1.it", "verdicts.v1.it", "answer_rating.v1.it"}
    assert messages[0].content.startswith("Esamini il lavoro")
    assert run.score("it-1", "answer_relevance_rating").value == 0.8
    assert all(not name.endswith(".it") for name in asked(english)[1])
