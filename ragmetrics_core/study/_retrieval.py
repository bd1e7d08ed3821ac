"""Accuracy at k of retrievers from ids, with intervals and paired tests.

Table 1 of Roychowdhury et al. (2024), https://arxiv.org/abs/2407.12873.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.samples import Sample
from ragmetrics_core.study._comparison import VERDICT, Verdict, verdict_of
from ragmetrics_core.study._distributions import binomial_test
from ragmetrics_core.study._estimates import Estimate, wilson_interval
from ragmetrics_core.study._resampling import bootstrap_mean
from ragmetrics_core.study._scores import LeftOut
from ragmetrics_core.study._tables import (
    Cell,
    Column,
    StudyTable,
    TableColumn,
    counted,
    in_notebooks,
    plain_table,
    table_of,
)
from ragmetrics_core.study._tests import holm

__all__ = [
    "Accuracy",
    "Ranks",
    "RetrievalStudy",
    "Versus",
    "first_hits",
    "retrieval_tables",
    "study_retrieval",
]


class Ranks(NamedTuple):
    """Results of a retriever: the rank of the first correct id by sample; None if it is missing."""

    name: str
    ranks: Mapping[str, int | None]
    shown: int
    left_out: LeftOut

    def hits(self, k: int) -> dict[str, bool]:
        """Whether each sample has a right id among the first k."""
        return {sample: rank is not None and rank <= k for sample, rank in self.ranks.items()}


class Accuracy(NamedTuple):
    """The share of questions with a right id among the first k; n is how many questions there are."""

    retriever: str
    k: int
    share: Estimate
    n: int


@dataclass(frozen=True)
class Versus:
    """A retriever against the baseline at k, on the questions that both have.

    Attributes:
        retriever: the retriever.
        k: how many results count.
        difference: its accuracy less the baseline's, with its paired bootstrap interval.
        gained, lost: questions that only it, or only the baseline, has right.
        p: exact two-sided p of McNemar's test.
        holm: the same, adjusted for all of these tests.
        verdict: "better" or "worse" where the adjusted p is below alpha.
        n: how many questions both have.
    """

    retriever: str
    k: int
    difference: Estimate
    gained: int
    lost: int
    p: Annotated[float, Column("p mcnemar", "p")]
    n: int
    holm: Annotated[float | None, Column("p holm", "p")] = None
    verdict: Annotated[Verdict, VERDICT] = "cannot tell"

    @property
    def changed(self) -> str:
        """Numbers of gained and lost questions: "+4 -1"."""
        return f"+{self.gained} -{self.lost}"


@dataclass(frozen=True)
class RetrievalStudy:
    """Comparison of retrievers.

    Attributes:
        accuracies: accuracy of each retriever at each k.
        versus: comparison of each other retriever with the first.
        baseline: name of the first retriever.
        left_out: number of samples without ids, by retriever and cause.
        notes: remarks for readers.
    """

    accuracies: tuple[Accuracy, ...]
    versus: tuple[Versus, ...]
    baseline: str
    left_out: Mapping[str, LeftOut]
    notes: tuple[str, ...] = ()


def first_hits(name: str, samples: Iterable[Sample]) -> Ranks:
    """The rank of the first id that should have been retrieved, sample by sample.

    Samples without `context_ids` or without `reference_context_ids` are left out; an empty list of retrieved
    ids is a miss.
    """
    ranks: dict[str, int | None] = {}
    causes, shown = Counter[str](), 0
    for sample in samples:
        if sample.context_ids is None:
            causes["without context_ids"] += 1
        elif not sample.reference_context_ids:
            causes["without reference_context_ids"] += 1
        else:
            right, shown = set(sample.reference_context_ids), max(shown, len(sample.context_ids))
            hits = (rank for rank, each in enumerate(sample.context_ids, start=1) if each in right)
            ranks[sample.id] = next(hits, None)
    return Ranks(name, ranks, shown, tuple(causes.most_common()))


def study_retrieval(
    retrievers: Sequence[Ranks], *, ks: Sequence[int] = (1, 3, 5), alpha: float = 0.05, seed: int = 0
) -> RetrievalStudy:
    """Accuracy at each k, and each retriever against the first one.

    Raises:
        ConfigError: a retriever has no sample with ids, or shares none with the first one.
    """
    first = retrievers[0]
    notes: list[str] = []
    for each in retrievers:
        if not each.ranks:
            causes = counted(each.left_out) or "no sample"
            raise ConfigError(
                f"{each.name} has no sample with context_ids and reference_context_ids ({causes})"
            )
        if not each.ranks.keys() & first.ranks.keys():
            raise ConfigError(f"{each.name} and {first.name} have no sample in common: ids must be the same")
        if each.shown < max(ks):
            few = f"{each.name} has at most {each.shown} results a question"
            notes.append(f"{few}: larger k tell nothing more")
        if each.ranks.keys() != first.ranks.keys():
            both = f"{each.name} and {first.name} do not have the same questions"
            notes.append(f"{both}: only common ones are compared")
    versus = [_versus(each, first, k, 1 - alpha, seed) for each in retrievers[1:] for k in ks]
    accuracies = tuple(
        Accuracy(each.name, k, wilson_interval(sum(hits), len(hits)), len(hits))
        for each in retrievers
        for k in ks
        for hits in [each.hits(k).values()]
    )
    adjusted = tuple(
        replace(each, holm=p, verdict=verdict_of(each.gained - each.lost, p, alpha))
        for each, p in zip(versus, holm([each.p for each in versus]), strict=True)
    )
    left_out = {each.name: each.left_out for each in retrievers}
    return RetrievalStudy(accuracies, adjusted, first.name, left_out, tuple(notes))


@in_notebooks
def retrieval_tables(study: RetrievalStudy) -> Iterator[StudyTable]:
    """Accuracy at k as table 1 prints it, and the paired tests."""
    ks = tuple(dict.fromkeys(each.k for each in study.accuracies))
    known = {(each.retriever, each.k): each for each in study.accuracies}
    heads: list[str | TableColumn] = [
        "retriever",
        *(TableColumn(f"k={k}", "estimate") for k in ks),
        TableColumn("n", "count"),
        "left out",
    ]
    rows: Iterator[tuple[Cell, ...]] = (
        (name, *(known[name, k].share for k in ks), known[name, ks[0]].n, counted(left_out))
        for name, left_out in study.left_out.items()
    )
    note = "share of questions with a right id among the first k, with Wilson's interval"
    yield plain_table("retrievers", "Accuracy at k", heads, rows, (note, *study.notes))
    if study.versus:
        columns = "retriever k difference changed p holm n verdict"
        note = "on the same questions; changed: right only here and right only there"
        yield table_of("tests", f"Against {study.baseline}", Versus, study.versus, columns, [note])


def _versus(retriever: Ranks, first: Ranks, k: int, level: float, seed: int) -> Versus:
    here, there = retriever.hits(k), first.hits(k)
    differences = [here[each] - there[each] for each in here if each in there]
    gained, lost = differences.count(1), differences.count(-1)
    difference = bootstrap_mean(differences, level=level, seed=seed)
    p = binomial_test(gained, gained + lost)
    return Versus(retriever.name, k, difference, gained, lost, p, len(differences))
