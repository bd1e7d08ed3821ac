"""The published prompt formats of grounded models, and their cutting of long texts.

Each format cites the file and the commit that it follows. Two details differ everywhere: sentences are split
by this library's rules instead of NLTK's, and a chunk without text is left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Final

from ragmetrics_core.parsers import split_sentences

__all__ = [
    "BESPOKE_SYSTEM",
    "GUARDIAN_BLOCK",
    "bespoke_question",
    "factcg_chunks",
    "factcg_text",
    "lettuce_groups",
    "lettuce_prompt",
    "minicheck_chunks",
    "words_of",
]

Count = Callable[[str], int]
_WORD = re.compile(r"\w+|[^\w\s]")


def _form(name: str) -> str:
    """A prompt in the wording of the model's training."""
    path = files("ragmetrics_core.models.grounded") / "forms" / f"{name}.txt"
    return path.read_text(encoding="utf-8").removesuffix("\n")


# Liyan06/MiniCheck, minicheck/utils.py, commit f96efa7b0794ecb85a2977d7497c01135cf9e576
BESPOKE_SYSTEM: Final = _form("bespoke_system")
# ibm-granite/granite-guardian, evaluation/models/granite_guardian_4_1.py,
# commit 1d6a7eaa0c983d4d157ac3b3e53a97b407f4f3e0: the criterion "groundedness", without thinking
GUARDIAN_BLOCK: Final = _form("guardian")


def bespoke_question(document: str, claim: str) -> str:
    """The user message for Bespoke-MiniCheck-7B; source as for `BESPOKE_SYSTEM`."""
    return _form("bespoke_question").format(document=document, claim=claim)


def minicheck_chunks(text: str, *, size: int, count: Count) -> list[str]:
    """Chunks of sentences up to `size` tokens, line breaks kept; a longer sentence is its own chunk.

    Liyan06/MiniCheck, minicheck/inference.py, `inference_per_example`, commit
    00a1ed40715ba11b9718ef251a3b0c493992944e: 400 tokens for the encoders, 500 words for Flan-T5.

    Args:
        text: the document.
        size: maximum tokens per chunk.
        count: counts the tokens of a sentence.
    """
    sentences: list[str] = []
    for block in text.split("\n"):
        sentences += [*split_sentences(block), "\n"]
    rows = (" ".join(row).replace(" \n ", "\n").strip() for row in _rows(sentences[:-1], size, count))
    return [chunk for chunk in rows if chunk]


def factcg_chunks(text: str, *, size: int = 550) -> list[str]:
    """Chunks of consecutive sentences up to `size` words and marks, one sentence per line.

    derenlei/FactCG, factcg/inference.py, `chunking_src`, commit 49748b92e3927d98d9a90e2931c177007f050de0;
    words are counted by a pattern instead of NLTK's `word_tokenize`.
    """
    rows = ("\n".join(row).strip("\n").strip() for row in _rows(split_sentences(text), size, words_of))
    return [chunk for chunk in rows if chunk]


def factcg_text(document: str, claim: str) -> str:
    """The input of FactCG.

    derenlei/FactCG, factcg/utils.py, commit 4eb1537fd05a134d8af2e5bbab64dd5d12e86f08.
    """
    return _form("factcg").format(document=document, claim=claim)


def lettuce_prompt(passages: Sequence[str], question: str | None) -> str:
    """The input of LettuceDetect before the answer, in English; without a question, the form for summaries.

    lettucedetect 0.2.3, lettucedetect/detectors/prompt_utils.py, prompts/qa_prompt_en.txt and
    prompts/summary_prompt_en.txt.
    """
    form = _form("lettuce_question" if question is not None else "lettuce_summary")
    block = "\n".join(f"passage {number}: {text}" for number, text in enumerate(passages, 1))
    return form.format(passages=block, count=len(passages), question=question)


def lettuce_groups(
    passages: Sequence[str], question: str | None, answer: str, *, longest: int, count: Count
) -> list[Sequence[str]]:
    """The passages in groups that fit with the answer, in order; a passage that is too long is its own group.

    lettucedetect 0.2.3, lettucedetect/detectors/transformer.py, `_group_passages_into_chunks`.
    """
    budget = longest - count(answer) - 3
    room = budget - count(lettuce_prompt([""], question))
    if count(lettuce_prompt(passages, question)) <= budget or room <= 0:
        return [passages]
    groups: list[Sequence[str]] = []
    group: list[str] = []
    used = 0
    for number, passage in enumerate(passages, 1):
        needed = count(f"passage {number}: {passage}")
        if group and used + needed + 1 > room:
            groups.append(group)
            group, used = [], 0
        used += needed + bool(group)
        group.append(passage)
    return [*groups, group] if group else groups


def words_of(text: str) -> int:
    """Number of words and marks in a text."""
    return len(_WORD.findall(text))


def _rows(sentences: Iterable[str], size: int, count: Count) -> Iterator[list[str]]:
    row: list[str] = []
    used = 0
    for sentence in sentences:
        needed = count(sentence)
        if used + needed > size:
            yield row
            row, used = [], 0
        row.append(sentence)
        used += needed
    yield row
