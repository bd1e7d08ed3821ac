"""Named entities of a text, from a judge."""

from collections.abc import Mapping
from typing import Self

from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.parsers._answer import (
    Answer,
    Expected,
    Reading,
    Schema,
    Texts,
    entries,
    list_of,
    object_of,
)

__all__ = ["EntityList"]


class EntityList(Answer):
    """Names in the judge's order, with repeats: {"entities": ["..."]}."""

    entities: Texts

    @classmethod
    def of_value(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read the entities without those that say there is none."""
        entities, dropped = entries(cls.checked(value).entities, "entity")
        return Reading(cls.model_construct(entities=entities), dropped=dropped)

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the form."""
        return object_of(expected, {"entities": list_of({"type": "string"})})
