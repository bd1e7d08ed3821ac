"""Packed files: read as they unpack, and no further than data goes; and data of which nothing is usable."""

import gzip
import json
from pathlib import Path

import pytest

from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs import export_wave, plan, read_samples
from ragmetrics_core.runs.row_counts import count_rows
from ragmetrics_core.testing import ScriptedJudge

ROW = {"question": "Who?", "contexts": ["Ann did."], "answer": "Ann did it."}
MEGABYTE = b"a" * 2**20


@pytest.fixture(scope="module")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """100 kB that unpack to 96 MB, in one line."""
    path = tmp_path_factory.mktemp("bomb") / "bomb.jsonl.gz"
    with gzip.open(path, "wb") as file:
        file.write(json.dumps(ROW).encode() + b"\n")
        for _ in range(96):
            file.write(MEGABYTE)
    return path


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "tsv"])
def test_a_file_that_unpacks_to_far_more_than_data_does_is_refused(bomb, tmp_path, kind):
    path = tmp_path / f"bomb.{kind}.gz"
    path.symlink_to(bomb) if kind != "csv" else path.write_bytes(bomb.read_bytes())
    with pytest.raises(SampleError, match=r"unpacks to over 200 times its size|no column is a field"):
        list(read_samples(path))


def test_a_packed_file_that_ends_too_early_is_one_sentence(tmp_path):
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(
        gzip.compress(b"".join(json.dumps(ROW | {"id": str(n)}).encode() + b"\n" for n in range(999)))[:-99]
    )
    with pytest.raises(SampleError, match=r"cannot read .*cut\.jsonl\.gz"):
        list(read_samples(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data.jsonl.gz", gzip.compress(b"{}\n\n" * 7, mtime=0)),
        ("data.tsv", b"question\tanswer\n" + b"a\tb\n" * 7),
        ("data.csv", b"question;answer\n" + b"a;b\n" * 7),
        ("data.csv.gz", gzip.compress(b"question,answer\n" + b'"a\nb",b\n' * 7, mtime=0)),
    ],
)
def test_rows_of_each_kind_are_counted_for_the_progress(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert count_rows(tmp_path / name) == 7
    assert count_rows(tmp_path / name, at_most=3) == 3


def test_a_parquet_file_says_how_many_rows_it_has(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")
    import pyarrow as pa

    parquet.write_table(pa.table({"question": ["a", "b"]}), tmp_path / "two.parquet")
    assert count_rows(tmp_path / "two.parquet") == 2
    (tmp_path / "none.parquet").write_bytes(b"none")
    assert count_rows(tmp_path / "none.parquet") is None


def test_a_plan_and_an_export_refuse_rows_of_which_none_is_usable(tmp_path):
    rows = [{"colour": "red"}, {"colour": "blue"}]
    with pytest.raises(SampleError, match=r"none of the rows given \(2\) is a sample, the first: row 1"):
        plan(rows, metrics="faithfulness", judge="embedded")
    with pytest.raises(SampleError, match=r"none of the rows given \(2\) is a sample, the first: row 1"):
        export_wave(
            rows, tmp_path / "r.jsonl", out=tmp_path / "w", metrics="faithfulness", judge=ScriptedJudge({})
        )
    assert plan([*rows, ROW], metrics="faithfulness", judge="embedded").rejected == 2
