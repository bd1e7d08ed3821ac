"""Stored records for tests that look into them, or alter them by hand."""

import json
from typing import Any

from ragmetrics_core import Record

__all__ = ["plain"]


def plain(line: str | bytes) -> dict[str, Any]:
    """The fields of a stored record, each written out, as the first stored form had them."""
    record = Record.from_json(line)
    attached = {"seal", "sample", "prompts", "rendered_prompts"}
    fields: dict[str, Any] = json.loads(record.model_dump_json(by_alias=True, exclude=attached))
    return fields
