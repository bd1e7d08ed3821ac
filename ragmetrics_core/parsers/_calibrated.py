"""Replies with calibrated probabilities: another judge's reply, with the map for its probabilities."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.scoring.probability_maps import Knots, LogitLine, at_knots, on_line

__all__ = ["CalibratedReply", "IsotonicMap", "PlattMap", "ProbabilityMap", "holds_calibrated"]

_FROZEN = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)
_Share = Annotated[float, Field(ge=0, le=1)]


class IsotonicMap(BaseModel):
    """A rising curve from one probability to another.

    Attributes:
        inputs: probabilities at the knots, each above the one before.
        outputs: their calibrated probabilities, none below the one before.
    """

    model_config = _FROZEN

    method: Literal["isotonic"] = "isotonic"
    inputs: tuple[_Share, ...] = Field(min_length=1)
    outputs: tuple[_Share, ...]

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if len(self.inputs) != len(self.outputs):
            raise ValueError("there is not one output for each input")
        if any(low >= high for low, high in pairwise(self.inputs)):
            raise ValueError("the inputs do not rise")
        if any(low > high for low, high in pairwise(self.outputs)):
            raise ValueError("the outputs fall")
        return self

    def calibrated(self, probability: float) -> float:
        """The calibrated probability."""
        return at_knots(Knots(self.inputs, self.outputs), probability)


class PlattMap(BaseModel):
    """A straight line for log odds; see `platt_fit`.

    Attributes:
        slope, intercept: the line.
    """

    model_config = _FROZEN

    method: Literal["platt"] = "platt"
    slope: float
    intercept: float

    def calibrated(self, probability: float) -> float:
        """The calibrated probability."""
        return on_line(LogitLine(self.slope, self.intercept), probability)


ProbabilityMap = Annotated[IsotonicMap | PlattMap, Field(discriminator="method")]


class CalibratedReply(BaseModel):
    """A judge's reply with the map for its probabilities: {"calibration": {...}, "reply": "<raw reply>"}.

    Attributes:
        calibration: the map.
        reply: the reply, as the judge gave it.
    """

    model_config = _FROZEN

    calibration: ProbabilityMap
    reply: str


def holds_calibrated(value: Mapping[str, Json]) -> bool:
    """Whether a reply's JSON object holds another reply and its calibration."""
    return set(value) == {"calibration", "reply"}
