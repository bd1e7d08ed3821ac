"""Replies in many forms, written by hand: what is in the form is read to the letter, all else asked again."""

import json
from pathlib import Path

import pytest

from ragmetrics_core import parsers, prompts
from ragmetrics_core.parsers import Expected, Scale, VerdictList
from ragmetrics_core.prompts import Prompt

ITEMS = ("The tower is high in the air.", "It is old and white.", "It was built in 1653.")
# Prompts whose forms have other fields than those of their answer type that the replies below follow: no
# evidence, no answer, an earlier turn.
OTHER_FIELDS = {"nugget_importance", "write_unanswerable", "write_follow_up"}
CURRENT = [
    prompt
    for prompt in vars(prompts).values()
    if isinstance(prompt, Prompt) and prompt.name not in OTHER_FIELDS
]
PROMPTS = [
    *(prompt for prompt in CURRENT if prompt.numbered is None),
    prompts.load_version("verdicts.v6", usual=prompts.VERDICTS),  # verdicts as lines
    prompts.load_version("statements.v4", usual=prompts.STATEMENTS),  # sentences without numbers
    prompts.load_version("reference_statements.v3", usual=prompts.REFERENCE_STATEMENTS),
]
# Of each reply its answer type, how many items were asked about, its text, and what it says if it says it.
LINES = (Path(__file__).parent / "corpus.jsonl").read_text(encoding="ascii").splitlines()
CORPUS = [json.loads(line) for line in LINES]


@pytest.mark.parametrize(("kind", "items", "reply", "says"), [(*row, None)[:4] for row in CORPUS])
def test_a_reply_is_read_in_the_form_that_its_prompt_asks_for_or_asked_for_again(kind, items, reply, says):
    numbers = tuple(range(1, (items or 99) + 1))
    answers = {getattr(parsers, kind)} | ({parsers.ExplainedVerdicts} if kind == "VerdictList" else set())
    readings = [
        prompt.answer.read(reply, Expected(numbers, ITEMS[:items], scale=Scale(0, 10), form=prompt.user))
        for prompt in PROMPTS
        if prompt.answer in answers
    ]
    values = [reading.value.written() for reading in readings if reading.value is not None]

    assert all(value == says for value in values)
    assert bool(values) == (says is not None)
    for reading in readings:
        lacks_some = isinstance(reading.value, VerdictList) and len(reading.value.verdicts) < len(numbers)
        assert bool(reading.objections) == (reading.value is None or lacks_some)


def test_the_corpus_has_every_answer_type_in_its_form_and_in_others():
    by_kind = {row[0]: {len(other) for other in CORPUS if other[0] == row[0]} for row in CORPUS}
    types = {prompt.answer.__name__ for prompt in PROMPTS} - {"ExplainedVerdicts", "DecliningVerdict"}
    assert by_kind == {name: {3, 4} for name in types}
    assert len({json.dumps(row[:3]) for row in CORPUS}) == len(CORPUS)
