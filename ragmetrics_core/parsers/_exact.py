"""Replies that keep the form of their prompt to the letter: most are, and are read in a fifth of the time."""

import json
from collections.abc import Mapping
from typing import Self, TypeGuard, cast

from pydantic_core import from_json

from ragmetrics_core.parsers._echoes import is_form
from ragmetrics_core.parsers._form import Schema, Wanted, example_of, object_of
from ragmetrics_core.parsers._json_text import Fit
from ragmetrics_core.parsers._quoting import may_be_quoted
from ragmetrics_core.parsers._reading import Answer, Hints, Reading
from ragmetrics_core.shapes import Json

__all__ = ["JsonAnswer", "are_texts"]


class JsonAnswer(Answer):
    """An answer that prompts ask for as one JSON object, and that judges give in many other forms."""

    @classmethod
    def read(cls, text: str, hints: Hints) -> Reading[Self]:
        """Read a reply that keeps the form, else as `read_freely` does; both give the same where both can."""
        if (value := _object(text, hints)) is not None and (fit := cls.in_form(value)) is not None:
            assert isinstance(fit.value, cls), "a form is of its own type"
            return Reading(fit.value, "json", fit.dropped)
        return cls.read_freely(text, hints)

    @classmethod
    def form(cls, wanted: Wanted) -> Mapping[str, Schema]:
        """What the object holds, by name; without the first name a prompt asks for another form."""
        raise NotImplementedError

    @classmethod
    def reply_schema(cls, wanted: Wanted) -> Schema | None:
        """The JSON schema of the form, as far as the prompt shows it; None where it shows another."""
        names = cls.form(wanted)
        schema = object_of(wanted, names)
        return schema if next(iter(names)) in schema["properties"] else None

    @classmethod
    def example(cls, wanted: Wanted) -> str:
        """A reply in the whole form, with any content."""
        return json.dumps(example_of(object_of(wanted, cls.form(wanted))))

    @classmethod
    def filled(cls, hints: Hints) -> str:
        """A reply in the form that stands in where nobody is asked: the example."""
        return cls.example(Wanted(None, hints.numbers, fixed=True))

    @classmethod
    def in_form(cls, value: dict[str, Json]) -> Fit | None:
        """What an object says that is of the prompt's form to the letter; None for any other."""
        raise NotImplementedError

    @classmethod
    def read_freely(cls, text: str, hints: Hints) -> Reading[Self]:
        """Read any reply: JSON of other forms, in other text or damaged, and plain text."""
        raise NotImplementedError


def _object(text: str, hints: Hints) -> dict[str, Json] | None:
    """The object that a reply is and nothing else; None where it might be the sample's or the prompt's."""
    if text[:1] != "{" or text[-1:] != "}":
        return None
    try:
        value: Json = from_json(text, allow_inf_nan=False)
    except (TypeError, ValueError):  # the first for half a character, which has no UTF-8 form
        return None
    if not isinstance(value, dict):
        return None
    # of a key that is there twice, neither value is sure to be meant
    if text.count('":') != _keys(value) or may_be_quoted(hints) or is_form(text, hints):
        return None
    return value


def are_texts(value: object) -> TypeGuard[list[str]]:
    """Whether it is a list of texts and nothing else."""
    return type(value) is list and all(type(each) is str for each in cast("list[object]", value))


def _keys(value: dict[str, Json]) -> int:
    """How many keys an object has, with those of the objects in its lists."""
    count = len(value)
    for inner in value.values():
        if type(inner) is list:
            count += sum([len(each) for each in inner if type(each) is dict])
    return count
