"""The record as a driver makes it: a dictionary that is written as it is, and validated when it is read."""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticSerializationError, to_json

from ragmetrics_core.measurement import Measurement
from ragmetrics_core.prompts import PromptText, digest_of
from ragmetrics_core.records import PartResult, Record, Status, outcome
from ragmetrics_core.records._packing import VerdictColumns, packed
from ragmetrics_core.records._sealing import sealed_line
from ragmetrics_core.samples import Sample

__all__ = ["WrittenRecord", "checked_outcome"]


class WrittenRecord(NamedTuple):
    """A record as a driver makes it: what is stored, before anybody has read it.

    Attributes:
        fields: the fields of the record, in their order, as they are written; its verdicts, where there are
            any, are `VerdictColumns`, and its steps with a reply lack what goes without saying.
    """

    fields: dict[str, Any]

    @property
    def sample_id(self) -> str:
        """Which sample."""
        return str(self.fields["sample_id"])

    @property
    def signature(self) -> str:
        """What was measured."""
        return str(self.fields["signature"])

    @property
    def status(self) -> Status:
        """How it ended."""
        status: Status = self.fields["status"]
        return status

    @property
    def metric(self) -> str:
        """The metric's name."""
        return str(self.fields["metric"])

    @property
    def decided(self) -> Iterable[tuple[str, str, bool | None]]:
        """Of each verdict what kind of text it is about, the text, and the decision."""
        verdicts = self._verdicts
        return zip(verdicts.about, verdicts.text, verdicts.supported, strict=True) if verdicts else ()

    @property
    def _verdicts(self) -> VerdictColumns | None:
        return self.fields["verdicts"] or None

    def stored(self) -> str:
        """The line that is stored, as `Record.stored` gives it."""
        return self.line().decode()

    def line(self) -> bytes:
        """The line that is stored, in UTF-8."""
        try:
            body = to_json(packed(self.fields), inf_nan_mode="null")
        except PydanticSerializationError:
            return self.read().line()
        return sealed_line(body)

    def read(self) -> Record:
        """The record as a reader of the stored line has it."""
        verdicts = self._verdicts
        steps = list(map(_whole, self.fields["steps"]))
        read = {"verdicts": verdicts.rows() if verdicts else (), "steps": steps}
        return Record.model_validate({**self.fields, **read})

    def hydrated(self, sample: Sample, prompts: Mapping[str, PromptText]) -> Record:
        """The record that was read, with its sample and the prompts that its steps name."""
        return self.read().hydrated(sample, prompts)


def _whole(step: dict[str, Any] | BaseModel) -> Mapping[str, Any] | BaseModel:
    """A step as a record has it: one with a reply with what goes without saying."""
    if isinstance(step, BaseModel):
        return step
    return {**step, "kind": "generate", "reply_digest": digest_of(step["reply"])}


class _Outcome(BaseModel, frozen=True):
    """What a measurement came to, in the order of the record's fields."""

    model_config = ConfigDict(allow_inf_nan=False, defer_build=True)

    reason: str | None
    value: float | None
    bounds: tuple[float, float] | None
    counts: dict[str, int | float]
    formula: str
    parts: tuple[PartResult, ...]


def checked_outcome(measurement: Measurement) -> dict[str, Any]:
    """The fields that a measurement gives to a record or to a part of one.

    Raises:
        ValueError: it has numbers that no record holds, such as NaN, or no numbers at all.
    """
    fields = outcome(measurement)
    return fields if _is_plain(fields) else dict(_Outcome(**fields))


def _is_plain(fields: Mapping[str, Any]) -> bool:
    """Whether an outcome needs no check: of the right types to the letter, as nearly all are."""
    value, reason = fields["value"], fields["reason"]
    return (
        (value is None or (type(value) is float and isfinite(value)))
        and (reason is None or type(reason) is str)
        and type(fields["formula"]) is str
        and fields["bounds"] is None
        and fields["parts"] == ()
        and {str}.issuperset(map(type, fields["counts"]))
        and {int}.issuperset(map(type, fields["counts"].values()))
    )
