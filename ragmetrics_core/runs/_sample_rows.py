"""A run as one row for each sample: texts, values, diagnosis, labels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragmetrics_core.runs._manifest import MetricEntry
from ragmetrics_core.runs._stored_lines import Key
from ragmetrics_core.runs._summary import Outcome, declines
from ragmetrics_core.samples import Sample, grouping_labels

__all__ = ["rows_of"]


def rows_of(
    entries: Sequence[MetricEntry],
    outcomes: Iterable[tuple[Key, Outcome]],
    diagnoses: Mapping[str, tuple[str, ...]],
    samples: Iterable[Sample],
) -> Iterator[dict[str, Any]]:
    """The rows by column; a metric's column is its name if unique, else its signature."""
    names = [entry.name for entry in entries]
    columns = {
        entry.signature: entry.name if names.count(entry.name) == 1 else entry.signature for entry in entries
    }
    of_samples: dict[str, dict[str, Outcome]] = {}
    for key, outcome in outcomes:
        of_samples.setdefault(key.sample_id, {})[key.signature] = outcome
    for sample in samples:
        own = of_samples.get(sample.id, {})
        row: dict[str, Any] = {"sample": sample.id, "question": sample.question, "answer": sample.answer}
        for signature, column in columns.items():
            if signature in own:
                row |= {column: own[signature].value, f"{column}_status": own[signature].status}
        row["abstained"] = any(outcome.declined for outcome in own.values())
        row["declined"] = declines(own.values())
        row["diagnosis"] = ", ".join(diagnoses.get(sample.id, ()))
        labels = grouping_labels(sample).items()
        yield row | {name if name not in row else f"label_{name}": value for name, value in labels}
