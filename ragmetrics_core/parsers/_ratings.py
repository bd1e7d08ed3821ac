"""A rating on a scale, with its reason."""

from collections.abc import Iterator

from ragmetrics_core.parsers._answer import Answer, Expected, Schema, object_of

__all__ = ["Rating"]


class Rating(Answer):
    """A number on the scale: {"reason": "...", "rating": 7}.

    Attributes:
        rating: the number.
        reason: the judge's reason; empty if it gives none.
    """

    rating: float
    reason: str | None = None

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
