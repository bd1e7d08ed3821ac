"""True positives, false positives and false negatives, as lists of statements."""

from collections.abc import Mapping
from typing import Self

from pydantic import Field

from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.parsers._answer import (
    Answer,
    Expected,
    Reading,
    Schema,
    Texts,
    distinct,
    entries,
    list_of,
    object_of,
    spoken,
)
from ragmetrics_core.parsers._reply import NotRead

__all__ = ["FactLists"]


class FactLists(Answer):
    """Three lists of statements: {"TP": ["..."], "FP": ["..."], "FN": ["..."]}.

    Attributes:
        tp: distinct statements in both answer and reference.
        fp: distinct statements in the answer only.
        fn: distinct statements in the reference only.
    """

    tp: Texts = Field(alias="TP")
    fp: Texts = Field(alias="FP")
    fn: Texts = Field(alias="FN")

    @classmethod
    def of_value(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read the distinct statements of each list; reject a statement in two lists."""
        answer = cls.checked(value)
        dropped: list[str] = []
        lists: dict[str, tuple[str, ...]] = {}
        places: dict[str, str] = {}
        for name in ("tp", "fp", "fn"):
            what = f"{name.upper()} statement"
            real, nothing = entries(getattr(answer, name), what)
            lists[name], repeated = distinct(real, what)
            dropped += nothing + repeated
            for text in lists[name]:
                other = places.setdefault(spoken(text), name)
                if other != name:
                    raise NotRead(f"a statement stands in {other.upper()} and in {name.upper()}: {text[:80]}")
        return Reading(answer.model_copy(update=lists), dropped=tuple(dropped))

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the form."""
        texts = list_of({"type": "string"})
        return object_of(expected, {"TP": texts, "FP": texts, "FN": texts})
