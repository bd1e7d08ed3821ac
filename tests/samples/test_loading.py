"""Samples from memory, data frames and files; a bad row is told and stops nothing."""

import asyncio
import csv
import json
import sys
import tracemalloc
from collections.abc import Iterator
from itertools import count, islice

import pytest

from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs.loading import BadRow, aread_samples, read_samples
from ragmetrics_core.sample import Sample

Q1, Q2, Q3 = (Sample(id=f"q{n}", question=f"Question {n}?") for n in (1, 2, 3))
ROWS = [{"id": f"q{n}", "question": f"Question {n}?"} for n in (1, 2, 3)]


def bad(where, message):
    return BadRow(where=where, message=message)


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refusal(source):
    """The message with which a source as a whole is refused, without the folder of the test."""
    with pytest.raises(SampleError) as caught:
        list(read_samples(source))
    return str(caught.value)


# from memory


@pytest.mark.parametrize(
    "source",
    [
        [Q1, Q2, Q3],
        ROWS,
        [Q1, ROWS[1], Q3],
        (row for row in ROWS),
        tuple(ROWS),
        {"id": ["q1", "q2", "q3"], "question": ["Question 1?", "Question 2?", "Question 3?"]},
        {"samples": ROWS},
    ],
    ids=["samples", "mappings", "both", "generator", "tuple", "columns", "under samples"],
)
def test_samples_are_read_in_order(source):
    assert list(read_samples(source)) == [Q1, Q2, Q3]


@pytest.mark.parametrize("source", [Q1, ROWS[0]], ids=["sample", "mapping"])
def test_one_sample_is_a_source(source):
    assert list(read_samples(source)) == [Q1]


def test_a_row_with_lists_of_texts_is_one_row():
    [sample] = read_samples({"question": "Q?", "contexts": ["a", "b"], "references": ["r", "s"]})
    assert sample.contexts == ("a", "b")


def test_a_row_that_consists_of_lists_is_one_row():
    [sample] = read_samples({"contexts": ["a", "b"], "references": ["r", "s"]})
    assert (sample.contexts, sample.references) == (("a", "b"), ("r", "s"))


def test_columns_of_lists_hold_a_list_for_each_row():
    samples = read_samples({"question": ["Q1?", "Q2?"], "contexts": [["a"], ["b", "c"]]})
    assert [sample.contexts for sample in samples] == [("a",), ("b", "c")]


def test_columns_that_differ_in_length_are_refused():
    message = "the columns differ in length: 'question' has 2, 'answer' has 1"
    assert refusal({"question": ["a", "b"], "answer": ["c"]}) == message


def test_the_rows_after_a_bad_row_are_read():
    found = list(read_samples([ROWS[0], {"id": "x", "answer": 42}, 7, None, "q", ROWS[1]]))
    expected = "a row must be a sample or a mapping of columns to values, got"
    assert found == [
        Q1,
        bad("row 2", "'answer' must be text, got int (42)"),
        bad("row 3", f"{expected} int (7)"),
        bad("row 4", f"{expected} None"),
        bad("row 5", f"{expected} str ('q')"),
        Q2,
    ]


def test_a_bad_row_reads_as_place_and_message():
    assert str(bad("line 7", "not UTF-8 text")) == "line 7: not UTF-8 text"


def test_an_id_that_is_used_twice_is_a_bad_row():
    found = list(read_samples([ROWS[0], {"id": "q1", "question": "Other?"}, ROWS[1]]))
    assert found == [Q1, bad("row 2", "id 'q1' was already used by another sample"), Q2]


def test_equal_content_without_ids_is_a_bad_row_that_says_what_to_do():
    first, second = read_samples([{"question": "Q?", "rater": "a"}, {"question": "Q?", "rater": "b"}])
    message = f"the content is that of an earlier sample ({first.id!r}); give each an id of its own"
    assert second == bad("row 2", message)


def test_the_id_of_a_bad_row_is_not_used_up():
    found = list(read_samples([{"id": "q1", "question": 42}, ROWS[0]]))
    assert found[1] == Q1


def test_reading_the_same_list_again_starts_afresh():
    assert list(read_samples(ROWS)) == list(read_samples(ROWS))


def test_an_endless_source_is_read_as_far_as_asked():
    asked = []

    def endless():
        for n in count():
            asked.append(n)
            yield {"question": f"Q{n}?"}

    assert len(list(islice(read_samples(endless()), 3))) == 3
    assert asked == [0, 1, 2]


def test_memory_does_not_grow_with_the_length_of_the_ids():
    # 20,000 ids of 1 kB would be 20 MB; a number for each is about 2 MB
    rows = ({"id": f"{n:01000}", "question": "Q?"} for n in range(20_000))
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_samples(rows)) == 20_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6_000_000


@pytest.mark.parametrize("source", [3, None, b"x.jsonl"])
def test_what_is_no_source_is_refused_before_anything_is_read(source):
    with pytest.raises(SampleError, match="; give samples, mappings, a data frame or a path"):
        read_samples(source)


def test_an_error_of_the_callers_own_iterable_reaches_the_caller():
    def rows():
        yield ROWS[0]
        raise LookupError("their database")

    samples = read_samples(rows())
    assert next(samples) == Q1
    with pytest.raises(LookupError, match="their database"):
        next(samples)


# asynchronous


def collect(source):
    async def run():
        return [sample async for sample in aread_samples(source)]

    return asyncio.run(run())


async def stream(rows, closed=None):
    try:
        for row in rows:
            yield row
    finally:
        if closed is not None:
            closed.append(True)


def test_an_asynchronous_source_is_read_like_any_other():
    found = collect(stream([ROWS[0], 7, ROWS[0], Q2]))
    assert found[0] == Q1
    assert [item.where for item in found[1:3]] == ["row 2", "row 3"]
    assert found[3] == Q2


def test_an_ordinary_source_can_be_read_asynchronously(write):
    assert collect(ROWS) == [Q1, Q2, Q3]
    assert collect(write("s.jsonl", '{"id": "q1", "question": "Question 1?"}')) == [Q1]


def test_an_asynchronous_iterator_that_is_no_generator_is_read():
    class Rows:
        def __init__(self):
            self.rows = iter(ROWS)

        def __aiter__(self):
            return self

        async def __anext__(self):
            try:
                return next(self.rows)
            except StopIteration:
                raise StopAsyncIteration from None

    assert collect(Rows()) == [Q1, Q2, Q3]


def test_a_source_is_closed_when_nobody_reads_on():
    closed = []

    async def run():
        samples = aread_samples(stream(ROWS, closed))
        assert await anext(samples) == Q1
        await samples.aclose()
        return list(closed)

    assert asyncio.run(run()) == [True]


def test_a_missing_file_is_told_when_reading_asynchronously():
    with pytest.raises(SampleError, match=r"'absent\.jsonl' does not exist"):
        collect("absent.jsonl")


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
        b'{"question": "\xff"}',
        b'{"answer": 42}',
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
        bad("line 5", "not UTF-8 text"),
        bad("line 6", "'answer' must be text, got int (42)"),
        bad("line 7", "id 'q1' was already used by another sample"),
        bad("line 8", "'question' is not valid Unicode: half a character at 0"),
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


def test_a_json_file_may_hold_one_sample(write):
    assert list(read_samples(write("s.json", json.dumps(ROWS[0])))) == [Q1]


def test_a_bad_row_of_a_json_file_is_named_by_its_number(write):
    found = list(read_samples(write("s.json", json.dumps([ROWS[0], {"answer": []}, ROWS[1]]))))
    assert found == [Q1, bad("row 2", "'answer' must be text, got list ([])"), Q2]


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
        (b'["\xff"]', "'s.json': not UTF-8 text"),
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


def test_the_nameless_index_column_of_a_data_frame_is_a_label(write):
    [sample] = read_samples(write("s.csv", ",question\n0,Q?\n"))
    assert sample.labels == {"Unnamed: 0": 0.0}


def test_bad_rows_of_a_csv_file_are_named_by_the_line_where_they_start(write):
    path = write(
        "s.csv",
        b"id,question,answer\n"
        b'q1,"two\nlines",A\n'  # lines 2 and 3
        b"q2,Q?\n"
        b"q3,Q?,A,more\n"
        b"q4,\xff,A\n"
        b'q5,"Q"?,A\n'
        b"q1,Q?,A\n"
        b",,\n"
        b"q6,Q?,A\n",
    )
    found = list(read_samples(path))
    assert [item.id for item in found if isinstance(item, Sample)] == ["q1", "q6"]
    assert found[1:-1] == [
        bad("line 4", "2 cells, but the header has 3 columns"),
        bad("line 5", "4 cells, but the header has 3 columns"),
        bad("line 6", "not UTF-8 text"),
        bad("line 7", "not valid CSV: ',' expected after '\"'"),
        bad("line 8", "id 'q1' was already used by another sample"),
        bad("line 9", "nothing to evaluate, found only the columns ['id', 'question', 'answer']"),
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
            "question;answer\nQ;A\n",
            "'s.csv': no column is a field of a sample (separated by commas?), found ['question;answer']",
        ),
        ('question,"answer\n', "'s.csv': line 1 is not valid CSV: unexpected end of data"),
        (b"question,\xff\nQ,A\n", "'s.csv': the header is not UTF-8 text"),
    ],
)
def test_a_csv_file_without_usable_rows_is_refused(write, monkeypatch, content, message):
    monkeypatch.chdir(write("s.csv", content).parent)
    assert refusal("s.csv") == message


# any file


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        ("question,answer\nQ,A\n".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        (b"\xfe\xff\x00{", "is UTF-16; save it as UTF-8"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is a binary file; a file of samples is UTF-8 text"),
    ],
    ids=["empty", "UTF-16", "big endian", "binary"],
)
def test_a_file_that_is_no_text_is_refused_before_it_is_read(write, monkeypatch, suffix, content, message):
    monkeypatch.chdir(write(f"s.{suffix}", content).parent)
    with pytest.raises(SampleError) as caught:
        read_samples(f"s.{suffix}")
    assert str(caught.value) == f"'s.{suffix}' {message}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.jsonl", "'absent.jsonl' does not exist"),
        ("absent.xlsx", "cannot read 'absent.xlsx': a file of samples ends in .jsonl, .json or .csv"),
        ("What is RAG?", "cannot read 'What is RAG?': a file of samples ends in .jsonl, .json or .csv"),
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
