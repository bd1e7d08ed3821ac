"""Retrieval stages, and the search for their texts in the model's request."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import unescape
from itertools import islice
from typing import Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.comparing import Writing

__all__ = [
    "SHOWN_STATES",
    "RequestPlace",
    "Shown",
    "SoughtText",
    "Stage",
    "StageChunk",
    "StageName",
    "counted",
    "sought_in",
    "unproven",
]

StageName = Literal["retrieved", "fused", "reranked", "filtered", "shown"]
"""Kinds of stages: searching, merging lists, reordering, filtering, transforming, and the chunks that the
answering model received."""

Shown = Literal["verified", "partial", "absent", "unseen"]
"""Whether the messages of the answering call contain a chunk.

"verified": its whole text. "partial": a part, which is its text here. "absent": nothing. "unseen": the
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

    @classmethod
    def of(cls, sought: "SoughtText", *, rank: int, id: str | None, score: float | None) -> Self:
        """A chunk of the stage "shown"."""
        place = {} if sought.place is None else sought.place._asdict()
        return cls(text=sought.text, id=id, score=score, rank=rank, shown=sought.shown, **place)

    @property
    def standing(self) -> str:
        """State and position in the request, in words."""
        if self.message is None:
            return self.shown or ""
        return f"{self.shown} in message {self.message}, {self.start} to {self.end}"


class Stage(BaseModel, frozen=True):
    """A step of a retrieval; without chunks if it returned none.

    Attributes:
        name: the kind of stage.
        component: the step's name in the application.
        query: the query; None if unknown.
        chunks: the chunks that it returned, in order.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    name: StageName
    component: str = ""
    query: str | None = None
    chunks: tuple[StageChunk, ...] = ()

    def redacted(self, redact: Callable[[str], str], rename: Callable[[str], str]) -> Self:
        """The stage with other texts and ids, and without positions."""
        chunks = tuple(
            StageChunk(
                text=redact(chunk.text),
                id=chunk.id and rename(chunk.id),
                score=chunk.score,
                rank=chunk.rank,
                shown=chunk.shown,
            )
            for chunk in self.chunks
        )
        query = self.query and redact(self.query)
        return self.model_copy(update={"component": redact(self.component), "query": query, "chunks": chunks})


class RequestPlace(NamedTuple):
    """Position of a text: message number, from 1, and character range."""

    message: int
    start: int
    end: int

    def is_within(self, others: "Iterable[RequestPlace]") -> bool:
        """Whether one of the others contains it."""
        return any(
            self.message == other.message and other.start <= self.start and self.end <= other.end
            for other in others
        )


class SoughtText(NamedTuple):
    """Search result: "verified" or "partial" with a position, or "absent"; `text` is the found part."""

    shown: Shown
    text: str
    place: RequestPlace | None = None


class Unproven(NamedTuple):
    """A chunk that differs from the messages: rank, stored state, and actual state."""

    rank: int
    stored: str
    derived: str


# The shortest beginning, and the shortest piece from elsewhere, that is not there by chance.
_BEGINNING = 20
_PIECE = 40
# Pieces of a text that are looked for, and places where a text stands, at most: a request may be long.
_SEEDS = 24
_MOST = 100
_QUOTED_LINE = re.compile(r"\n[ \t]*>+[ \t]?")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});")
# As JSON and Python write a text.
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"""|\\(?:u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrtbf"'\\/])"""
)
_CONTROL = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def sought_in(
    messages: Sequence[str],
    texts: Iterable[Sequence[str]],
    *,
    besides: Sequence[str] = (),
) -> list[list[SoughtText]]:
    """Search texts in messages, in any Unicode form and with any white space.

    Texts escaped as in JSON, Python, HTML or quoted mails are found as well.

    Args:
        messages: messages of the request, in order.
        texts: groups of texts, most certain first. A text of a later group that occurs only inside a text of
            an earlier group is absent.
        besides: texts that are in the messages for another reason, such as the question. A text that occurs
            only inside these is absent. If one of them is a whole message, it is that message.

    Returns:
        One `SoughtText` per text, by group.
    """
    forms = [list(_forms(message)) for message in messages]
    elsewhere = [place for text in besides if text.strip() for place in _elsewhere(forms, text)]
    claimed: list[RequestPlace] = []
    outcome: list[list[SoughtText]] = []
    for group in texts:
        wanted = [Writing.of(text).plain().spaced() for text in group]
        wholes = [_whole(forms, form, [*elsewhere, *claimed]) for form in wanted]
        here = [place for place in wholes if place is not None]
        left = forms
        if len(here) < len(wholes):
            taken = [*elsewhere, *claimed, *here]
            left = [
                [_without(form, number, taken) for form in forms_of]
                for number, forms_of in enumerate(forms, 1)
            ]
        outcome.append(
            [
                SoughtText("verified", text, place) if place is not None else _part(left, text, form)
                for text, form, place in zip(group, wanted, wholes, strict=True)
            ]
        )
        claimed += [each.place for each in outcome[-1] if each.place is not None]
    return outcome


def counted(states: Iterable[Shown]) -> str:
    """Counts of the values, in words.

    >>> counted(["verified", "absent", "verified"])
    '2 verified, 1 absent'
    """
    numbers = Counter(states)
    return ", ".join(f"{numbers[state]} {state}" for state in SHOWN_STATES if numbers[state])


def unproven(stage: Stage, messages: Sequence[str]) -> Iterator[Unproven]:
    """Chunks of the stage "shown" that are not at their position in these messages."""
    for chunk in stage.chunks:
        if chunk.message is None:
            continue
        there = messages[chunk.message - 1] if 0 < chunk.message <= len(messages) else ""
        text = there[chunk.start : chunk.end]
        longer, shorter = (chunk.text, text) if chunk.shown == "partial" else (text, chunk.text)
        ((sought,),) = sought_in([longer], [[shorter]])
        if not text.strip() or sought.shown != "verified":
            stored = f"{chunk.shown}, message {chunk.message}"
            yield Unproven(chunk.rank, stored, f"another text: {text[:80]!r}")


def _elsewhere(forms: Sequence[Sequence[Writing]], text: str) -> list[RequestPlace]:
    """Positions of a text; if it is a whole message, only that message."""
    wanted = Writing.of(text).plain().spaced().text.strip()
    places = list(islice(_places(forms, wanted), _MOST))
    own = [place for place in places if forms[place.message - 1][0].text.strip() == wanted]
    return own or places


def _without(writing: Writing, number: int, places: Sequence[RequestPlace]) -> Writing:
    """The message with this number, with these positions masked."""
    text = writing.text
    for place in places:
        if place.message == number:
            start, end = writing.starts.searchsorted((place.start, place.end))
            text = text[:start] + "\0" * int(end - start) + text[end:]
    return writing._replace(text=text)


def _forms(text: str) -> Iterator[Writing]:
    """A message unchanged and in all decoded forms."""
    as_is = Writing.of(text)
    yield as_is.plain().spaced()
    decoded = as_is
    for _ in range(2):  # a tool's JSON may be a text in another JSON
        if "\\" not in decoded.text:
            break
        decoded = decoded.rewritten(_ESCAPE, lambda escape: _unescaped(escape[0]))
        yield decoded.plain().spaced()
    without_entities = as_is.rewritten(_ENTITY, lambda entity: unescape(entity[0]))
    unquoted = as_is.rewritten(_QUOTED_LINE, lambda _: "\n")
    for other in (without_entities, unquoted):
        if other is not as_is:
            yield other.plain().spaced()


def _unescaped(escape: str) -> str:
    kind = escape[1]
    if kind not in "uUx":
        return _CONTROL.get(kind, kind)
    units = [int(each[1:], 16) for each in escape.split("\\") if each]
    if len(units) == 2:
        return chr(0x10000 + ((units[0] - 0xD800) << 10) + units[1] - 0xDC00)
    return "\ufffd" if 0xD800 <= units[0] < 0xE000 else chr(units[0])


def _places(forms: Sequence[Sequence[Writing]], wanted: str) -> Iterator[RequestPlace]:
    """Positions of a text in all messages."""
    if not wanted:
        return
    for number, message in enumerate(forms, start=1):
        for form in message:
            at = form.text.find(wanted)
            while at >= 0:
                yield RequestPlace(number, *form.origin(at, at + len(wanted)))
                at = form.text.find(wanted, at + len(wanted))


def _whole(
    forms: Sequence[Sequence[Writing]], wanted: Writing, apart: Sequence[RequestPlace]
) -> RequestPlace | None:
    places = islice(_places(forms, wanted.text.strip()), _MOST)
    return next((place for place in places if not place.is_within(apart)), None)


def _part(forms: Sequence[Sequence[Writing]], text: str, wanted: Writing) -> SoughtText:
    """The longest part of a text that occurs in a message."""
    whole = wanted.text
    step = max(_PIECE, len(whole) // _SEEDS)
    seeds = [(len(whole) - len(whole.lstrip()), _BEGINNING)]
    seeds += [(at, _PIECE) for at in (*range(0, len(whole) - _PIECE, step), len(whole) - _PIECE) if at > 0]
    best: tuple[int, int, RequestPlace] | None = None
    for at, length in seeds:
        if best is not None and best[0] <= at and at + length <= best[1]:
            continue  # it stands in the piece that is there already
        seed = whole[at : at + length]
        if len(seed.strip()) < _BEGINNING:
            continue
        for number, message in enumerate(forms, start=1):
            for form in message:
                start = form.text.find(seed)
                if start < 0:
                    continue
                low, high, begin, end = _extended(whole, at, at + length, form.text, start)
                if best is None or high - low > best[1] - best[0]:
                    best = low, high, RequestPlace(number, *form.origin(begin, end))
    if best is None:
        return SoughtText("absent", text)
    start, end = wanted.origin(best[0], best[1])
    return SoughtText("partial", text[start:end].strip(), best[2])


def _extended(whole: str, low: int, high: int, text: str, start: int) -> tuple[int, int, int, int]:
    end = start + high - low
    while low > 0 and start > 0 and whole[low - 1] == text[start - 1]:
        low, start = low - 1, start - 1
    while high < len(whole) and end < len(text) and whole[high] == text[end]:
        high, end = high + 1, end + 1
    return low, high, start, end
