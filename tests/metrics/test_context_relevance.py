"""Context relevance: how many of the retrieved sentences are needed for the question."""

import re
from itertools import pairwise

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import ContextRelevance
from ragmetrics_core.testing import ScriptedJudge

FRANCE = {
    "question": "What is the capital of France?",
    "contexts": [
        "France, in Western Europe, has medieval cities. Paris, its capital, is known for fashion houses.",
        "The country is also renowned for its wines. Its cave drawings attest to its rich history.",
    ],
}
CAPITAL = "Paris, its capital, is known for fashion houses."


def test_it_is_the_share_of_the_sentences_that_the_judge_names(measure):
    # two chunks of two sentences, one of the four is needed: 1 / 4
    score = measure(ContextRelevance(), {"relevant_sentences": {"relevant": [2]}}, **FRANCE).score

    assert score.value == 0.25
    assert score.formula == "1 / 4 = 0.25"
    assert [verdict.text for verdict in score.verdicts if verdict.supported] == [CAPITAL]


def test_the_sentences_are_numbered_through_all_chunks_for_the_judge(measure):
    measured = measure(ContextRelevance(), {"relevant_sentences": {"relevant": [3]}}, **FRANCE)

    assert f"[2] {CAPITAL}" in measured.shown
    assert "Chunk 2:\n[3] The country is also renowned for its wines." in measured.shown
    assert measured.score.verdicts[2].supported


@pytest.mark.parametrize("reply", [{"relevant": "Insufficient Information"}, {"relevant": []}])
def test_insufficient_information_is_zero(measure, reply):
    score = measure(ContextRelevance(), {"relevant_sentences": reply}, **FRANCE).score
    assert (score.status, score.value) == ("ok", 0.0)


@pytest.mark.parametrize(
    ("numbers", "objection"),
    [([2, 9], "there is no sentence 9"), ([2, 2, 2], "sentence 2 stands there twice")],
)
def test_an_invented_or_a_repeated_number_is_asked_again(measure, numbers, objection):
    # sentences 1 to 4 exist, and 2 is named at the second asking: 1 / 4
    replies = {"relevant_sentences": [{"relevant": numbers}, {"relevant": [2]}]}

    score = measure(ContextRelevance(), replies, **FRANCE).score

    assert score.value == 0.25
    assert score.steps[0].objections == (objection,)


@pytest.mark.parametrize("contexts", [[], [""], [" ", "\n"]])
def test_contexts_without_a_sentence_are_undefined_without_a_call(measure, contexts):
    score, judge = measure(ContextRelevance(), {}, **FRANCE | {"contexts": contexts})

    assert (score.status, score.reason, score.value) == ("undefined", "no_sentences", None)
    assert judge.asked == []


def test_the_paper_variant_counts_the_copied_sentences(measure):
    # one copied sentence of four: 1 / 4, and it is found in the first chunk
    score = measure(ContextRelevance(variant="paper"), {"paper_sentences": f"{CAPITAL}\nEND"}, **FRANCE).score

    assert score.value == 0.25
    (verdict,) = score.verdicts
    assert verdict.label == "in the contexts"
    assert verdict.evidence[0].span.chunk == 1


def test_the_paper_variant_counts_an_invented_sentence_and_says_that_it_is_one(measure):
    # two sentences in the reply, four in the contexts: 2 / 4 as the paper counts, though one is made up
    reply = f"{CAPITAL}\nThe moon is made of cheese.\nEND"

    score = measure(ContextRelevance(variant="paper"), {"paper_sentences": reply}, **FRANCE).score

    assert score.value == 0.5
    assert [verdict.label for verdict in score.verdicts] == ["in the contexts", "not in the contexts"]


@pytest.mark.parametrize(("variant", "value"), [("paper", 3.0), ("ragas-0.1", 1.0)])
def test_the_paper_variant_can_exceed_one_and_ragas_01_cuts_the_score_there(measure, variant, value):
    # three sentences in the reply, one in the contexts: 3 / 1
    replies = {"paper_sentences": "It is. It was. It will be.\nEND"}
    metric = ContextRelevance(variant=variant)
    assert measure(metric, replies, **FRANCE | {"contexts": [CAPITAL]}).score.value == value


@pytest.mark.parametrize(
    ("variant", "reply", "value"),
    [
        ("paper.1", "Insufficient Information", 0.0),
        ("paper.1", "Insufficient Information.", 0.0),
        # ragas 0.1 compares with the phrase and its full stop: without it the refusal is 1 sentence of 4
        ("ragas-0.1", "Insufficient Information", 0.25),
        ("ragas-0.1", "Insufficient Information.", 0.0),
        ("ragas-0.1", "INSUFFICIENT INFORMATION.", 0.0),
    ],
)
def test_what_counts_as_a_refusal_is_the_variants_business(measure, variant, reply, value):
    score = measure(ContextRelevance(variant=variant), {"paper_sentences": reply}, **FRANCE).score
    assert score.value == value


def test_ragas_01_scores_empty_contexts_zero(measure):
    score, judge = measure(ContextRelevance(variant="ragas-0.1"), {}, **FRANCE | {"contexts": [""]})

    assert (score.status, score.value) == ("ok", 0.0)
    assert judge.asked == []


PER_CHUNK = {"contexts": ["One two. Three. Four five six.", "Seven."], "question": "Which?"}


@pytest.mark.parametrize(
    ("variant", "named", "formula"),
    [
        # a sentence each: 2 of 4
        ("strict", [1, 4], "2 / 4 = 0.5"),
        # 1/3 of the first chunk and all of the second
        ("per-chunk", [1, 4], "(1/3 + 1/1) / 2 = 0.667"),
        ("per-chunk", [1, 2, 3], "(3/3 + 0/1) / 2 = 0.5"),
        # "Onetwo." 7, "Three." 6, "Fourfivesix." 12, "Seven." 6: 13 of 31
        ("by-length", [1, 4], "13 / 31 = 0.419"),
        ("by-length", "Insufficient Information", "0 / 31 = 0"),
        ("per-chunk", [1, 2, 3, 4], "(3/3 + 1/1) / 2 = 1"),
    ],
)
def test_sentences_can_count_by_chunk_or_by_length(measure, variant, named, formula):
    metric = ContextRelevance(variant=variant)
    score = measure(metric, {"relevant_sentences": {"relevant": named}}, **PER_CHUNK).score
    assert score.formula == formula


def needed_text(variant, texts, cuts, needed):
    """The score of a text cut into chunks, for a judge that names the sentences with a needed word."""
    bounds = [0, *cuts, len(texts)]
    contexts = [" ".join(texts[start:end]) for start, end in pairwise(bounds)]

    def judge(request):
        sentences = re.findall(r"^\[(\d+)\] (.*)$", request.messages[-1].content, re.MULTILINE)
        return {"relevant": [int(number) for number, text in sentences if needed in text]}

    run = evaluate(
        [{"id": "a", "question": "Which?", "contexts": contexts}],
        metrics=[f"context_relevance/{variant}"],
        judge=ScriptedJudge(judge),
    )
    (score,) = run.records()
    return score.value


TEXTS = [
    "Ulm is small.",
    "The needed tower is high and old.",
    "It rains.",
    "A needed door.",
    "Birds sing there.",
]


@pytest.mark.parametrize("cuts", [[], [1], [2, 4], [1, 2, 3, 4]])
def test_by_length_the_same_text_has_the_same_score_however_it_is_chunked(cuts):
    # without blanks: 11 + 27 + 8 + 12 + 15 = 73 characters, 27 + 12 of them needed
    assert needed_text("by-length", TEXTS, cuts, "needed") == pytest.approx(39 / 73)


def test_by_length_a_sentence_that_a_chunk_boundary_cuts_counts_as_much_as_the_whole():
    halves = ["Ulm is small.", "The needed tower is", "high needed and old.", "It rains."]
    whole = ["Ulm is small.", "The needed tower is high needed and old.", "It rains."]
    cut = [needed_text(variant, halves, [2], "needed") for variant in ("by-length", "strict")]
    uncut = [needed_text(variant, whole, [1], "needed") for variant in ("by-length", "strict")]
    # sentences: 2 of 4 against 1 of 3
    assert (cut[0] == uncut[0], cut[1], uncut[1]) == (True, 0.5, pytest.approx(1 / 3))


def test_per_chunk_one_long_chunk_does_not_hide_the_others():
    # 2 of 4 chunks are needed as a whole; by sentences it would be 2 of 13
    texts = ["A needed door.", *["It rains."] * 10, "A needed tower.", "Birds sing."]
    assert needed_text("per-chunk", texts, [1, 11, 12], "needed") == 0.5
    assert needed_text("strict", texts, [1, 11, 12], "needed") == pytest.approx(2 / 13)


def test_blank_chunks_do_not_count_as_chunks(measure):
    metric = ContextRelevance(variant="per-chunk")
    contexts = ["", "One. Two.", " "]
    score = measure(
        metric, {"relevant_sentences": {"relevant": [2]}}, question="Which?", contexts=contexts
    ).score
    assert score.formula == "(1/2) / 1 = 0.5"


def test_copied_sentences_have_no_weight():
    with pytest.raises(ConfigError, match="weight=length needs the numbers of the sentences"):
        ContextRelevance(variant="paper", weight="length")
