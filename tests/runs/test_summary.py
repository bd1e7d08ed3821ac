"""Means say what they rest on, and diagnoses need no call."""

from collections.abc import Sequence
from typing import Any

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ModelError
from ragmetrics_core.metrics import AnswerCorrectness, AnswerSimilarity, ContextRelevance
from ragmetrics_core.runs._diagnosis import MEANINGS
from ragmetrics_core.runs._summary import Outcome, summarise
from ragmetrics_core.testing import ScriptedJudge


class Down:
    """An embedder that does not answer."""

    identity = "down"

    async def aembed(self, texts: Sequence[str]) -> Any:
        raise ModelError("down")


OK = Outcome("ok", 0.5, None, False)
GOOD = Outcome("ok", 1.0, None, False)
INCOMPLETE = Outcome("incomplete", None, (0.25, 0.75), False)
FAILED = Outcome("model_error", None, None, False)
UNDEFINED = Outcome("undefined", None, None, False)
DECLINED = Outcome("ok", 0.0, None, True)


def mean(*outcomes: Outcome, **options: Any):
    return summarise("m", outcomes, **{"worst": 0.0, "best": 1.0, **options})


def test_a_mean_is_of_the_scores_that_are_ok_and_says_how_many():
    # (0.5 + 1.0) / 2
    found = mean(OK, GOOD, INCOMPLETE, FAILED, UNDEFINED)
    assert (found.value, found.n, found.total) == (0.75, 2, 5)


def test_the_standard_deviation_is_that_of_a_sample():
    # deviations ±0.25: sqrt((0.0625 + 0.0625) / 1) = 0.35355
    assert mean(OK, GOOD).sd == pytest.approx(0.3535533906)


def test_the_largest_floats_have_a_mean_and_no_standard_deviation():
    high, low = GOOD._replace(value=1.7e308), GOOD._replace(value=-1.7e308)
    largest = high, high, low, low
    assert (mean(*largest).value, mean(*largest).sd) == (0.0, None)
    assert mean(high, high).value == pytest.approx(1.7e308)


def test_one_score_has_no_standard_deviation():
    assert mean(OK).sd is None


def test_no_score_has_no_mean():
    found = mean(FAILED, UNDEFINED)
    assert (found.value, found.sd, found.n) == (None, None, 0)


def test_worst_and_best_take_bounds_and_the_range_and_leave_out_the_undefined():
    # worst (0.5 + 0.25 + 0) / 3 = 0.25, best (0.5 + 0.75 + 1) / 3 = 0.75
    found = mean(OK, INCOMPLETE, FAILED, UNDEFINED)
    assert (found.worst, found.best) == (0.25, 0.75)


def test_the_best_case_is_unknown_where_a_failed_score_could_have_been_any_higher():
    assert mean(OK, INCOMPLETE, exceeds=True).best == 0.625  # (0.5 + 0.75) / 2
    found = mean(OK, FAILED, exceeds=True)
    assert (found.worst, found.best) == (0.25, None)
    lower_is_better = mean(OK, FAILED, exceeds=True, worst=1.0, best=0.0)
    assert (lower_is_better.worst, lower_is_better.best) == (None, 0.25)


@pytest.mark.parametrize(
    ("metric", "ends"),
    [
        (AnswerCorrectness(), (-0.25, 1)),  # (0.75 × 0 + 0.25 × -1) / 1
        (AnswerCorrectness(weights=(1, 0)), (0, 1)),  # no cosine
        (AnswerCorrectness(weights=(1, 3)), (-0.75, 1)),  # (1 × 0 + 3 × -1) / 4
        (AnswerSimilarity(), (-1, 1)),
        (AnswerSimilarity(threshold=0.5), (0, 1)),  # reached or not
        (ContextRelevance(variant="paper"), (0, None)),  # more may be copied than there is
        (ContextRelevance(variant="ragas-0.1"), (0, 1)),  # cut at 1
    ],
)
def test_a_failed_score_could_have_been_anything_that_its_metrics_settings_allow(metric, ends):
    row = {"question": "q", "answer": "a", "reference": "r", "contexts": ["c"]}
    down = ScriptedJudge(lambda request: ModelError("down"))
    run = evaluate([row], metrics=metric, judge=down, embedder=Down())
    found = run.mean(metric)
    assert (found.worst, found.best) == ends
    assert (run.metrics[0].low, run.metrics[0].high) == (ends[0], 1)


def test_declined_answers_are_counted_and_stay_in_the_mean():
    found = mean(OK, DECLINED)
    assert (found.value, found.abstained, found.separated) == (0.25, 1, 0)


def test_declined_answers_can_be_taken_out_and_are_still_counted():
    found = mean(OK, DECLINED, separate=True)
    assert (found.value, found.abstained, found.separated, found.total) == (0.5, 1, 1, 2)


def test_a_mean_in_one_line_names_what_is_missing():
    assert str(mean(OK, GOOD, FAILED)) == "0.750 (n 2 of 3; 1 model_error)"


def test_the_spread_of_a_few_scores_is_not_shown():
    # 0 and 1 have 0.707 with n - 1, more than half of the range
    few, enough = mean(*[OK, GOOD] * 4), mean(*[OK, GOOD] * 5)
    assert few.sd is not None
    assert few.spread is None
    # 0.5 and 1.0, five times each: sqrt(10 * 0.25^2 / 9)
    assert str(enough) == "0.750 (sd 0.264, n 10 of 10)"


WHY = "it says that it cannot tell"


def diagnosis(
    supported: str, correct: str, *, declined: bool = False, recalled: str = "yes"
) -> dict[str, tuple[str, ...]]:
    """The findings for one answer statement with these verdicts."""

    def replies(request):
        verdict = {"reference_verdicts": correct, "answer_verdicts": "yes"}.get(
            request.prompt.name, supported
        )
        if request.prompt.name == "verdicts" and "REF" in str(request.variables["items"]):
            verdict = recalled
        return {
            "statements": {"statements": ["ANS"], "declined": declined, "reason": WHY},
            "reference_statements": {"statements": ["REF"]},
        }.get(request.prompt.name, {"verdicts": [{"number": 1, "verdict": verdict}]})

    sample = {"id": "s", "question": "Q", "answer": "A", "contexts": ["C"], "reference": "R"}
    run = evaluate(
        [sample],
        metrics=["faithfulness", "factual_correctness", "context_recall"],
        judge=ScriptedJudge(replies),
    )
    return {finding.code: finding.texts for finding in run.diagnosis("s")}


def test_correct_but_unsupported_was_answered_from_outside_the_context():
    assert diagnosis("no", "yes") == {"unsupported_statement": ("ANS",), "answered_from_outside": ("ANS",)}


def test_supported_but_not_in_the_reference_is_more_than_the_reference_says_and_not_wrong():
    assert diagnosis("yes", "no") == {"more_than_reference": ("ANS",)}
    assert not any("wrong" in f"{code} {meaning}" for code, meaning in MEANINGS.items())


def test_reference_statements_that_were_not_retrieved_are_missed_retrieval():
    assert diagnosis("yes", "yes", recalled="no") == {"missed_retrieval": ("REF",)}


def test_a_declined_answer_is_abstained_with_its_reason():
    assert diagnosis("yes", "yes", declined=True) == {"abstained": (WHY,)}


def test_where_lower_is_better_the_worst_case_is_the_higher_mean():
    # 0.2 is known, a failed one is between 0 and 1, an incomplete one between 0.1 and 0.4:
    # at worst (0.2 + 1 + 0.4) / 3, at best (0.2 + 0 + 0.1) / 3
    known, incomplete = Outcome("ok", 0.2, None, False), Outcome("incomplete", None, (0.1, 0.4), False)
    found = mean(known, FAILED, incomplete, worst=1.0, best=0.0)
    assert found.worst == pytest.approx(1.6 / 3)
    assert found.best == pytest.approx(0.1)


def test_a_name_with_settings_opens_the_score_that_it_measured():
    sample = {"question": "Where?", "context_ids": ["a"], "reference_context_ids": ["a"]}
    run = evaluate([sample], metrics=["ndcg@10"])
    names = ("ndcg@10", "ndcg(k=10)", "ndcg", "ndcg/strict.1(k=10)")
    assert {run.mean(name).metric for name in names} == {run.metrics[0].signature}


def test_a_repetition_does_not_hide_what_the_first_one_found():
    # unsupported in the first repetition, whose draws begin at 0, and supported in the second one
    def replies(request):
        verdict = "no" if request.draw < 1000 else "yes"
        return {
            "statements": {"statements": ["ANS"], "declined": False},
            "verdicts": {"verdicts": [{"number": 1, "verdict": verdict}]},
        }[request.prompt.name]

    sample = {"id": "s", "question": "Q", "answer": "A", "contexts": ["C"]}
    run = evaluate([sample], metrics="faithfulness", judge=ScriptedJudge(replies), full_repeats=2)
    assert [score.value for score in run.scores("s").values()] == [0.0, 1.0]
    assert run.diagnosis("s") == (("unsupported_statement", ("ANS",)),)
