"""The live scorer: what it takes, what becomes of it, and what it says."""

import asyncio
import threading
from typing import Any

import pytest

from ragmetrics_core import Sample, Score, recompute
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import (
    Alert,
    Capture,
    LiveMean,
    LiveResult,
    LiveScorer,
    Skip,
    is_judging,
)
from ragmetrics_core.metrics.faithfulness import Faithfulness
from ragmetrics_core.testing import HashEmbedder
from tests.live.captures import ANSWER, by_context, capture_of, faithful, sample_of, unfaithful
from tests.live.conftest import MakeScorer


def test_a_capture_is_scored_and_its_record_proves_the_score(live: MakeScorer):
    scorer = live()

    assert scorer.submit(capture_of(id="one"))
    assert scorer.flush()

    (result,) = scorer.results
    assert result.scores == {"faithfulness": 1.0}
    (record,) = result.records
    assert record.sample_id == result.sample.id == "one"
    assert recompute(record) == Score(record)
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

    assert result.sample.labels == {
        "app": "bot",
        "session": "s1",
        "found_answer": "output",
        "k": 3,
        "odd": "{1}",
        "nan": "inf",
        "huge": "1" + "0" * 400,
    }


def test_a_missing_field_gives_a_record_that_says_so(live: MakeScorer):
    result = live().score(capture_of(translate=lambda c: Sample(question=c.question, answer=c.answer)))

    (record,) = result.records
    assert (record.status, record.reason) == ("skipped", "contexts")


def test_two_metrics_of_one_name_are_told_apart_by_their_signatures(live: MakeScorer):
    by_sentence = Faithfulness(granularity="sentence")
    scorer = live([Faithfulness(), by_sentence, "context_relevance"])

    result = scorer.score(capture_of())

    assert set(result.scores) == {Faithfulness().signature, by_sentence.signature, "context_relevance"}
    assert set(scorer.means) == set(result.scores)


def test_translating_that_skips_is_counted_and_no_error(live: MakeScorer):
    def skips(capture: Capture) -> Sample:
        raise Skip("no_retrieval")

    scorer = live()
    scorer.submit(capture_of(translate=skips))
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
    def fails(capture: Capture) -> Sample:
        raise error

    scorer = live()
    scorer.submit(capture_of(translate=fails))
    scorer.submit(capture_of())

    assert scorer.flush()
    stats = scorer.stats
    assert (stats.scored, stats.failed) == (1, 1)
    assert type(error).__name__ in stats.errors[0]
    assert "scoring failed" in caplog.text


# Waiting for a score


def test_score_works_inside_a_running_loop(live: MakeScorer):
    scorer = live()

    async def main() -> LiveResult:
        return scorer.score(capture_of())

    assert asyncio.run(main()).scores == {"faithfulness": 1.0}


def test_ascore_judges_on_the_callers_loop(live: MakeScorer):
    used: set[asyncio.AbstractEventLoop] = set()

    async def judge(text: str) -> str:
        used.add(asyncio.get_running_loop())
        return '{"statements": []}'

    scorer = live(judge=judge)

    async def main() -> asyncio.AbstractEventLoop:
        await scorer.ascore(capture_of())
        return asyncio.get_running_loop()

    own = asyncio.run(main())
    assert used == {own}


def test_ascore_of_many_at_once_keeps_them_apart(live: MakeScorer):
    scorer = live(judge=by_context())

    async def main() -> list[LiveResult]:
        captures = [faithful() if number % 2 else unfaithful() for number in range(20)]
        return await asyncio.gather(*map(scorer.ascore, captures))

    results = asyncio.run(main())

    assert [result.scores["faithfulness"] for result in results] == [0.0, 1.0] * 10
    assert scorer.stats.scored == 20


def test_score_tells_its_caller_that_there_is_nothing_to_score(live: MakeScorer):
    def skips(capture: Capture) -> Sample:
        raise Skip("no_retrieval")

    scorer = live()

    with pytest.raises(Skip, match="no_retrieval"):
        scorer.score(capture_of(translate=skips))
    assert scorer.stats.skipped == {"no_retrieval": 1}


def test_score_raises_what_translating_raises(live: MakeScorer):
    def fails(capture: Capture) -> Sample:
        raise TimeoutError("the database is slow")

    scorer = live()

    with pytest.raises(TimeoutError, match="database"):
        scorer.score(capture_of(translate=fails))
    with pytest.raises(TimeoutError, match="database"):
        asyncio.run(scorer.ascore(capture_of(translate=fails)))
    assert scorer.stats.failed == 2


def test_a_judge_that_waits_for_a_score_is_told_that_it_cannot(live: MakeScorer):
    made: list[LiveScorer] = []
    scorer = live(judge=lambda text: str(made[0].score(capture_of())))
    made.append(scorer)

    (record,) = scorer.score(capture_of()).records

    assert record.status == "model_error"
    assert "cannot wait for a score" in str(record.reason)


def test_ascore_that_is_cancelled_leaves_nothing_pending(live: MakeScorer):
    async def hangs(text: str) -> str:
        asked.set()
        await asyncio.get_running_loop().create_future()
        return ""

    scorer = live(judge=hangs)

    async def main() -> None:
        task = asyncio.create_task(scorer.ascore(capture_of()))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asked = asyncio.Event()
    asyncio.run(main())

    assert scorer.stats.pending == 0
    assert scorer.flush()


def test_in_the_inline_mode_submit_waits_for_the_scores(live: MakeScorer):
    scorer = live(mode="inline")

    assert scorer.submit(capture_of())
    assert scorer.means == {"faithfulness": LiveMean(1.0, 1)}


def test_in_the_inline_mode_submit_does_not_raise_either(live: MakeScorer):
    def fails(capture: Capture) -> Sample:
        raise ValueError("bad document")

    scorer = live(mode="inline")

    assert not scorer.submit(capture_of(translate=fails))
    assert scorer.stats.failed == 1
    assert scorer.stats.errors == ["scoring failed: ValueError: bad document"]


# What is taken


class Gate:
    """A judge that waits until it is let go; says when it was asked."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.release = threading.Event()

    def __call__(self, text: str) -> str:
        self.asked.set()
        self.release.wait()
        return '{"statements": []}'


@pytest.mark.parametrize(
    ("overflow", "kept"),
    [("drop_oldest", ["first", "fourth", "fifth"]), ("drop_newest", ["first", "second", "third"])],
)
def test_what_does_not_fit_goes_and_is_counted(live: MakeScorer, overflow: str, kept: list[str]):
    # one is worked on, two may wait, so two of five go
    gate = Gate()
    scorer = live(judge=gate, concurrency=1, max_pending=2, overflow=overflow)
    scorer.submit(capture_of("first"))
    gate.asked.wait()

    taken = [scorer.submit(capture_of(name)) for name in ("second", "third", "fourth", "fifth")]
    gate.release.set()
    scorer.flush()

    assert [result.sample.question for result in scorer.results] == kept
    assert taken == ([True] * 4 if overflow == "drop_oldest" else [True, True, False, False])
    stats = scorer.stats
    assert (stats.captured, stats.scored, stats.skipped) == (5, 3, {"overflow": 2})


def test_the_sample_rate_is_kept_and_the_same_seed_draws_the_same(live: MakeScorer):
    def taken(seed: int) -> list[bool]:
        scorer = live(sample_rate=0.25, seed=seed, judge=by_context())
        drawn = [scorer.submit(faithful()) for _ in range(200)]
        assert scorer.stats.skipped == {"not_sampled": 200 - sum(drawn)}
        return drawn

    # 200 draws of 0.25: mean 50, standard deviation 6.1; the seeds are fixed
    assert 30 <= sum(taken(1)) <= 70
    assert taken(1) == taken(1) != taken(2)


def test_nothing_is_taken_while_paused(live: MakeScorer):
    scorer = live()
    scorer.pause()
    with scorer.paused():
        assert not scorer.submit(capture_of())
    assert not scorer.submit(capture_of())
    scorer.resume()
    scorer.resume()
    assert scorer.submit(capture_of())
    scorer.flush()

    stats = scorer.stats
    assert (stats.captured, stats.scored, stats.skipped) == (1, 1, {"paused": 2})


def test_what_an_adapter_skips_is_counted_by_its_reason(live: MakeScorer):
    scorer = live()
    for reason in ("cancelled", "cancelled", "interrupted"):
        scorer.skip(reason)

    assert scorer.stats.skipped == {"cancelled": 2, "interrupted": 1}
    assert scorer.stats.captured == 0


def test_a_hook_that_failed_is_logged_with_its_traceback_once_and_counted_always(
    live: MakeScorer, caplog: pytest.LogCaptureFixture
):
    class Unprintable(Exception):
        def __str__(self) -> str:
            raise ValueError("no")

    scorer = live()
    for _ in range(3):
        try:
            raise KeyError("run_id")
        except KeyError as error:
            scorer.hook_failed(error)
    scorer.hook_failed(Unprintable())

    assert scorer.stats.skipped == {"hook_failed": 4}
    assert scorer.stats.errors == ["a hook failed: KeyError: 'run_id'"] * 3 + ["a hook failed: Unprintable"]
    assert caplog.text.count("a hook failed: KeyError") == 1
    assert "Traceback" in caplog.text


def test_submit_hands_back_false_for_something_that_is_no_capture_at_all(live: MakeScorer):
    scorer = live()
    odd: Any = object()

    scorer.submit(odd)

    assert scorer.flush()
    assert scorer.stats.failed == 1


# References, redaction


def test_references_are_found_by_question_or_by_id(live: MakeScorer):
    references = {"Who selects the UPF?": ANSWER, "id-2": "The SMF."}
    scorer = live(["answer_similarity"], embedder=HashEmbedder(), references=references)

    by_question = scorer.score(capture_of(" Who selects the UPF? "))
    by_id = scorer.score(capture_of("Who?", id="id-2"))
    unknown = scorer.score(capture_of("Who?"))

    assert (by_question.sample.reference, by_id.sample.reference) == (ANSWER, "The SMF.")
    assert by_question.records[0].status == by_id.records[0].status == "ok"
    assert (unknown.records[0].status, unknown.records[0].reason) == ("skipped", "reference")


def test_a_reference_that_the_sample_has_is_kept(live: MakeScorer):
    def translate(capture: Capture) -> Sample:
        return sample_of(capture).model_copy(update={"reference": "its own"})

    scorer = live(references=lambda sample: "another one")

    assert scorer.score(capture_of(translate=translate)).sample.reference == "its own"
    assert scorer.score(capture_of()).sample.reference == "another one"


def test_neither_judge_nor_result_sees_what_is_redacted(live: MakeScorer):
    judge = by_context()
    scorer = live(
        judge=judge,
        redact=lambda text: text.replace("Ann", "[name]"),
        references={"Is Ann in?": "Ann is in."},
    )

    result = scorer.score(
        capture_of("Is Ann in?", answer="Ann is in.", contexts=["Ann is in."], labels={"u": "Ann"})
    )

    assert "Ann" not in result.sample.model_dump_json()
    assert result.sample.reference == "[name] is in."
    assert judge.asked
    assert not any("Ann" in message.content for request in judge.asked for message in request.messages)


# Means and alarms


def test_means_count_only_scores_with_a_value(live: MakeScorer):
    scorer = live(judge=by_context())
    for capture in (faithful(), unfaithful(), faithful(), capture_of(contexts=[])):
        scorer.submit(capture)
    scorer.flush()

    # 1, 0, 1, and one without contexts, which is undefined: 2/3
    assert scorer.means == {"faithfulness": LiveMean(pytest.approx(2 / 3), 3)}


def test_an_alarm_goes_off_once_and_again_after_it_was_well(live: MakeScorer):
    heard: list[Alert] = []
    scorer = live(judge=by_context(), concurrency=1)
    scorer.alert("faithfulness", below=0.6, window=2, call=heard.append)

    # means of the last two: 1, 0.5 (alarm), 0, 0.5, 1, 0.5 (alarm)
    for capture in (faithful(), faithful(), unfaithful(), unfaithful(), faithful(), faithful(), unfaithful()):
        scorer.submit(capture)
    scorer.flush()

    assert [each[:5] for each in heard] == [("faithfulness", 0.5, 0.6, "below", 2)] * 2
    assert heard[0].worst == scorer.results[2].sample.id


def test_an_alarm_can_watch_for_scores_that_are_too_high(live: MakeScorer):
    heard: list[Alert] = []
    scorer = live(judge=by_context())
    scorer.alert("faithfulness", above=0.6, window=2, call=heard.append)

    # means of the last two: 0, 0.5, 1 (alarm)
    for capture in (unfaithful(), unfaithful(), faithful(), faithful()):
        scorer.submit(capture)
    scorer.flush()

    assert [each[:5] for each in heard] == [("faithfulness", 1.0, 0.6, "above", 2)]
    assert heard[0].worst in {each.sample.id for each in scorer.results[2:]}


@pytest.mark.parametrize("thresholds", [{}, {"below": 0.2, "above": 0.8}])
def test_an_alarm_takes_one_threshold(live: MakeScorer, thresholds: dict[str, float]):
    with pytest.raises(ConfigError, match="an alert takes one threshold"):
        live(judge=by_context()).alert("faithfulness", **thresholds)


def test_there_is_no_alarm_before_the_window_is_full(live: MakeScorer):
    heard: list[Alert] = []
    scorer = live(judge=by_context())
    scorer.alert("faithfulness", below=0.6, window=3, call=heard.append)

    scorer.score(unfaithful())
    scorer.score(unfaithful())

    assert heard == []


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


def test_an_alarm_whose_call_raises_harms_nobody(live: MakeScorer):
    def fails(alert: Alert) -> None:
        raise RuntimeError("the pager is off")

    scorer = live(judge=by_context())
    scorer.alert("faithfulness", below=0.6, window=1, call=fails)
    scorer.score(unfaithful())

    assert scorer.stats.scored == 1
    assert "the pager is off" in scorer.stats.errors[0]


def test_a_judge_that_fails_is_logged_once_until_it_succeeds(
    live: MakeScorer, caplog: pytest.LogCaptureFixture
):
    down = [True]

    async def judge(text: str) -> str:
        if down[0]:
            raise RuntimeError("down")
        return '{"statements": []}'

    scorer = live(judge=judge)
    for is_down in (True, True, False, True):
        down[0] = is_down
        scorer.score(capture_of())

    assert caplog.text.count("nothing more is logged until this metric succeeds again") == 2
    assert sum("model_error" in error for error in scorer.stats.errors) == 3


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


def test_a_metric_that_does_not_exist_is_told_at_once():
    with pytest.raises(ConfigError, match="faithfullness"):
        LiveScorer("faithfullness", judge="embedded")


def test_outside_of_our_work_nothing_is_judging():
    assert not is_judging()
