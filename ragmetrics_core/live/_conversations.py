"""Memory of conversations: what the model was shown for the earlier answers of each."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from ragmetrics_core.samples import Sample
from ragmetrics_core.texts.comparing import spaced_form

__all__ = ["Conversations"]

# Characters of all answers and contexts; beyond that the conversations that rested longest are forgotten.
_MOST_TEXT = 4_000_000
# Seconds to wait for the sample of the turn before.
_PATIENCE = 5.0


class _Answer(NamedTuple):
    text: str
    turn: int | None
    contexts: tuple[str, ...] | None

    @property
    def size(self) -> int:
        return len(self.text) + sum(map(len, self.contexts or ()))


class Conversations:
    """The answers of each session with their contexts, bounded; a restart forgets them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, list[_Answer]] = OrderedDict()
        self._latest: dict[str, threading.Event] = {}
        self._size = 0

    def in_order(self, session: str | None, make: Callable[[], Sample]) -> Callable[[], Sample]:
        """A function that makes a sample after that of the turn before, for calls in any thread."""
        if session is None:
            return make
        done = threading.Event()
        with self._lock:
            before = self._latest.get(session)
            self._latest[session] = done

        def made() -> Sample:
            try:
                if before is not None:
                    before.wait(_PATIENCE)
                return make()
            finally:
                done.set()
                with self._lock:
                    if self._latest.get(session) is done:
                        del self._latest[session]

        return made

    def completed(self, sample: Sample) -> Sample:
        """The sample with the contexts of earlier answers in its history; its own are remembered."""
        session = sample.session
        if session is None:
            return sample
        with self._lock:
            answers = self._answers.pop(session, [])
            sample = _with_contexts(sample, answers)
            answer = _Answer(spaced_form(sample.answer or ""), sample.turn, sample.contexts)
            self._answers[session] = [*answers, answer]
            self._size += answer.size
            while self._size > _MOST_TEXT and self._answers:
                _, forgotten = self._answers.popitem(last=False)
                self._size -= sum(each.size for each in forgotten)
        return sample


def _with_contexts(sample: Sample, answers: list[_Answer]) -> Sample:
    """The sample with what is known of the answers in its history, from the latest to the first."""
    history, left, turn = list(sample.history or ()), list(answers), sample.turn
    is_last = True
    for place in reversed(range(len(history))):
        said = history[place]
        if said.role != "assistant" or said.tool_calls or not said.content.strip():
            continue
        texts = [each.text for each in left]
        if (text := spaced_form(said.content)) in texts:
            number = len(texts) - 1 - texts[::-1].index(text)
            known, left = left[number], left[:number]
            if said.contexts is None and known.contexts is not None:
                history[place] = said.model_copy(update={"contexts": known.contexts})
            if is_last and turn is not None and known.turn is not None:  # the history may have been cut
                turn = max(turn, known.turn + 1)
        is_last = False
    return sample.model_copy(update={"history": tuple(history) or None, "turn": turn})
