"""Shared steps of the rating metrics: the mean of several ratings on a scale."""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Literal

from ragmetrics_core.asking import ask_ratings
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Measurement
from ragmetrics_core.parsers import Rating, Scale
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.scoring import Bounds

__all__ = ["MissingRatings", "check_attempts", "mean_rating", "rated"]

MissingRatings = Literal["bounds", "left_out"]

_MOST_TERMS = 12


def check_attempts(metric: str, attempts: int | None) -> None:
    """Raise `ConfigError` for attempts below 1."""
    if attempts is not None and attempts < 1:
        raise ConfigError(f"{metric}: attempts must be at least 1, not {attempts}")


def rated(
    *asked: tuple[Prompt[Rating], Mapping[str, object]],
    scale: Scale,
    attempts: int | None = None,
    missing_ratings: MissingRatings = "bounds",
) -> Steps[Measurement]:
    """Ask each prompt for a rating and take the mean."""
    ratings = yield from ask_ratings(*asked, scale=scale, attempts=attempts)
    return mean_rating(ratings, scale, missing_ratings=missing_ratings)


def mean_rating(
    ratings: Sequence[float | None], scale: Scale, *, missing_ratings: MissingRatings = "bounds"
) -> Measurement:
    """The mean of the ratings, scaled to [0, 1]; bounds if ratings are missing.

    A missing rating does not change the number of ratings: it may be any number of the scale. With "left_out"
    the mean is taken over the others, as in other libraries.
    """
    if missing_ratings == "left_out":
        ratings = [rating for rating in ratings if rating is not None] or ratings
    known = [rating for rating in ratings if rating is not None]
    missing = len(ratings) - len(known)
    counts: dict[str, float] = {"ratings": len(ratings), "sum": fsum(known)}
    span = len(ratings) * (scale.high - scale.low)
    low, high = (
        (fsum(known) + missing * filler - len(ratings) * scale.low) / span
        for filler in (scale.low, scale.high)
    )
    spelled = _spelled(ratings, scale)
    if not missing:
        return Measurement(value=low, counts=counts, formula=f"{spelled} = {low:.3g}")
    return Measurement(
        bounds=Bounds(low, high),
        reason="missing_ratings",
        counts={**counts, "missing": missing},
        formula=f"{spelled}: {low:.3f} to {high:.3f}",
    )


def _spelled(ratings: Sequence[float | None], scale: Scale) -> str:
    shown = ["?" if rating is None else f"{rating:g}" for rating in ratings[:_MOST_TERMS]]
    total = " + ".join(shown + ["..."] * (len(ratings) > _MOST_TERMS))
    if scale.low:
        mean = total if len(ratings) == 1 else f"({total}) / {len(ratings)}"
        return f"({mean} - {scale.low}) / ({scale.high} - {scale.low})"
    if len(ratings) == 1:
        return f"{total} / {scale.high}"
    return f"({total}) / ({len(ratings)} × {scale.high})"
