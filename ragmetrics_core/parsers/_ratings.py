"""A rating on a scale, with its reason."""

from collections.abc import Iterator, Mapping
from typing import Self

from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.parsers._answer import Answer, Expected, Reading, Schema, object_of
from ragmetrics_core.parsers._decisions import LEVEL, RATED, decided, holds_decisions

__all__ = ["Rating"]


class Rating(Answer):
    """A number on the scale: {"reason": "...", "rating": 7}.

    Attributes:
        rating: the number.
        reason: the judge's reason; empty if it gives none.
    """

    rating: float
    reason: str | None = None

    @classmethod
    def of_value(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read the rating, or a decision model's expected level, which may lie between two numbers."""
        scale = expected.scale
        if scale is None or not expected.graded or not holds_decisions(value):
            return super().of_value(value, expected)
        answers = decided(value, LEVEL, highest=len(scale.numbers) - 1)
        level = answers.take(RATED)
        answer = cls(rating=scale.low + scale.step * level, reason=f"expected level {level:.3g}")
        return Reading(answer, dropped=answers.left)

    def objections(self, expected: Expected) -> Iterator[str]:
        """Object to a rating that is not on the scale."""
        scale = expected.scale
        if scale is not None and not scale.has(self.rating):
            allowed = scale.numbers if len(scale.numbers) < 6 else f"{scale.low} to {scale.high}"
            yield f'"rating" is {self.rating:g}, which is none of {allowed}'

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the form, with the numbers of the scale."""
        rating: Schema = {"type": "number"}
        if expected.scale is not None:
            rating = {"type": "integer", "enum": list(expected.scale.numbers)}
        return object_of(expected, {"reason": {"type": "string"}, "rating": rating})
