"""What a live scorer remembers of conversations: the contexts of earlier answers."""

import threading
from typing import Any

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.live import Capture
from ragmetrics_core.live import _conversations as conversations
from ragmetrics_core.samples import Turn
from tests.live.conftest import MakeScorer


def turn(answer: str, *before: str, context: str = "", session: str = "s", **fields: Any) -> Capture:
    """A capture of an answer after earlier ones, with a context of its own."""
    history = [
        Turn(role=role, content=text)
        for each in before
        for role, text in (("user", "?"), ("assistant", each))
    ]
    sample = Sample(
        question="?",
        answer=answer,
        history=history or None,
        turn=len(before) + 1,
        contexts=(context or f"of {answer}",),
    )
    return Capture(**{"translate": lambda _: sample, "session": session} | fields)


def contexts(sample: Sample) -> list[tuple[str, ...] | None]:
    return [each.contexts for each in sample.history or () if each.role == "assistant"]


def test_earlier_answers_of_a_session_have_the_contexts_that_they_were_made_from(live: MakeScorer):
    scorer = live()
    scorer.score(turn("a"))
    scorer.score(turn("b", "a"))
    other = scorer.score(turn("c", "a", "b", session="other")).sample
    third = scorer.score(turn("c", "a", "b")).sample
    assert (contexts(third), contexts(other)) == ([("of a",), ("of b",)], [None, None])
    assert (third.session, third.turn) == ("s", 3)


def test_an_answer_that_was_given_twice_has_its_own_contexts_each_time(live: MakeScorer):
    scorer = live()
    scorer.score(turn("no", context="first"))
    scorer.score(turn("no", "no", context="second"))
    whole = scorer.score(turn("x", "no", "no")).sample
    cut = scorer.score(turn("y", "no", "x")).sample  # the first turn is no longer in the history
    assert contexts(whole) == [("first",), ("second",)]
    assert contexts(cut) == [("second",), ("of x",)]
    assert cut.turn == 4


def test_known_contexts_are_kept(live: MakeScorer):
    scorer = live()
    scorer.score(turn("a"))
    said = Turn(role="assistant", content="a", contexts=("its own",))
    sample = Sample(question="?", answer="b", history=[said])
    assert contexts(scorer.score(turn("b", translate=lambda _: sample)).sample) == [("its own",)]


def test_a_new_process_knows_the_session_and_the_number_but_not_the_contexts(live: MakeScorer):
    live().score(turn("a"))
    sample = live().score(turn("b", "a")).sample
    assert (sample.session, sample.turn, contexts(sample)) == ("s", 2, [None])


def test_samples_of_a_session_are_made_in_the_order_of_the_answers(live: MakeScorer):
    scorer, first = live(concurrency=4), threading.Event()
    slow, quick = turn("a"), turn("b", "a")
    made = slow.translate

    def waits(capture: Capture) -> Sample:
        first.wait(2)
        return made(capture)

    slow.translate = waits
    scorer.submit(slow)
    scorer.submit(quick)
    first.set()
    assert scorer.flush()
    (sample,) = [result.sample for result in scorer.results if result.sample.answer == "b"]
    assert contexts(sample) == [("of a",)]


def test_the_sessions_that_rested_longest_are_forgotten(live: MakeScorer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(conversations, "_MOST_TEXT", 100)
    scorer = live()
    scorer.score(turn("a", session="old"))
    scorer.score(turn("a", context="x" * 98, session="new"))
    assert contexts(scorer.score(turn("b", "a", session="old")).sample) == [None]


def test_what_is_remembered_is_redacted_before_it_is_kept(live: MakeScorer):
    scorer = live(redact=lambda text: text.replace("Ann", "X"))
    scorer.score(turn("Ann is in.", context="Ann is in Ulm."))
    sample = scorer.score(turn("Yes.", "Ann is in.")).sample
    assert contexts(sample) == [("X is in Ulm.",)]
