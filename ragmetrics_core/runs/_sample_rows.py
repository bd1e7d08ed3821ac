"""A run as one row for each sample: texts, values, diagnosis, labels."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragmetrics_core.runs._summary import Outcome, declines

if TYPE_CHECKING:
    from ragmetrics_core.runs._run import Run

__all__ = ["rows_of"]


def rows_of(run: "Run") -> Iterator[dict[str, Any]]:
    """The rows by column; a metric's column is its name if unique, else its signature."""
    names = [entry.name for entry in run.metrics]
    columns = {
        entry.signature: entry.name if names.count(entry.name) == 1 else entry.signature
        for entry in run.metrics
    }
    of_samples: dict[str, dict[str, Outcome]] = {}
    for key, outcome in run.outcomes():
        of_samples.setdefault(key.sample_id, {})[key.signature] = outcome
    diagnoses = run.diagnoses()
    for sample in run.samples():
        own = of_samples.get(sample.id, {})
        row: dict[str, Any] = {"sample": sample.id, "question": sample.question, "answer": sample.answer}
        for signature, column in columns.items():
            if signature in own:
                row |= {column: own[signature].value, f"{column}_status": own[signature].status}
        row["abstained"] = any(outcome.declined for outcome in own.values())
        row["declined"] = declines(own.values())
        row["diagnosis"] = ", ".join(diagnoses.get(sample.id, ()))
        labels = sample.labels.items()
        yield row | {name if name not in row else f"label_{name}": value for name, value in labels}
