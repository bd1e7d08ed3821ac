"""Marks that cite a source say nothing themselves: the embedded judge does not read them, in no prompt."""

import asyncio
from typing import Any

import pytest

from ragmetrics_core import evaluate, prompts
from ragmetrics_core.prompts import Item, Prompt
from ragmetrics_core.protocol import Generate
from ragmetrics_core.testing import HashEmbedder
from ragmetrics_embedded import LexicalJudge
from ragmetrics_embedded._support.citations import without_citations
from tests.catalogue import NOT_EMBEDDED

MARKS = ["[1]", "[1][2]", "[1, 2]", "[1-3]", "[^1]", "[doc1]", "[Doc 2]", "【1】", "【4:0†source】", "[[1]]"]
MARKS += ["[citation:3]"]
LIBRARY: list[Prompt[Any]] = [
    each for each in vars(prompts).values() if isinstance(each, Prompt) and each.name not in NOT_EMBEDDED
]
PLAIN = {
    "question": "What is the limit of the Upload API?",
    "answer": "The limit of the Upload API is 25 MB per file. It was raised in May 2024.",
    "reference": "The Upload API takes 25 MB per file. It was raised in May 2024.",
    "contexts": ("The limit of the Upload API is 25 MB per file. It was raised in May 2024.",),
    "first": "The limit of the Upload API is 25 MB per file. It was raised in May 2024.",
    "second": "The Upload API takes 25 MB per file. It was raised in May 2024.",
    "before": "The Upload API has a limit.",
    "history": "user: What is the Upload API?",
    "after": "Larger files are split.",
    "count": 2,
    "items": (Item(1, "The limit is 25 MB per file."), Item(2, "The Upload API was raised in May 2024.")),
}


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize(
    "form",
    [
        "The limit is 25 MB per file {}.",
        "{} The limit is 25 MB per file.",
        "The limit is 25 MB per file. {}",
        "The limit {} is 25 MB per file.",
    ],
)
def test_a_mark_is_no_part_of_the_text_wherever_it_stands(mark: str, form: str):
    assert without_citations(form.format(mark)).rstrip() == "The limit is 25 MB per file."


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("The limit is 25 MB (source 1).", "The limit is 25 MB."),
        ("The limit is 25 MB.¹ It grew.²", "The limit is 25 MB. It grew."),
        ("The limit [1](https://example.org/a) is 25 MB.", "The limit is 25 MB."),
    ],
)
def test_a_mark_may_be_a_small_number_above_or_a_link(text: str, plain: str):
    assert without_citations(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        "Type (2) diabetes is chronic.",
        "It is described in section (1).",
        "See section (1) and equation (2).",
        "(1) Open the lid. (2) Close it.",
        "There are three (3).",
        "The house was sold (1).",
        "The value lies in [0, 1].",
        "The range [1, 5] is allowed.",
        "Then row[1] = 2 is set.",
        "【重要】 Read this first.",
        "A field of 25 m² is enough.",
    ],
)
def test_a_number_that_says_something_stays(text: str):
    assert without_citations(text) == text


@pytest.mark.parametrize("prompt", LIBRARY, ids=lambda prompt: prompt.name)
def test_no_prompt_is_answered_otherwise_because_of_marks(prompt: Prompt[Any]):
    marked = PLAIN | {
        "answer": "[1] The limit of the Upload API is 25 MB per file [1][2]. It was raised in May 2024 [3].",
        "reference": "The Upload API takes 25 MB per file [1]. It was raised in May 2024 【2】.",
        "first": "[1] The limit of the Upload API is 25 MB per file [1][2]. It was raised in May 2024 [3].",
        "second": "The Upload API takes 25 MB per file [1]. It was raised in May 2024 【2】.",
        "before": "The Upload API has a limit [1].",
        "after": "Larger files are split [2].",
        "items": (
            Item(1, "[1] The limit is 25 MB per file [1]."),
            Item(2, "The Upload API was raised in May 2024 [1, 2]."),
        ),
    }
    if prompt.name == "chunk_verdicts":
        numbered = (Item(1, "chunk 1"),)
        assert _reply(prompt, marked | {"items": numbered}) == _reply(prompt, PLAIN | {"items": numbered})
        return
    # what is quoted as evidence is a copy, so it keeps its marks, and the blank behind the first one
    reply = without_citations(_reply(prompt, marked)).replace('"evidence": " ', '"evidence": "')
    assert reply == without_citations(_reply(prompt, PLAIN))


def test_a_cited_answer_has_the_scores_of_the_plain_one():
    wanted = ["faithfulness", "factual_correctness", "context_recall", "context_entity_recall"]
    wanted += ["answer_relevance"]
    row = {name: PLAIN[name] for name in ("question", "answer", "reference", "contexts")}
    cited = row | {
        "answer": "The limit of the Upload API is 25 MB per file [1]. It was raised in May 2024 [2].",
        "reference": "The Upload API takes 25 MB per file [^1]. It was raised in May 2024 [2].",
    }
    scores = [
        [
            record.value
            for record in evaluate([one], metrics=wanted, judge="embedded", embedder=HashEmbedder()).records()
        ]
        for one in (row, cited)
    ]
    assert scores[0] == scores[1]


def _reply(prompt: Prompt[Any], values: dict[str, Any]) -> str:
    shown = {name: values[name] for name in prompt.variables}
    (completion,) = asyncio.run(LexicalJudge().agenerate(Generate(prompt=prompt, variables=shown)))
    return completion.text
