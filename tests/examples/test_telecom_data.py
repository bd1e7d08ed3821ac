"""The telecom demonstration set is what its README says it is."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "examples" / "data"
SHARED = Path(os.environ.get("RAGMETRICS_SHARED") or ROOT.parent / "shared")

KINDS = {"right", "partly_right", "wrong", "unsupported", "evasive", "right_from_wrong_context"}
TOPICS = {"5g-core", "ran", "ims", "charging", "mbms", "location", "camel"}
COLUMNS = {
    "id": str,
    "question": str,
    "answer": str,
    "contexts": list,
    "reference": str,
    "context_ids": list,
    "reference_context_ids": list,
    "topic": str,
    "kind": str,
    "correct": bool,
    "retrieval_correct": bool,
    "appendix": bool,
}

Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    lines = (DATA / "telecom.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def ids_where(rows: list[Row], condition: Callable[[Row], bool]) -> list[str]:
    return [row["id"] for row in rows if condition(row)]


def test_every_sample_has_every_column_and_no_other(rows: list[Row]):
    assert ids_where(rows, lambda row: set(row) - {"language"} != set(COLUMNS)) == []


@pytest.mark.parametrize(("column", "kind_of_value"), COLUMNS.items())
def test_every_column_has_its_type_and_is_not_empty(rows: list[Row], column: str, kind_of_value: type):
    def bad(row: Row) -> bool:
        value = row[column]
        texts = value if isinstance(value, list) else [value]
        blank = not texts or any(isinstance(text, str) and not text.strip() for text in texts)
        return type(value) is not kind_of_value or blank

    assert ids_where(rows, bad) == []


def test_each_sample_has_one_to_four_contexts_with_one_id_each(rows: list[Row]):
    assert ids_where(rows, lambda row: not 1 <= len(row["contexts"]) <= 4) == []
    assert ids_where(rows, lambda row: len(row["context_ids"]) != len(row["contexts"])) == []
    assert ids_where(rows, lambda row: len(set(row["context_ids"])) != len(row["context_ids"])) == []


def test_a_context_id_names_a_standard_a_clause_and_a_passage(rows: list[Row]):
    form = re.compile(r"\d\d\.\d{3}-[A-Z\d]+(\.\d+[a-z]?)*#\d+")
    ids = {name for row in rows for name in row["context_ids"] + row["reference_context_ids"]}

    assert sorted(name for name in ids if not form.fullmatch(name)) == []


def test_a_context_id_always_has_the_same_text(rows: list[Row]):
    pairs = {pair for row in rows for pair in zip(row["context_ids"], row["contexts"], strict=True)}
    texts_per_id = Counter(name for name, _ in pairs)
    ids_per_text = Counter(text for _, text in pairs)

    assert [name for name, times in texts_per_id.items() if times > 1] == []
    assert [text for text, times in ids_per_text.items() if times > 1] == []


def test_kinds_and_topics_are_from_their_sets_and_none_is_rare(rows: list[Row]):
    kinds = Counter(row["kind"] for row in rows)
    topics = Counter(row["topic"] for row in rows)

    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 4
    assert set(topics) == TOPICS
    assert min(topics.values()) >= 3


@pytest.mark.parametrize(
    ("kind", "label", "value"),
    [
        ("right", "correct", True),
        ("right", "retrieval_correct", True),
        ("wrong", "correct", False),
        ("wrong", "retrieval_correct", True),
        ("partly_right", "retrieval_correct", True),
        ("unsupported", "retrieval_correct", True),
        ("evasive", "correct", False),
        ("right_from_wrong_context", "correct", True),
        ("right_from_wrong_context", "retrieval_correct", False),
    ],
)
def test_labels_agree_with_the_kind(rows: list[Row], kind: str, label: str, value: bool):
    assert ids_where(rows, lambda row: row["kind"] == kind and row[label] is not value) == []


def test_retrieval_is_correct_exactly_when_a_reference_context_was_retrieved(rows: list[Row]):
    def disagrees(row: Row) -> bool:
        found = not set(row["context_ids"]).isdisjoint(row["reference_context_ids"])
        return row["retrieval_correct"] is not found

    assert ids_where(rows, disagrees) == []


def test_evasive_answers_say_that_they_found_nothing_and_no_other_answer_does(rows: list[Row]):
    evasion = re.compile(r"NO ANSWER FOUND\.|I could not find this in the documents\.")

    assert ids_where(rows, lambda row: bool(evasion.match(row["answer"])) != (row["kind"] == "evasive")) == []


def test_readme_gives_the_counts_of_the_file(rows: list[Row]):
    text = (DATA / "README.md").read_text(encoding="utf-8")
    of_kinds = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|", text, flags=re.MULTILINE)
    of_topics = re.findall(r"^\| `([\w-]+)` \| (\d+) \|$", text, flags=re.MULTILINE)

    def counts(kind: str) -> tuple[int, int, int]:
        chosen = [row for row in rows if row["kind"] == kind]
        return (
            len(chosen),
            sum(row["correct"] for row in chosen),
            sum(row["retrieval_correct"] for row in chosen),
        )

    assert {kind: tuple(map(int, numbers)) for kind, *numbers in of_kinds} == {k: counts(k) for k in KINDS}
    assert {topic: int(number) for topic, number in of_topics} == Counter(row["topic"] for row in rows)
    assert f"\n{len(rows)} question-answering samples" in text
    assert f"`tc-01` to `{rows[-1]['id']}`" in text


def test_readme_names_every_column(rows: list[Row]):
    text = (DATA / "README.md").read_text(encoding="utf-8")
    columns = {column for row in rows for column in row}

    assert sorted(column for column in columns if f"`{column}`" not in text) == []


def test_no_run_of_twelve_words_is_taken_from_the_papers(rows: list[Row]):
    papers = sorted((SHARED / "seeds").glob("*.txt"))
    if not papers:
        pytest.skip("the papers' texts (shared seeds) are not present; set RAGMETRICS_SHARED")

    theirs: set[tuple[str, ...]] = set()
    for paper in papers:
        theirs |= runs_of_words(paper.read_text(encoding="utf-8"))
    ours = {
        run: row["id"]
        for row in rows
        for text in (row["question"], row["answer"], row["reference"], *row["contexts"])
        for run in runs_of_words(text)
    }

    assert [(ours[run], " ".join(run)) for run in ours if run in theirs] == []


def runs_of_words(text: str, length: int = 12) -> set[tuple[str, ...]]:
    """Every run of consecutive words, without regard to case and punctuation."""
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}
