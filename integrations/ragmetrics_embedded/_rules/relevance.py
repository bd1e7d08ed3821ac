"""Which sentences of the contexts help with a question: those that share enough of its rarer words."""

from collections.abc import Sequence
from math import log

from ragmetrics_core.parsers import split_sentences
from ragmetrics_embedded._support.vocabulary import ANAPHORA
from ragmetrics_embedded._support.words import read_words

__all__ = ["relevant_sentences"]

# The best sentence must have this share of the question's weight, and others this share of the best one's.
LEAST = 0.34
NEAR_BEST = 0.7
# What a sentence leaves to the one before ("it") counts half.
LEFT_OUT = 0.5


def relevant_sentences(question: str, contexts: Sequence[str]) -> dict[int, str]:
    """The sentences that help with a question, by their place; none when no sentence has enough of it.

    A word weighs the more, the fewer sentences have it. Words of the question that no sentence has count
    against all.
    """
    texts: list[str] = []
    keys: list[frozenset[str]] = []
    meant: list[frozenset[str]] = []
    for chunk in contexts:
        before: frozenset[str] = frozenset()
        for text in split_sentences(chunk):
            tokens = read_words(text).tokens
            texts.append(text)
            keys.append(frozenset(token.key for token in tokens))
            is_anaphoric = any(token.folded in ANAPHORA for token in tokens)
            meant.append(before if is_anaphoric else frozenset())
            before = keys[-1]
    asked = read_words(question).content_keys
    if not asked or not texts:
        return {}
    having = {key: sum(key in own for own in keys) for key in sorted(asked)}
    weights = {key: log(1 + len(texts) / (1 + count)) / log(1 + len(texts)) for key, count in having.items()}
    total = sum(weights.values())
    fit = [
        sum(
            weight * (1.0 if key in own else LEFT_OUT if key in left_out else 0.0)
            for key, weight in weights.items()
        )
        / total
        for own, left_out in zip(keys, meant, strict=True)
    ]
    least = max(LEAST, NEAR_BEST * max(fit))
    return {place: texts[place] for place, share in enumerate(fit) if share >= least}
