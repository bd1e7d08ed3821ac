"""Samples from pandas data frames, also after a round trip through CSV."""

import json
from decimal import Decimal

import pytest

from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs._loading import BadRow, read_samples
from ragmetrics_core.samples import Sample

pandas = pytest.importorskip("pandas", reason="pandas is not installed; it is no requirement of ragmetrics")


def test_a_data_frame_gives_one_sample_a_row():
    frame = pandas.DataFrame(
        {
            "question": ["Q1?", "Q2?"],
            "contexts": [["a", "b"], []],
            "rank": [1, 2],
            "correct": [True, False],
            "when": pandas.to_datetime(["2024-05-01", None]),
        },
        index=[7, 7],
    )
    assert list(read_samples(frame)) == [
        Sample(
            question="Q1?",
            contexts=("a", "b"),
            labels={"rank": 1.0, "correct": True, "when": "2024-05-01T00:00:00"},
        ),
        Sample(question="Q2?", contexts=(), labels={"rank": 2.0, "correct": False, "when": None}),
    ]


def test_labels_of_a_data_frame_are_plain_python_values():
    frame = pandas.DataFrame({"question": ["Q?"], "rank": [1], "correct": [True], "share": [0.5]})
    [sample] = read_samples(frame)
    assert [type(value) for value in sample.labels.values()] == [float, bool, float]


@pytest.mark.parametrize("missing", [None, float("nan"), Decimal("NaN"), Decimal("sNaN"), "NA"])
def test_missing_cells_of_a_data_frame_are_absent(missing):
    value = pandas.NA if missing == "NA" else missing
    frame = pandas.DataFrame({"question": ["Q1?", "Q2?"], "answer": ["A", value], "contexts": [["c"], value]})
    assert list(read_samples(frame))[1] == Sample(question="Q2?")


def test_whole_number_ids_survive_a_missing_one():
    # pandas makes 1.0 of 1 when a cell of the column is missing
    frame = pandas.DataFrame({"id": [1, None], "question": ["Q1?", "Q2?"]})
    assert [sample.id for sample in read_samples(frame)] == ["1", Sample(question="Q2?").id]


def test_a_bad_row_of_a_data_frame_is_named_by_its_place():
    frame = pandas.DataFrame({"question": ["Q1?", [42]]}, index=["x", "y"])
    assert list(read_samples(frame))[1] == BadRow(
        where="row 2", message="'question' must be text, got list ([42])"
    )


def test_a_data_frame_with_a_repeated_column_is_refused():
    frame = pandas.DataFrame([["a", "b"]], columns=["question", "question"])
    with pytest.raises(SampleError, match="the data frame has more than one column 'question'"):
        read_samples(frame)


def test_a_data_frame_without_rows_has_no_samples():
    assert list(read_samples(pandas.DataFrame({"question": []}))) == []


@pytest.mark.parametrize("as_array", [False, True])
def test_a_data_frame_that_went_through_a_csv_file_gives_the_same_samples(tmp_path, as_array):
    contexts = ['it\'s "here"', "new\nline", "comma, [bracket]"]
    cell = pandas.Series(contexts, dtype=object).to_numpy() if as_array else contexts
    frame = pandas.DataFrame({"question": ["Q?"], "contexts": [cell], "correct": [True]})
    frame.to_csv(tmp_path / "s.csv", index=False)
    expected = Sample(question="Q?", contexts=tuple(contexts), labels={"correct": True})
    assert list(read_samples(tmp_path / "s.csv")) == list(read_samples(frame)) == [expected]


@pytest.mark.parametrize("lines", [True, False])
def test_a_data_frame_that_went_through_json_gives_the_same_samples(tmp_path, lines):
    frame = pandas.DataFrame({"question": ["Q1?", "Q2?"], "answer": ["A", None]})
    path = tmp_path / ("s.jsonl" if lines else "s.json")
    frame.to_json(path, orient="records", lines=lines)
    assert list(read_samples(path)) == list(read_samples(frame))


def test_the_columns_of_a_data_frame_as_a_json_object(tmp_path):
    frame = pandas.DataFrame({"question": ["Q1?", "Q2?"], "answer": ["A", "B"]})
    path = tmp_path / "s.json"
    path.write_text(json.dumps(frame.to_dict(orient="list")))
    assert list(read_samples(path)) == list(read_samples(frame))
