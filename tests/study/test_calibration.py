"""Calibration on people's labels, by hand and beside scikit-learn."""

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.models import CalibratedJudge
from ragmetrics_core.protocol import Completion
from ragmetrics_core.study import HumanLabel, calibrate, calibration_tables, read_labelled, reliability_bar
from ragmetrics_core.study._detection import calibration
from ragmetrics_core.study._human_labels import LabelledUnit
from ragmetrics_core.testing import ScriptedJudge

WHOLE = Faithfulness(granularity="answer")
SPLIT = Faithfulness()


def judge(*, has_probability=True, identity="own"):
    """The probability of each statement is the number that it ends with."""

    def reply(request):
        if request.prompt.name == "statements":
            return {"statements": [f"{text.strip()}." for text in request.variables["answer"].split("; ")]}
        verdicts = []
        for item in request.variables["items"]:
            share = float(item.text.rstrip(".").split()[-1])
            graded = {"probability": share} if has_probability else {}
            verdicts.append({"number": item.number, "verdict": "yes" if share > 0.5 else "no", **graded})
        return Completion(json.dumps({"verdicts": verdicts}), held_to="graded")

    return ScriptedJudge(reply, identity=identity)


def measured(shares, metric=WHOLE, *, labels=(), **settings):
    """A run with a sample for each share (or shares), named a, b, c and so on."""
    samples = [
        {
            "id": chr(ord("a") + place),
            "question": "What?",
            "contexts": [f"Context {place}."],
            "answer": "; ".join(f"It is {share}" for share in (each if isinstance(each, tuple) else (each,))),
            **(labels[place] if labels else {}),
        }
        for place, each in enumerate(shares)
    ]
    return evaluate(samples, metrics=metric, **{"judge": judge(), **settings})


def labels(values, annotator="ann"):
    return [
        HumanLabel(LabelledUnit(chr(ord("a") + place)), annotator, "label", value)
        for place, value in enumerate(values)
    ]


@given(st.lists(st.tuples(st.integers(0, 40).map(lambda n: n / 40), st.booleans()), min_size=1))
def test_bins_and_errors_are_scikit_learns(pairs):
    oracle = pytest.importorskip("sklearn.calibration")
    p, y = (np.array(each) for each in zip(*pairs, strict=True))
    bins, error = calibration(p, y)
    shares, means = oracle.calibration_curve(y, p, n_bins=10)
    assert [each.mean for each in bins] == pytest.approx(means, abs=1e-12)
    assert [each.correct.value for each in bins] == pytest.approx(shares, abs=1e-12)
    assert error == pytest.approx(sum(abs(each.mean - each.correct.value) * each.n for each in bins) / len(p))


def test_the_error_after_calibration_comes_from_other_sources_by_hand():
    # of the source x, no at 0.2 and yes at 0.8; of the source y, yes at 0.3 and no at 0.7
    run = measured((0.2, 0.8, 0.3, 0.7), labels=[{"document": "x"}] * 2 + [{"document": "y"}] * 2)
    rows = [
        {"id": sample.id, "question": "What?", "contexts": sample.contexts, "answer": sample.answer}
        | {"label": value, "source_id": sample.labels["document"]}
        for sample, value in zip(run.samples(), (False, True, True, False), strict=True)
    ]
    study = calibrate(run, read_labelled(rows, label="label"), metric="faithfulness")
    brier, expected = study.errors
    assert brier.before.value == pytest.approx((0.2**2 + 0.2**2 + 0.7**2 + 0.7**2) / 4)
    # y is pooled to 1/2, which x gets; x has a line from 0 at 0.2 to 1 at 0.8, on which y has 1/6 and 5/6
    assert brier.after.value == pytest.approx((2 * (1 / 2) ** 2 + 2 * (5 / 6) ** 2) / 4)
    assert brier.change.value == pytest.approx(brier.after.value - brier.before.value)
    # bins before: one each; after: two at 1/2 with the share 1/2, one at 1/6, one at 5/6
    assert expected.before.value == pytest.approx((0.2 + 0.2 + 0.7 + 0.7) / 4)
    assert expected.after.value == pytest.approx((5 / 6 + 5 / 6) / 4)
    assert (study.card.n, study.card.confirmed, study.card.sources, study.card.folds) == (4, 2, 2, 2)
    # the map itself is fitted on all: 0.2 no; 0.3 yes and 0.7 no: 1/2; 0.8 yes
    assert study.card.calibration.inputs == (0.2, 0.3, 0.7, 0.8)
    assert study.card.calibration.outputs == (0.0, 0.5, 0.5, 1.0)


def test_the_brier_score_is_scikit_learns():
    oracle = pytest.importorskip("sklearn.metrics")
    chance = random.Random(3)
    shares = [round(chance.random(), 3) for _ in range(26)]
    said = [chance.random() < share for share in shares]
    study = calibrate(measured(shares), labels(said), metric="faithfulness", method="platt")
    assert study.errors[0].before.value == pytest.approx(oracle.brier_score_loss(said, shares), abs=1e-12)
    assert study.card.brier.before == study.errors[0].before
    # independent samples: a mean with its interval
    low, high = study.errors[0].before[1:]
    assert low < study.errors[0].before.value < high


def test_labels_of_statements_belong_to_their_verdicts():
    run = measured([(0.9, 0.4), (0.6, 0.1)], SPLIT)
    said = [
        HumanLabel(LabelledUnit(sample, "faithfulness", number), by, "label", value)
        for by in ("ann", "bob", "cid")
        for sample, number, value in (("a", 1, True), ("a", 2, True), ("b", 1, False), ("b", 2, by == "ann"))
    ]
    # the last by the majority: no. Labels of whole answers with two statements belong to none of them
    study = calibrate(run, [*said, *labels([True, False])])
    assert (study.card.n, study.card.confirmed) == (4, 2)
    assert study.card.calibration.inputs == (0.1, 0.4, 0.6, 0.9)
    assert study.card.calibration.outputs == (0.0, 0.5, 0.5, 1.0)
    assert study.card.metric == "faithfulness/strict.1"
    assert list(study.card.prompts.values()) == [SPLIT.verify.digest]


def test_the_card_calibrates_the_judge_that_it_was_made_for():
    # people confirm only above 0.7
    shares = (0.1, 0.3, 0.55, 0.6, 0.75, 0.9)
    study = calibrate(measured(shares), labels([False, False, False, False, True, True]))
    (record,) = measured([0.6], judge=CalibratedJudge(judge(), card=study.card)).records()
    assert record.value == 0.0
    with pytest.raises(ConfigError, match="made for the judge own, not for other"):
        CalibratedJudge(judge(identity="other"), card=study.card)


@pytest.mark.parametrize(
    ("run", "said", "why"),
    [
        (lambda: measured((0.2, 0.8)), [True, True], "all 2 verdicts with a label 'label' are good"),
        (
            lambda: measured((0.2, 0.8), judge=judge(has_probability=False)),
            [True, False],
            "has a probability",
        ),
        (lambda: measured([(0.2, 0.3), (0.8, 0.7)], SPLIT), [True, False], "no label belongs to a verdict"),
        (lambda: measured((0.2, 0.8), repeats=3), [True, False], "without repeats"),
        (lambda: measured((0.2, 0.8)), [1.0, 3.0], "neither good nor bad"),
        (lambda: measured((0.2, 0.8), judge=judge(identity="unnamed(x)")), [True, False], "an identity"),
    ],
)
def test_what_cannot_be_calibrated_is_refused_in_one_sentence(run, said, why):
    with pytest.raises(ConfigError, match=why):
        calibrate(run(), labels(said))


def test_one_source_is_refused():
    run = measured([(0.9, 0.4)], SPLIT)
    said = [HumanLabel(LabelledUnit("a", "faithfulness", n), "ann", "label", n == 1) for n in (1, 2)]
    with pytest.raises(ConfigError, match="from one source"):
        calibrate(run, said)


def test_an_unknown_method_is_refused():
    with pytest.raises(ConfigError, match="isotonic or platt, not 'spline'"):
        calibrate(measured((0.2, 0.8)), labels([True, False]), method="spline")


def test_the_tables_show_errors_curve_and_map():
    study = calibrate(measured((0.2, 0.8)), labels([False, True]))
    errors, curve, mapped = calibration_tables(study)
    assert [row[0] for row in errors.rows] == ["Brier score", "expected calibration error"]
    assert [row[:4] for row in curve.rows if row[0] == "before"] == [
        ("before", "0.1 to 0.2", 1, 0.2),
        ("before", "0.7 to 0.8", 1, 0.8),
    ]
    assert mapped.rows[5] == (0.5, pytest.approx(0.5))


def test_a_bar_is_a_share_with_a_mark():
    assert reliability_bar(1.0, 1.0) == "#" * 19 + "|"
    assert reliability_bar(0.0, 0.0) == "|" + "." * 19
