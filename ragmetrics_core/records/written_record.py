"""The record as a driver makes it: a dictionary that is stored as is and validated when read."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from ragmetrics_core.measurement import Measurement
from ragmetrics_core.prompts import PromptText, digest_of
from ragmetrics_core.records import PartResult, Record, Status
from ragmetrics_core.records.packing import packed
from ragmetrics_core.records.sealing import sealed_line
from ragmetrics_core.samples import Sample

__all__ = ["WrittenRecord", "checked_outcome"]


class WrittenRecord(NamedTuple):
    """A record as a driver makes it: its stored fields, not yet validated.

    Attributes:
        fields: the stored fields in order; verdicts are columns by field name, and steps with a reply lack
            their default values.
    """

    fields: dict[str, Any]

    @property
    def sample_id(self) -> str:
        """The sample's id."""
        return str(self.fields["sample_id"])

    @property
    def signature(self) -> str:
        """The metric's signature."""
        return str(self.fields["signature"])

    @property
    def status(self) -> Status:
        """The score's status."""
        status: Status = self.fields["status"]
        return status

    @property
    def metric(self) -> str:
        """The metric's name."""
        return str(self.fields["metric"])

    @property
    def decided(self) -> Iterable[tuple[str, str, bool | None, str]]:
        """Kind of text, text, decision and label of each verdict."""
        columns = self.fields["verdicts"]
        if not columns:
            return ()
        return zip(columns["about"], columns["text"], columns["supported"], columns["label"], strict=True)

    def stored(self) -> str:
        """The stored line, as from `Record.stored`."""
        return self.line().decode()

    def line(self) -> bytes:
        """The stored line in UTF-8."""
        try:
            body = to_json(packed(self.fields), inf_nan_mode="null")
        except PydanticSerializationError:
            return self.read().line()
        return sealed_line(body)

    def read(self) -> Record:
        """The record as read from the stored line."""
        columns: Mapping[str, Sequence[Any]] = self.fields["verdicts"] or {}
        verdicts = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        steps = list(map(_whole, self.fields["steps"]))
        return Record.model_validate({**self.fields, "verdicts": verdicts, "steps": steps})

    def hydrated(self, sample: Sample, prompts: Mapping[str, PromptText]) -> Record:
        """The read record with its sample and the prompts of its steps."""
        return self.read().hydrated(sample, prompts)


def _whole(step: dict[str, Any] | BaseModel) -> Mapping[str, Any] | BaseModel:
    """A step with its default values."""
    if isinstance(step, BaseModel):
        return step
    return {**step, "kind": "generate", "reply_digest": digest_of(step["reply"])}


def checked_outcome(measurement: Measurement) -> dict[str, Any]:
    """Fields that a measurement contributes to a record, in order.

    Raises:
        ValueError: a number is not finite, or is not a number.
    """
    checked = PartResult.of("", measurement)
    return {
        name: getattr(checked, name) for name in ("reason", "value", "bounds", "counts", "formula", "parts")
    }
