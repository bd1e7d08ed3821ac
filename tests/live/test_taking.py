"""What a live scorer takes: the queue, the sample rate, pauses, references, and redaction."""

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from ragmetrics_core import ConfigError, Sample
from ragmetrics_core.live import Capture
from ragmetrics_core.testing import HashEmbedder
from tests.live.captures import ANSWER, NOTHING, by_context, capture_of, faithful, sample_of
from tests.live.conftest import MakeScorer

# What is taken


class Gate:
    """A judge that waits until it is let go; says when it was asked."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.release = threading.Event()

    def __call__(self, text: str) -> str:
        self.asked.set()
        self.release.wait()
        return NOTHING


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


@pytest.mark.parametrize("given", [["The SMF.", ANSWER], ("The SMF.", ANSWER)])
def test_of_several_references_the_best_one_counts(live: MakeScorer, given: Sequence[str]):
    for references in ({"Who selects the UPF?": given}, lambda sample: given):
        scorer = live(["exact_match"], references=references)

        result = scorer.score(capture_of("Who selects the UPF?", answer=ANSWER))

        assert result.sample.references == ("The SMF.", ANSWER)
        assert result.records[0].value == 1.0


@pytest.mark.parametrize("given", [7, [7], {"a": "b"}])
def test_references_that_are_no_answers_are_refused_before_anything_runs(live: MakeScorer, given: Any):
    with pytest.raises(ConfigError, match=r"references\['Who\?'\] must be an answer or a list of answers"):
        live(["exact_match"], references={"Who?": given})


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


def test_labels_of_a_capture_are_redacted_with_their_names_and_behind_escapes(live: MakeScorer):
    scorer = live(redact=lambda text: text.replace("Ann\nLee", "[name]"))

    result = scorer.score(capture_of(labels={"Ann\nLee": "x", "by": ["Ann\nLee"], "n": 3}))

    # a list becomes a label as its text, in which a line break is the two characters \\n
    expected = {"[name]": "x", "by": "['[name]']", "n": 3}
    assert result.capture.labels == expected
    assert result.sample.labels == expected
