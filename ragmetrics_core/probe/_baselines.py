"""What needs no judge: the scores that any judge has to beat."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.probe._label_words import Question
from ragmetrics_core.samples import Sample

__all__ = ["BASELINES", "baseline"]

_WORD: Final = re.compile(r"\w+")
BASELINES: Final = ("word overlap", "shorter", "always yes")


def baseline(name: str, sample: Sample, question: Question) -> float:
    """The score that a baseline gives a sample.

    `word overlap` is, for "faithful", the share of words that the contexts have, in the answer's sentence
    that has the fewest; for "correct", the F1 of words shared with a reference, the best of several; for
    "relevant", the share of the question's words that the answer (or else the contexts) has. `shorter` is
    minus the answer's length, `always yes` 1.
    """
    answer = sample.answer or ""
    match name:
        case "shorter":
            return -float(len(answer or " ".join(sample.contexts or ())))
        case "always yes":
            return 1.0
        case _:
            return _overlap(sample, answer, question)


def _overlap(sample: Sample, answer: str, question: Question) -> float:
    contexts = " ".join(sample.contexts or ())
    match question:
        case "faithful":
            known = set(_words(contexts))
            return min((_held(_words(each), known) for each in split_sentences(answer)), default=1.0)
        case "correct":
            references = sample.references or ((sample.reference,) if sample.reference else ())
            return max((_f1(_words(answer), _words(each)) for each in references), default=0.0)
        case "relevant":
            return _held(_words(sample.question or ""), set(_words(answer or contexts)))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _held(words: Sequence[str], known: set[str]) -> float:
    return sum(word in known for word in words) / len(words) if words else 1.0


def _f1(answer: Sequence[str], reference: Sequence[str]) -> float:
    common = (Counter(answer) & Counter(reference)).total()
    return 2 * common / (len(answer) + len(reference)) if common else 0.0
