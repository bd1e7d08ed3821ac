"""Rows of a dataset's blocks, and rows of results."""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b, sha256
from typing import Any, Final, cast

import pyarrow as pa

from ragmetrics_core import Record
from ragmetrics_core.prompts import PromptText

__all__ = [
    "REJECTED",
    "SCHEMA",
    "key_of",
    "read",
    "rejected_row",
    "row_digest",
    "sample_key",
    "score_row",
    "table_of",
]

REJECTED: Final = "rejected"
# A rejected row is kept to be found again, not to be repeated whole.
_LONGEST_ROW: Final = 4_000

_NUMBERS: Final = ("value", "low", "high")
_COLUMNS: Final = (
    "sample_id", "sample_digest", "signature", "metric", "status", "value", "reason", "low", "high", "record",
    "sample", "prompts",
)  # fmt: skip
SCHEMA: Final = pa.schema([(name, pa.float64() if name in _NUMBERS else pa.string()) for name in _COLUMNS])


def read(block: pa.Table) -> list[dict[str, Any]]:
    """Rows of a block; a row that Arrow cannot read has the single column `unreadable`."""
    try:
        return cast("list[dict[str, Any]]", block.to_pylist())
    except ValueError as error:  # bytes that are no UTF-8 in some row
        if block.num_rows == 1:
            return [{"unreadable": str(error)}]
        return [row for place in range(block.num_rows) for row in read(block.slice(place, 1))]


def row_digest(row: Mapping[str, Any]) -> str:
    """SHA-256 of a row of any content, to recognize it later."""
    return sha256(_shown(row).encode("ascii")).hexdigest()


def key_of(kind: str, name: str) -> int:
    """64-bit key of a sample ("sample") or, by its digest, of a rejected row ("rejected")."""
    return int.from_bytes(blake2b(f"{kind}\0{name}".encode(), digest_size=8).digest())


def sample_key(sample_id: str, digest: str) -> int:
    """64-bit key of a sample with this content."""
    return key_of("sample", f"{digest} {sample_id}")


def score_row(record: Record) -> dict[str, Any]:
    """The row of a score; its record has its sample and prompts attached."""
    assert record.sample is not None
    assert record.prompts is not None
    low, high = record.bounds or (None, None)
    names = ("sample_id", "sample_digest", "signature", "metric", "status", "value")
    return {name: getattr(record, name) for name in names} | {
        # half a character in the words of a server has no UTF-8 form
        "reason": record.reason and record.reason.encode("utf-8", "replace").decode(),
        "low": low,
        "high": high,
        "record": record.stored(),
        "sample": record.sample.model_dump_json(exclude_none=True),
        "prompts": _prompts(tuple(sorted(record.prompts.items()))),
    }


@lru_cache(maxsize=256)
def _prompts(texts: tuple[tuple[str, PromptText], ...]) -> str:
    """Prompts by digest as JSON; all rows share the text in memory."""
    return json.dumps({digest: text._asdict() for digest, text in texts})


def rejected_row(row: Mapping[str, Any], message: str, *, private: bool) -> dict[str, Any]:
    """Row of results for an invalid row: the reason, and its beginning unless that is private."""
    return dict.fromkeys(SCHEMA.names) | {
        "sample_digest": row_digest(row),
        "status": REJECTED,
        "reason": message.encode("utf-8", "replace").decode(),
        "sample": None if private else _shown(row)[:_LONGEST_ROW],
    }


def table_of(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows as a table of the schema."""
    return pa.Table.from_pylist(list(rows), schema=SCHEMA)


def _shown(row: Mapping[str, Any]) -> str:
    return json.dumps([[str(name), value] for name, value in row.items()], default=repr)
