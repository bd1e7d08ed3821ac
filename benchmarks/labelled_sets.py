"""Samples with a person's label, from files with columns of many names.

A set is JSONL. Question, contexts and answer have any column names that `Sample.from_mapping` knows; claims
may come as `claim` and `evidence`. The label is the first of these columns that a row has:
  faithful, correct, supported, is_correct, judgement: true, 1, "yes", "supported", ... mean good
  label: the same, or "hallucinated", "not_supported", "partially_supported", "incorrect", ...
  hallucinated, hallucination, is_hallucination, has_hallucination: true, 1 or "yes" mean bad
  labels, spans, hallucination_spans, annotations: a list of marked spans, good when it is empty
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from os import environ
from pathlib import Path
from typing import Any, NamedTuple

from ragmetrics_core import Sample
from ragmetrics_core.errors import ConfigError

__all__ = ["SHARED", "TELECOM", "Labelled", "half_of", "read_labelled", "spread", "telecom"]

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(environ.get("RAGMETRICS_SHARED") or ROOT.parent / "shared") / "data"
TELECOM = ROOT / "examples" / "data" / "telecom.jsonl"
GOOD_COLUMNS = ("faithful", "correct", "supported", "is_correct", "judgement", "label")
BAD_COLUMNS = ("hallucinated", "hallucination", "is_hallucination", "has_hallucination")
SPAN_COLUMNS = ("labels", "spans", "hallucination_spans", "annotations")
GOOD_WORDS = frozenset(
    {"true", "1", "1.0", "yes", "supported", "supports", "correct", "faithful", "good", "entailment"}
)
BAD_WORDS = frozenset(
    {
        "false",
        "0",
        "0.0",
        "no",
        "incorrect",
        "not_supported",
        "partially_supported",
        "partial",
        "neutral",
        "bad",
    }
    | {"hallucinated", "hallucination", "unfaithful", "contradiction", "refuted", "refutes"}
)


class Labelled(NamedTuple):
    """A sample, whether it is good, its class as the set names it, and what it was made from."""

    sample: Sample
    good: bool
    kind: str
    source: str


def read_labelled(path: Path) -> list[Labelled]:
    """The samples of a labelled set; see the top of this file for its columns.

    Raises:
        ConfigError: no column is a label, with the columns that there are.
    """
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            row = json.loads(line)
            good, kind = _label(row, f"{path.name} line {number}")
            named = {name: value for name, value in row.items() if name not in SPAN_COLUMNS}
            sample = Sample.from_mapping(_with_claim(named), where=f"{path.name} line {number}")
            rows.append(Labelled(sample, good, kind, str(row.get("source_id", sample.id))))
    return rows


def _with_claim(row: Mapping[str, Any]) -> dict[str, Any]:
    """A set of claims has no question: the claim is the answer, its evidence the contexts."""
    renamed = {
        "claim": "answer",
        "evidence": "contexts",
        "golden_answer": "reference",
        "passages": "contexts",
    }
    named = {
        renamed.get(name, name) if renamed.get(name) not in row else name: value
        for name, value in row.items()
    }
    if isinstance(named.get("contexts"), Mapping):
        named["contexts"] = [str(value) for value in named["contexts"].values()]
    return {"question": "", **named}


def _label(row: Mapping[str, Any], where: str) -> tuple[bool, str]:
    for name in (*GOOD_COLUMNS, *BAD_COLUMNS):
        word = str(row.get(name)).strip().casefold().replace(" ", "_").replace("-", "_")
        if name in row and word in GOOD_WORDS | BAD_WORDS:
            good = (word in GOOD_WORDS) == (name in GOOD_COLUMNS)
            return good, word if not isinstance(row[name], bool | int | float) else (
                "good" if good else "bad"
            )
    for name in SPAN_COLUMNS:
        value = row.get(name)
        if isinstance(value, list):
            return not value, "bad" if value else "good"
    known = ", ".join((*GOOD_COLUMNS, *BAD_COLUMNS, *SPAN_COLUMNS))
    raise ConfigError(
        f"{where} has no label: its columns are {', '.join(sorted(row))}; one of {known} is needed"
    )


def telecom(question: str) -> list[Labelled]:
    """The example set, labelled for faithfulness (without answers that decline) or for correctness."""
    rows = []
    for line in TELECOM.read_text(encoding="utf-8").splitlines():
        sample = Sample.from_mapping(json.loads(line))
        kind = str(sample.labels["kind"])
        if question == "correct":
            rows.append(Labelled(sample, bool(sample.labels["correct"]), kind, sample.id))
        elif kind != "evasive":
            rows.append(Labelled(sample, kind == "right", kind, sample.id))
    return rows


def half_of(source: str) -> int:
    """0 or 1, the same each time for a source: which half of a set it belongs to."""
    return sha256(source.encode()).digest()[0] & 1


def spread(rows: list[Labelled], limit: int) -> list[Labelled]:
    """Some rows, the same ones each time and from all over the set."""
    return sorted(rows, key=lambda row: sha256(row.sample.id.encode()).digest())[:limit]
