"""The one rule by which scores let an answer pass."""

import pytest

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.gate import Gate, GateDecision, GateFinding
from ragmetrics_core.measurement import Verdict
from ragmetrics_core.metrics import get, resolve
from ragmetrics_core.records import FAILED, Record

METRICS = resolve(["faithfulness", "hallucination", "answer_similarity"])


def record(metric: str = "faithfulness", status: str = "ok", **outcome) -> Record:
    signature = next(each.signature for each in METRICS if each.name == metric)
    return Record(
        sample_id="s",
        sample_digest="",
        metric=metric,
        variant="strict.1",
        signature=signature,
        status=status,
        **outcome,
    )


@pytest.mark.parametrize(
    ("metric", "threshold", "value", "passed"),
    [
        ("faithfulness", 0.7, 0.7, True),
        ("faithfulness", 0.7, 0.69, False),
        ("hallucination", 0.1, 0.1, True),
        ("hallucination", 0.1, 0.11, False),
    ],
)
def test_a_score_passes_that_is_at_least_as_good_as_its_threshold(metric, threshold, value, passed):
    decision = Gate({metric: threshold}, METRICS).decide([record(metric, value=value)])

    assert decision.passed == passed


@pytest.mark.parametrize("status", sorted(FAILED))
def test_where_something_failed_on_failure_decides(status):
    records = [record(status=status, reason="why")]

    rejected = Gate({"faithfulness": 0.7}, METRICS).decide(records)
    let_go = Gate({"faithfulness": 0.7}, METRICS, on_failure="pass").decide(records)

    assert (rejected.passed, let_go.passed) == (False, True)
    assert rejected.reasons == (f"faithfulness has no score: {status} (why)",)
    assert let_go.reasons == ()


@pytest.mark.parametrize(("status", "reason"), [("undefined", "no_statements"), ("skipped", "contexts")])
def test_what_has_no_score_by_its_nature_passes_and_the_finding_says_so(status, reason):
    decision = Gate({"faithfulness": 0.7}, METRICS).decide([record(status=status, reason=reason)])

    assert decision.passed
    assert decision.findings[0].reason == f"faithfulness has no score: {status} ({reason})"


@pytest.mark.parametrize(
    ("metric", "bounds", "reject", "let_go"),
    [
        ("faithfulness", (0.75, 1.0), True, True),  # even the worst case reaches 0.7
        ("faithfulness", (0.0, 0.5), False, False),  # even the best case does not
        ("faithfulness", (0.5, 1.0), False, True),  # nobody knows: on_failure decides
        ("hallucination", (0.0, 0.5), True, True),  # at most 0.5 is not above 0.7
        ("hallucination", (0.75, 1.0), False, False),
        ("hallucination", (0.5, 1.0), False, True),
    ],
)
def test_an_incomplete_score_is_decided_by_its_bounds(metric, bounds, reject, let_go):
    records = [record(metric, status="incomplete", bounds=bounds, reason="missing_verdicts")]

    assert Gate({metric: 0.7}, METRICS).decide(records).passed == reject
    assert Gate({metric: 0.7}, METRICS, on_failure="pass").decide(records).passed == let_go


def test_every_threshold_must_let_the_answer_pass_and_each_one_that_does_not_says_why():
    gate = Gate({"faithfulness": 0.7, "hallucination": 0.1, "answer_similarity": 0.5}, METRICS)

    decision = gate.decide(
        [
            record(value=0.5, formula="1 / 2 = 0.5"),
            record("hallucination", value=0.5),
            record("answer_similarity", value=0.9),
        ]
    )

    assert not decision.passed
    assert decision.reasons == (
        "faithfulness is 0.5 (1 / 2 = 0.5), below 0.7",
        "hallucination is 0.5, above 0.1",
    )


def test_the_statements_without_support_are_named_once_and_only_those_of_the_answer():
    def verdict(text: str, supported: bool | None, about: str = "answer statement") -> Verdict:
        return Verdict(about=about, text=text, supported=supported)

    verdicts = (
        verdict("A.", True),
        verdict("B.", False),
        verdict("C.", False),  # in the first chunk it is not
        verdict("C.", True),  # in the second one it is
        verdict("D.", None),
        verdict("E.", False, about="reference statement"),
        verdict("B.", False),
    )

    decision = Gate({"faithfulness": 0.7}, METRICS).decide([record(value=0.5, verdicts=verdicts)])

    assert decision.unsupported == ("B.",)


def test_a_metric_may_be_named_as_its_aliases_and_its_signature():
    for name in ("FaiFul", METRICS[0].signature):
        assert Gate({name: 0.7}, METRICS).decide([record(value=0.8)]).passed


@pytest.mark.parametrize(
    ("thresholds", "told"),
    [
        ({}, "needs a threshold"),
        ({"faithfulnes": 0.7}, "is not measured; name one of faithfulness"),
        ({"faithfulness": 7}, "from 0 to 1"),
        ({"faithfulness": float("nan")}, "must be a number"),
        ({"faithfulness": "0.7"}, "must be a number"),
        ({"faithfulness": True}, "must be a number"),
    ],
)
def test_a_gate_that_could_not_decide_is_refused_when_it_is_made(thresholds, told):
    with pytest.raises(ConfigError, match=told):
        Gate(thresholds, METRICS)


def test_a_name_that_two_metrics_share_is_refused():
    twice = resolve(["faithfulness", "faithfulness/paper"])

    with pytest.raises(ConfigError, match="more than once"):
        Gate({"faithfulness": 0.7}, twice)


def test_a_correction_names_what_is_unsupported_or_else_the_reasons():
    finding = GateFinding(
        "faithfulness", 0.7, False, "it is 0.5, below 0.7", "ok", 0.5, ("It is green.",), None
    )
    assert "not supported" in GateDecision((finding,)).correction
    assert "1. It is green." in GateDecision((finding,)).correction
    assert "1. it is 0.5, below 0.7" in GateDecision((finding._replace(unsupported=()),)).correction


@pytest.mark.parametrize("order", [1, -1])
def test_a_good_record_hides_no_bad_one_of_the_same_metric(order):
    records = [record(value=1.0), record(value=0.1)][::order]
    decision = Gate({"faithfulness": 0.7}, METRICS).decide(iter(records))
    assert decision.reasons == ("faithfulness is 0.1, below 0.7",)


def test_a_threshold_below_the_range_is_refused_where_scores_may_lie_above_it_too():
    exceeding = get("context_relevance", variant="paper")
    assert exceeding.exceeds
    Gate({"context_relevance": 1.5}, [exceeding])
    with pytest.raises(ConfigError, match="must be from"):
        Gate({"context_relevance": -1}, [exceeding])
