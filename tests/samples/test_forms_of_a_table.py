"""One table in every form that programs write it in: the samples are equal, or the file is refused."""

import csv
import gzip
import io
import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs import BadRow, read_samples
from ragmetrics_core.samples import Sample
from tests.samples.questions import Q1, Q2, Q3, ROWS, refusal

pandas = pytest.importorskip("pandas", reason="pandas is not installed; ragmetrics does not require it")

TABLE = [
    {
        "id": "q1",
        "question": 'Who said "no"?',
        "answer": "Ann,\nor Bo; nobody|else",
        "reference": "Ann",
        "rank": 2,
        "is_new": True,
    },
    {
        "id": "q2",
        "question": "Où pousse le thé 茶?",
        "answer": "007",
        "reference": "Là",
        "rank": 0.5,
        "is_new": False,
    },
    {"id": "q3", "question": "=1+1", "answer": "No answer", "reference": None, "rank": None, "is_new": None},
]
COLUMNS = list(TABLE[0])
CELLS = [list(row.values()) for row in TABLE]
SAMPLES = list(read_samples(TABLE))
FRAME = pandas.DataFrame(TABLE).astype({"is_new": object, "rank": object})


def as_csv(**form: Any) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, **form)
    writer.writerow(COLUMNS)
    writer.writerows(["" if cell is None else cell for cell in row.values()] for row in TABLE)
    return text.getvalue().encode()


def as_workbook(rows: list[list[Any]], *, sheets: int = 1) -> bytes:
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra excel")
    workbook = openpyxl.Workbook()
    for number in range(sheets):
        sheet = workbook.active if number == 0 else workbook.create_sheet()
        for row in rows:
            sheet.append(row)
        for cells in sheet.iter_rows():
            for cell in cells:
                if cell.value == "=1+1":
                    cell.data_type = "s"
    content = io.BytesIO()
    workbook.save(content)
    return content.getvalue()


def as_parquet(frame: Any) -> bytes:
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    content = io.BytesIO()
    frame.to_parquet(content)
    return content.getvalue()


def split() -> dict[str, Any]:
    return {"columns": COLUMNS, "data": CELLS}


def lines(rows: list[dict[str, Any]], **form: Any) -> bytes:
    return b"\n".join(json.dumps(row, **form).encode() for row in rows)


FORMS: dict[str, Callable[[], bytes]] = {
    "commas.csv": as_csv,
    "semicolons.csv": lambda: as_csv(delimiter=";"),
    "tabs.tsv": lambda: as_csv(delimiter="\t"),
    "bars.csv": lambda: as_csv(delimiter="|"),
    "all quoted.csv": lambda: as_csv(quoting=csv.QUOTE_ALL),
    "line feeds.csv": lambda: as_csv(lineterminator="\n"),
    "old Mac.csv": lambda: as_csv(lineterminator="\r"),
    "Excel, UTF-8.csv": lambda: b"\xef\xbb\xbf" + as_csv(delimiter=";"),
    "Excel, Unicode text.tsv": lambda: as_csv(delimiter="\t").decode().encode("utf-16"),
    "sep.csv": lambda: b"\xef\xbb\xbfsep=;\r\n" + as_csv(delimiter=";"),
    "empty rows.csv": lambda: as_csv() + b",,,,\r\n" * 3 + b"\r\n",
    "pandas.csv": lambda: FRAME.to_csv(index=False).encode(),
    "pandas, index.csv": lambda: FRAME.to_csv().encode(),
    "R.csv": lambda: (
        FRAME.set_axis(["1", "2", "3"]).to_csv(quoting=csv.QUOTE_NONNUMERIC, na_rep="NA").encode()
    ),
    "lines.jsonl": lambda: lines(TABLE),
    "lines.ndjson": lambda: lines(TABLE, ensure_ascii=False),
    "lines.json": lambda: lines(TABLE) + b"\n",
    "lines, Windows.json": lambda: lines(TABLE).replace(b"\n", b"\r\n\r\n"),
    "list.json": lambda: json.dumps(TABLE).encode(),
    "pretty.json": lambda: json.dumps(TABLE, indent=2).encode(),
    "split.json": lambda: json.dumps(split()).encode(),
    "by id.json": lambda: json.dumps({row["id"]: row for row in TABLE}).encode(),
    **{
        f"pandas, {orient}.json": lambda orient=orient: FRAME.to_json(orient=orient).encode()
        for orient in ("records", "split", "index", "columns", "table")
    },
    "pandas, filtered columns.json": lambda: FRAME.set_axis([3, 7, 9]).to_json(orient="columns").encode(),
    "pandas, table by id.json": lambda: FRAME.set_index("id").to_json(orient="table").encode(),
    "pandas, index by id.json": lambda: FRAME.set_index("id").to_json(orient="index").encode(),
    "pandas, lines.json": lambda: FRAME.to_json(orient="records", lines=True).encode(),
    "columns.json": lambda: json.dumps(FRAME.to_dict(orient="list")).encode(),
    "table.parquet": lambda: as_parquet(FRAME),
    "by id.parquet": lambda: as_parquet(FRAME.set_index("id")),
    "filtered.parquet": lambda: as_parquet(FRAME.set_axis([3, 7, 9])),
    "table.xlsx": lambda: as_workbook([COLUMNS, *CELLS]),
    "table lower down.xlsx": lambda: as_workbook([[], COLUMNS, [], *CELLS, [""]]),
    "index.xlsx": lambda: as_workbook([[None, *COLUMNS], *([n, *row] for n, row in enumerate(CELLS))]),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_a_table_gives_the_same_samples_in_every_form(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FORMS[name]())
    assert list(read_samples(path)) == SAMPLES
    if path.suffix not in {".xlsx", ".parquet"}:
        packed = tmp_path / f"{name}.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert list(read_samples(packed)) == SAMPLES


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1).filter(
    lambda text: text.strip() not in {"", "[]"} and "[" not in text
)


@given(rows=st.lists(st.tuples(texts, texts), min_size=1, max_size=4), delimiter=st.sampled_from(",;\t|"))
def test_any_texts_are_read_back_from_csv_and_json(tmp_path_factory, rows, delimiter):
    folder = tmp_path_factory.mktemp("texts")
    table = [{"id": str(n), "question": f"Q {q}", "answer": f"A {a}"} for n, (q, a) in enumerate(rows)]
    with (folder / "s.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(table[0])
        writer.writerows(row.values() for row in table)
    (folder / "s.jsonl").write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in table), "utf-8")
    (folder / "s.json").write_text(json.dumps(table, ensure_ascii=False), "utf-8")
    expected = list(read_samples(table))
    for name in ("s.csv", "s.jsonl", "s.json"):
        assert list(read_samples(folder / name)) == expected


# objects


@pytest.mark.parametrize(
    "content",
    [
        {"examples": ROWS},
        {"results": ROWS, "name": "run 7", "created": "2026-01-01", "language": "en", "id": "r7"},
        {"data": ROWS, "columns": ["id", "question"], "tags": ["a", "b"]},
        {"version": 2, "data": {"split": "test", "rows": ROWS}},
        {"results": {"results": ROWS, "stats": {"passed": 3}}},
        {"questions": ROWS},
        {"rows": ROWS, "metrics": [{"name": "faithfulness", "value": 1.0}], "errors": []},
        {"dataset": {row["id"]: {"question": row["question"]} for row in ROWS}},
        {"config": {"k": 5}, "table": {name: [row[name] for row in ROWS] for name in ("id", "question")}},
        {"columns": ["id", "question"], "rows": [list(row.values()) for row in ROWS], "truncated": False},
    ],
)
def test_the_only_table_in_an_object_is_read(write, content):
    assert list(read_samples(write("s.json", json.dumps(content)))) == [Q1, Q2, Q3]
    assert list(read_samples(content)) == [Q1, Q2, Q3]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"train": ROWS, "test": ROWS[:1]},
            "the object holds several lists of rows: 'train' (3), 'test' (1); give one of them",
        ),
        (
            {"a": {"rows": ROWS}, "b": [{"answer": "A"}]},
            "the object holds several lists of rows: 'a.rows' (3), 'b' (1); give one of them",
        ),
        (
            {"features": [{"name": "f"}], "rows": [{"row": {"frage": 1}}]},
            "the object holds several lists of rows: 'features' (1), 'rows' (1); give one of them",
        ),
        (
            {"input": "data.csv", "results": ROWS},
            "the object is a row itself, and 'results' in it holds rows; give one of the two",
        ),
        (
            {"columns": ["question", "question"], "data": [["a", "b"]]},
            "the table has more than one column 'question'; rename or drop one",
        ),
    ],
)
def test_an_object_that_can_be_read_in_two_ways_is_refused(write, monkeypatch, content, message):
    monkeypatch.chdir(write("s.json", json.dumps(content)).parent)
    assert refusal("s.json") == f"'s.json': {message}"
    assert refusal(content) == message


@pytest.mark.parametrize(
    "row",
    [
        {"question": "Q?", "contexts": [{"page_content": "c", "id": "7"}]},
        {"question": "Q?", "contexts": ["c"], "metrics": [{"name": "recall"}], "meta": {"k": 5}},
        {"inputs": {"question": "Q?"}, "outputs": {"contexts": ["c"]}},
        {"question": "Q?", "contexts": ["c"], "history": [{"role": "user", "content": "Hi"}]},
    ],
)
def test_an_object_that_is_a_row_stays_one(write, row):
    (sample,) = read_samples(write("s.json", json.dumps(row)))
    assert isinstance(sample, Sample)
    assert (sample.question, sample.contexts) == ("Q?", ("c",))


@pytest.mark.parametrize(
    "content",
    [
        {"input": {"text": "Q?", "meta": "m"}, "output": {"text": "A", "meta": "n"}},
        {"question": {"0": "Q?"}, "answer": {"1": "A"}},
        [["question"], ["Q?"]],
        {"data": [["Q?"]]},
        {"data": [{"title": "T", "paragraphs": [{"context": "C", "qas": [{"question": "Q?"}]}]}]},
    ],
)
def test_an_object_that_nobody_can_know_how_to_read_gives_no_sample(write, content):
    found = list(read_samples(write("s.json", json.dumps(content))))
    assert [each for each in found if not isinstance(each, BadRow)] == []


def test_a_short_row_of_a_table_is_bad_and_the_others_are_read():
    first, second = read_samples({"columns": ["id", "question"], "data": [["q1"], ["q2", "Question 2?"]]})
    assert str(first) == "row 1: 1 cell, but there are 2 columns"
    assert second == Q2


# JSON Lines in a file of JSON


def test_a_bad_line_of_json_lines_in_a_json_file_is_named(write):
    path = write("s.json", f"\n{json.dumps(ROWS[0])}\n{{'id': 2}}\n{json.dumps(ROWS[2])}")
    first, second, third = read_samples(path)
    assert (first, third) == (Q1, Q3)
    assert str(second).startswith("line 3: not valid JSON")


@pytest.mark.parametrize("between", ["\n", " ", "", ",\n"])
def test_objects_one_after_another_that_are_not_one_a_line_are_refused(write, monkeypatch, between):
    indent = 1 if "\n" in between else None
    text = between.join(json.dumps(row, indent=indent) for row in ROWS)
    monkeypatch.chdir(write("s.json", text).parent)
    assert refusal("s.json") == (
        "'s.json' holds several JSON values; write them as one list, or one per line"
    )


# CSV


@pytest.mark.parametrize(
    "header", ["id,question,", ",id,question", "id,,question", "id,question,,", "id, ,question"]
)
def test_a_column_without_a_name_is_left_out(write, header):
    cells = {"id": "q1", "question": "Question 1?"}
    row = ",".join(cells.get(name.strip(), "note") for name in header.split(","))
    assert list(read_samples(write("s.csv", f"{header}\n{row}\n"))) == [Q1]


def test_row_numbers_that_pandas_wrote_and_read_again_are_left_out(tmp_path):
    frame = pandas.DataFrame(ROWS)
    frame.to_csv(tmp_path / "s.csv")
    again = pandas.read_csv(tmp_path / "s.csv")
    assert again.columns[0] == "Unnamed: 0"
    assert list(read_samples(again)) == [Q1, Q2, Q3]


# Excel


def workbook(tmp_path, rows, *, sheets=1):
    path = tmp_path / "s.xlsx"
    path.write_bytes(as_workbook(rows, sheets=sheets))
    return path


def test_cells_of_excel_have_their_types(tmp_path):
    header = ["id", "question", "answer", "rank", "is_new", "day", "note"]
    cells = [7, "Q?", 42, 0.5, True, datetime(2026, 5, 1, 12, 30), "#N/A"]
    (sample,) = read_samples(workbook(tmp_path, [header, cells]))
    assert sample == Sample(
        id="7",
        question="Q?",
        answer="42",
        labels={"rank": 0.5, "is_new": True, "day": "2026-05-01T12:30:00", "note": None},
    )


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("=A1", "cell B2 holds a formula without a result; open the file in Excel and save it"),
        ("#REF!", "cell B2 holds the error #REF!"),
        ("#DIV/0!", "cell B2 holds the error #DIV/0!"),
        ("a" * 32_767, "cell B2 holds 32,767 characters"),
        # Excel counts a character outside of the basic plane twice
        ("\U0001f375" * 16_383 + "a", "cell B2 holds 32,767 characters"),
    ],
)
def test_a_cell_of_excel_that_lost_its_value_spoils_its_row_alone(tmp_path, cell, message):
    bad, good = read_samples(workbook(tmp_path, [["id", "question"], ["q1", cell], ["q2", "Question 2?"]]))
    assert str(bad).startswith(f"row 2: {message}")
    assert good == Q2


def test_the_results_of_formulas_are_read_empty_ones_too(tmp_path):
    path = workbook(tmp_path, [["id", "question", "answer"], ["q1", "RESULT", "EMPTY"]])
    with ZipFile(path) as parts:
        content = {name: parts.read(name).decode() for name in parts.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    # the cells that have these texts, as Excel writes two formulas
    for place, result in (("B2", "Question 1?"), ("C2", "")):
        cell = re.compile(rf'<c r="{place}"[^>]*>.*?</c>')
        assert cell.search(content[sheet])
        content[sheet] = cell.sub(f'<c r="{place}" t="str"><f>X1</f><v>{result}</v></c>', content[sheet])
    # what some programs write, however many rows there are
    content[sheet] = re.sub('<dimension ref="[^"]*"', '<dimension ref="A1"', content[sheet])
    with ZipFile(path, "w") as parts:
        for name, text in content.items():
            parts.writestr(name, text)
    assert list(read_samples(path)) == [Q1]


def test_a_workbook_with_rows_on_several_sheets_is_refused(tmp_path, monkeypatch):
    rows = [list(ROWS[0]), *(list(row.values()) for row in ROWS)]
    monkeypatch.chdir(workbook(tmp_path, rows, sheets=2).parent)
    assert refusal("s.xlsx") == (
        "'s.xlsx' has several sheets with rows ('Sheet', 'Sheet1'); save one of them by itself"
    )


@pytest.mark.parametrize("rows", [[], [[]], [["id", "question"]]])
def test_a_workbook_without_rows_holds_no_samples(tmp_path, rows):
    with pytest.raises(SampleError, match=r"s\.xlsx' holds no samples"):
        list(read_samples(workbook(tmp_path, rows)))


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"question\nQ?\n", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"])
def test_a_file_that_is_not_a_workbook_is_refused(tmp_path, content):
    pytest.importorskip("openpyxl", reason="needs the extra excel")
    (tmp_path / "s.xlsx").write_bytes(content)
    with pytest.raises(SampleError, match=r"cannot read '.*s\.xlsx': "):
        list(read_samples(tmp_path / "s.xlsx"))


def test_a_workbook_that_unpacks_to_far_more_than_data_does_is_refused(tmp_path):
    path = workbook(tmp_path, [["question"], ["Q?"]])
    with ZipFile(path, "a", ZIP_DEFLATED) as parts:
        parts.writestr("xl/media/image1.png", b"a" * 2**26)
    with pytest.raises(SampleError, match="unpacks to over 200 times its size"):
        list(read_samples(path))


# indexes of data frames


def test_an_index_with_a_name_is_the_id():
    frame = pandas.DataFrame(ROWS).rename(columns={"id": "key"}).set_index("key")
    assert list(read_samples(frame)) == [Q1, Q2, Q3]
    assert list(read_samples(frame.rename_axis(None))) == [Sample(question=q.question) for q in (Q1, Q2, Q3)]


def test_an_index_beside_an_id_and_one_that_is_another_field_are_columns():
    frame = pandas.DataFrame(ROWS)
    by_system = frame.assign(system="s").set_index("system")
    assert next(read_samples(by_system)) == Sample(**ROWS[0], labels={"system": "s"})
    assert list(read_samples(frame.set_index("question"))) == [Q1, Q2, Q3]
    with pytest.raises(SampleError, match="more than one column 'question'"):
        read_samples(frame.rename_axis("question"))


def test_an_index_of_several_levels_needs_an_id():
    frame = pandas.DataFrame(ROWS).assign(system="s", turn=1)
    first, *_ = read_samples(frame.set_index(["system", "turn"]))
    assert first == Sample(**ROWS[0], labels={"system": "s", "turn": 1.0})
    first, *_ = read_samples(frame.set_index(["system", "id"]))
    assert first == Sample(**ROWS[0], labels={"system": "s", "turn": 1.0})
    without = frame.drop(columns="id").set_index(["system", "turn"])
    with pytest.raises(SampleError, match=r"an index of 2 levels \('system', 'turn'\) and no column 'id'"):
        read_samples(without)
