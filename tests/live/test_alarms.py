"""Means, alarms, and what is logged of a judge that fails."""

from typing import Any

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import Alert, LiveMean
from ragmetrics_core.testing import HashEmbedder
from tests.live.captures import NOTHING, by_context, capture_of, faithful, unfaithful
from tests.live.conftest import MakeScorer


def test_means_count_only_scores_with_a_value(live: MakeScorer):
    scorer = live(judge=by_context())
    for capture in (faithful(), unfaithful(), faithful(), capture_of(contexts=[])):
        scorer.submit(capture)
    scorer.flush()

    # 1, 0, 1, and one without contexts, which is undefined: 2/3
    assert scorer.means == {"faithfulness": LiveMean(pytest.approx(2 / 3), 3)}


GOOD, BAD = "this supports it", "this does not"


@pytest.mark.parametrize(
    ("side", "contexts", "mean", "told", "worst"),
    [
        # means of the last two: 1, 0.5 (alarm), 0, 0.5, 1, 0.5 (alarm)
        ("below", [GOOD, GOOD, BAD, BAD, GOOD, GOOD, BAD], 0.5, 2, {2}),
        # means of the last two: 0, 0.5, 1 (alarm)
        ("above", [BAD, BAD, GOOD, GOOD], 1.0, 1, {2, 3}),
    ],
)
def test_an_alarm_goes_off_once_and_again_after_it_was_well(
    live: MakeScorer, side: str, contexts: list[str], mean: float, told: int, worst: set[int]
):
    heard: list[Alert] = []
    scorer = live(judge=by_context(), concurrency=1)
    scorer.alert("faithfulness", window=2, call=heard.append, **{side: 0.6})

    for number, context in enumerate(contexts):
        scorer.submit(capture_of(contexts=[context], id=str(number)))
    scorer.flush()

    assert [each[:5] for each in heard] == [("faithfulness", mean, 0.6, side, 2)] * told
    assert heard[0].worst in map(str, worst)


@pytest.mark.parametrize(("side", "relevant"), [("below", 7), ("above", 1)])
def test_scores_at_the_threshold_itself_raise_no_alarm(live: MakeScorer, side: str, relevant: int):
    heard: list[Alert] = []
    found = tuple(map(str, range(10)))
    sample = Sample(question="Who?", context_ids=found, reference_context_ids=found[:relevant])
    scorer = live("retrieval_precision")
    scorer.alert("retrieval_precision", window=3, call=heard.append, **{side: relevant / 10})

    # as floats 0.7 + 0.7 + 0.7 is a little less than 2.1, and 0.1 + 0.1 + 0.1 a little more than 0.3
    for _ in range(3):
        scorer.submit(capture_of(translate=lambda capture: sample))
    scorer.flush()

    assert scorer.means == {"retrieval_precision": LiveMean(pytest.approx(relevant / 10), 3)}
    assert heard == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "an alert takes one threshold"),
        ({"below": 0.2, "above": 0.8}, "an alert takes one threshold"),
        ({"below": float("nan")}, "a threshold must be a finite number, not"),
        ({"below": float("inf")}, "a threshold must be a finite number, not"),
        ({"below": 0.2, "window": 0}, "window must be at least 1, not 0"),
    ],
)
def test_an_alarm_that_could_never_go_off_is_refused(live: MakeScorer, given: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message):
        live(judge=by_context()).alert("faithfulness", **given)


def test_an_alarm_without_a_call_is_a_warning_in_the_log(live: MakeScorer, caplog: pytest.LogCaptureFixture):
    scorer = live(judge=by_context())
    scorer.alert("faithfulness", below=0.6, window=1)

    scorer.score(unfaithful())

    assert "faithfulness: the mean of the last 1 scores is 0.000, below 0.6" in caplog.text


def test_an_alarm_takes_an_alias_and_refuses_a_metric_that_is_not_measured(live: MakeScorer):
    scorer = live(["answer_relevance"], embedder=HashEmbedder())
    scorer.alert("answer_relevancy", below=0.5)

    with pytest.raises(ConfigError, match="'faithfulness' is not measured; there is answer_relevance"):
        scorer.alert("faithfulness", below=0.5)


def test_a_judge_that_fails_is_logged_once_until_it_succeeds(
    live: MakeScorer, caplog: pytest.LogCaptureFixture
):
    down = [True]

    async def judge(text: str) -> str:
        if down[0]:
            raise RuntimeError("down")
        return NOTHING

    scorer = live(judge=judge)
    for is_down in (True, True, False, True):
        down[0] = is_down
        scorer.score(capture_of())

    assert caplog.text.count("nothing more is logged until this metric succeeds again") == 2
    assert sum("model_error" in error for error in scorer.stats.errors) == 3
