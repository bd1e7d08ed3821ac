"""Samples from JSON Lines, JSON and CSV files; a bad row is named by its place."""

import csv
import json
import sys
from collections.abc import Iterator

import pytest

from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs._loading import read_samples
from ragmetrics_core.samples import Sample
from tests.samples.questions import Q1, Q2, Q3, ROWS, bad, refusal

# JSON Lines


def test_a_jsonl_file_is_read_line_by_line(write):
    path = write("s.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))
    assert list(read_samples(path)) == list(read_samples(str(path))) == [Q1, Q2, Q3]


def test_a_byte_order_mark_blank_lines_windows_ends_and_a_missing_last_end_do_not_matter(write):
    lines = [json.dumps(row).encode() for row in ROWS]
    path = write("s.JSONL", b"\xef\xbb\xbf" + lines[0] + b"\r\n\r\n  \n" + lines[1] + b"\n" + lines[2])
    assert list(read_samples(path)) == [Q1, Q2, Q3]


def test_a_line_separator_inside_a_text_does_not_end_the_line(write):
    path = write("s.jsonl", '{"question": "a\u2028b\x85c"}\n')
    assert [sample.question for sample in read_samples(path)] == ["a\u2028b\x85c"]


def test_bad_lines_of_a_jsonl_file_are_named_by_their_number(write):
    lines = [
        b'{"id": "q1", "question": "Question 1?"}',
        b'{"id": "q2", "question": ',
        b"",
        b"[1]",
        b'{"question": 1e999}',
        b'{"answer": [42]}',
        b'{"id": "q1", "question": "again"}',
        b'{"question": "\\ud800"}',
        b'{"rank": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"id": "q2", "question": "Question 2?"}',
    ]
    found = list(read_samples(write("s.jsonl", b"\n".join(lines))))
    assert found[:7] == [
        Q1,
        bad("line 2", "not valid JSON: Expecting value (column 25)"),
        bad("line 4", "a row must be a sample or a mapping of columns to values, got list ([1])"),
        bad("line 5", "'question' must be text or a finite number, got inf"),
        bad("line 6", "'answer' must be text, got list ([42])"),
        bad("line 7", "id 'q1' was already used by another sample"),
        bad("line 8", "'question' is not valid Unicode: unpaired surrogate at 0"),
    ]
    assert [item.where for item in found[7:9]] == ["line 9", "line 10"]
    assert all(item.message.startswith("JSON that cannot be read: ") for item in found[7:9])
    assert found[9:] == [Q2]


def test_a_jsonl_file_is_not_read_ahead(write):
    path = write("s.jsonl", json.dumps(ROWS[0]) + "\n" + json.dumps(ROWS[1]) + "\n")
    samples = read_samples(path)
    assert isinstance(samples, Iterator)
    assert next(samples) == Q1
    samples.close()
    path.unlink()  # on Windows this fails while the file is open


# JSON


@pytest.mark.parametrize(
    "content",
    [
        ROWS,
        {"samples": ROWS},
        {"name": "set 1", "samples": ROWS},
        {"id": ["q1", "q2", "q3"], "question": [row["question"] for row in ROWS]},
    ],
    ids=["list", "samples", "samples and more", "columns"],
)
def test_the_forms_of_a_json_file(write, content):
    assert list(read_samples(write("s.json", json.dumps(content, indent=1)))) == [Q1, Q2, Q3]


def test_a_test_run_that_deepeval_saved_is_a_file_of_samples(write):
    case = {
        "name": "test_case_0",
        "input": "Q?",
        "actualOutput": "A.",
        "expectedOutput": "R.",
        "context": ["ideal"],
        "retrievalContext": ["found"],
        "success": True,
        "metricsData": [{"name": "Faithfulness", "score": 1.0}],
    }
    saved = {"testCases": [case], "conversationalTestCases": [], "testPassed": 1, "runDuration": 0.5}

    (sample,) = read_samples(write("test_run_20260101_120000.json", json.dumps(saved)))

    assert isinstance(sample, Sample)
    assert (sample.question, sample.answer, sample.reference) == ("Q?", "A.", "R.")
    assert (sample.contexts, sample.reference_contexts) == (("found",), ("ideal",))
    assert set(sample.labels) == {"name", "success", "metricsData"}


# what `pandas.read_csv` takes for absent, but for "None", which answers a question
ABSENT = [
    "#N/A",
    "#NA",
    "N/A",
    "NA",
    "n/a",
    "NaN",
    "nan",
    "-nan",
    "<NA>",
    "NULL",
    "null",
    "#N/A N/A",
    "1.#IND",
]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("cell", ["", *ABSENT])
def test_a_cell_that_says_absent_is_absent_in_every_field(write, ending, cell):
    comma = {"csv": ",", "tsv": "\t"}[ending]
    columns = ["id", "question", "references", "contexts", "reference", "reference_context_grades", "rank"]
    lines = [comma.join(columns), comma.join([cell, "Q?", *[cell] * 5])]
    [sample] = read_samples(write(f"s.{ending}", "\n".join(lines) + "\n"))
    assert sample == Sample(question="Q?", labels={"rank": None})


@pytest.mark.parametrize("cell", ["None", "no", "Na", "none", "No answer", "NA, in all", "[NA]"])
def test_a_cell_that_may_be_an_answer_stays_one(write, cell):
    [sample] = read_samples(write("s.csv", f'question,answer\nQ?,"{cell}"\n'))
    assert sample.answer == cell


def test_texts_of_other_files_are_the_texts_that_they_are(write):
    [sample] = read_samples(write("s.jsonl", '{"question": "Q?", "answer": "N/A"}\n'))
    assert sample.answer == "N/A"


def test_not_a_number_in_json_is_absent(write):
    [sample] = read_samples(write("s.json", '[{"question": "Q?", "answer": NaN, "rank": NaN}]'))
    assert (sample.answer, sample.labels) == (None, {"rank": None})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "'s.json' holds no samples"),
        ('{"samples": []}', "'s.json' holds no samples"),
        ("3", "'s.json' must hold a list of samples, got int (3)"),
        ('[{"a": 1},\n {"b" 2}]', "'s.json': not valid JSON: Expecting ':' delimiter (line 2, column 7)"),
        (" ", "'s.json': not valid JSON: Expecting value (column 2)"),
        (
            '{"question": ["a"], "answer": []}',
            "'s.json': the columns differ in length: 'question' has 1, 'answer' has 0",
        ),
    ],
)
def test_a_json_file_that_holds_no_samples_is_refused(write, monkeypatch, content, message):
    monkeypatch.chdir(write("s.json", content).parent)
    assert refusal("s.json") == message


# CSV


def test_a_csv_file_gives_texts_lists_and_typed_labels(write):
    path = write(
        "s.csv",
        "id,user_input,response,retrieved_contexts,reference,correct,rank,zip\r\n"
        '1,"Where, exactly?","a\nb","[""c1"", ""c2""]",,true,2,007\r\n',
    )
    assert list(read_samples(path)) == [
        Sample(
            id="1",
            question="Where, exactly?",
            answer="a\nb",
            contexts=("c1", "c2"),
            labels={"correct": True, "rank": 2.0, "zip": "007"},
        )
    ]


def test_a_byte_order_mark_and_blank_lines_of_a_csv_file_do_not_matter(write):
    path = write("s.csv", "\ufeffid,question\n\nq1,Question 1?\n\nq2,Question 2?")
    assert list(read_samples(path)) == [Q1, Q2]


def test_bad_rows_of_a_csv_file_are_named_by_the_line_where_they_start(write):
    path = write(
        "s.csv",
        b"id,question,answer\n"
        b'q1,"two\nlines",A\n'  # lines 2 and 3
        b"q2,Q?\n"
        b"q3,Q?,A,more\n"
        b"q4\n"
        b'q5,"Q"?,A\n'
        b"q1,Q?,A\n"
        b",,\n"
        b"NA,,\n"
        b"q6,Q?,A\n",
    )
    found = list(read_samples(path))
    assert [item.id for item in found if isinstance(item, Sample)] == ["q1", "q6"]
    assert found[1:-1] == [
        bad("line 4", "2 cells, but the header has 3 columns"),
        bad("line 5", "4 cells, but the header has 3 columns"),
        bad("line 6", "1 cell, but the header has 3 columns"),
        bad("line 7", "not valid CSV: ',' expected after '\"'"),
        bad("line 8", "id 'q1' was already used by another sample"),
        bad("line 10", "no sample field, only the columns ['id', 'question', 'answer']"),
    ]


def test_a_quote_that_is_never_closed_is_told_and_does_not_swallow_the_rest_in_silence(write):
    found = list(read_samples(write("s.csv", 'id,question\nq1,Question 1?\nq2,"Q?\nq3,Q?\n')))
    assert found == [Q1, bad("line 3", "not valid CSV: unexpected end of data")]


def test_a_cell_may_be_longer_than_the_csv_modules_own_limit(write):
    # 131,072 characters unless told otherwise; the contexts of one sample can be more
    text = "word " * 100_000
    [sample] = read_samples(write("s.csv", f"question,contexts\nQ?,{text}\n"))
    assert sample.contexts == (text,)
    assert csv.field_size_limit() >= len(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("question,answer\n", "'s.csv' has a header and no rows"),
        ("question,answer", "'s.csv' has a header and no rows"),
        ("\n\n", "'s.csv' holds no samples"),
        (
            "question,answer,question\n1,2,3\n",
            "'s.csv' has more than one column 'question'; rename or drop one",
        ),
        (
            "frage;antwort\nQ;A\n",
            "'s.csv': no column is a field of a sample (separated by commas, semicolons or tabs?), found "
            "['frage', 'antwort']",
        ),
        ('question,"answer\n', "'s.csv': line 1 is not valid CSV: unexpected end of data"),
    ],
)
def test_a_csv_file_without_usable_rows_is_refused(write, monkeypatch, content, message):
    monkeypatch.chdir(write("s.csv", content).parent)
    assert refusal("s.csv") == message


# any file


NUL = (
    "has a NUL byte: it is a binary file, or UTF-16 without a byte order mark; a file of samples is UTF-8 "
    "text"
)
LATIN = (
    "is not UTF-8 (byte 0x{byte}); save the file as UTF-8 (in Excel: CSV UTF-8), or convert it, such as: "
    "iconv -f WINDOWS-1252 -t UTF-8 FILE > utf8-FILE"
)


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", " is empty"),
        (b"\xff\xfe\x00", " is not valid UTF-16; save it as UTF-8"),
        (b"\xfe\xff\xd8\x00\x00a", " is not valid UTF-16; save it as UTF-8"),
        ("id\na\n".encode("utf-16-le"), f", line 1, {NUL}"),
        (b"id\rq\ra\0\r", f", line 3, {NUL}"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", f", line 1, {LATIN.format(byte='89')}"),
        ("question\nUn thé ?\n".encode("cp1252"), f", line 2, {LATIN.format(byte='E9')}"),
        (b"\xef\xbb\xbfquestion\r\nQ?\r\n" * 90_000 + b"\xe9", f", line 180001, {LATIN.format(byte='E9')}"),
        ("a" * (2**18 - 1) + "é\n", None),
    ],
    ids=[
        "empty",
        "half UTF-16",
        "surrogate",
        "no mark",
        "NUL",
        "binary",
        "Windows",
        "the last byte",
        "at the edge",
    ],
)
def test_a_file_that_is_not_text_is_refused_before_it_is_read(write, monkeypatch, suffix, content, message):
    name = f"s.{suffix}"
    monkeypatch.chdir(write(name, content).parent)
    if message is None:
        read_samples(name)
        return
    with pytest.raises(SampleError) as caught:
        read_samples(name)
    assert str(caught.value) == f"'{name}'{message.replace('FILE', name)}"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_with_a_known_encoding_is_read(write, encoding, end):
    lines = {
        "s.csv": ["id,question", "a,Un thé \U0001f375 ?", 'b,"zwei\nZeilen, 茶"'],
        "s.jsonl": [
            '{"id": "a", "question": "Un thé \U0001f375 ?"}',
            '{"id": "b", "question": "zwei\\nZeilen, 茶"}',
        ],
    }
    lines["s.json"] = ["[", lines["s.jsonl"][0] + ",", lines["s.jsonl"][1], "]"]
    for name, content in lines.items():
        samples = read_samples(write(name, (end.join(content) + end).encode(encoding)))
        assert list(samples) == [
            Sample(id="a", question="Un thé \U0001f375 ?"),
            Sample(id="b", question="zwei\nZeilen, 茶"),
        ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.jsonl", "'absent.jsonl' does not exist"),
        (
            "absent.xls",
            "cannot read 'absent.xls': a file of samples ends in .jsonl, .ndjson, .json, .csv, .tsv, .xlsx, "
            ".parquet",
        ),
        (
            "What is RAG?",
            "cannot read 'What is RAG?': a file of samples ends in .jsonl, .ndjson, .json, .csv, .tsv, "
            ".xlsx, .parquet",
        ),
        ("a\0b.json", "cannot read 'a\\x00b.json': embedded null byte"),
    ],
)
def test_a_path_that_is_no_file_of_samples_is_refused(name, message):
    assert refusal(name) == message


@pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses to open a folder in another way")
def test_a_folder_is_refused(tmp_path, monkeypatch):
    (tmp_path / "set.jsonl").mkdir()
    monkeypatch.chdir(tmp_path)
    assert refusal("set.jsonl") == "'set.jsonl' is a folder; give a file"


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_file_of_blank_lines_holds_no_samples(write, monkeypatch, suffix):
    monkeypatch.chdir(write(f"s.{suffix}", "\n\n").parent)
    assert refusal(f"s.{suffix}") == f"'s.{suffix}' holds no samples"
