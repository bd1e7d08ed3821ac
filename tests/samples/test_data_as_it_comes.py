"""Data as people have it: numbers in columns of text, frames and tables, files of others."""

import gzip
import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmetrics_core import Sample, evaluate
from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.runs import read_samples
from ragmetrics_core.runs._data_frames import DataFrameLike

COLUMNS: dict[str, Any] = {
    "id": ["a", "b"],
    "answer": [42, 7],
    "contexts": [["x", "y"], ["z"]],
    "reference": [42.0, None],
}
SAMPLES = [
    Sample(id="a", answer="42", contexts=["x", "y"], reference="42"),
    Sample(id="b", answer="7", contexts=["z"]),
]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (42, "42"),
        (42.0, "42"),
        (0.1, "0.1"),
        (-0.0, "0"),
        (1e300, "1e+300"),
        (True, "True"),
        (Decimal("1.50"), "1.50"),
        (date(2024, 1, 2), "2024-01-02"),
        (np.int64(3), "3"),
        (np.float32(0.5), "0.5"),
        (np.bool_(False), "False"),
        (np.datetime64("2024-01-02T03:04:05", "ns"), "2024-01-02T03:04:05"),
        (float("nan"), None),
        (np.datetime64("NaT", "s"), None),
    ],
)
def test_numbers_and_dates_are_the_texts_that_a_csv_file_has_of_them(value, text):
    (sample,) = read_samples([{"question": "Q?", "answer": value, "reference": value}])
    assert isinstance(sample, Sample)
    assert (sample.answer, sample.reference) == (text, text)


def test_contexts_may_be_numbers_too():
    assert list(read_samples([{"id": "a", "contexts": [1, 2.5]}, {"id": "b", "contexts": 7}])) == [
        Sample(id="a", contexts=["1", "2.5"]),
        Sample(id="b", contexts=["7"]),
    ]


def test_a_pandas_frame_with_numbers_is_read_as_it_is_meant():
    pandas = pytest.importorskip("pandas", reason="pandas")
    assert list(read_samples(pandas.DataFrame(COLUMNS))) == SAMPLES


def test_a_frame_with_named_rows_is_read_by_them():
    class Frame:
        columns = tuple(COLUMNS)

        def iter_rows(self, *, named: bool = False) -> Any:
            assert named
            return (dict(zip(COLUMNS, cells, strict=True)) for cells in zip(*COLUMNS.values(), strict=True))

    assert list(read_samples(Frame())) == SAMPLES  # type: ignore[arg-type]


def test_frames_of_polars_are_read_by_rows():
    polars = pytest.importorskip("polars", reason="polars")
    frame = polars.DataFrame(COLUMNS)
    assert list(read_samples(frame)) == SAMPLES
    assert list(read_samples(frame.lazy())) == SAMPLES
    assert list(read_samples(polars.DataFrame())) == []


def test_tables_batches_and_readers_of_pyarrow_are_read_by_rows():
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet")
    table = pyarrow.table(COLUMNS)
    for source in (table, table.to_batches()[0], table.to_reader()):
        assert list(read_samples(source)) == SAMPLES
    with pytest.raises(SampleError, match="more than one column 'answer'"):
        list(read_samples(pyarrow.Table.from_arrays([pyarrow.array(["x"])] * 2, names=["answer"] * 2)))


def test_whatever_offers_its_columns_as_arrow_does_is_read():
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet")

    class Relation:
        columns = ("id",)

        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            return pyarrow.table(COLUMNS).__arrow_c_stream__(requested_schema)

    relation: DataFrameLike = Relation()
    assert list(read_samples(relation)) == SAMPLES


def test_a_dataset_is_read_and_a_dictionary_of_splits_asks_for_one():
    class Split(list[dict[str, Any]]):
        column_names = ("id", "answer")
        features = ("id", "answer")

    split = Split([{"id": "a", "answer": 42}])
    assert list(read_samples(split)) == [Sample(id="a", answer="42")]
    with pytest.raises(SampleError, match=r"\('train', 'test'\): choose one, such as dataset\['train'\]"):
        read_samples({"train": split, "test": split})


def test_a_dataset_of_hugging_face_is_read():
    datasets = pytest.importorskip("datasets", reason="datasets, which the tests do not install")
    dataset = datasets.Dataset.from_dict(COLUMNS)
    assert list(read_samples(dataset)) == SAMPLES
    assert list(read_samples(dataset.to_iterable_dataset())) == SAMPLES
    with pytest.raises(SampleError, match="choose one"):
        read_samples(datasets.DatasetDict(train=dataset))


def test_a_parquet_file_is_read(tmp_path: Path):
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(COLUMNS), tmp_path / "s.parquet")
    assert list(read_samples(tmp_path / "s.parquet")) == SAMPLES
    (tmp_path / "no.parquet").write_text("question,answer")
    with pytest.raises(SampleError, match=r"cannot read .*no\.parquet"):
        list(read_samples(tmp_path / "no.parquet"))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["s.csv", "s.tsv"])
def test_values_are_separated_by_what_separates_the_header(tmp_path: Path, separator: str, name: str):
    lines = [["id", "question", "answer"], ["a", '"What, where; when?"', "x"]]
    text = "".join(separator.join(line) + "\r\n" for line in lines)
    (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert list(read_samples(tmp_path / name)) == [Sample(id="a", question="What, where; when?", answer="x")]


def test_the_first_line_of_excel_says_what_separates(tmp_path: Path):
    (tmp_path / "s.csv").write_text("sep=;\r\nid;question\r\na;Q?\r\nb\r\n", encoding="utf-8-sig")
    good, bad = read_samples(tmp_path / "s.csv")
    assert good == Sample(id="a", question="Q?")
    assert str(bad) == "line 4: 1 cell, but the header has 2 columns"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.jsonl.gz", json.dumps({"id": "a", "answer": 42}) + "\n"),
        ("s.json.gz", json.dumps({"samples": [{"id": "a", "answer": 42}]})),
        ("s.CSV.GZ", "id,answer\na,42\n"),
    ],
)
def test_files_may_be_packed(tmp_path: Path, name: str, text: str):
    (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    assert list(read_samples(tmp_path / name)) == [Sample(id="a", answer="42")]
    (tmp_path / name).write_bytes(b"no gzip")
    with pytest.raises(SampleError, match="cannot read"):
        read_samples(tmp_path / name)


def test_rows_of_which_none_is_a_sample_are_an_error_as_on_the_command_line():
    with pytest.raises(ConfigError, match=r"none of the rows given \(2\) is a sample, the first: row 1"):
        evaluate([1, 2], metrics="exact_match")  # type: ignore[list-item]
    assert len(evaluate([], metrics="exact_match")) == 0
