"""Answers of decision models: the numbers in the bodies of their replies, matched by question name."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import isclose
from typing import Any, Final, Generic, NamedTuple, TypeVar

from ragmetrics_core.boundary.shapes import Json, is_list, is_mapping
from ragmetrics_core.parsers._reply import NotRead

__all__ = [
    "LEVEL",
    "PROBABILITY",
    "RATED",
    "Chosen",
    "Decided",
    "chosen",
    "decided",
    "decided_as",
    "holds_decisions",
]

T = TypeVar("T")

PROBABILITY: Final[Mapping[str, str]] = {"predicate": "probability", "noul": "noul"}
"""The types of an answer that is a probability, each with its field."""
LEVEL: Final[Mapping[str, str]] = {"score": "score"}
"""The type of an answer that is a place on ordered levels, with its field."""
RATED: Final = "rating"
"""The name of the only question of a prompt that asks for a rating."""

_DECISIONS = "decisions"
_CHOICE = "choice"
# Servers round the probabilities of choices.
_ROUNDED: Final = 0.02


class Chosen(NamedTuple):
    """The answer to a choice.

    Attributes:
        value: the most probable value.
        shares: the probability of each value.
    """

    value: str
    shares: Mapping[str, float]


class Decided(NamedTuple, Generic[T]):
    """The answers in a reply.

    Attributes:
        found: the content of each usable answer, by the question's name.
        objections: the reason that an answer is not usable, by the question's name.
        notes: errors that concern no question.
    """

    found: dict[str, T]
    objections: dict[str, str]
    notes: list[str]

    def take(self, name: str) -> T:
        """Remove the answer to a question and return its content.

        Raises:
            NotRead: there is no usable answer.
        """
        why = self.objections.pop(name, "the model gave no answer")
        if name not in self.found:
            raise NotRead(why)
        return self.found.pop(name)

    @property
    def left(self) -> tuple[str, ...]:
        """A note on each answer that was not taken, and on those without a name."""
        names = sorted([*self.found, *self.objections])
        return (*self.notes, *(f"there is no question {name[:80]!r}" for name in names))


class _Twice:
    """In place of the values of a name that appears twice in an object."""

    def __repr__(self) -> str:
        return "given twice"


_TWICE: Final = _Twice()


def holds_decisions(value: Mapping[str, Json]) -> bool:
    """Whether a reply's JSON object holds the bodies of a decision model's replies."""
    return list(value) == [_DECISIONS]


def decided(value: Mapping[str, Json], fields: Mapping[str, str], highest: float = 1) -> Decided[float]:
    """The numbers in the bodies, each from 0 to `highest`; see `decided_as`.

    Args:
        value: {"decisions": ["<body>", ...]}, with the bodies as the server sent them.
        fields: the field of the number, for each accepted type of answer.
        highest: the highest number.
    """
    return decided_as(value, partial(_number, fields=fields, highest=highest))


def decided_as(value: Mapping[str, Json], read: Callable[[object], T]) -> Decided[T]:
    """The answers in the bodies; a question that is answered twice has none.

    Args:
        value: {"decisions": ["<body>", ...]}, with the bodies as the server sent them.
        read: reads an answer, or raises `NotRead`.
    """
    found = Decided[T]({}, {}, [])
    answered: set[str] = set()
    bodies = value[_DECISIONS]
    for body in bodies if is_list(bodies) else [bodies]:
        for place, (name, answer) in enumerate(_answers(body, found.notes), start=1):
            if not isinstance(name, str):
                found.notes.append(f"answer {place} has no name")
                continue
            try:
                content = read(answer)
            except NotRead as reason:
                found.objections[name] = str(reason)
            else:
                found.found[name] = content
            if name in answered:
                found.found.pop(name, None)
                found.objections[name] = "the model answered it twice"
            answered.add(name)
    return found


def _answers(body: object, notes: list[str]) -> Iterator[tuple[Any, Any]]:
    """The names and the answers in one body: a list of named answers, or an object."""
    try:
        reply = json.loads(body, object_pairs_hook=_object) if isinstance(body, str) else None
    except (ValueError, RecursionError):
        reply = None
    answers = reply.get("answers") if is_mapping(reply) else None
    if is_mapping(answers):
        yield from answers.items()
    elif is_list(answers):
        for answer in answers:
            yield (answer.get("name") if is_mapping(answer) else None), answer
    else:
        notes.append('the server\'s reply has no "answers"')


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, inner in pairs:
        value[name] = _TWICE if name in value else inner
    return value


def _number(answer: object, fields: Mapping[str, str], highest: float) -> float:
    """The number in an answer.

    Raises:
        NotRead: the model declined, or the answer has another type or a number outside its range.
    """
    body = _of_type(answer, fields)
    field = fields[body["type"]]
    return _within(field, body.get(field), highest)


def chosen(answer: object) -> Chosen:
    """Read the answer to a choice with the probability of each value.

    Raises:
        NotRead: the model declined, or the answer has another type, lacks the probabilities, or its
            probabilities do not add up to 1 or do not agree with its choice.
    """
    body = _of_type(answer, (_CHOICE,))
    value: Any = body.get(_CHOICE)
    listed: Any = body.get("probabilities")
    shares: dict[str, Any] = {}
    if is_mapping(listed):
        shares = {str(name): share for name, share in listed.items()}
    for each in listed if is_list(listed) else ():
        entry: Mapping[str, Any] = each if is_mapping(each) else {}
        name = entry.get("value")
        if not isinstance(name, str) or name in shares:
            raise NotRead(f"its probabilities have the value {_shown(name)}, or have it twice")
        shares[name] = entry.get("probability", 0.0)
    if not isinstance(value, str) or value not in shares:
        raise NotRead(f"its choice is {_shown(value)}, which has no probability")
    if not isclose(sum(shares.values()), 1, abs_tol=_ROUNDED):
        raise NotRead(f"its probabilities add up to {sum(shares.values()):.3g}, not to 1")
    if shares[value] < max(shares.values()):
        raise NotRead(f"its choice is {_shown(value)}, which is not its most probable value")
    return Chosen(value, shares)


def _of_type(answer: object, types: Mapping[str, str] | Sequence[str]) -> Mapping[str, Any]:
    """An answer of one of the types, with probabilities from 0 to 1.

    Raises:
        NotRead: the model declined, or the answer has another type or a probability outside its range.
    """
    if isinstance(answer, _Twice):
        raise NotRead("the model answered it twice")
    kind = answer.get("type") if is_mapping(answer) else None
    if kind == "refusal":
        raise NotRead("the model declined to answer")
    if not is_mapping(answer) or not isinstance(kind, str) or kind not in types:
        raise NotRead(f"its answer is of the type {_shown(kind)}, not {' or '.join(types)}")
    for name, share in _shares(answer):
        _within(name, share, 1)
    return answer


def _shares(answer: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The confidence and the probabilities of all levels, where the answer has them."""
    if "confidence" in answer:
        yield "confidence", answer["confidence"]
    levels = answer.get("probabilities", ())
    if isinstance(levels, _Twice):
        yield "probabilities", levels
    for level in levels.values() if is_mapping(levels) else levels if is_list(levels) else ():
        yield "probability of a level", level.get("probability") if is_mapping(level) else level


def _within(name: str, number: object, highest: float) -> float:
    if isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number <= highest:
        return float(number)
    raise NotRead(f"its {name} is {_shown(number)}, not a number from 0 to {highest:g}")


def _shown(value: object) -> str:
    return repr(value)[:40] if not isinstance(value, int) or abs(value) < 2**64 else "a huge number"
