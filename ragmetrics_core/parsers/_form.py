"""The form in which an answer is asked for: what its names hold, as a JSON schema, and an example of it."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

__all__ = ["TEXT", "TEXTS", "Schema", "Wanted", "example_of", "items_of", "object_of"]

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}

_SENTENCE = "A sentence of about the length that a judge writes for one"
# How many entries a list has that does not follow from the question: about as many as answers have sentences.
_ENTRIES = 3


class Wanted(NamedTuple):
    """What a request asks of a reply.

    Attributes:
        text: the prompt's own text, which shows the form; None where all names of the form are wanted.
        numbers: the numbers of the items that are asked about.
        size: how many entries a list is to have; None where nobody says.
        fixed: fix the number of each verdict by its place in the list (`prefixItems`), so that no item can be
            left out. Hosted services with strict schemas do not know this keyword.
    """

    text: str | None = None
    numbers: tuple[int, ...] = ()
    size: int | None = None
    fixed: bool = False

    def shows(self, *words: str) -> bool:
        """Whether the prompt shows these words."""
        return self.text is None or all(word in self.text for word in words)


def object_of(wanted: Wanted, properties: Mapping[str, Schema]) -> Schema:
    """An object of those properties that the prompt names, in the prompt's order."""
    text = wanted.text
    named = list(properties)
    if text is not None:
        places = {name: text.find(f'"{name}":') for name in properties}
        named = sorted((name for name in named if places[name] >= 0), key=places.__getitem__)
    return {
        "type": "object",
        "properties": {name: properties[name] for name in named},
        "required": named,
        "additionalProperties": False,
    }


def items_of(schema: Schema, size: int | None) -> Schema:
    """A list of such values, so many of them where that is known."""
    return {
        "type": "array",
        "items": schema,
        **({} if size is None else {"minItems": size, "maxItems": size}),
    }


def example_of(schema: Schema) -> Any:
    """A value of the schema, about as long as a judge's; no two texts of it are the same."""
    return _example(schema, count(1))


def _example(schema: Schema, places: Iterator[int]) -> Any:
    for either in ("anyOf", "enum"):
        if either in schema:
            first = schema[either][0]
            return _example(first, places) if either == "anyOf" else first
    if "const" in schema:
        return schema["const"]
    kind = schema["type"]
    if kind == "object":
        return {name: _example(inner, places) for name, inner in schema["properties"].items()}
    if kind == "array":
        fixed = schema.get("prefixItems")
        inner = fixed or [schema["items"]] * schema.get("minItems", _ENTRIES)
        return [_example(each, places) for each in inner]
    place = next(places)
    return {"string": f"{_SENTENCE}, number {place}.", "boolean": False}.get(kind, place)
