"""LlamaIndex's labelled test sets are read and written."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.errors import SampleError
from ragmetrics_llama_index import read_labelled_dataset, write_labelled_dataset

EXAMPLE = {
    "query": "How high is the tower?",
    "query_by": {"model_name": "m", "type": "ai"},
    "reference_contexts": ["The tower is 300 m high."],
    "reference_answer": "300 m.",
    "reference_answer_by": None,
}
PREDICTION = {"response": "It is 300 m high.", "contexts": ["A text."]}


def saved(path: Path, **content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_file_of_examples_and_one_of_predictions_are_samples(tmp_path):
    (sample,) = read_labelled_dataset(
        saved(tmp_path / "examples.json", examples=[EXAMPLE]),
        saved(tmp_path / "predictions.json", predictions=[PREDICTION]),
    )
    assert (sample.question, sample.reference) == ("How high is the tower?", "300 m.")
    assert sample.reference_contexts == ("The tower is 300 m high.",)
    assert (sample.answer, sample.contexts) == ("It is 300 m high.", ("A text.",))


def test_a_dataset_in_memory_is_read_too():
    (sample,) = read_labelled_dataset(SimpleNamespace(examples=[SimpleNamespace(**EXAMPLE)]))
    assert (sample.question, sample.answer, sample.contexts) == ("How high is the tower?", None, None)


def test_what_was_written_is_read_again(tmp_path):
    samples = [
        Sample(question="One?", reference="1", reference_contexts=("a", "b")),
        Sample(question="Two?"),
    ]
    write_labelled_dataset(samples, tmp_path / "set.json")
    again = read_labelled_dataset(str(tmp_path / "set.json"))
    fields = [(each.question, each.reference, each.reference_contexts) for each in again]
    assert fields == [("One?", "1", ("a", "b")), ("Two?", None, None)]


def test_what_is_written_has_every_field_that_the_frameworks_class_requires(tmp_path):
    # from_json of 0.14.8 takes these and no others, and requires reference_contexts, which may be null
    write_labelled_dataset([Sample(question="One?", reference="1")], tmp_path / "set.json")
    (example,) = json.loads((tmp_path / "set.json").read_text(encoding="utf-8"))["examples"]
    assert example == {
        "query": "One?",
        "query_by": None,
        "reference_contexts": None,
        "reference_answer": "1",
        "reference_answer_by": None,
    }


def test_no_predictions_are_saved_as_null_and_read_as_none(tmp_path):
    nothing = saved(tmp_path / "predictions.json", predictions=None)
    assert read_labelled_dataset({"examples": []}, nothing) == []


@pytest.mark.parametrize(
    ("dataset", "predictions", "said"),
    [
        ({"examples": [EXAMPLE]}, {"predictions": []}, "there are 1 examples and 0 predictions"),
        ({"examples": [EXAMPLE]}, {"predictions": None}, "there are 1 examples and 0 predictions"),
        ({"rows": []}, None, "this is not a dataset of LlamaIndex: it has no examples"),
        ({"examples": [{}]}, None, "an example of the dataset has no query"),
        ("nowhere.json", None, "nowhere.json cannot be read as a dataset of LlamaIndex"),
    ],
)
def test_what_is_no_dataset_is_told(dataset, predictions, said):
    with pytest.raises(SampleError, match=f"^{said}"):
        read_labelled_dataset(dataset, predictions)
