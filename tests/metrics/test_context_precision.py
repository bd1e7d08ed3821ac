"""Context precision: average precision of the chunks in rank order."""

import pytest

from ragmetrics_core.metrics import ContextPrecision

FRANCE = {
    "question": "Where is France and what is its capital?",
    "contexts": [
        "The country is renowned for its wines.",
        "France is in Western Europe. Paris is its capital.",
    ],
    "reference": "France is in Western Europe and its capital is Paris.",
}


def chunks(count):
    return FRANCE | {"contexts": [f"Chunk number {rank}." for rank in range(1, count + 1)]}


def test_france_with_the_relevant_chunk_on_second_place_scores_one_half(measure, verdicts):
    # P@1 = 0/1, P@2 = 1/2; one relevant chunk: (1/2) / 1
    score = measure(ContextPrecision(), {"chunk_verdicts": verdicts("no", "yes")}, **FRANCE).score

    assert score.value == 0.5
    assert score.formula == "(1/2) / 1 = 0.5"


def test_several_relevant_chunks_average_their_precisions(measure, verdicts):
    # relevant at 1, 3 and 4: (1/1 + 2/3 + 3/4) / 3 = 29/36
    score = measure(
        ContextPrecision(), {"chunk_verdicts": verdicts("yes", "no", "yes", "yes")}, **chunks(4)
    ).score

    assert score.value == 29 / 36
    assert score.formula == "(1/1 + 2/3 + 3/4) / 3 = 0.806"


def test_no_relevant_chunk_is_zero(measure, verdicts):
    score = measure(ContextPrecision(), {"chunk_verdicts": verdicts("no", "no")}, **FRANCE).score
    assert (score.status, score.value, score.formula) == ("ok", 0.0, "0 of 2 relevant = 0")


def test_all_chunks_are_judged_in_one_call_against_question_and_reference(measure, verdicts):
    measured = measure(ContextPrecision(), {"chunk_verdicts": verdicts("no", "yes")}, **FRANCE)

    assert len(measured.judge.asked) == 1
    for text in (FRANCE["question"], FRANCE["reference"], *FRANCE["contexts"][:1]):
        assert text in measured.shown


def test_each_chunk_alone_is_a_call_of_its_own_and_keeps_its_rank(measure):
    contexts = ["Lyon lies on the Rhone.", "Paris is its capital.", "France makes wine."]

    def reply(request):
        (shown,) = request.variables["contexts"]
        assert request.variables["question"] == FRANCE["question"]
        relevant = "Paris" in shown
        evidence = shown if relevant else ""
        return {"verdicts": [{"number": 1, "evidence": evidence, "verdict": "yes" if relevant else "no"}]}

    measured = measure(ContextPrecision(chunks="alone"), reply, **FRANCE | {"contexts": contexts})

    # relevant at rank 2 of 3: (1 / 2) / 1
    assert measured.score.value == 0.5
    assert len(measured.judge.asked) == 3
    assert [verdict.text for verdict in measured.score.verdicts] == ["chunk 1", "chunk 2", "chunk 3"]
    (evidence,) = measured.score.verdicts[1].evidence
    assert (evidence.span.chunk, evidence.span.start) == (2, 0)
    assert measured.score.signature == "context_precision/strict.1(chunks=alone)"


def test_evidence_stands_in_the_chunk_that_is_judged_where_several_chunks_have_the_same_words(measure):
    contexts = ["France is in Europe.", "Yes: FRANCE is in Europe.", "Wine. France is in Europe."]
    quoted = {"evidence": "France is in Europe.", "verdict": "yes"}
    replies = {"chunk_verdicts": {"verdicts": [{"number": rank, **quoted} for rank in (1, 2, 3)]}}

    record = measure(ContextPrecision(), replies, **FRANCE | {"contexts": contexts}).score

    spans = [verdict.evidence[0].span for verdict in record.verdicts]
    # the first character of the quote in each chunk; chunk 2 has it in other letters
    assert [(span.chunk, span.start, span.exact) for span in spans] == [
        (1, 0, True),
        (2, 5, False),
        (3, 6, True),
    ]


def test_evidence_that_the_judged_chunk_does_not_have_is_found_in_another(measure):
    replies = {
        "chunk_verdicts": {
            "verdicts": [
                {"number": 1, "evidence": "Paris is its capital", "verdict": "yes"},
                {"number": 2, "verdict": "yes"},
            ]
        }
    }

    record = measure(ContextPrecision(), replies, **FRANCE).score

    assert record.verdicts[0].evidence[0].span.chunk == 2


@pytest.mark.parametrize("contexts", [[], ["", " "]])
def test_without_contexts_it_is_undefined_without_a_call(measure, contexts):
    score, judge = measure(ContextPrecision(), {}, **FRANCE | {"contexts": contexts})

    assert (score.status, score.reason, score.value) == ("undefined", "no_contexts", None)
    assert judge.asked == []


def test_a_missing_verdict_gives_bounds_that_no_filling_in_exceeds(measure, verdicts):
    # yes, no, ?: with "no" 1/1; with "yes" (1 + 2/3) / 2 = 5/6. One more relevant chunk can lower the score
    score = measure(ContextPrecision(), {"chunk_verdicts": verdicts("yes", "no")}, **chunks(3)).score

    assert score.status == "incomplete"
    assert score.bounds == pytest.approx((5 / 6, 1.0), abs=1e-15)


def test_the_ragas_variants_never_reach_one(measure, verdicts):
    # 1 / (1 + 1e-10)
    replies = {"chunk_verdicts": verdicts("yes", "no")}
    for variant in ("ragas-0.1", "ragas-0.4"):
        assert measure(ContextPrecision(variant=variant), replies, **FRANCE).score.value == 1 / (1 + 1e-10)
