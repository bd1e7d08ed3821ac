"""An answer type: the form of a reply, its reading, and what is wrong with a reply that is not read.

A reply is read in the form that its prompt asks for, or not at all: then it has objections, each a sentence
that the judge is told when it is asked once more, and that the record keeps for whoever opens the proof.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import count, islice
from typing import Annotated, Any, Final, Generic, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast, StringConstraints, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from ragmetrics_core.comparing import folded, spaced_form
from ragmetrics_core.parsers._reply import LONGEST, NotRead, bodies, json_object
from ragmetrics_core.shapes import Json

__all__ = [
    "ANYTHING",
    "READER",
    "Answer",
    "Declined",
    "Expected",
    "Reading",
    "Scale",
    "Schema",
    "Text",
    "Texts",
    "distinct",
    "example_of",
    "list_of",
    "object_of",
    "spoken",
    "validated",
]

READER: Final = "3"
"""Which reader this is; records of the first one do not name it. The second one found fewer quotes."""

T_co = TypeVar("T_co", covariant=True)
M = TypeVar("M", bound=BaseModel)
Schema = dict[str, Any]

Text = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^\n\r]*[\w\p{N}][^\n\r]*$")]
"""A text with a letter or a digit in it, on one line: several lines may be several entries."""
Texts = Annotated[tuple[Text, ...], FailFast()]
"""Such texts; the first that is none ends the reading."""

_PLACEHOLDER = re.compile(r"(?:[^\w<>]|\d)*<([^<>]*)>[^\w<>]*")
# How many objections a judge is told, at most.
_OBJECTIONS = 10
_SENTENCE = "A sentence of about the length that a judge writes for one"
# How many entries a list has that does not follow from the question: about as many as answers have sentences.
_ENTRIES = 3


class Scale(NamedTuple):
    """The numbers that a rating may be: from `low` to `high` in steps of `step`.

    >>> Scale(0, 4, 2).has(2), Scale(0, 4, 2).has(3), Scale(0, 10).has(11), Scale(0, 10).has(7.5)
    (True, False, False, False)
    """

    low: int
    high: int
    step: int = 1

    def has(self, number: float) -> bool:
        """Whether a number is one of the scale."""
        return self.low <= number <= self.high and (number - self.low) % self.step == 0

    @property
    def numbers(self) -> tuple[int, ...]:
        """All of them, in order."""
        return tuple(range(self.low, self.high + 1, self.step))


class Expected(NamedTuple):
    """What a reply is held to.

    Attributes:
        numbers: the numbers that are asked about, or may be named, in order.
        items: the texts of the numbered items, in the order of their numbers.
        size: how many entries a list must have; None where nobody says.
        scale: the numbers that a rating may be; None for any.
        form: the prompt's own text, which shows the form; empty where nobody says. The driver fills it in.
        graded: the reply is written by a judge of this library, as JSON whatever the prompt asks for; it may
            give probabilities, and leave verdicts to another judge. The driver fills it in.
    """

    numbers: tuple[int, ...] = ()
    items: tuple[str, ...] = ()
    size: int | None = None
    scale: Scale | None = None
    form: str = ""
    graded: bool = False

    @property
    def as_json(self) -> bool:
        """Whether JSON is asked for: the prompt says so, or nobody says what it asks for."""
        return self.graded or not self.form or "JSON" in self.form

    def shows(self, name: str) -> bool:
        """Whether the form may have a field of this name; lines of text have what their type reads."""
        return self.graded or not self.as_json or not self.form or f'"{name}"' in self.form


ANYTHING: Final = Expected()
"""Nothing but the type says what a reply must be."""


class Reading(NamedTuple, Generic[T_co]):
    """A reply as it was read.

    Attributes:
        value: the typed value; None when the reply is not of the form.
        objections: why the reply is not of the form, or what is missing in it; empty when it was read whole.
        rule: "json" or "lines", the form that was read; "unread" without a value.
        dropped: what was read and does not count, each with the reason.
    """

    value: T_co | None
    objections: tuple[str, ...] = ()
    rule: str = "unread"
    dropped: tuple[str, ...] = ()


class Declined(NamedTuple):
    """Whether an answer declines to answer, as a step saw it, and why it says so."""

    declined: bool
    reason: str | None = None


class Answer(BaseModel):
    """A typed reply of a judge: its fields are the JSON object that the prompt asks for, and no others.

    A type of your own needs fields, and `objections` where not every value of them is an answer.
    """

    # built at its first use: a program that imports the package may never read a reply
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    def read(cls, text: str, expected: Expected = ANYTHING) -> Reading[Self]:
        """Read a raw reply, whatever the text is.

        What a reasoning model thinks aloud at the start is set aside. Then the reply is one JSON object,
        alone, in a code fence or behind other text, or, where the prompt does not ask for JSON, its lines
        of text. The time is linear in the length.
        """
        if len(text) > LONGEST:
            return Reading(None, (f"it has more than {LONGEST:,} characters",))
        objection = "it is empty"
        for body in bodies(text):
            try:
                return cls._of(body, expected)
            except NotRead as reason:
                objection = str(reason) if body else objection
        return Reading(None, (objection,))

    @classmethod
    def of_value(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read what a JSON object says, or lines of text.

        Raises:
            NotRead: it is not of the form.
        """
        answer = cls.checked(value)
        objections = tuple(islice(answer.objections(expected), _OBJECTIONS))
        return Reading(None if objections else answer, objections)

    @classmethod
    def of_lines(cls, body: str) -> dict[str, Json]:
        """What the lines of a text say, as the JSON object that would say the same.

        Raises:
            NotRead: they are not of the form.
        """
        raise NotRead(f"a {cls.__name__} is read from JSON alone, which the prompt does not ask for")

    def objections(self, expected: Expected) -> Iterator[str]:
        """Why a reply of this form is no answer to what was asked, each as the judge is told it."""
        yield from ()

    def abstention(self) -> Declined | None:
        """Whether this reply says that the answer under test declines; None when it does not say."""
        return None

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the form, for servers that hold a model to one."""
        return cls.model_json_schema()

    @classmethod
    def numbered_schema(cls, expected: Expected) -> Schema:
        """The schema that leaves out no number, in words that not all servers know (`prefixItems`)."""
        return cls.reply_schema(expected)

    @classmethod
    def laid_out(cls, value: Mapping[str, Any], expected: Expected) -> str:
        """A reply that says what a JSON object of the form says, in the form that is asked for."""
        return json.dumps(value, ensure_ascii=False) if expected.as_json else cls.to_lines(value)

    @classmethod
    def to_lines(cls, value: Mapping[str, Any]) -> str:
        """What a JSON object of the form says, as lines of text: `of_lines` reads them again."""
        raise NotImplementedError

    @classmethod
    def filled(cls, expected: Expected) -> str:
        """A reply in the form, with any content: it stands in where nobody is asked, as in a plan."""
        return cls.laid_out(example_of(cls.numbered_schema(expected)), expected)

    def written(self) -> dict[str, Any]:
        """The value as it goes on record: the JSON object of the form, without fields that say nothing."""
        fields: dict[str, Any] = self.__pydantic_serializer__.to_python(
            self, mode="json", by_alias=True, exclude_none=True
        )
        return fields

    @classmethod
    def checked(cls, value: Mapping[str, Json]) -> Self:
        """The answer that a JSON object is.

        Raises:
            NotRead: it is none: a field is missing, unknown or of another type.
        """
        names = {field.alias or name for name, field in cls.model_fields.items()}
        if unknown := [name for name in value if name not in names]:
            raise NotRead(f'"{unknown[0][:80]}" was not asked for')
        return validated(cls, value)

    @classmethod
    def _of(cls, body: str, expected: Expected) -> Reading[Self]:
        value = json_object(body) if expected.as_json else cls.of_lines(body)
        for name in value:
            if not expected.shows(name):
                raise NotRead(f'"{name[:80]}" was not asked for')
        lines, examples, placeholders = _shown_in(expected.form)
        if value in examples if expected.as_json else _in_lines(body) in lines:
            raise NotRead("it repeats the form and fills in nothing")
        for text in _texts(value) if "<" in body or "\\u" in body else ():
            inside = _PLACEHOLDER.fullmatch(text)
            if inside and not placeholders.isdisjoint(_words(inside[1])):
                raise NotRead(f"it leaves <{inside[1][:80]}> as the form has it")
        reading = cls.of_value(value, expected)
        rule = "json" if expected.as_json else "lines"
        return reading if reading.value is None else reading._replace(rule=rule)


def distinct(texts: Iterable[str], what: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts without repeated ones, and a note on each of those.

    >>> distinct(["One.", "Two.", "one."], "statement")
    (('One.', 'Two.'), ('statement 3 repeats statement 1: one.',))
    """
    places: dict[str, int] = {}
    kept: list[str] = []
    dropped: list[str] = []
    for place, text in enumerate(texts, start=1):
        first = places.setdefault(spoken(text), place)
        if first == place:
            kept.append(text)
        else:
            dropped.append(f"{what} {place} repeats {what} {first}: {text[:80]}")
    return tuple(kept), tuple(dropped)


def spoken(text: str) -> str:
    """What a text says, however its letters, spaces and full stop are written."""
    return folded(spaced_form(text)).rstrip(" .")


def object_of(expected: Expected, fields: Mapping[str, Schema]) -> Schema:
    """An object of those fields that the prompt shows, in the order of its form, where each stands last."""
    places = {name: expected.form.rfind(f'"{name}"') for name in fields if expected.shows(name)}
    names = sorted(places, key=places.__getitem__)
    return {
        "type": "object",
        "properties": {name: fields[name] for name in names},
        "required": names,
        "additionalProperties": False,
    }


def list_of(schema: Schema, size: int | None = None) -> Schema:
    """A list of such values, so many of them where that is known."""
    return {"type": "array", "items": schema} | ({} if size is None else {"minItems": size, "maxItems": size})


def example_of(schema: Schema) -> Any:
    """A value of a JSON schema, about as long as a judge's; no two texts of it are the same."""
    return _example(schema, schema.get("$defs", {}), count(1))


def _example(schema: Schema, named: Mapping[str, Schema], places: Iterator[int]) -> Any:
    if "$ref" in schema:
        return _example(named[schema["$ref"].rpartition("/")[2]], named, places)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if "anyOf" in schema:
        return _example(schema["anyOf"][0], named, places)
    kind = schema.get("type")
    if kind == "object":
        return {name: _example(inner, named, places) for name, inner in schema["properties"].items()}
    if kind == "array":
        fixed: Sequence[Schema] = schema.get("prefixItems", ())
        items = schema.get("items", {})
        if "enum" in items and "minItems" not in schema:
            return list(items["enum"][:_ENTRIES])
        inner = fixed or [items] * schema.get("minItems", _ENTRIES)
        return [_example(each, named, places) for each in inner]
    place = next(places)
    values: dict[Any, Any] = {"boolean": False, "integer": place, "number": place, "null": None}
    return values.get(kind, f"{_SENTENCE}, number {place}.")


@lru_cache(maxsize=256)
def _shown_in(form: str) -> tuple[str, Sequence[dict[str, Json]], frozenset[str]]:
    """What the text of a prompt shows: its lines, the objects that begin one, its placeholders' words."""
    examples: list[dict[str, Json]] = []
    for line in re.finditer(r"^\{", form, re.MULTILINE):
        with suppress(NotRead):
            examples.append(json_object(form[line.start() :], is_last=False))
    return _in_lines(form), examples, frozenset[str]().union(*map(_words, _PLACEHOLDER.findall(form)))


def _in_lines(text: str) -> str:
    return "\n".join(["", *filter(None, map(str.strip, text.split("\n"))), ""])


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d]+", text.casefold()))


def _texts(value: Json) -> Iterator[str]:
    """All texts of a JSON value, but those that a judge copies out of what it is shown."""
    rest = [value]
    while rest:
        inner = rest.pop()
        if isinstance(inner, str):
            yield inner
        elif isinstance(inner, list):
            rest += inner
        elif isinstance(inner, dict):
            rest += [inner[name] for name in inner if name != "evidence"]


def validated(kind: type[M], value: Mapping[str, Json]) -> M:
    """The value of a model that a JSON object is.

    Raises:
        NotRead: it is none; the judge is told the first thing that is wrong with it.
    """
    try:
        # as JSON, for a list is a tuple there also when nothing else is taken for anything else
        return kind.model_validate_json(to_json(value))
    except ValidationError as error:
        raise NotRead(_first_objection(error)) from None
    except (PydanticSerializationError, UnicodeError):
        raise NotRead("a text in it holds half a character") from None


def _first_objection(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ", ".join(f'"{part}"' if isinstance(part, str) else f"entry {part + 1}" for part in first["loc"])
    said = f"{first['msg'][:1].lower()}{first['msg'][1:]}"
    if first["type"] == "string_pattern_mismatch":
        said = "it is not one line with a letter or digit in it"
    return f"{place}: {said}" if place else said
