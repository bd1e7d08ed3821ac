"""Check of records by their seals, without recomputing them."""

import json
from functools import cache

from ragmetrics_core.errors import RecordError
from ragmetrics_core.records import Record
from ragmetrics_core.records.sealing import seal_of
from ragmetrics_core.runs._index import Index
from ragmetrics_core.runs._manifest import Manifest
from ragmetrics_core.runs._stored_lines import MODELS
from ragmetrics_core.runs.append_only_lines import Lines

__all__ = ["are_sealed"]


def are_sealed(records: Lines, index: Index, manifest: Manifest) -> bool:
    """Whether all records are unchanged.

    Each line must have its seal, which the index knows, and belong to the run's sample with that id and to
    the run's models. Superseded lines are not checked.
    """

    @cache
    def are_of_this_run(models: str) -> bool:
        pairs = zip(MODELS, json.loads(models), strict=True)
        return all(not model or model == getattr(manifest, name) for name, model in pairs)

    with records.opened() as file:
        for place, seal, has_its_sample, models in index.seals():
            file.seek(place)
            if not (seal and has_its_sample and are_of_this_run(models) and _has_seal(file.readline(), seal)):
                return False
    return True


def _has_seal(line: bytes, seal: str) -> bool:
    """Whether a line has its seal, either as written or, if only whitespace changed, as parsed."""
    try:
        return seal_of(line) == seal or seal in Record.from_json(line).seals()
    except RecordError:
        return False
