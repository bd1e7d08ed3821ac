"""A run as rows, one for each sample: made of what records came to, so that none has to be opened."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragmetrics_core.runs._manifest import MetricEntry
from ragmetrics_core.runs._stored import Key
from ragmetrics_core.runs._summary import Outcome
from ragmetrics_core.samples import Sample

__all__ = ["sample_rows"]


def sample_rows(
    samples: Iterable[Sample],
    metrics: Sequence[MetricEntry],
    outcomes: Iterable[tuple[Key, Outcome]],
    diagnoses: Mapping[str, Sequence[str]],
) -> Iterator[dict[str, Any]]:
    """One row for each sample: its texts, each metric's value and status, diagnosis and labels.

    Args:
        samples: the samples.
        metrics: the metrics, in the order of their columns.
        outcomes: what the records came to.
        diagnoses: what went wrong with each sample, by its id.
    """
    names = [entry.name for entry in metrics]
    columns = {
        entry.signature: entry.name if names.count(entry.name) == 1 else entry.signature for entry in metrics
    }
    of_samples: dict[str, dict[str, Outcome]] = {}
    for key, outcome in outcomes:
        of_samples.setdefault(key.sample_id, {})[key.signature] = outcome
    for sample in samples:
        own = of_samples.get(sample.id, {})
        row: dict[str, Any] = {"sample": sample.id, "question": sample.question, "answer": sample.answer}
        for signature, column in columns.items():
            if signature in own:
                row[column] = own[signature].value
                row[f"{column}_status"] = own[signature].status
        row["abstained"] = any(outcome.declined for outcome in own.values())
        row["diagnosis"] = ", ".join(diagnoses.get(sample.id, ()))
        labels = sample.labels.items()
        yield row | {name if name not in row else f"label_{name}": value for name, value in labels}
