"""Comparison of generated questions with those of people: rankings of retrievers, and looks.

    python -m benchmarks.question_data DATA
    python -m benchmarks.question_sets DATA/documents.jsonl DATA/people.jsonl SET

SET is the folder of a test set, or JSON Lines with `question` (or `user_input`) and `reference_contexts`.

The 15 set-ups are BM25, static word vectors and both by reciprocal rank fusion (Cormack et al. 2009, constant
60), each with chunks of about 50 words (the first 2 or 4), 100 (1 or 2) and 200 (1). Those with 4, 2 and 1
return about as many words. A question is a hit if one of the returned chunks holds a part of its gold: its
quotes (`chunks_with`), or any text of their documents.

A set decides a pair of set-ups if their hit rates differ. Of the pairs that both sets decide, the share with
the same sign is reported. Pairs that differ in k only are left out: the larger k cannot lose. Intervals are
quantiles of a bootstrap over the label `group` of the documents (else over documents), in which the questions
of a group are drawn together in both sets. Two halves of the groups show how well people's questions agree
with other questions of people.
"""

import argparse
import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.models import as_embedder
from ragmetrics_core.questions import (
    BM25,
    Corpus,
    QuestionSet,
    Quote,
    chunks_with,
    find_quotes,
    read_corpus,
)

__all__ = [
    "SETUPS",
    "Agreement",
    "Asked",
    "SetUp",
    "agreement",
    "comparable_pairs",
    "first_gold",
    "fused",
    "halves",
    "more_often",
    "word_overlap",
]

Array = NDArray[np.float64]

_FUSION = 60
_DRAWS = 2000
_SPLITS = 500
_TOKENS = re.compile(r"\w+")


class SetUp(NamedTuple):
    """A retriever: how it ranks, about how many words its chunks have, and how many it returns."""

    ranker: str
    words: int
    k: int

    def __str__(self) -> str:
        return f"{self.ranker}, {self.words} words, k={self.k}"


SETUPS = tuple(
    SetUp(ranker, words, k)
    for ranker in ("bm25", "vectors", "hybrid")
    for words, k in ((50, 2), (50, 4), (100, 1), (100, 2), (200, 1))
)


class Asked(NamedTuple):
    """A question with its gold.

    Attributes:
        text: the question.
        quotes: places that answer it.
        group: what is drawn together in resamples.
    """

    text: str
    quotes: tuple[Quote, ...]
    group: str


class Agreement(NamedTuple):
    """Decisions of two sets on pairs of set-ups.

    Attributes:
        same: pairs that both decide alike.
        both: pairs that both decide.
        one: pairs that one of them decides.
        neither: pairs on which both are tied.
    """

    same: int
    both: int
    one: int
    neither: int

    @property
    def share(self) -> float | None:
        """Share of the pairs decided by both that they decide alike; None if there are none."""
        return self.same / self.both if self.both else None


def comparable_pairs(setups: Sequence[SetUp]) -> list[tuple[int, int]]:
    """Numbers of the set-ups of each pair that differs in more than k."""
    return [
        (one, other)
        for one, other in combinations(range(len(setups)), 2)
        if setups[one]._replace(k=0) != setups[other]._replace(k=0)
    ]


PAIRS = comparable_pairs(SETUPS)


def signs(rates: Array, pairs: Sequence[tuple[int, int]]) -> Array:
    """The sign of the difference of each pair, for each row of hit rates; 0 below 1e-9 and for nan."""
    first, second = np.array(pairs).T
    differences = np.nan_to_num(rates[..., first] - rates[..., second])
    return np.where(np.abs(differences) < 1e-9, 0.0, np.sign(differences))


def agreement(one: Array, other: Array, pairs: Sequence[tuple[int, int]]) -> Agreement:
    """Decisions of two sets, from their hit rates."""
    mine, its = signs(one, pairs), signs(other, pairs)
    decided = np.abs(mine) + np.abs(its)
    return Agreement(
        same=int(((mine == its) & (mine != 0)).sum()),
        both=int((decided == 2).sum()),
        one=int((decided == 1).sum()),
        neither=int((decided == 0).sum()),
    )


def shares(one: Array, other: Array, pairs: Sequence[tuple[int, int]]) -> Array:
    """`Agreement.share` of each row of hit rates; without rows in which no pair is decided by both."""
    mine, its = signs(one, pairs), signs(other, pairs)
    both = ((mine != 0) & (its != 0)).sum(axis=-1)
    same = ((mine == its) & (mine != 0)).sum(axis=-1)
    return np.asarray(same[both > 0] / both[both > 0])


def fused(orders: Sequence[Sequence[int]]) -> list[int]:
    """Order of the items by the sum of 1 / (60 + rank) over several orders; of equal ones the lower number.

    >>> fused([[0, 1, 2], [2, 1, 0], [2, 0, 1]])  # 2: 1/63 + 1/61 + 1/61
    [2, 0, 1]
    """
    scores = np.zeros(len(orders[0]))
    for order in orders:
        scores[np.asarray(order)] += 1 / (_FUSION + 1 + np.arange(len(order)))
    return [int(item) for item in np.argsort(-scores.round(12), kind="stable")]


def first_gold(order: Sequence[int], gold: frozenset[int]) -> int | None:
    """Rank of the first gold item in an order, from 1; None if there is none."""
    return next((rank for rank, item in enumerate(order, start=1) if item in gold), None)


def word_overlap(question: str, text: str) -> float | None:
    """Share of the different words of a question that a text has; None if it has no words.

    >>> word_overlap("How do crab traps work?", "Crab traps are baited.")
    0.4
    """
    words = words_in(question)
    return len(words & words_in(text)) / len(words) if words else None


def words_in(text: str) -> set[str]:
    """The different words of a text, in lower case."""
    return set(_TOKENS.findall(text.lower()))


def more_often(one: Array, other: Array, mine: Array | None = None, its: Array | None = None) -> float | None:
    """Probability that a value of `one` is above one of `other`, ties half; None if there is no pair.

    Args:
        one: values.
        other: other values.
        mine: weights of `one`. Default: 1 each.
        its: weights of `other`. Default: 1 each.
    """
    mine = np.ones(len(one)) if mine is None else mine
    its = np.ones(len(other)) if its is None else its
    above = (one[:, None] > other) + 0.5 * (one[:, None] == other)
    weight = mine.sum() * its.sum()
    return float(mine @ above @ its / weight) if weight else None


def halves(groups: Sequence[str], splits: int, seed: int) -> Iterator[tuple[set[str], set[str]]]:
    """Random halves of the groups."""
    names = np.array(sorted(set(groups)))
    generator = np.random.default_rng(seed)
    for _ in range(splits):
        order = generator.permutation(names)
        yield set(order[: len(names) // 2].tolist()), set(order[len(names) // 2 :].tolist())


class Chunks(NamedTuple):
    """Chunks of the documents of about as many words."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    documents: tuple[str, ...]

    @classmethod
    def of(cls, corpus: Corpus, words: int) -> "Chunks":
        """Cut the documents."""
        passages = corpus.passages(words)
        ids = tuple(f"{each.document} {each.start}" for each in passages)
        return cls(ids, tuple(each.text for each in passages), tuple(each.document for each in passages))

    def holding(self, question: Asked, *, whole: bool) -> frozenset[int]:
        """Numbers of the chunks that hold the gold of a question.

        Args:
            question: the question.
            whole: whether each text of the documents of its quotes is gold.
        """
        documents = {quote.document for quote in question.quotes}
        here = [number for number, document in enumerate(self.documents) if document in documents]
        if whole:
            return frozenset(here)
        ids = chunks_with(question.quotes, {self.ids[number]: self.texts[number] for number in here})
        return frozenset(self.ids.index(id) for id in ids)


class Index:
    """Rankings of all chunks for questions, by each ranker."""

    def __init__(self, texts: Sequence[str], embed: Callable[[Sequence[str]], Array]) -> None:
        self._bm25 = BM25(texts)
        self._size = len(texts)
        self._embed = embed
        self._vectors = embed(texts)

    def orders(self, questions: Sequence[str]) -> Iterator[Mapping[str, Sequence[int]]]:
        """For each question, the order of the chunks by each ranker."""
        similar = self._embed(questions) @ self._vectors.T
        for question, row in zip(questions, similar, strict=True):
            words = self._bm25.rank(question, self._size)
            vectors = [int(number) for number in np.argsort(-row.round(9), kind="stable")]
            yield {"bm25": words, "vectors": vectors, "hybrid": fused([words, vectors])}


async def _embedded(texts: Sequence[str]) -> Array:
    return np.array(await as_embedder("embedded").aembed(texts), dtype=np.float64)


def unit_vectors(texts: Sequence[str]) -> Array:
    """Static word vectors of texts, each of length 1."""
    vectors = asyncio.run(_embedded(texts))
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms == 0, 1, norms))


class Measured(NamedTuple):
    """Questions with their hits and figures.

    Attributes:
        questions: the questions.
        by_quote, by_document: hits, a row for each question and a column for each set-up.
        lengths, overlaps, ranks: words of each question, share of them in its best gold chunk of 100 words,
            and BM25's rank of its first one.
    """

    questions: tuple[Asked, ...]
    by_quote: Array
    by_document: Array
    lengths: Array
    overlaps: Array
    ranks: Array


def measured(questions: Sequence[Asked], corpus: Corpus) -> Measured:
    """Ask all set-ups all questions."""
    hits = {whole: np.zeros((len(questions), len(SETUPS))) for whole in (False, True)}
    overlaps, ranks = np.zeros(len(questions)), np.zeros(len(questions))
    texts = [question.text for question in questions]
    for words in sorted({setup.words for setup in SETUPS}):
        chunks = Chunks.of(corpus, words)
        for row, orders in enumerate(Index(chunks.texts, unit_vectors).orders(texts)):
            for whole, found in hits.items():
                gold = chunks.holding(questions[row], whole=whole)
                for column, setup in enumerate(SETUPS):
                    if setup.words == words:
                        rank = first_gold(orders[setup.ranker], gold)
                        found[row, column] = rank is not None and rank <= setup.k
            if words == 100:
                gold = chunks.holding(questions[row], whole=True)
                overlaps[row] = max(word_overlap(texts[row], chunks.texts[each]) or 0.0 for each in gold)
                ranks[row] = first_gold(orders["bm25"], gold) or len(chunks.ids)
    lengths = np.array([len(text.split()) for text in texts], dtype=float)
    return Measured(tuple(questions), hits[False], hits[True], lengths, overlaps, ranks)


def asked_by(rows: Iterable[Mapping[str, object]], corpus: Corpus) -> list[Asked]:
    """Questions of rows with the places of their gold; those whose gold is not found are left out."""
    asked: list[Asked] = []
    for row in rows:
        texts = [str(text) for text in _listed(row.get("reference_contexts"))]
        near = [str(id) for id in _listed(row.get("reference_context_ids"))]
        quotes, missing = find_quotes(texts, corpus, near)
        if quotes and not missing:
            text = str(row.get("question") or row.get("user_input"))
            asked.append(Asked(text, tuple(quotes), _group(quotes, corpus)))
    return asked


def read_set(place: Path, corpus: Corpus) -> list[Asked]:
    """The questions of a folder or file."""
    if place.is_dir():
        kept = QuestionSet.read(place).questions
        return [Asked(each.question, each.quotes, _group(each.quotes, corpus)) for each in kept]
    with place.open(encoding="utf-8") as lines:
        return asked_by(map(json.loads, lines), corpus)


def _listed(value: object) -> list[object]:
    return [*cast("Iterable[object]", value)] if isinstance(value, list | tuple) else []


def _group(quotes: Sequence[Quote], corpus: Corpus) -> str:
    document = corpus.documents[quotes[0].document]
    return str(document.labels.get("group", document.id))


class Resamples:
    """Weights of questions in resamples of the groups, the same groups for both sets."""

    def __init__(self, groups: Iterable[str], draws: int, seed: int) -> None:
        self._names = {name: number for number, name in enumerate(sorted(set(groups)))}
        size = len(self._names)
        self._counts = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), size=draws)

    def weights(self, questions: Sequence[Asked]) -> Array:
        """Weight of each question, a row for each resample."""
        places = [self._names[question.group] for question in questions]
        return self._counts[:, places].astype(float)


def rates(hits: Array, weights: Array) -> Array:
    """Hit rates of the set-ups, a row for each resample; nan in a resample without a question."""
    total = weights.sum(axis=1, keepdims=True)
    return np.asarray(
        np.divide(weights @ hits, total, out=np.full((len(weights), hits.shape[1]), np.nan), where=total > 0)
    )


def report(people: Measured, generated: Measured, *, seed: int) -> Iterator[str]:
    """Everything that is compared, as lines."""
    groups = [each.group for each in (*people.questions, *generated.questions)]
    draws = Resamples(groups, _DRAWS, seed)
    weights = draws.weights(people.questions), draws.weights(generated.questions)
    counts = f"{len(people.questions)} questions of people and {len(generated.questions)} generated"
    yield f"{counts} in {len(set(groups))} groups"
    yield from _hit_rates(people, generated)
    yield from _agreements(people, generated, weights)
    yield from _rankers(people, generated, weights)
    yield ""
    yield from _of_halves(people, generated, seed)
    yield from _distributions(people, generated, weights)


def _hit_rates(people: Measured, generated: Measured) -> Iterator[str]:
    hits = (people.by_quote, generated.by_quote, people.by_document, generated.by_document)
    names = ("people, by quotes", "generated, by quotes", "people, by documents", "generated, by documents")
    rows = (
        (str(setup), *(f"{each[:, column].mean():.2f}" for each in hits))
        for column, setup in enumerate(SETUPS)
    )
    return _table(("hit rate", *names), rows)


def _agreements(people: Measured, generated: Measured, weights: tuple[Array, Array]) -> Iterator[str]:
    rows: list[tuple[str, ...]] = []
    for name, mine, its in (
        ("by quotes", people.by_quote, generated.by_quote),
        ("by documents", people.by_document, generated.by_document),
    ):
        found = agreement(mine.mean(axis=0), its.mean(axis=0), PAIRS)
        drawn = shares(rates(mine, weights[0]), rates(its, weights[1]), PAIRS)
        share = f"{_number(found.share)} ({_interval(drawn)})"
        rows.append((name, *map(str, (found.both, found.same)), share, *map(str, (found.one, found.neither))))
    names = ("decided by both", "alike", "share (95 %)", "by one", "by neither")
    return _table((f"decisions on {len(PAIRS)} pairs", *names), rows)


def _rankers(people: Measured, generated: Measured, weights: tuple[Array, Array]) -> Iterator[str]:
    """Hit rate of BM25 less that of each other ranker, on average of the chunkings, by documents."""
    rows: list[tuple[str, ...]] = []
    first = [number for number, setup in enumerate(SETUPS) if setup.ranker == "bm25"]
    for ranker in dict.fromkeys(setup.ranker for setup in SETUPS if setup.ranker != "bm25"):
        other = [number for number, setup in enumerate(SETUPS) if setup.ranker == ranker]
        gains = [
            measure.by_document[:, first].mean(axis=1) - measure.by_document[:, other].mean(axis=1)
            for measure in (people, generated)
        ]
        means = [gains[0].mean(), gains[1].mean()]
        drawn = [rates(gain[:, None], weight)[:, 0] for gain, weight in zip(gains, weights, strict=True)]
        means.append(means[1] - means[0])
        drawn.append(drawn[1] - drawn[0])
        cells = (
            f"{mean:+.2f} ({_interval(values[~np.isnan(values)])})"
            for mean, values in zip(means, drawn, strict=True)
        )
        rows.append((ranker, *cells))
    return _table(("hit rate of BM25 less that of", "people (95 %)", "generated (95 %)", "difference"), rows)


def _distributions(people: Measured, generated: Measured, weights: tuple[Array, Array]) -> Iterator[str]:
    stats: Any = import_module("scipy.stats")  # without types
    rows: list[tuple[str, ...]] = []
    for name, theirs, ours in (
        ("length in words", people.lengths, generated.lengths),
        ("overlap with the gold passage", people.overlaps, generated.overlaps),
        ("BM25 rank of the gold passage", people.ranks, generated.ranks),
    ):
        drawn = (more_often(ours, theirs, mine, its) for its, mine in zip(*weights, strict=True))
        interval = _interval(np.array([each for each in drawn if each is not None]))
        chance = f"{_number(more_often(ours, theirs))} ({interval})"
        tests = (stats.mannwhitneyu(ours, theirs), stats.ks_2samp(ours, theirs))
        rows.append((name, _spread(theirs), _spread(ours), chance, *(f"{test.pvalue:.2g}" for test in tests)))
    names = ("people: median (quartiles)", "generated", "P(generated is larger) (95 %)")
    return _table(("", *names, "Mann-Whitney p", "Kolmogorov-Smirnov p"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table of Markdown, after an empty line."""
    yield ""
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(row)} |"


def _of_halves(people: Measured, generated: Measured, seed: int) -> Iterator[str]:
    """Agreement of people's questions on one half of the groups with either set on the other half."""
    found: dict[str, list[float]] = {"people's": [], "generated": []}
    for first, second in halves([each.group for each in people.questions], _SPLITS, seed):
        one = _rates_in(people, first)
        for name, measure in (("people's", people), ("generated", generated)):
            other = _rates_in(measure, second)
            share = None if one is None or other is None else agreement(one, other, PAIRS).share
            if share is not None:
                found[name].append(share)
    for name, values in found.items():
        if not values:
            yield f"people's questions on half of the groups and {name} on the other half: no pair is decided"
            continue
        yield (
            f"people's questions on half of the groups and {name} on the other half, by documents: "
            f"{np.mean(values):.2f} on average of {len(values)} splits, 95 % of them {_interval(values)}"
        )


def _rates_in(measure: Measured, groups: set[str]) -> Array | None:
    rows = [number for number, each in enumerate(measure.questions) if each.group in groups]
    return np.asarray(measure.by_document[rows].mean(axis=0)) if rows else None


def _interval(values: Sequence[float] | Array) -> str:
    if not len(values):
        return "no resample has any"
    low, high = np.quantile(np.asarray(values, dtype=np.float64), [0.025, 0.975])
    return f"{low:.2f} to {high:.2f}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def _spread(values: Array) -> str:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return f"{middle:.3g} ({low:.3g} to {high:.3g})"


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("documents", type=Path, help="documents, as for `ragmetrics questions`")
    parser.add_argument("people", type=Path, help="questions of people with their gold passages")
    parser.add_argument("generated", type=Path, help="folder of a test set, or JSON Lines")
    parser.add_argument("--source", help="only questions on documents with this label `source`")
    parser.add_argument("--seed", type=int, default=0, help="random seed")
    given = parser.parse_args()
    corpus = read_corpus(given.documents)
    sets = [read_set(place, corpus) for place in (given.people, given.generated)]
    if given.source:
        sets = [[each for each in asked if _source(each, corpus) == given.source] for asked in sets]
    if not all(sets):
        raise SystemExit(
            f"{len(sets[0])} questions of people and {len(sets[1])} generated: nothing to compare"
        )
    people, generated = (measured(asked, corpus) for asked in sets)
    print("\n".join(report(people, generated, seed=given.seed)))


def _source(question: Asked, corpus: Corpus) -> object:
    return corpus.documents[question.quotes[0].document].labels.get("source")


if __name__ == "__main__":
    main()
