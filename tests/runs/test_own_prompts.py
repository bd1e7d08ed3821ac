"""Prompts of the user in place of those of the library."""

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import AnswerCorrectness
from tests.runs.capital import REFERENCED, SAMPLE, scripted


def test_prompts_of_the_user_replace_those_of_the_same_name(tmp_path):
    (tmp_path / "statements.v9.md").write_text(
        "## system\nBe brief.\n\n## user\nMINE {{ question }} {{ answer }}", encoding="utf-8"
    )
    judge = scripted()
    run = evaluate([SAMPLE], metrics="faithfulness", judge=judge, prompts=tmp_path)
    assert judge.asked[0].messages[1].content == "MINE Capital of France? Paris."
    assert next(run.score("q1", "faithfulness").generate_steps).prompt == "statements.v9"
    assert list(run.audit()) == []


def test_a_translation_of_the_user_is_asked_for_samples_of_its_language(tmp_path):
    (tmp_path / "statements.v9.de.md").write_text("## user\nTeile {{ question }} {{ answer }}", "utf-8")
    judge = scripted()
    german = {**SAMPLE, "id": "q2", "language": "de"}
    run = evaluate([SAMPLE, german], metrics="faithfulness", judge=judge, prompts=tmp_path)
    asked = {each: next(run.score(each, "faithfulness").generate_steps).prompt for each in ("q1", "q2")}
    assert asked == {"q1": "statements.v5", "q2": "statements.v9.de"}
    assert list(run.audit()) == []


def test_prompts_reach_the_parts_of_a_composite(tmp_path):
    (tmp_path / "reference_verdicts.v2.md").write_text(
        '## user\nMINE {{ question }} {{ reference }} {{ items }} JSON: {"verdicts": []}', encoding="utf-8"
    )
    judge = scripted()
    run = evaluate([REFERENCED], metrics=[AnswerCorrectness(weights=(1, 0))], judge=judge, prompts=tmp_path)
    asked = next(request for request in judge.asked if request.prompt.name == "reference_verdicts")
    assert asked.messages[1].content.startswith("MINE")
    assert list(run.audit()) == []


def test_a_folder_may_hold_prompts_of_the_library_for_other_runs(tmp_path):
    (tmp_path / "statements.v9.md").write_text("## user\nMINE {{ question }} {{ answer }}", encoding="utf-8")
    (tmp_path / "paper_question.v9.md").write_text("## user\nMINE {{ answer }}", encoding="utf-8")
    run = evaluate([SAMPLE], metrics="faithfulness", judge=scripted(), prompts=tmp_path)
    assert next(run.score("q1", "faithfulness").generate_steps).prompt == "statements.v9"
    assert "prompts that no metric of this run uses: paper_question" in run.notes


@pytest.mark.parametrize("names", [["statement"], ["paper_question"], ["statements", "statementz"]])
def test_a_folder_with_an_unknown_prompt_or_none_for_the_run_is_refused(tmp_path, names):
    for name in names:
        (tmp_path / f"{name}.v9.md").write_text("## user\nMINE {{ answer }}", encoding="utf-8")
    with pytest.raises(ConfigError, match=f"no metric of this run uses the prompt '{names[-1]}'"):
        evaluate([SAMPLE], metrics="faithfulness", judge=scripted(), prompts=tmp_path)
