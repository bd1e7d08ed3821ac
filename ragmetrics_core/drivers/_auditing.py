"""Audit of a record: the fields that its replies do not reproduce."""

from functools import lru_cache
from typing import Any, NamedTuple

from ragmetrics_core.boundary.shapes import is_dict, is_series
from ragmetrics_core.drivers._own_code import without_place
from ragmetrics_core.drivers._replay import Replay, not_hydrated, rewritten
from ragmetrics_core.errors import RecordError
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.prompts import PromptText
from ragmetrics_core.records import Record
from ragmetrics_core.records.comparison import are_same

__all__ = ["Difference", "audit", "is_reproduced"]


class Difference(NamedTuple):
    """A field of a record that its replies do not reproduce."""

    field: str
    stored: object
    derived: object

    def __str__(self) -> str:
        """The difference in one line."""
        return f"{self.field}: stored {_short(self.stored)}, derived {_short(self.derived)}"


def is_reproduced(record: Record, line: bytes, *, metric: Metric[Any] | None = None) -> bool:
    """Whether the replies reproduce a record's line exactly, which proves the whole record.

    Args:
        record: a hydrated record; fields that its replies reproduce may be missing.
        line: the stored line of the record.
        metric: the metric, if it is not in the catalogue.
    """
    if record.sample is None or record.prompts is None or record.sample.digest != record.sample_digest:
        return False
    if any(_digest_of_prompt(text) != digest for digest, text in record.prompts.items()):
        return False
    try:
        return rewritten(record, metric, Replay(record)).line() == line.rstrip(b"\n")
    except RecordError:
        return False


def audit(record: Record, *, metric: Metric[Any] | None = None) -> list[Difference]:
    """Recompute the record and list every field that differs; an empty list is a proof.

    Args:
        record: a hydrated or self-contained record.
        metric: the metric, if it is not in the catalogue.

    Raises:
        RecordError: the record is not hydrated.
    """
    if record.sample is None or record.prompts is None:
        raise not_hydrated(record)
    found = [
        Difference(f"prompts[{key}]", key, digest)
        for key, text in (record.prompts or {}).items()
        if (digest := text.digest) != key
    ]
    if record.sample.digest != record.sample_digest:
        found.append(Difference("sample", record.sample_digest, record.sample.digest))
    ignored = {"digest", "seal", "sample", "prompts", "rendered_prompts"}
    ignored |= {"versions", "judge", "embedder", "scorer"}
    replay = Replay(record)
    try:
        derived = replay.read(rewritten(record, metric, replay))
    except RecordError as error:
        found.append(Difference("steps", f"{len(record.steps)} steps", str(error)))
    else:
        if record.status == derived.status == "metric_error" and (
            without_place(record.reason or "") == without_place(derived.reason or "")
        ):
            ignored.add("reason")  # its line moves with the file
        found += _compare("", record.model_dump(exclude=ignored), derived.model_dump(exclude=ignored))
    # the line as it was read, or the fields that it held: blanks, escapes and the form are no alteration
    if record.digest and record.digest not in (record.seal, *(seals := record.seals())):
        found.append(Difference("digest", record.digest, seals[0]))
    return found


def _compare(name: str, stored: object, derived: object) -> list[Difference]:
    """Innermost fields in which two dumped values differ; numbers may differ by rounding."""
    if is_series(stored) and is_series(derived):
        if len(stored) == len(derived):
            pairs = enumerate(zip(stored, derived, strict=True), start=1)
            return [found for number, both in pairs for found in _compare(f"{name}[{number}]", *both)]
        stored, derived = list(stored), list(derived)
    if are_same(stored, derived):
        return []
    if is_dict(stored) and is_dict(derived):
        return [
            found
            for key in stored | derived
            for found in _compare(f"{name}.{key}" if name else str(key), stored.get(key), derived.get(key))
        ]
    return [Difference(name, stored, derived)]


@lru_cache(maxsize=256)
def _digest_of_prompt(text: PromptText) -> str:
    return text.digest


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
