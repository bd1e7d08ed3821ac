"""Messy replies, written by hand: each is read as a careful person would read it, or stated to be unread."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core.parsers import (
    Answer,
    EntityList,
    ExtractedSentences,
    FactLists,
    Hints,
    QuestionList,
    Rating,
    RelevantSentences,
    StatementList,
    VerdictList,
)

PARSERS: dict[str, type[Answer]] = {
    "entities": EntityList,
    "extracted": ExtractedSentences,
    "facts": FactLists,
    "questions": QuestionList,
    "ratings": Rating,
    "relevant": RelevantSentences,
    "statements": StatementList,
    "verdicts": VerdictList,
}
CASES: list[dict[str, Any]] = [
    json.loads(line)
    for path in sorted((Path(__file__).parent / "corpus").glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").split("\n")
    if line
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_messy_reply_is_read_as_a_person_would_read_it(case):
    hints = Hints.counting(case.get("count") or 0, sample=tuple(case.get("sample", ())))

    hints = hints._replace(form=tuple(case.get("form", ())))
    reading = PARSERS[case["parser"]].read(case["reply"], hints)

    # as a value, so that the cases need not spell out what no reply of theirs says
    value = None if case["value"] is None else PARSERS[case["parser"]].model_validate(case["value"])
    assert (reading.value, reading.rule) == (value, case["rule"]), case["note"]


def test_the_corpus_covers_every_parser_with_replies_that_are_read_and_unread():
    read = {(case["parser"], case["value"] is not None) for case in CASES}

    assert read == {(parser, is_read) for parser in PARSERS for is_read in (True, False)}


def test_every_case_has_its_own_id():
    ids = [case["id"] for case in CASES]

    assert len(set(ids)) == len(ids)
    assert len(ids) >= 170
