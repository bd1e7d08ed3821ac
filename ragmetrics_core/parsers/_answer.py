"""Answer types: the form of a reply, its reading, and objections to a reply that cannot be read.

A reply is read only in the form that its prompt asks for. Otherwise it gets objections: sentences for the
judge, which is asked again, and for readers of the proof, because the record keeps them.
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

from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.parsers._deviations import conformed, object_with
from ragmetrics_core.parsers._reply import LONGEST, NotRead, bodies, first_object, json_value
from ragmetrics_core.texts.comparing import folded, spaced_form

__all__ = [
    "ANYTHING",
    "OBJECTIONS",
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
    "entries",
    "example_of",
    "list_of",
    "object_of",
    "spoken",
    "validated",
]

READER: Final = "6"
"""Version of the reader. The first is not named; records of earlier readers keep their readings."""

T_co = TypeVar("T_co", covariant=True)
M = TypeVar("M", bound=BaseModel)
Schema = dict[str, Any]

Text = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^\n\r]*[\w\p{N}][^\n\r]*$")]
"""One line of text with a letter or digit, because several lines may be several entries."""
Texts = Annotated[tuple[Text, ...], FailFast()]
"""Such texts; validation stops at the first invalid one."""

_PLACEHOLDER = re.compile(r"(?:[^\w<>]|\d)*<([^<>]*)>[^\w<>]*")
# How many objections a judge is told, at most.
OBJECTIONS: Final = 10
# How judges write that a list has no entries.
_NOTHING = frozenset(
    {"none", "n/a", "n.a", "null", "nil", "nothing", "not applicable", "none found", "empty"}
)
_LONGEST_PLACEHOLDER = 40
_MARKS = " \t.,:;!*_\"'`()[]{}<>-–—"
_SENTENCE = "A sentence of about the length that a judge writes for one"
# How many entries a list has that does not follow from the question: about as many as answers have sentences.
_ENTRIES = 3


class Scale(NamedTuple):
    """The allowed ratings: from `low` to `high` in steps of `step`.

    >>> Scale(0, 4, 2).has(2), Scale(0, 4, 2).has(3), Scale(0, 10).has(11), Scale(0, 10).has(7.5)
    (True, False, False, False)
    """

    low: int
    high: int
    step: int = 1

    def has(self, number: float) -> bool:
        """Whether a number is on the scale."""
        return self.low <= number <= self.high and (number - self.low) % self.step == 0

    @property
    def numbers(self) -> tuple[int, ...]:
        """All numbers of the scale, in order."""
        return tuple(range(self.low, self.high + 1, self.step))


class Expected(NamedTuple):
    """Constraints on a reply.

    Attributes:
        numbers: the numbers that are asked about, or may be named, in order.
        items: the texts of the numbered items, in the order of their numbers. For a prompt that numbers the
            sentences of a text, the driver sets both. For questions to write, the passages.
        size: number of entries in a list; None if any number is allowed.
        scale: the allowed ratings; None for any.
        form: the text of the prompt, which shows the form; empty if unknown. Set by the driver.
        graded: whether a judge of this library writes the reply: always as JSON, perhaps with probabilities,
            and perhaps with verdicts left to another judge. Set by the driver.
        known: the numbers that an earlier reply answered, each with its answer.
        texts: the texts that must have the evidence of a contradiction, or all numbers of a rewritten
            question.
        around: for numbered sentences, the question and the whole text. Set by the driver.
    """

    numbers: tuple[int, ...] = ()
    items: tuple[str, ...] = ()
    size: int | None = None
    scale: Scale | None = None
    form: str = ""
    graded: bool = False
    known: tuple[tuple[int, str], ...] = ()
    texts: tuple[str, ...] = ()
    around: tuple[str, ...] = ()

    @property
    def as_json(self) -> bool:
        """Whether the reply must be JSON: the prompt says so, or its text is unknown."""
        return self.graded or not self.form or "JSON" in self.form

    def shows(self, name: str) -> bool:
        """Whether the form can have a field of this name; always true for lines of text."""
        return self.graded or not self.as_json or not self.form or f'"{name}"' in self.form


ANYTHING: Final = Expected()
"""No constraints except the answer type."""


class Reading(NamedTuple, Generic[T_co]):
    """The result of reading a reply.

    Attributes:
        value: the typed value; None if the reply does not have the form.
        objections: errors in the form and missing parts; empty for a complete reply.
        rule: the form that was read, "json" or "lines"; "unread" without a value.
        dropped: parts that do not count, each with the reason.
    """

    value: T_co | None
    objections: tuple[str, ...] = ()
    rule: str = "unread"
    dropped: tuple[str, ...] = ()


class Declined(NamedTuple):
    """Whether an answer declines, according to one step, with the reason."""

    declined: bool
    reason: str | None = None


class Answer(BaseModel):
    """A typed reply of a judge: its fields are exactly those of the JSON object that the prompt asks for.

    A custom type needs fields, and `objections` if some values of them are not valid answers.
    """

    # built at its first use: a program that imports the package may never read a reply
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    def read(cls, text: str, expected: Expected = ANYTHING) -> Reading[Self]:
        """Read any raw reply, in time linear in its length.

        Reasoning at the start is ignored if it ends. The rest must be one JSON object, alone or in a code
        fence, without other text; or lines of text, if the prompt does not ask for JSON.
        """
        if len(text) > LONGEST:
            return Reading(None, (f"it has more than {LONGEST:,} characters",))
        objection = "it ends within its reasoning" if text.strip() else "it is empty"
        for body in bodies(text):
            try:
                return cls._of(body, expected)
            except NotRead as reason:
                objection = str(reason) if body else objection
        return Reading(None, (objection,))

    @classmethod
    def of_value(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read a JSON object, also one converted from lines of text.

        Raises:
            NotRead: the object does not have the form.
        """
        answer = cls.checked(value)
        objections = tuple(islice(answer.objections(expected), OBJECTIONS))
        return Reading(None if objections else answer, objections)

    @classmethod
    def of_lines(cls, body: str) -> dict[str, Json]:
        """Convert lines of text to the equivalent JSON object.

        Raises:
            NotRead: the lines do not have the form.
        """
        raise NotRead(f"a {cls.__name__} is read from JSON alone, which the prompt does not ask for")

    @classmethod
    def misplaced_form(cls, form: str, *, is_numbered: bool) -> str | None:
        """Explain the reason that a prompt with this form cannot be answered; None if it can.

        Args:
            form: the text of the prompt.
            is_numbered: whether it numbers the sentences of a text.
        """
        return None

    def objections(self, expected: Expected) -> Iterator[str]:
        """Objections to a reply that has the form but does not answer the question, as shown to the judge."""
        yield from ()

    def abstention(self) -> Declined | None:
        """Whether the answer under test declines, according to this reply; None if unknown."""
        return None

    def answered(self) -> Mapping[int, str] | None:
        """The numbers that this reply answers, each with its answer; only the others are asked about again.

        None for a reply that is only usable as a whole.
        """
        return None

    def with_more(self, later: Any) -> Self:
        """This reply and a later one about other numbers, as one."""
        return self

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the form, for servers with constrained decoding."""
        return cls.model_json_schema()

    @classmethod
    def numbered_schema(cls, expected: Expected) -> Schema:
        """A schema that requires every number, with `prefixItems`, which not all servers support."""
        return cls.reply_schema(expected)

    @classmethod
    def laid_out(cls, value: Mapping[str, Any], expected: Expected) -> str:
        """A reply with the content of a JSON object, in the form that the prompt asks for."""
        return json.dumps(value, ensure_ascii=False) if expected.as_json else cls.to_lines(value)

    @classmethod
    def to_lines(cls, value: Mapping[str, Any]) -> str:
        """Convert a JSON object to lines of text, the inverse of `of_lines`."""
        raise NotImplementedError

    @classmethod
    def filled(cls, expected: Expected) -> str:
        """A reply in the form with arbitrary content, for plans that ask no judge."""
        return cls.laid_out(example_of(cls.numbered_schema(expected)), expected)

    def written(self) -> dict[str, Any]:
        """The value for the record: the JSON object of the form without empty fields."""
        fields: dict[str, Any] = self.__pydantic_serializer__.to_python(
            self, mode="json", by_alias=True, exclude_none=True
        )
        return fields

    @classmethod
    def checked(cls, value: Mapping[str, Json]) -> Self:
        """Validate a JSON object.

        Raises:
            NotRead: a field is missing, unknown or of the wrong type.
        """
        names = {field.alias or name for name, field in cls.model_fields.items()}
        if unknown := [name for name in value if name not in names]:
            raise NotRead(f'"{unknown[0][:80]}" was not asked for')
        return validated(cls, value)

    @classmethod
    def _of_json(cls, value: Json, expected: Expected) -> dict[str, Json]:
        """The JSON object of a reply, without accepted deviations from the form."""
        if expected.graded:
            return object_with(value, {})
        schema = cls.reply_schema(expected)
        return conformed(object_with(value, schema), schema)

    @classmethod
    def _of(cls, body: str, expected: Expected) -> Reading[Self]:
        as_json = expected.as_json
        value = cls._of_json(json_value(body), expected) if as_json else cls.of_lines(body)
        for name in value:
            if not expected.shows(name):
                raise NotRead(f'"{name[:80]}" was not asked for')
        lines, examples, placeholders = _shown_in(expected.form)
        repeats_form = value in examples if as_json else _in_lines(body) in lines
        if repeats_form:
            raise NotRead("it repeats the form and fills in nothing")
        for text in _texts(value) if "<" in body or "\\u" in body else ():
            inside = _PLACEHOLDER.fullmatch(text)
            if inside and not placeholders.isdisjoint(_words(inside[1])):
                raise NotRead(f"it leaves <{inside[1][:80]}> as the form has it")
        reading = cls.of_value(value, expected)
        if reading.value is None or reading.rule != "unread":  # a reply within a reply has its own rule
            return reading
        return reading._replace(rule="json" if as_json else "lines")


def entries(texts: Iterable[str], what: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts that are entries, and a note on each that says there is none.

    >>> entries(["Ulm", "N/A", "(none)"], "entity")
    (('Ulm',), ('entity 2 is not an entry: N/A', 'entity 3 is not an entry: (none)'))

    Raises:
        NotRead: an entry is only a placeholder, such as "entity 1".
    """
    noun = what.rpartition(" ")[2]
    nouns = frozenset({noun, f"{noun}s", f"{noun.removesuffix('y')}ies"})
    kept: list[str] = []
    dropped: list[str] = []
    for place, text in enumerate(texts, start=1):
        plain = folded(text.strip(_MARKS)) if len(text) <= _LONGEST_PLACEHOLDER else ""
        words = _words(plain)
        if len(words) == 1 and words <= nouns:
            raise NotRead(f"{what} {place} is a placeholder: {text}")
        says_none = {"no"} < words <= nouns | {"no", "found"}
        if plain in _NOTHING or says_none:
            dropped.append(f"{what} {place} is not an entry: {text[:80]}")
        else:
            kept.append(text)
    return tuple(kept), tuple(dropped)


def distinct(texts: Iterable[str], what: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The distinct texts, and a note on each repeated one.

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
    """Normalized text: without differences in case, spaces and final full stop."""
    return folded(spaced_form(text)).rstrip(" .")


def object_of(expected: Expected, fields: Mapping[str, Schema]) -> Schema:
    """Schema of an object with the fields that the prompt shows, in the order of its form."""
    names = _in_order(expected.form, expected.graded, tuple(fields))
    return {
        "type": "object",
        "properties": {name: fields[name] for name in names},
        "required": list(names),
        "additionalProperties": False,
    }


@lru_cache(maxsize=256)
def _in_order(form: str, graded: bool, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names that a form shows, in its order."""
    expected = Expected(form=form, graded=graded)
    return tuple(sorted(filter(expected.shows, names), key=lambda name: form.rfind(f'"{name}"')))


def list_of(schema: Schema, size: int | None = None) -> Schema:
    """Schema of a list of such values, with a fixed length if it is known."""
    return {"type": "array", "items": schema} | ({} if size is None else {"minItems": size, "maxItems": size})


def example_of(schema: Schema) -> Any:
    """A value of a JSON schema, about as long as a judge's; all its texts differ."""
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
        fixed: Sequence[Schema] | None = schema.get("prefixItems")
        items = schema.get("items", {})
        if "enum" in items and "minItems" not in schema:
            return list(items["enum"][:_ENTRIES])
        inner = [items] * schema.get("minItems", _ENTRIES) if fixed is None else fixed
        return [_example(each, named, places) for each in inner]
    place = next(places)
    if "examples" in schema:
        return schema["examples"][0]
    values: dict[Any, Any] = {"boolean": False, "integer": place, "number": place, "null": None}
    return values.get(kind, f"{_SENTENCE}, number {place}.")


@lru_cache(maxsize=256)
def _shown_in(form: str) -> tuple[str, Sequence[dict[str, Json]], frozenset[str]]:
    """The lines of a prompt, the objects at the start of a line, and the words of its placeholders."""
    examples: list[dict[str, Json]] = []
    for line in re.finditer(r"^\{", form, re.MULTILINE):
        with suppress(NotRead):
            examples.append(first_object(form[line.start() :]))
    return _in_lines(form), examples, frozenset[str]().union(*map(_words, _PLACEHOLDER.findall(form)))


def _in_lines(text: str) -> str:
    return "\n".join(["", *filter(None, map(str.strip, text.split("\n"))), ""])


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d]+", text.casefold()))


def _texts(value: Json) -> Iterator[str]:
    """All texts of a JSON value, except those that a judge copies from its input."""
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
    """Validate a JSON object as a model.

    Raises:
        NotRead: the object is invalid; the message is the first error, for the judge.
    """
    try:
        # as JSON, for a list is a tuple there also when nothing else is taken for anything else
        return kind.model_validate_json(to_json(value))
    except ValidationError as error:
        raise NotRead(_first_objection(error)) from None
    except (PydanticSerializationError, UnicodeError):
        raise NotRead("a text in it holds half a character") from None


def _first_objection(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    place = ", ".join(f'"{part}"' if isinstance(part, str) else f"entry {part + 1}" for part in first["loc"])
    said = f"{first['msg'][:1].lower()}{first['msg'][1:]}"
    if first["type"] == "string_pattern_mismatch":
        said = "it is not one line with a letter or digit in it"
    if first["type"] != "missing":
        said = f"{said}, but {json.dumps(first['input'], ensure_ascii=False, default=str)[:80]}"
    return f"{place}: {said}" if place else said
