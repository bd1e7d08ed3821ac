"""Files of samples made to break or to fill a machine: a bad row is a row, a bad file is a sentence."""

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs import BadRow, read_samples

pa = pytest.importorskip("pyarrow", reason="needs the extra parquet: pip install 'ragmetrics-core[parquet]'")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")


def broken_texts(*values: bytes) -> Any:
    """A column of texts that are no UTF-8, as another program may have written it."""
    raw = pa.array(list(values), pa.binary())
    return pa.Array.from_buffers(pa.string(), len(values), raw.buffers())


def test_a_cell_that_is_no_text_spoils_its_row_and_no_other_one(tmp_path: Path):
    table = pa.table({"id": ["a", "b", "c"], "question": broken_texts(b"Who?", b"\xff\xfe", b"Where?")})
    parquet.write_table(table, tmp_path / "s.parquet")

    for source in (tmp_path / "s.parquet", table):
        first, bad, last = read_samples(source)
        assert (first.id, last.id) == ("a", "c")  # type: ignore[union-attr]
        assert isinstance(bad, BadRow)
        assert bad.where == "row 2"
        assert "cannot be read" in bad.message


@pytest.mark.parametrize("encoding", ["dictionary", "plain"])
def test_a_small_parquet_file_does_not_fill_the_memory(tmp_path: Path, encoding: str):
    # 90 MB from some kB: a text that the file holds once and 100 rows point to, or that zstd has packed
    long, count = "a" * 900_000, 100
    table = pa.table({"id": [str(n) for n in range(count)], "answer": [long] * count})
    parquet.write_table(
        table, tmp_path / "s.parquet", compression="zstd", use_dictionary=encoding == "dictionary"
    )
    assert (tmp_path / "s.parquet").stat().st_size < 300_000

    with pytest.raises(SampleError, match="unpacks to over 200 times its size"):
        for _ in read_samples(tmp_path / "s.parquet"):
            pass


def test_columns_without_end_are_refused_in_a_short_sentence(tmp_path: Path):
    # to look each of them up in all others took 40 minutes
    (tmp_path / "s.csv").write_text(",".join(f"c{n}" for n in range(300_000)) + "\n1\n", encoding="utf-8")

    with pytest.raises(SampleError, match="no column is a field of a sample") as raised:
        list(read_samples(tmp_path / "s.csv"))

    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize("told", ['"', "\r", " ", "\n", "\0", "é", "\ud800", ";"], ids=ascii)
def test_whatever_a_file_says_separates_its_columns_it_is_read_or_refused(tmp_path: Path, told: str):
    text = f"sep={told}\r\nid{told}question\r\na{told}Who?\r\n"
    (tmp_path / "s.csv").write_bytes(text.encode("utf-8", "surrogatepass"))

    try:
        said = [str(found) for found in read_samples(tmp_path / "s.csv")]
    except SampleError as error:
        said = [str(error)]
    assert said
    assert max(map(len, said)) < 500


ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "a" * 100}">' for n in range(9))
OUTSIDE = '<!ENTITY e8 SYSTEM "file:///etc/passwd">'


@pytest.mark.parametrize("declared", [ENTITIES, OUTSIDE], ids=["growing", "outside"])
def test_the_entities_of_a_workbook_are_not_followed(tmp_path: Path, declared: str):
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra excel")
    workbook = openpyxl.Workbook()
    workbook.active.append(["question"])
    workbook.active.append(["MARK"])
    workbook.save(tmp_path / "s.xlsx")
    with ZipFile(tmp_path / "s.xlsx") as parts:
        content = {name: parts.read(name).decode() for name in parts.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    declaration = f"<?xml version='1.0'?><!DOCTYPE worksheet [{declared}]>"
    cells = content[sheet][content[sheet].index("<worksheet") :]
    content[sheet] = declaration + cells.replace("MARK", "&e8;")
    with ZipFile(tmp_path / "s.xlsx", "w") as parts:
        for name, text in content.items():
            parts.writestr(name, text)

    with pytest.raises(SampleError, match="cannot read"):
        list(read_samples(tmp_path / "s.xlsx"))
