"""Whether records are as they were written, told by their seals: nothing is derived again."""

import json
from functools import cache

from ragmetrics_core.errors import RecordError
from ragmetrics_core.records import Record
from ragmetrics_core.records._sealing import seal_of
from ragmetrics_core.runs._index import Index
from ragmetrics_core.runs._lines import Lines
from ragmetrics_core.runs._manifest import Manifest
from ragmetrics_core.runs._stored import MODELS

__all__ = ["are_sealed"]


def are_sealed(records: Lines, index: Index, manifest: Manifest) -> bool:
    """Whether the lines of all records are whole and stand where they were written.

    Each must have the seal that belongs to it, the one that the index knows; and be of the run's own sample
    of that id, and of the run's models. A line in whose place a later one has come is not looked at.
    """

    @cache
    def are_own(models: str) -> bool:
        told = zip(MODELS, json.loads(models), strict=True)
        return all(not model or model == getattr(manifest, name) for name, model in told)

    with records.opened() as file:
        for place, seal, has_its_sample, models in index.seals():
            file.seek(place)
            if not (seal and has_its_sample and are_own(models) and _has_seal(file.readline(), seal)):
                return False
    return True


def _has_seal(line: bytes, seal: str) -> bool:
    """Whether a line has its seal, as it stands or, where blanks were moved, as it is read."""
    try:
        return seal_of(line) == seal or seal in Record.from_json(line).seals()
    except RecordError:
        return False
