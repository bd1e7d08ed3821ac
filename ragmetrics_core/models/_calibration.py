"""A judge whose probabilities are calibrated on people's labels, and the card that says how."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragmetrics_core.errors import ConfigError, ModelRefused
from ragmetrics_core.models.identity import is_unnamed
from ragmetrics_core.models.wrapper import Wrapper, decider_of
from ragmetrics_core.parsers import ProbabilityMap
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.protocol import Completion, Generate, Judge, fixed_property

__all__ = ["CalibratedJudge", "CalibrationCard", "CalibrationFigure"]

_Count = Annotated[int, Field(ge=0)]
# A figure with the ends of its interval, if it has one.
_Figure = tuple[float, float | None, float | None]


class CalibrationFigure(BaseModel):
    """Brier score or expected calibration error, each with its 95 % interval.

    Attributes:
        before: of the judge's probabilities.
        after: of the calibrated ones, each from a fit without its source.
        change: after less before, on the same verdicts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    before: _Figure
    after: _Figure
    change: _Figure


class CalibrationCard(BaseModel):
    """A map for the probabilities of one judge in one metric, fitted on people's labels.

    Attributes:
        schema_version: format of the card; it rises only when a meaning changes.
        judge: identity of the judge.
        metric: the metric's signature.
        prompts: digests of the prompts that asked for the verdicts, by name with version.
        calibration: the map.
        label, labels: name of the label, and digest of the labels with the probabilities.
        n, confirmed, sources: numbers of labelled verdicts, of those that people confirm to be positive, and
            of their sources.
        folds: number of parts of the cross-validation.
        brier, error: Brier score and expected calibration error before and after.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    schema_version: Literal[1] = 1
    judge: str
    metric: str
    prompts: dict[str, str] = Field(min_length=1)
    calibration: ProbabilityMap
    label: str
    labels: str
    n: _Count
    confirmed: _Count
    sources: _Count
    folds: _Count
    brier: CalibrationFigure
    error: CalibrationFigure

    @cached_property
    def digest(self) -> str:
        """Digest of all that changes verdicts: the map and the prompts."""
        told = [self.calibration.model_dump(mode="json"), sorted(self.prompts.values())]
        return digest_of(json.dumps(told, sort_keys=True))[:12]

    @classmethod
    def read(cls, path: str | Path) -> "CalibrationCard":
        """Read a card that `ragmetrics study calibrate` wrote.

        Raises:
            ConfigError: the file cannot be read, or is not a card.
        """
        try:
            return cls.model_validate_json(Path(path).read_bytes())
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise ConfigError(
                f"{path} is not a calibration card: {where}{': ' * bool(where)}{first['msg']}; make one with "
                "ragmetrics study calibrate LABELS RUN --card CARD.json"
            ) from error


@dataclass(frozen=True)
class CalibratedJudge(Wrapper):
    """A judge with calibrated probabilities; a verdict is "yes" if its calibrated probability is above 0.5.

    Only verdicts with a probability on the card's prompts change. The record keeps the judge's raw reply and
    the map, so that scores are recomputed without the card.

    Attributes:
        inner: the judge that the card was made for.
        card: the card, or its file.

    Raises:
        ConfigError: the card cannot be read, or was made for another judge.
    """

    by_file: ClassVar[bool] = False

    card: CalibrationCard | str | Path = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        card = self.card if isinstance(self.card, CalibrationCard) else CalibrationCard.read(self.card)
        object.__setattr__(self, "card", card)
        own = self.inner.identity
        if decider_of(self.inner) is not None:
            raise ConfigError(
                f"a card calibrates one judge, not {own}: calibrate the cheap judge, as in "
                "cascade:calibrated:CARD.json,CHEAP,EXPENSIVE"
            )
        if card.judge != own or is_unnamed(own):
            raise ConfigError(
                f"the calibration was made for the judge {card.judge}, not for {own}: make one for this "
                "judge with ragmetrics study calibrate"
            )

    @property
    def _card(self) -> CalibrationCard:
        assert isinstance(self.card, CalibrationCard)
        return self.card

    @fixed_property
    def identity(self) -> str:
        """The judge, the method and the card's digest."""
        return f"calibrated({self.inner.identity} | {self._card.calibration.method} {self._card.digest})"

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """The judge's replies; those with probabilities on the card's prompts go with the map.

        Raises:
            ModelRefused: the card was made for another version of this prompt.
            ModelError: the judge did not answer.
        """
        prompt, prompts = request.prompt, self._card.prompts
        is_asked = prompt.name in {name.partition(".")[0] for name in prompts}
        if is_asked and prompt.digest not in prompts.values():
            raise ModelRefused(
                f"the calibration was made for the prompt {', '.join(prompts)}, not for this {prompt.id}: "
                "make one for this prompt with ragmetrics study calibrate"
            )
        replies: Sequence[Completion] = await cast("Judge", self.inner).agenerate(request)
        return [self._with_map(reply) if is_asked else reply for reply in replies]

    def _with_map(self, reply: Completion) -> Completion:
        if reply.held_to != "graded":  # it has no probabilities
            return reply
        held = {"calibration": self._card.calibration.model_dump(mode="json"), "reply": reply.text}
        return replace(reply, text=json.dumps(held, ensure_ascii=False))
