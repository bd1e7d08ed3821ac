"""Shared steps of the ranking metrics: find the relevant results, record one verdict for each rank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ragmetrics_core import scoring
from ragmetrics_core.asking import review
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Decision, Judged, Labels, Measurement, undefined, valued
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import RankedIds, RankedTexts, View
from ragmetrics_core.texts.comparing import canonical_form

__all__ = ["Ranked", "RankingMetric", "precisions", "terms"]

RELEVANT = Labels("relevant", "not relevant")
_MOST_TERMS = 12


class Ranked(NamedTuple):
    """A ranking with the verdict on each rank, as input for the formulas.

    Attributes:
        results: a name for the result at each rank.
        grades: the grade of each relevant item, retrieved or not.
        gains: the grade at each rank, 0 if not relevant.
    """

    results: tuple[str, ...]
    grades: Mapping[str, float]
    gains: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class RankingMetric(Metric[RankedIds | RankedTexts]):
    """A metric of the ranks of relevant items.

    Attributes:
        k: number of results that count; None for all.
        match: find relevant results by their ids, or by their text.
        threshold: for texts, the share of a relevant passage's words that a chunk must contain.
    """

    inputs = RankedIds
    needs = frozenset()

    k: int | None = None
    match: Literal["ids", "text"] = "ids"
    threshold: float = 0.9

    def check(self) -> None:
        """Reject a cut-off below 1 and a threshold outside (0, 1]."""
        if self.k is not None and self.k < 1:
            raise ConfigError(f"{self.name}: k must be at least 1, or none for all results, not {self.k}")
        if not 0 < self.threshold <= 1:
            raise ConfigError(f"{self.name}: threshold must be above 0 and at most 1, not {self.threshold}")

    @property
    def view(self) -> type[View]:
        """The view with ids, or with texts if texts are matched."""
        return RankedIds if self.match == "ids" else RankedTexts

    def formula(self, ranked: Ranked) -> float | None:
        """The score of a ranking."""
        raise NotImplementedError

    def spelled(self, ranked: Ranked) -> str:
        """The formula as text, with names of `counts` in braces."""
        raise NotImplementedError

    def measure(self, sample: RankedIds | RankedTexts) -> Steps[Measurement]:
        """Match each relevant item with one result, then apply the formula."""
        notes: list[str] = []
        if isinstance(sample, RankedIds):
            listed, relevant = sample.context_ids, sample.reference_context_ids
        else:
            listed, relevant = sample.contexts, sample.reference_contexts
        own_words, their_words = (
            [self._words(text, sample.language) for text in texts] for texts in (listed, relevant)
        )
        grades = sample.reference_context_grades or (1.0,) * len(relevant)
        if len(grades) != len(relevant):
            return undefined("grades_of_other_items", grades=len(grades), relevant=len(relevant))
        wanted = _wanted(their_words, grades, notes)
        results = _distinct(listed, own_words, notes)
        matches = _matches([*results], [*wanted], self.threshold if self.match == "text" else 1.0)

        cut = len(results) if self.k is None else min(self.k, len(results))
        decisions = [
            _decision(text, match, [*wanted.values()], by_text=self.match == "text")
            for text, match in list(zip(results.values(), matches, strict=True))[:cut]
        ]
        judged = yield from review(decisions, about="result", labels=RELEVANT, notes=notes)
        ranked = _ranked(judged, matches[:cut], [*wanted.values()])
        counts = {
            "found": judged.supported,
            "relevant": len(ranked.grades),
            "ranks": cut if self.k is None else self.k,
            "retrieved": len(results),
        }
        value = self.formula(ranked)
        if value is None:
            return undefined("nothing_relevant", **counts)
        return valued(value, counts=counts, spelled=self.spelled(ranked))

    def _words(self, text: str, language: str | None) -> tuple[str, ...]:
        """Search key of a result: its id, or the words of its text."""
        return (
            (canonical_form(text),)
            if self.match == "ids"
            else tuple(scoring.words_of(text, language=language))
        )


def precisions(relevant: Sequence[float | None]) -> list[str]:
    """The precision at each relevant rank, as a fraction: "1/2"."""
    ranks = [rank for rank, each in enumerate(relevant, start=1) if each]
    return [f"{seen}/{rank}" for seen, rank in enumerate(ranks, start=1)]


def terms(values: Sequence[str]) -> str:
    """The terms of a sum, cut after the first few if there are many."""
    shown = list(values[:_MOST_TERMS])
    return " + ".join(shown + ["..."] * (len(values) > _MOST_TERMS)) or "0"


class _Match(NamedTuple):
    """The relevant item that a result is or contains, and its share; an earlier rank may have the credit."""

    number: int | None
    share: float = 0.0
    taken: bool = False


def _wanted(
    words: Sequence[tuple[str, ...]], grades: Sequence[float], notes: list[str]
) -> dict[tuple[str, ...], float]:
    """Words and grades of the relevant items; a repeated item has its highest grade."""
    graded: dict[tuple[str, ...], float] = {}
    for number, (own, grade) in enumerate(zip(words, grades, strict=True), start=1):
        if grade <= 0:
            notes.append(f"relevant item {number}: grade {grade:g} means not relevant")
        elif not own:
            notes.append(f"relevant item {number}: has no word to be found by")
        else:
            if own in graded:
                notes.append(f"relevant item {number}: repeats an earlier one")
            graded[own] = max(grade, graded.get(own, grade))
    return graded


def _distinct(
    texts: Sequence[str], words: Sequence[tuple[str, ...]], notes: list[str]
) -> dict[tuple[str, ...], str]:
    """Distinct results by their search key, each at its first rank."""
    first: dict[tuple[str, ...], str] = {}
    for rank, (text, own) in enumerate(zip(texts, words, strict=True), start=1):
        if own in first:
            notes.append(f"rank {rank}: repeats an earlier result and is no rank of its own")
        first.setdefault(own, text)
    return first


def _matches(
    results: Sequence[tuple[str, ...]], wanted: Sequence[tuple[str, ...]], threshold: float
) -> list[_Match]:
    """The best relevant item of each result; each item is credited to one rank."""
    places: dict[str, set[int]] = {}
    for number, item in enumerate(wanted):
        for word in item:
            places.setdefault(word, set()).add(number)
    credited: set[int] = set()
    matches: list[_Match] = []
    for words in results:
        near = set[int]().union(*(places.get(word, ()) for word in set(words)))
        shares = [_Match(number, _share(words, wanted[number])) for number in sorted(near)]
        held = [match for match in shares if match.share >= threshold]
        free = [match for match in held if match.number not in credited]
        if free:
            best = max(free, key=lambda match: match.share)
            credited.add(best.number or 0)
            matches.append(best)
        elif held:
            matches.append(max(held, key=lambda match: match.share)._replace(taken=True))
        else:
            matches.append(_Match(None, max((match.share for match in shares), default=0.0)))
    return matches


def _share(words: Sequence[str], wanted: Sequence[str]) -> float:
    return scoring.shared_words(words, wanted) / len(wanted)


def _decision(result: str, match: _Match, grades: Sequence[float], *, by_text: bool) -> Decision:
    if match.number is None:
        nearest = f"; the nearest one has {match.share:.2f} of its words here" if by_text else ""
        return Decision(result, False, f"not among the relevant items{nearest}")
    item = f"relevant item {match.number + 1}" + (f", {match.share:.2f} of its words" if by_text else "")
    if match.taken:
        return Decision(result, False, f"{item}, which is credited to an earlier rank")
    grade = grades[match.number]
    return Decision(result, True, item if grade == 1 else f"{item}, grade {grade:g}")


def _ranked(judged: Judged, matches: Sequence[_Match], wanted: Sequence[float]) -> Ranked:
    """The ranking after the verdicts: a person's decision can change whether an item is relevant."""
    left = dict(enumerate(wanted))
    grades: dict[str, float] = {}
    gains: list[float] = []
    for rank, (relevant, match) in enumerate(zip(judged.known, matches, strict=True), start=1):
        grade = 1.0 if match.number is None or match.taken else left.pop(match.number)
        gain = grade if relevant else 0.0
        gains.append(gain)
        if gain:
            grades[f"rank {rank}"] = gain
    grades |= {f"item {number}": grade for number, grade in left.items()}
    return Ranked(tuple(f"rank {rank}" for rank in range(1, len(matches) + 1)), grades, tuple(gains))
