"""Limits of the expected mean, by verdicts with probabilities."""

import json

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Faithfulness, get
from ragmetrics_core.protocol import Completion
from ragmetrics_core.study import beyond, decide_limits, limit_of, missed_limit, near, read_scores
from ragmetrics_core.testing import ScriptedJudge


def judge(*, has_probability=True):
    """The probability of each statement is the number that it ends with; "lost" fails."""

    def reply(request):
        if request.prompt.name == "statements":
            return {"statements": [f"{text.strip()}." for text in request.variables["answer"].split("; ")]}
        verdicts = []
        for item in request.variables["items"]:
            share = float(item.text.rstrip(".").split()[-1])
            graded = {"probability": share} if has_probability else {}
            verdicts.append({"number": item.number, "verdict": "yes" if share > 0.5 else "no", **graded})
        return Completion(json.dumps({"verdicts": verdicts}), held_to="graded")

    return ScriptedJudge(reply)


def measured(*shares, metric="faithfulness", **settings):
    samples = [
        {
            "id": f"s{place}",
            "question": "What?",
            "contexts": [f"Context {place}."],
            "answer": "; ".join(f"It is {share}" for share in each),
        }
        for place, each in enumerate(shares)
    ]
    return evaluate(samples, metrics=metric, **{"judge": judge(), **settings})


def failures(run, text, end="min"):
    scores = read_scores(run)
    return [*beyond(scores, limit_of(text, scores, end))]


def test_the_lower_end_of_the_expected_mean_decides_by_hand():
    # T is 0.5 with 0.04, 0.75 with 0.42 and 1 with 0.54: the lower end is 0.75, though every verdict is a yes
    run = measured([0.9, 0.6], [1.0])
    assert run.mean("faithfulness").value == 1.0
    assert failures(run, "faithfulness=0.75@p90") == []
    (why,) = failures(run, "faithfulness=0.8@p90")
    assert why == (
        "the lower end (90 % interval) of the expected mean of faithfulness/strict.1 is 0.750 over 2 "
        "samples, below 0.8"
    )
    # 4 % are below 0.75: with a tail of 2.5 %, the end is 0.5
    assert failures(run, "faithfulness=0.75@p95") != []
    assert failures(run, "faithfulness=0.5@p95") == []


def test_a_maximum_holds_the_upper_end():
    # 1 with 0.54: the upper end
    run = measured([0.9, 0.6], [0.2])
    # T is at most 1 with 0.54 * 0.2 = 0.108, more than 5 %
    assert failures(run, "faithfulness=1@p90", "max") == []
    assert "upper end" in failures(run, "faithfulness=0.9@p90", "max")[0]


def test_a_failed_score_counts_as_the_worst():
    # the second sample has no verdict that can be read: (0.75 + 0) / 2 would be at most half
    run = measured([1.0], ["lost"])
    assert failures(run, "faithfulness=0.5@p90") == []
    assert "1 of them without a score" in failures(run, "faithfulness=0.6@p90")[0]


def test_the_bound_is_the_same_for_the_expected_share_and_for_the_share():
    for metric in ("faithfulness", "faithfulness(aggregate=expected)"):
        run = measured([0.9, 0.6], [1.0], metric=metric)
        assert missed_limit(run, "faithfulness", "0.75@p90") == ()
        assert missed_limit(run, "faithfulness", "0.8@p90") != ()


def test_a_persons_decision_is_certain(tmp_path):
    run = measured([0.9], [0.9], out=tmp_path / "run")
    assert failures(run, "faithfulness=0.6@p90") != []
    for sample in ("s0", "s1"):
        run.correct(sample, "faithfulness", 1, True)
    assert failures(run, "faithfulness=1@p90") == []


def test_other_samples_are_judged_by_the_scores():
    scores = read_scores(measured(*[[0.9]] * 5))
    limit = limit_of("faithfulness=0.5@p90", scores, "min")
    assert [*near(scores, limit)] == [*near(scores, limit._replace(level=None))]
    assert decide_limits(scores, [limit]).failures == ()


@pytest.mark.parametrize(
    ("run", "text", "why"),
    [
        (
            lambda: measured([0.9], judge=judge(has_probability=False)),
            "faithfulness=0.8@p90",
            "without a prob",
        ),
        (lambda: measured([0.9], repeats=3), "faithfulness=0.8@p90", "without repeats"),
        (lambda: measured([0.9], full_repeats=2), "faithfulness=0.8@p90", "without full_repeats"),
        (
            lambda: measured([0.9, 0.7], metric="faithfulness(aggregate=least)"),
            "faithfulness=0.8@p90",
            "not the share",
        ),
        (
            lambda: measured([0.9], metric=[Faithfulness(), get("token_f1")]),
            "token_f1=0.8@p90",
            "not the share",
        ),
        (lambda: measured([0.9]), "declined=0.1@p90", "not the share"),
        (lambda: measured([0.9]), "faithfulness=0.8@p100", "METRIC=0.8@p90"),
        (lambda: measured([0.9]), "faithfulness=0.8@90", "METRIC=0.8@p90"),
        (lambda: measured([0.9]), "faithfulness=0.8@p", "METRIC=0.8@p90"),
        (lambda: measured([0.9]), "faithfulness=0.8@pnan", "METRIC=0.8@p90"),
        (lambda: measured([0.9]), "faithfulness=1.8@p90", "not a possible minimum"),
    ],
)
def test_a_limit_that_cannot_be_decided_is_refused(run, text, why):
    with pytest.raises(ConfigError, match=why):
        failures(run(), text)
