"""Baselines without a judge, which any judge has to beat."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.samples import Sample
from ragmetrics_core.study import Question

__all__ = ["BASELINES"]

_WORD: Final = re.compile(r"\w+")


def _overlap(sample: Sample, question: Question) -> float:
    """The words that a sample's texts share.

    For "faithful" the share of words that the contexts have, in the answer's sentence that has the fewest;
    for "correct" the F1 of words shared with a reference, the best of several; for "relevant" the share of
    the question's words that the answer (or else the contexts) has.
    """
    answer, contexts = sample.answer or "", " ".join(sample.contexts or ())
    match question:
        case "faithful":
            words = set(_words(contexts))
            return min((_held(_words(text), words) for text in split_sentences(answer)), default=1.0)
        case "correct":
            references = sample.references or ((sample.reference,) if sample.reference else ())
            return max((_f1(_words(answer), _words(text)) for text in references), default=0.0)
        case "relevant":
            return _held(_words(sample.question or ""), set(_words(answer or contexts)))


BASELINES: Final[Mapping[str, Callable[[Sample, Question], float]]] = {
    "word overlap": _overlap,
    "shorter": lambda sample, _question: -float(len(sample.answer or " ".join(sample.contexts or ()))),
    "always yes": lambda _sample, _question: 1.0,
}
"""The score that each gives to a sample."""


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _held(words: Sequence[str], known: set[str]) -> float:
    return sum(word in known for word in words) / len(words) if words else 1.0


def _f1(answer: Sequence[str], reference: Sequence[str]) -> float:
    common = (Counter(answer) & Counter(reference)).total()
    return 2 * common / (len(answer) + len(reference)) if common else 0.0
