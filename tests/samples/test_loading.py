"""Samples from memory, also asynchronously; a bad row is told and stops nothing."""

import asyncio
import tracemalloc
from itertools import count, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs._loading import aread_samples, read_samples
from tests.samples.questions import Q1, Q2, Q3, ROWS, bad, refusal

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
    found = list(read_samples([ROWS[0], {"id": "q2", "answer": [42]}, 7, None, "q", ROWS[1]]))
    expected = "a row must be a sample or a mapping of columns to values, got"
    assert found == [
        Q1,
        bad("row 2", "'answer' must be text, got list ([42])"),
        bad("row 3", f"{expected} int (7)"),
        bad("row 4", f"{expected} None"),
        bad("row 5", f"{expected} str ('q')"),
        Q2,
    ]


def test_an_id_that_is_used_twice_is_a_bad_row():
    found = list(read_samples([ROWS[0], {"id": "q1", "question": "Other?"}, ROWS[1]]))
    assert found == [Q1, bad("row 2", "id 'q1' was already used by another sample"), Q2]


def test_no_row_is_lost_for_being_equal_to_another():
    rows = [{"question": "Q?", "rater": rater} for rater in "abab"]
    first, second, third, fourth = read_samples(rows)
    assert first.id != second.id
    assert (third.id, fourth.id) == (f"{first.id}-2", f"{second.id}-2")
    assert all(sample.has_derived_id for sample in (first, second, third, fourth))


EQUAL = ({"question": "Q?"}, {"question": "Q?", "system": "x"})


@given(st.lists(st.sampled_from(EQUAL)))
def test_derived_ids_are_unique_and_do_not_depend_on_what_stands_between(rows):
    ids = [sample.id for sample in read_samples(rows)]
    assert len(set(ids)) == len(rows)
    for row in EQUAL:
        own = [id for id, each in zip(ids, rows, strict=True) if each == row]
        assert own == [sample.id for sample in read_samples([row] * len(own))]


def test_samples_that_were_read_keep_their_ids_when_they_are_read_again():
    samples = list(read_samples([{"question": "Q?"}] * 3))
    assert list(read_samples(samples)) == samples
    assert [sample.id for sample in read_samples([*samples[1:], {"question": "Q?"}])] == [
        samples[1].id, samples[2].id, samples[0].id
    ]  # fmt: skip


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


def test_a_source_is_closed_when_nobody_reads_on():
    closed = []

    async def run():
        samples = aread_samples(stream(ROWS, closed))
        assert await anext(samples) == Q1
        await samples.aclose()
        return list(closed)

    assert asyncio.run(run()) == [True]
