"""Rows with the column names of other libraries become the same samples."""

import json
import math
from collections import OrderedDict
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.runs import read_samples
from ragmetrics_core.samples import Sample, Turn

read = Sample.from_mapping
EXPECTED = Sample(question="Q?", answer="A.", contexts=("c1", "c2"), reference="R.")


@pytest.mark.parametrize(
    "row",
    [
        {"question": "Q?", "answer": "A.", "contexts": ["c1", "c2"], "reference": "R."},
        {"question": "Q?", "answer": "A.", "contexts": ["c1", "c2"], "ground_truth": "R."},
        {"user_input": "Q?", "response": "A.", "retrieved_contexts": ["c1", "c2"], "reference": "R."},
        {"query": "Q?", "response": "A.", "contexts": ["c1", "c2"], "reference": "R."},
        {"query": "Q?", "response": "A.", "contexts": ["c1", "c2"], "reference_answer": "R."},
        {
            "question": "Q?",
            "predicted_answer": "A.",
            "documents": [{"content": "c1", "meta": {}}, {"content": "c2"}],
            "ground_truth_answer": "R.",
        },
        {"input": "Q?", "actual_output": "A.", "retrieval_context": ["c1", "c2"], "expected_output": "R."},
        {"input": "Q?", "actualOutput": "A.", "retrievalContext": ["c1", "c2"], "expectedOutput": "R."},
        {"userInput": "Q?", "Response": "A.", "RetrievedContexts": ["c1", "c2"], "groundTruth": "R."},
        {
            "inputs": {"question": "Q?"},
            "outputs": {"answer": "A.", "contexts": ["c1", "c2"]},
            "reference_outputs": {"answer": "R."},
        },
        {
            "inputs": {"input": "Q?"},
            "outputs": {"output": "A.", "documents": [{"page_content": "c1"}, {"page_content": "c2"}]},
            "reference_outputs": {"output": "R."},
        },
        {
            "inputs.question": "Q?",
            "outputs.answer": "A.",
            "outputs.contexts": ["c1", "c2"],
            "reference_outputs.reference": "R.",
        },
        {"Question": "Q?", " answer ": "A.", "CONTEXTS": ("c1", "c2"), "Ground_Truth": "R."},
        {
            "input": "Q?",
            "context": [{"text": "c1"}, {"page_content": "c2"}],
            "answer": "A.",
            "reference": "R.",
        },
    ],
    ids=[
        "ours",
        "ragas old",
        "ragas new",
        "LlamaIndex",
        "LlamaIndex data set",
        "Haystack",
        "DeepEval",
        "DeepEval saved",
        "camelCase",
        "LangSmith",
        "LangSmith output",
        "LangSmith columns",
        "other spelling",
        "LangChain chain",
    ],
)
def test_every_ecosystem_gives_the_same_sample(row):
    assert read(row) == EXPECTED


@pytest.mark.parametrize("column", ["references", "ground_truths", "ground_truth_answers"])
def test_several_references_are_kept_and_the_first_is_the_reference(column):
    sample = read({"question": "Q?", column: ["r1", "r2"]})
    assert (sample.reference, sample.references) == ("r1", ("r1", "r2"))


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"reference_contexts": ["x"]}, "reference_contexts"),
        ({"reference_outputs": {"contexts": ["x"]}}, "reference_contexts"),
        ({"retrieved_context_ids": ["x"]}, "context_ids"),
        ({"retrieved_ids": ["x"]}, "context_ids"),
        ({"reference_context_ids": ["x"]}, "reference_context_ids"),
        ({"expected_ids": ["x"]}, "reference_context_ids"),
    ],
)
def test_columns_of_the_retriever(row, field):
    assert getattr(read(row), field) == ("x",)


@pytest.mark.parametrize(
    ("row", "sample"),
    [
        ({"question": "Q", "user_input": "Q"}, Sample(question="Q")),
        ({"answer": None, "response": "A.", "actual_output": math.nan}, Sample(answer="A.")),
        (
            {"question": " Q \n", "answer": "", "context": "c"},
            Sample(question=" Q \n", answer="", contexts=["c"]),
        ),
        (
            {"question": "Q", "model": "m", "labels": {"correct": True, "model": "m"}},
            Sample(question="Q", labels={"model": "m", "correct": True}),
        ),
        (
            {"inputs": {"question": "Q", "user": "ann"}, "reference_outputs": {"score": 1}},
            Sample(question="Q", labels={"inputs.user": "ann", "reference_outputs.score": 1.0}),
        ),
        # RAGTruth keeps its marked spans in a column of that name
        (
            {"question": "Q", "labels": [{"start": 3, "end": 7}]},
            Sample(question="Q", labels={"labels": '[{"start": 3, "end": 7}]'}),
        ),
    ],
)
def test_what_is_said_twice_left_empty_or_unknown_is_kept_as_it_is(row, sample):
    assert read(row) == sample


def test_in_a_text_format_an_empty_cell_is_absent_and_a_text_stays_one():
    assert read({"question": "42", "contexts": "", "reference": "true"}, textual=True) == Sample(
        question="42", reference="true"
    )


@pytest.mark.parametrize(
    ("companions", "field"),
    [
        (("input", "actual_output"), "reference_contexts"),
        (("input", "actualOutput", "expectedOutput"), "reference_contexts"),
        (("input", "Actual Output", "Expected Output"), "reference_contexts"),
        (("question", "retrieval_context"), "reference_contexts"),
        (("question", "answer"), "contexts"),
        (("question", "answer", "expected_output"), "contexts"),
        (("input", "output", "expected"), "contexts"),
        (("question", "actual_output"), "contexts"),
        (("input", "expected_output"), None),
        (("question", "actual_output", "expected_output"), None),
    ],
)
def test_context_is_the_ideal_one_only_in_the_test_cases_of_deepeval(companions, field):
    row = {**dict.fromkeys(companions, "x"), "context": ["c"]}
    if field is None:
        with pytest.raises(SampleError, match=r"choose: columns=.*or columns="):
            read(row)
        for chosen in ("contexts", "reference_contexts"):
            assert getattr(read(row, columns={chosen: "context"}), chosen) == ("c",)
    else:
        assert getattr(read(row), field) == ("c",)


@pytest.mark.parametrize("separator", "|;")
def test_a_cell_that_deepeval_would_split_is_refused(separator):
    row = {"input": "Q?", "actual_output": "A.", "retrieval_context": f"a{separator}b", "context": "c"}
    with pytest.raises(SampleError, match="'retrieval_context' may be one text or several, separated by"):
        read(row)
    assert read({**row, "retrieval_context": f'["a{separator}b"]'}).contexts == (f"a{separator}b",)
    assert read({"question": "Q?", "contexts": f"a{separator}b"}).contexts == (f"a{separator}b",)


@pytest.mark.parametrize(
    ("column", "field"),
    [
        *[
            (name, "reference")
            for name in ("truth", "expected_answer", "gt_answer", "expected", "Ground Truth")
        ],
        *[
            (name, "reference")
            for name in ("ground-truth", "GroundTruth", "GROUND_TRUTH", "groundtruth", "Expected Answer")
        ],
        *[(name, "answer") for name in ("generated_texts", "output", "Actual Output", "Response ")],
        *[(name, "question") for name in ("User Input", "user-input", "Query")],
    ],
)
def test_case_blanks_hyphens_and_underscores_of_a_name_do_not_matter(column, field):
    assert getattr(read({column: "x"}), field) == "x"


@pytest.mark.parametrize(
    ("column", "field"),
    [
        *[(name, "contexts") for name in ("retrieved_context", "retrieved_contents", "Retrieved Contexts")],
        ("generation_gt", "references"),
        ("Context IDs", "context_ids"),
        ("retrievedContextIds", "context_ids"),
    ],
)
def test_columns_of_lists_are_found_in_any_spelling(column, field):
    assert getattr(read({column: ["x", "y"]}), field) == ("x", "y")


def test_a_column_may_be_chosen_for_a_field_and_wins_over_the_names():
    row = {"question": "Q?", "answer": "old", "Bot Answer": "new", "docs": ["a", "b"]}
    sample = read(row, columns={"answer": "Bot Answer", "contexts": "docs"})
    assert (sample.answer, sample.contexts, sample.labels) == ("new", ("a", "b"), {"answer": "old"})


def test_a_run_that_skipped_a_score_names_the_text_columns_that_became_labels():
    rows = [{"id": "a", "question": "Q?", "reference": "R.", "Bot Reply": "R.", "stars": 5}]
    run = evaluate(rows, metrics="exact_match")
    note = "this text column became a label: 'Bot Reply'; if one holds the answer, name it: "
    assert run.notes == (note + "--columns answer='Bot Reply'",)
    chosen = evaluate(rows, metrics="exact_match", columns={"answer": "Bot Reply"})
    assert (chosen.notes, chosen.mean("exact_match").value) == ((), 1.0)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.csv", "Frage;Bot Answer\nQ?;R.\n"),
        ("s.jsonl", '{"Frage": "Q?", "Bot Answer": "R."}\n'),
        ("s.json", '[{"Frage": "Q?", "Bot Answer": "R."}]'),
    ],
)
def test_a_file_without_a_known_name_is_read_by_the_chosen_columns(write, name, content):
    columns = {"question": "Frage", "answer": "Bot Answer"}
    assert list(read_samples(write(name, content), columns=columns)) == [Sample(question="Q?", answer="R.")]


def test_a_chosen_column_or_field_that_does_not_exist_is_named_with_those_that_do():
    with pytest.raises(SampleError, match="there is no column 'Bot'; there is 'question', 'Bot Answer'"):
        read({"question": "Q?", "Bot Answer": "A"}, columns={"answer": "Bot"})
    with pytest.raises(
        ConfigError, match="a sample has no field 'reply'; its fields are id, language, question"
    ):
        read({"question": "Q?"}, columns={"reply": "question"})


@pytest.mark.parametrize("retrieved", ["retrieval_context", "retrievalContext"])
def test_deepeval_rows_tell_ideal_and_retrieved_context_apart(retrieved):
    sample = read({"input": "Q?", "context": ["ideal"], retrieved: ["found"]})
    assert (sample.contexts, sample.reference_contexts) == (("found",), ("ideal",))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"answer": "A", "response": "B"},
            "'answer' and 'response' both mean answer and disagree; "
            "keep one, or choose it: columns={'answer': 'answer'}",
        ),
        (
            {"contexts": ["a"], "retrieved_contexts": ["a", "b"]},
            "'contexts' and 'retrieved_contexts' both mean contexts and disagree; "
            "keep one, or choose it: columns={'contexts': 'contexts'}",
        ),
        (
            {"question": "A", "inputs": {"question": "B"}},
            "'question' and 'inputs.question' both mean question and disagree; "
            "keep one, or choose it: columns={'question': 'question'}",
        ),
        ({"answer": math.inf}, "'answer' must be text or a finite number, got inf"),
        ({"question": b"Q"}, "'question' must be text, got bytes (b'Q')"),
        ({"ground_truth": ["R"]}, "'ground_truth' must be text, got list (['R'])"),
        ({"question": "x", "language": 1}, "'language' must be text, got int (1)"),
        ({"answer": ["x" * 99]}, "'answer' must be text, got list (['" + "x" * 55 + "...)"),
        ({"contexts": {"a": 1}}, "'contexts' must be a list of texts, got dict ({'a': 1})"),
        ({"contexts": ["a", None]}, "'contexts' item 2 must be text, got None"),
        ({"contexts": ["a", math.nan]}, "'contexts' item 2 must be text, got None"),
        ({"contexts": [["a"]]}, "'contexts' item 1 must be text, got list (['a'])"),
        (
            {"documents": [{"body": "a"}]},
            "'documents' item 1 has no text under any of page_content, content, text",
        ),
        ({"context_ids": ["a", 1.5]}, "'context_ids' item 2 must be text, got float (1.5)"),
        ({"id": ["a"], "question": "Q"}, "'id' must be text, got list (['a'])"),
        ({"id": True, "question": "Q"}, "'id' must be text, got bool (True)"),
        ({"answer": "a\ud800b"}, "'answer' is not valid Unicode: unpaired surrogate at 1"),
        ({"history": "Hi"}, "'history' must be a list of messages, got str ('Hi')"),
        ({"history": 1}, "'history' must be a list of messages, got int (1)"),
        ({"history": ["Hi"]}, "'history' item 1 must have a role and a content, got str ('Hi')"),
        ({"history": [{"role": "user"}]}, "'history' item 1 content must be text, got None"),
        ({"question": "Q", "labels": {1: 2}}, "'labels' must be a mapping with text keys, got dict ({1: 2})"),
        (
            {"question": "Q", "model": "a", "labels": {"model": "b"}},
            "label 'model' appears twice with different values",
        ),
        ({"question": "Q", "rating": math.inf}, "label 'rating' must be a finite number, got inf"),
        ({"question": "Q", "tags": {1, 2}}, "label 'tags' cannot be kept, got set ({1, 2})"),
        ({"question": "Q", "note": "\udfff"}, "label 'note' is not valid Unicode: unpaired surrogate at 0"),
        ({"question": "Q", "\udfff": 1}, "a label's name is not valid Unicode: unpaired surrogate at 0"),
        ({"question": "Q", 3: 1}, "column names must be text, got int (3)"),
        ({}, "no sample field, only the columns []"),
        ({"qestion": "Q"}, "no sample field, only the columns ['qestion']"),
        ({"id": "1", "language": "en"}, "no sample field, only the columns ['id', 'language']"),
        (
            {"question": None, "answer": math.nan},
            "no sample field, only the columns ['question', 'answer']",
        ),
    ],
    ids=str,
)
def test_a_row_that_is_no_sample_is_refused_with_the_reason(row, message):
    with pytest.raises(SampleError) as caught:
        read(row, where="row 3")
    assert str(caught.value) == f"row 3: {message}"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_a_list_that_was_written_to_a_csv_file_is_read_back(texts):
    for written in (json.dumps(texts), repr(texts), json.dumps(json.dumps(texts))):
        assert read({"question": "Q", "contexts": written}).contexts == tuple(texts)


@pytest.mark.parametrize(
    ("given_id", "expected"),
    [("q 1", "q 1"), (17, "17"), (17.0, "17"), (np.int64(17), "17"), (UUID(int=1), str(UUID(int=1)))],
)
def test_ids_are_text_or_whole_numbers(given_id, expected):
    assert read({"id": given_id, "question": "Q"}).id == expected
    assert read({"context_ids": [given_id]}).context_ids == (expected,)


@pytest.mark.parametrize("absent", [None, math.nan, np.nan, np.float32("nan"), ""])
def test_without_an_id_the_content_gives_it(absent):
    assert read({"id": absent, "question": "Q"}).id == Sample(question="Q").id


def test_numpy_values_are_read_as_python_values():
    row = {
        "question": np.str_("Q"),
        "contexts": np.array(["a", "b"]),
        "rank": np.int64(2),
        "ok": np.bool_(True),
    }
    sample = read(row)
    assert sample == Sample(question="Q", contexts=("a", "b"), labels={"rank": 2.0, "ok": True})
    assert [type(value) for value in sample.labels.values()] == [float, bool]


def test_messages_keep_their_role_and_content():
    row = {"question": "Q", "history": [{"role": "user", "content": "Hi", "name": "Ann"}]}
    turns = (Turn(role="user", content="Hi"),)
    assert read(row).history == turns
    assert read({"question": "Q", "chat_history": json.dumps(row["history"])}).history == turns
    assert read({"question": "Q", "history": turns}).history == turns


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", "text"),
        ("true", "true"),
        (True, True),
        (3, 3.0),
        (0.5, 0.5),
        (None, None),
        (math.nan, None),
        (2**53, float(2**53)),
        (2**53 + 1, "9007199254740993"),
        (date(2024, 5, 1), "2024-05-01"),
        (datetime(2024, 5, 1, 12, tzinfo=UTC), "2024-05-01T12:00:00+00:00"),
        (Decimal("0.10"), "0.10"),
        (["a", "é"], '["a", "é"]'),
        (OrderedDict(k=[1, Decimal("0.1")]), '{"k": [1, "0.1"]}'),
        (np.array([1, 2]), "[1, 2]"),
    ],
    ids=str,
)
def test_other_columns_become_labels_without_loss(value, expected):
    label = read({"question": "Q", "other": value}).labels["other"]
    assert label == expected
    assert type(label) is type(expected)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("true", True),
        ("FALSE", False),
        ("3", 3.0),
        ("-0.5", -0.5),
        ("1e3", 1000.0),
        ("007", "007"),
        ("+1", "+1"),
        ("1_000", "1_000"),
        (" 3", " 3"),
        ("nan", None),
        ("None", "None"),
        ("no", "no"),
        ("inf", "inf"),
        ("1e999", "1e999"),
        ("9007199254740993", "9007199254740993"),
        ("٣", "٣"),
        ("yes", "yes"),
        ("", None),
    ],
)
def test_labels_of_a_text_format_are_the_values_that_they_spell(written, expected):
    label = read({"question": "Q", "label": written}, textual=True).labels["label"]
    assert label == expected
    assert type(label) is type(expected)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from(
    ["question", "contexts", "id", "history", "labels", "context", "inputs", "outputs", "x"]
)


@given(st.dictionaries(names, junk))
def test_any_row_is_a_sample_or_an_error_of_the_data(row):
    try:
        sample = read(row)
    except SampleError:
        return
    assert Sample.model_validate_json(sample.model_dump_json()) == sample


def test_grades_of_relevant_chunks_are_numbers_also_as_text():
    row = {"reference_context_ids": ["a", "b"]}
    for grades in ([2, 0.5], "[2, 0.5]", np.array([2, 0.5])):
        sample = Sample.from_mapping({**row, "relevance_grades": grades})
        assert sample.reference_context_grades == (2.0, 0.5)


@pytest.mark.parametrize("grades", [["high"], [True, 1], "best", [float("inf"), 1], [10**400, 1], [None, 1]])
def test_grades_that_are_no_finite_numbers_are_an_error(grades):
    with pytest.raises(SampleError, match="'relevance_grades' must"):
        Sample.from_mapping({"reference_context_ids": ["a", "b"], "relevance_grades": grades})
