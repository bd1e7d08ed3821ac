"""Nothing is skipped in silence: what a metric never had is told once, with the ways to give it."""

import logging

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.live import Capture, LiveScorer

ANSWER = "The SMF selects the UPF."


def capture(*, contexts: bool, needs_contexts: bool = False) -> Capture:
    sample = Sample(question="Who?", answer=ANSWER, contexts=[ANSWER] if contexts else None)
    return Capture(translate=lambda _: sample, needs_contexts=needs_contexts)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "could not be scored" in record.getMessage()]


@pytest.fixture(autouse=True)
def heard(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING, "ragmetrics.live"):
        yield


def test_one_warning_says_what_all_captures_lacked_and_three_ways_to_give_it(caplog):
    with LiveScorer("faithfulness", judge="embedded") as live:
        for _ in range(12):
            live.submit(capture(contexts=False))

    (warning,) = warnings(caplog)
    assert "faithfulness could not be scored for any of the first 5 captures" in warning
    assert "'contexts'" in warning
    assert "note_contexts" in warning
    assert "(3)" in warning
    assert live.stats.lacking == {"faithfulness: contexts": 12}


def test_what_only_some_captures_lack_is_counted_and_not_told(caplog):
    with LiveScorer("faithfulness", judge="embedded", concurrency=1) as live:
        for number in range(8):
            live.submit(capture(contexts=number == 2))

    assert warnings(caplog) == []
    assert live.stats.lacking == {"faithfulness: contexts": 7}


def test_captures_that_are_left_out_for_want_of_contexts_are_told_too(caplog):
    with LiveScorer("faithfulness", judge="embedded") as live:
        for _ in range(5):
            live.submit(capture(contexts=False, needs_contexts=True))

    assert len(warnings(caplog)) == 1
    assert live.stats.skipped == {"no_contexts": 5}


def test_each_metric_says_what_it_lacks_and_an_adapter_says_how_to_give_it(caplog):
    ways = {"contexts": "name the tool: context_tools=['search']"}
    with LiveScorer(
        ["faithfulness", "factual_correctness"], judge="embedded", ways=ways, concurrency=1
    ) as live:
        for _ in range(5):
            live.submit(capture(contexts=False))

    told = warnings(caplog)
    assert len(told) == 2
    assert "name the tool: context_tools=['search']" in told[0]
    assert "'reference'" in told[1]
    assert "references=" in told[1]
