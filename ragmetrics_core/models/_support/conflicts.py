"""Where a statement and its evidence disagree, in numbers that a person can read."""

from typing import Final

from ragmetrics_core.models._support.alignment import Alignment, Rival, klass_of
from ragmetrics_core.models._support.places import WordPlaces
from ragmetrics_core.models._support.words import Sentence

__all__ = ["CONFLICTS", "clashes", "conflicts_of"]

# From this lead on the other word stands where the statement's own would.
_LEAD: Final = 0.15

CONFLICTS: Final = (
    "number_lead", "number_instead", "number_clashes",
    "name_lead", "name_instead", "name_clashes",
    "class_lead", "class_instead", "class_clashes", "class_added",
    "word_lead", "word_instead", "word_clashes", "word_kin", "word_here",
    "negation_lost", "negation_added",
    "within", "within_wide",
    "names_turned", "words_turned", "order_kept", "by_turned",
    "least_fit", "mean_fit", "lone", "rest",
)  # fmt: skip


def clashes(alignment: Alignment) -> list[Rival]:
    """The words in whose place another one stands, the clearest first."""
    rivals = [each for each in alignment.rivals if each is not None and each.lead > _LEAD]
    return sorted(rivals, key=lambda each: -each.lead * each.kin)


def conflicts_of(said: Sentence, found: WordPlaces, alignment: Alignment) -> tuple[float, ...]:
    """What speaks against the statement, in the order of `CONFLICTS`.

    Args:
        said: the statement.
        found: where its words stand.
        alignment: the statement laid over its evidence.
    """
    by = _has_by(said) != (found.best_sentence is not None and _has_by(found.best_sentence))
    groups: dict[str, list[Rival]] = {"number": [], "name": [], "class": [], "word": []}
    for rival in alignment.rivals:
        if rival is not None:
            groups["class" if klass_of(rival.own) else rival.own.kind].append(rival)
    values: list[float] = []
    for name in ("number", "name", "class"):
        values += _strongest(groups[name])
        if name == "class":
            values.append(_added(alignment))
    word = max(groups["word"], key=lambda each: each.lead * each.kin, default=None)
    values += _strongest(groups["word"])
    values += [word.kin, word.here] if word is not None else [0.0, 0.0]
    names_turned, _ = alignment.reversed_triples(("name", "number"))
    turned, kept = alignment.reversed_triples(("name", "number", "word"))
    fits = [
        0.0 if place is None else float(alignment.fit[row, place])
        for row, place in enumerate(alignment.own_places)
        if alignment.rows[row].is_content
    ]
    missing = sum(
        place is None for row, place in enumerate(alignment.own_places) if alignment.rows[row].is_content
    )
    width = alignment.span
    read = (
        *values,
        alignment.negation_lost(),
        alignment.negation_added(),
        alignment.within(width + 3),
        alignment.within(2 * width + 4),
        names_turned if not by else 0,
        turned if not by else 0,
        kept,
        by * (turned > kept),
        min(fits, default=0.0),
        sum(fits) / len(fits) if fits else 0.0,
        float(missing == 1),
        _rest(found),
    )
    return tuple([round(float(value), 4) for value in read])


def _rest(found: WordPlaces) -> float:
    """How much stands in the best sentence of what is left without the most telling absent word."""
    absent = max((found.weights[key] for key in found.absent), default=0)
    left = found.total - absent
    return found.weigh(found.best_keys) / left if left > 0 else 0.0


def _has_by(sentence: Sentence) -> bool:
    return any(token.folded == "by" for token in sentence.tokens)


def _strongest(rivals: list[Rival]) -> list[float]:
    """The largest lead, how well that one fits, and how many lead clearly."""
    strongest = max(rivals, key=lambda each: each.lead, default=None)
    if strongest is None:
        return [-1.0, 0.0, 0.0]
    return [strongest.lead, strongest.instead, sum(each.lead > _LEAD for each in rivals)]


def _added(alignment: Alignment) -> float:
    """How many words of small classes the evidence has nowhere, and no other one of their class near."""
    return sum(
        klass_of(token) is not None and place is None
        for token, place in zip(alignment.rows, alignment.own_places, strict=True)
    )
