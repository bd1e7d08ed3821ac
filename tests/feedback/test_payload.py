"""The form in which a score is sent: what it says, and what leads to its proof."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import Run
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.records import Record, SentScore, sent_score
from ragmetrics_core.records.outgoing import carrier_attributes, event_attributes
from tests.feedback.conftest import SPANS, TRACES, MakeRun


@pytest.fixture
def run(make_run: MakeRun) -> Run:
    return make_run()


def test_a_score_has_its_value_formula_place_and_digest(run: Run):
    record = run.score("q0", "faithfulness")
    score = sent_score(record, run="r")

    assert (score.name, score.value, score.status, score.label) == ("faithfulness", 1.0, "ok", "ok")
    assert score.explanation == "1 / 1 = 1"
    assert (score.trace, score.span) == (TRACES[0].hex, SPANS[0])
    assert (score.annotator_kind, score.annotator) == ("LLM", "scripted")
    assert score.identifier == "faithfulness/strict.1"
    assert score.digest == record.digest
    assert score.metadata["ragmetrics_counts"] == {"supported": 1, "statements": 1}


def test_the_digest_leads_to_the_record(run: Run):
    for record in run.records():
        assert run.score(*run.key_of(sent_score(record).digest)) == record
    with pytest.raises(ConfigError, match="no record with digest 'abc'"):
        run.key_of("abc")


@pytest.mark.parametrize(
    ("sample", "metric", "kind", "label", "explanation"),
    [
        ("q0", "token_f1", "CODE", "ok", "F1 of P 1 / 1 and R 1 / 1 = 1"),
        ("q0", "context_precision", "LLM", "ok", "(1/1) / 1 = 1"),
        # no judge was asked: there was nothing to ask about
        ("q2", "faithfulness", "CODE", "undefined", "undefined (no_contexts)"),
    ],
)
def test_the_kind_of_annotator_says_whether_a_judge_decided(
    run: Run, sample: str, metric: str, kind: str, label: str, explanation: str
):
    score = sent_score(run.score(sample, metric))
    assert (score.annotator_kind, score.label, score.explanation) == (kind, label, explanation)


@pytest.mark.parametrize(("passed", "label"), [(True, "pass"), (False, "fail"), (None, "ok")])
def test_with_a_threshold_a_value_passes_or_fails_and_a_status_stays(
    run: Run, passed: bool | None, label: str
):
    assert sent_score(run.score("q0", "faithfulness"), passed=passed).label == label
    assert sent_score(run.score("q2", "faithfulness"), passed=passed).label == "undefined"


def test_a_corrected_score_is_a_persons_and_says_what_was_overruled(run: Run):
    before = sent_score(run.score("q0", "faithfulness"))
    after = sent_score(run.correct("q0", "faithfulness", 1, False, by="ann"))

    assert (after.annotator_kind, after.annotator, after.value) == ("HUMAN", "ann", 0.0)
    assert after.explanation == "0 / 1 = 0; a person overruled 1 verdict"
    assert after.corrections == ("1. not supported: The capital is Paris.",)
    assert before.digest != after.digest
    # so that it replaces the judge's score where that was sent
    assert before.id_at("span") == after.id_at("span")


def test_ids_differ_by_target_and_metric_only(run: Run):
    scores = [sent_score(record) for record in run.records()]
    ids = {score.id_at(score.span) for score in scores}
    assert len(ids) == len(scores)
    assert ids == {score.model_copy(update={"digest": "other"}).id_at(score.span) for score in scores}


def test_a_carrier_has_all_scores_of_a_span_and_no_missing_fields(run: Run):
    records = [run.score("q2", "faithfulness"), run.score("q2", "token_f1")]
    attributes = carrier_attributes(map(sent_score, records))

    assert attributes["openinference.span.kind"] == "EVALUATOR"
    first = {name.rpartition(".")[2] for name in attributes if name.startswith("evaluations.0.")}
    # no score: it is undefined
    assert first == {"name", "label", "explanation", "annotator_kind", "identifier", "metadata"}
    assert attributes["evaluations.1.evaluation.score"] == 1.0
    assert json.loads(attributes["evaluations.0.evaluation.metadata"])["ragmetrics_digest"]


@given(st.floats(allow_nan=False, allow_infinity=False), st.text(min_size=1))
def test_attributes_are_of_types_that_opentelemetry_takes(value: float, text: str):
    record = Record(
        sample_id=text,
        sample_digest="",
        metric="m",
        variant="v",
        signature="m/v",
        status="ok",
        value=value,
        formula=text,
    )
    score = sent_score(record)
    for attributes in (event_attributes(score), carrier_attributes([score])):
        assert all(isinstance(each, str | float | int) for each in attributes.values())


def test_redaction_reaches_every_text_and_no_id(run: Run):
    record = run.correct("q0", "faithfulness", 1, False, by="ann")
    score = sent_score(record, run="r")
    redacted = score.redacted(lambda text: "x" * len(text))

    kept = {"trace", "span", "digest", "status", "label", "annotator_kind", "version", "run"}
    texts = [
        name
        for name in SentScore.model_fields
        if isinstance(getattr(redacted, name), str) and name not in kept
    ]
    assert {name for name in texts if set(getattr(redacted, name)) == {"x"}} == set(texts)
    assert all(set(each) == {"x"} for each in redacted.corrections)
    assert all(getattr(redacted, name) == getattr(score, name) for name in kept)
