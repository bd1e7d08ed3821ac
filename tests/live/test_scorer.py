"""The live scorer: a capture becomes a sample with records, and mistakes are told at once."""

from typing import Any

import pytest

from ragmetrics_core import recompute
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import LiveMean, LiveScorer, Skip
from ragmetrics_core.metrics._faithfulness import Faithfulness
from tests.live.captures import capture_of, raising
from tests.live.conftest import MakeScorer


def test_a_capture_is_scored_and_its_record_proves_the_score(live: MakeScorer):
    scorer = live()

    assert scorer.submit(capture_of(id="one"))
    assert scorer.flush()

    (result,) = scorer.results
    assert result.scores == {"faithfulness": 1.0}
    (record,) = result.records
    assert record.sample_id == result.sample.id == "one"
    assert recompute(record) == record
    assert scorer.means == {"faithfulness": LiveMean(1.0, 1)}


def test_labels_name_and_session_go_into_the_sample(live: MakeScorer):
    scorer = live()

    result = scorer.score(
        capture_of(
            name="bot",
            session="s1",
            labels={"found_answer": "output", "k": 3, "odd": {1}, "nan": 1e999, "huge": 10**400},
        )
    )

    assert result.sample.session == "s1"
    assert result.sample.labels == {
        "app": "bot",
        "found_answer": "output",
        "k": 3,
        "odd": "{1}",
        "nan": "inf",
        "huge": "1" + "0" * 400,
    }


def test_two_metrics_of_one_name_are_told_apart_by_their_signatures(live: MakeScorer):
    by_sentence = Faithfulness(granularity="sentence")
    scorer = live([Faithfulness(), by_sentence, "context_relevance"])

    result = scorer.score(capture_of())

    assert set(result.scores) == {Faithfulness().signature, by_sentence.signature, "context_relevance"}
    assert set(scorer.means) == set(result.scores)


def test_translating_that_skips_is_counted_and_no_error(live: MakeScorer):
    scorer = live()
    scorer.submit(capture_of(translate=raising(Skip("no_retrieval"))))
    scorer.flush()

    stats = scorer.stats
    assert (stats.captured, stats.scored, stats.failed) == (1, 0, 0)
    assert stats.skipped == {"no_retrieval": 1}
    assert stats.errors == []


@pytest.mark.parametrize(
    "error", [ValueError("bad document"), SystemExit(1), StopIteration(), KeyboardInterrupt()]
)
def test_translating_that_raises_anything_is_counted_and_the_next_one_is_scored(
    live: MakeScorer, error: BaseException, caplog: pytest.LogCaptureFixture
):
    scorer = live()
    scorer.submit(capture_of(translate=raising(error)))
    scorer.submit(capture_of())

    assert scorer.flush()
    stats = scorer.stats
    assert (stats.scored, stats.failed) == (1, 1)
    assert type(error).__name__ in stats.errors[0]
    assert "scoring failed" in caplog.text


# Mistakes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "later"}, "mode must be 'background' or 'inline', not 'later'"),
        ({"overflow": "block"}, "overflow must be 'drop_oldest' or 'drop_newest', not 'block'"),
        ({"sample_rate": 1.5}, "sample_rate must be between 0 and 1, not 1.5"),
        ({"max_pending": 0}, "max_pending must be at least 1, not 0"),
        ({"concurrency": 0}, "concurrency must be at least 1, not 0"),
        ({"timeout": 0}, "timeout must be above 0 seconds, or None, not 0"),
        ({"judge": None}, "faithfulness needs a judge"),
        ({"judge_factory": lambda: "embedded", "judge": "embedded"}, "not both"),
    ],
)
def test_mistakes_are_told_before_anything_runs(options: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message):
        LiveScorer("faithfulness", **{"judge": "embedded"} | options)
