"""The record as a driver makes it: a dictionary that is written as it is, and validated when it is read."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from ragmetrics_core.measurement import Measurement
from ragmetrics_core.prompts import PromptText, digest_of
from ragmetrics_core.records import PartResult, Record, Status
from ragmetrics_core.records._packing import packed
from ragmetrics_core.records._sealing import sealed_line
from ragmetrics_core.samples import Sample

__all__ = ["WrittenRecord", "checked_outcome"]


class WrittenRecord(NamedTuple):
    """A record as a driver makes it: what is stored, before anybody has read it.

    Attributes:
        fields: the fields of the record, in their order, as they are written; its verdicts, where there are
            any, are columns by the names of their fields, and its steps with a reply lack what goes
            without saying.
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
        columns = self.fields["verdicts"]
        return zip(columns["about"], columns["text"], columns["supported"], strict=True) if columns else ()

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
        columns: Mapping[str, Sequence[Any]] = self.fields["verdicts"] or {}
        verdicts = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        steps = list(map(_whole, self.fields["steps"]))
        return Record.model_validate({**self.fields, "verdicts": verdicts, "steps": steps})

    def hydrated(self, sample: Sample, prompts: Mapping[str, PromptText]) -> Record:
        """The record that was read, with its sample and the prompts that its steps name."""
        return self.read().hydrated(sample, prompts)


def _whole(step: dict[str, Any] | BaseModel) -> Mapping[str, Any] | BaseModel:
    """A step as a record has it: one with a reply with what goes without saying."""
    if isinstance(step, BaseModel):
        return step
    return {**step, "kind": "generate", "reply_digest": digest_of(step["reply"])}


def checked_outcome(measurement: Measurement) -> dict[str, Any]:
    """The fields that a measurement gives to a record, in their order.

    Raises:
        ValueError: it has numbers that no record holds, such as NaN, or no numbers at all.
    """
    checked = PartResult.of("", measurement)
    return {
        name: getattr(checked, name) for name in ("reason", "value", "bounds", "counts", "formula", "parts")
    }
