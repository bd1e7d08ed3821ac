"""Retrieval stages, and the places of their chunks in the model's request."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.samples._tiling import RequestPlace, share_of, words_at

__all__ = [
    "SHOWN_STATES",
    "Shown",
    "Stage",
    "StageChunk",
    "StageName",
    "UnaccountedText",
    "counted",
    "unproven",
]

StageName = Literal["retrieved", "fused", "reranked", "filtered", "derived", "shown"]
"""Kinds of stages: searching, merging lists, reordering, filtering, text that a model wrote from what it was
shown, and the chunks that the answering model received."""

Shown = Literal["verified", "partial", "absent", "unseen"]
"""Whether the messages of the answering call contain a chunk.

"verified": its whole text. "partial": a part of its words. "absent": nothing. "unseen": the
messages are unknown.
"""

SHOWN_STATES: tuple[Shown, ...] = ("verified", "partial", "absent", "unseen")


class StageChunk(BaseModel, frozen=True):
    """A text at a stage.

    Attributes:
        text: the text; only the contained part if the state is "partial".
        id: the document's id, if any.
        score: the component's score, if any.
        rank: its place in the stage, from 1.
        shown: at the stage "shown", whether the request contains it; None elsewhere.
        message: number of the message that contains it, from 1.
        start, end: its position in that message, in characters.
        places: all its places, if there are several; the first one is `message`, `start` and `end`.
        share: share of the chunk's words that the request contains, if it is only a part.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)

    text: str
    id: str | None = None
    score: float | None = None
    rank: int
    shown: Shown | None = None
    message: int | None = None
    start: int | None = None
    end: int | None = None
    places: tuple[RequestPlace, ...] | None = None
    share: float | None = None

    def standing_at(self, places: Sequence[RequestPlace], share: float) -> Self:
        """The chunk at these places of the request, with this share of its words there."""
        if not places:
            return self.model_copy(update={"shown": "absent"})
        state: dict[str, object] = (
            {"shown": "verified"} if share == 1 else {"shown": "partial", "share": share}
        )
        if len(places) > 1:
            state["places"] = tuple(places)
        return self.model_copy(update=state | places[0]._asdict())

    @property
    def at(self) -> tuple[RequestPlace, ...]:
        """All places in the request."""
        if self.places:
            return self.places
        if self.message is None or self.start is None or self.end is None:
            return ()
        return (RequestPlace(self.message, self.start, self.end),)

    @property
    def standing(self) -> str:
        """State and position in the request, in words."""
        if self.message is None:
            return self.shown or ""
        part = "" if self.share is None else f" ({self.share:.0%})"
        more = f" and in {len(self.at) - 1} more places" if len(self.at) > 1 else ""
        return f"{self.shown}{part} in message {self.message}, {self.start} to {self.end}{more}"


class UnaccountedText(BaseModel, frozen=True):
    """A stretch of the request that no known text accounts for.

    Attributes:
        text: the stretch, as in the message.
        message: number of the message, from 1.
        start, end: its position in that message, in characters.
        component: name of the component that wrote it, if known.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    text: str
    message: int
    start: int
    end: int
    component: str = ""


class Stage(BaseModel, frozen=True):
    """A step of a retrieval; without chunks if it returned none.

    Attributes:
        name: the kind of stage.
        component: the step's name in the application.
        query: the query; None if unknown.
        chunks: the chunks that it returned, in order.
        words: at the stage "shown", number of words of the request.
        accounted: how many of them come from a known text.
        unaccounted: the longer stretches of the other words.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    name: StageName
    component: str = ""
    query: str | None = None
    chunks: tuple[StageChunk, ...] = ()
    words: int | None = None
    accounted: int | None = None
    unaccounted: tuple[UnaccountedText, ...] | None = None

    def redacted(self, redact: Callable[[str], str], rename: Callable[[str], str]) -> Self:
        """The stage with other texts and ids, and without positions."""
        chunks = tuple(
            StageChunk(
                text=redact(chunk.text),
                id=chunk.id and rename(chunk.id),
                score=chunk.score,
                rank=chunk.rank,
                shown=chunk.shown,
                share=chunk.share,
            )
            for chunk in self.chunks
        )
        query = self.query and redact(self.query)
        changed = {"component": redact(self.component), "query": query, "chunks": chunks}
        return self.model_copy(update=changed | {"unaccounted": None})


class Unproven(NamedTuple):
    """A chunk that differs from the messages: rank, stored state, and actual state."""

    rank: int
    stored: str
    derived: str


def counted(states: Iterable[Shown]) -> str:
    """Counts of the values, in words.

    >>> counted(["verified", "absent", "verified"])
    '2 verified, 1 absent'
    """
    numbers = Counter(states)
    return ", ".join(f"{numbers[state]} {state}" for state in SHOWN_STATES if numbers[state])


def unproven(stage: Stage, messages: Sequence[str]) -> Iterator[Unproven]:
    """Chunks of the stage "shown" that are not at their places in these messages."""
    for chunk in stage.chunks:
        if not chunk.at:
            continue
        there = [words_at(messages, place) for place in chunk.at]
        share = share_of(chunk.text, there)
        if share is None or (chunk.shown == "verified" and share < 1):
            place = chunk.at[0]
            text = messages[place.message - 1] if 0 < place.message <= len(messages) else ""
            stored = f"{chunk.shown}, message {place.message}"
            yield Unproven(chunk.rank, stored, f"another text: {text[place.start : place.end][:80]!r}")
