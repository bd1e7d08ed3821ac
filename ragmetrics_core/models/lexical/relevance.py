"""Which sentences of the contexts help with a question: those that share enough of its rarer words."""

from math import log

from ragmetrics_core.models.lexical.sources import Source
from ragmetrics_core.models.lexical.tokens import WEIGHTS, Sentence

__all__ = ["relevant_sentences"]

# The best sentence must have this share of the question's weight, and others this share of the best one's.
LEAST = 0.34
NEAR_BEST = 0.7
# A sentence that says "it" and follows a relevant one needs less of its own.
CONTINUES = 0.35


def relevant_sentences(question: Sentence, source: Source) -> tuple[int, ...]:
    """The places of the sentences that help with a question, in order; empty when none does.

    A word weighs the more, the fewer sentences have it. Words of the question that no sentence has count
    against all.
    """
    total_sentences = len(source.sentences)
    weights: dict[str, float] = {}
    found: dict[str, frozenset[int]] = {}
    tokens = [*question.content.values(), *(token for token in question.tokens if token.kind == "number")]
    for token in tokens:
        key = source.find(token.key, loosely=token.kind in {"word", "weak", "name"})
        places = frozenset(
            source.places(key)
            if key is not None
            else source.abbreviates(token.key)
            if token.kind == "code"
            else ()
        )
        rarity = (
            log(1 + total_sentences / (1 + len(places))) / log(1 + total_sentences)
            if total_sentences
            else 0.0
        )
        weights[token.key] = WEIGHTS[token.kind] * rarity
        found[token.key] = places
    total = sum(weights.values())
    if not total:
        return ()

    said = [
        sum(weight for key, weight in weights.items() if place in found[key]) / total
        for place in range(total_sentences)
    ]
    # What a sentence leaves to the one before ("it") counts half.
    fit = [
        said[place]
        + 0.5
        * sum(
            weight
            for key, weight in weights.items()
            if place not in found[key] and key in source.company(place)
        )
        / total
        for place in range(total_sentences)
    ]
    best = max(fit, default=0.0)
    if best < LEAST:
        return ()
    relevant = {place for place in range(total_sentences) if fit[place] >= max(LEAST, NEAR_BEST * best)}
    for place in range(1, total_sentences):
        follows = source.chunk_of[place] == source.chunk_of[place - 1] and place - 1 in relevant
        if follows and source.sentences[place].anaphoric and said[place] >= CONTINUES * best:
            relevant.add(place)
    return tuple(sorted(relevant))
