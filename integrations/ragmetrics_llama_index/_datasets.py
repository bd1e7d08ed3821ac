"""Conversion between LlamaIndex's labelled test sets (`LabelledRagDataset`) and samples.

The class exists only in llama-index-core versions older than the supported ones. Its files and objects are
read by their fields, without the class.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from ragmetrics_core import Sample
from ragmetrics_core.boundary import field_of, is_mapping, is_series, write_whole
from ragmetrics_core.errors import SampleError

__all__ = ["read_labelled_dataset", "write_labelled_dataset"]


def read_labelled_dataset(dataset: object, predictions: object = None) -> list[Sample]:
    """The samples of a `LabelledRagDataset`, one per example, in order.

    The query becomes the question, the reference answer the reference; reference contexts keep their name.
    Predictions (from `make_predictions_with`) add answers and contexts.

    Args:
        dataset: the dataset, or a file written by its `save_json`.
        predictions: the predictions, or a file written by their `save_json`; one per example.

    Raises:
        SampleError: the dataset is invalid, or the numbers of predictions and examples differ.
    """
    examples = _entries(dataset, "examples")
    answers = [None] * len(examples) if predictions is None else _entries(predictions, "predictions")
    if len(answers) != len(examples):
        raise SampleError(
            f"there are {len(examples)} examples and {len(answers)} predictions: one is needed for each"
        )
    return [_sample(example, answer) for example, answer in zip(examples, answers, strict=True)]


def write_labelled_dataset(samples: Iterable[Sample], path: str | Path) -> None:
    """Write samples as a file for `LabelledRagDataset.from_json`; a missing reference is "".

    Raises:
        SampleError: a sample has no question.
        ConfigError: the file cannot be written.
    """
    examples: list[dict[str, Any]] = []
    for sample in samples:
        if sample.question is None:
            raise SampleError(f"the sample {sample.id} has no question, which an example needs")
        contexts = sample.reference_contexts
        examples.append(
            {
                "query": sample.question,
                "query_by": None,
                "reference_contexts": None if contexts is None else list(contexts),
                "reference_answer": sample.reference or "",
                "reference_answer_by": None,
            }
        )
    text = json.dumps({"examples": examples}, ensure_ascii=False, indent=2)
    write_whole(Path(path), text + "\n")


def _sample(example: object, prediction: object) -> Sample:
    row = {name: field_of(example, name) for name in ("query", "reference_contexts", "reference_answer")}
    if not isinstance(row["query"], str):
        raise SampleError("an example of the dataset has no query")
    row["reference_answer"] = row["reference_answer"] or None
    return Sample.from_mapping(row | {name: field_of(prediction, name) for name in ("response", "contexts")})


def _entries(source: object, name: str) -> Sequence[object]:
    if isinstance(source, str | Path):
        try:
            source = cast("object", json.loads(Path(source).read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise SampleError(f"{source} cannot be read as a dataset of LlamaIndex: {error}") from error
    if is_mapping(source) and name in source and source[name] is None:
        return []  # so an empty list of predictions is saved
    entries = field_of(source, name)
    if not is_series(entries):
        raise SampleError(f"this is not a dataset of LlamaIndex: it has no {name}")
    return entries
