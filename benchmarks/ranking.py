"""Ranking metrics for 10,000 queries of 100 hits: ours in numpy, pytrec_eval and ranx, in one run.

    python -m benchmarks.ranking [--queries N] [--hits K]

All start from the same ids in Python lists and mappings; each library's own form of them is made inside of
its time, because a user has to make it too, and shown apart. The means must agree. What is not installed is
left out and named: ranx needs numba, pytrec_eval comes as `pytrec-eval-terrier`.
"""

import argparse
import importlib
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ragmetrics_core.scoring import _rankings as rankings

Ids = Sequence[Sequence[str]]
Grades = Sequence[Mapping[str, int]]


class Timed(NamedTuple):
    """Seconds for bringing ids into the library's form and for the formulas, and the means."""

    preparing: float
    scoring: float
    means: Mapping[str, float]


def queries(count: int, hits: int, seed: int = 7) -> tuple[Ids, Grades]:
    """Random rankings, and for each query 10 relevant documents of grades 1 to 3, most of them retrieved."""
    chance = random.Random(seed)
    retrieved, relevant = [], []
    for _ in range(count):
        documents = [f"d{number}" for number in chance.sample(range(100_000), hits + 5)]
        relevant.append({each: chance.randint(1, 3) for each in chance.sample(documents, min(10, hits))})
        retrieved.append(documents[:hits])
    return retrieved, relevant


def ours(retrieved: Ids, relevant: Grades) -> Timed:
    """The formulas of `ragmetrics_core.scoring._rankings`."""
    start = time.perf_counter()
    ranked = rankings.table(retrieved, relevant)
    prepared = time.perf_counter()
    means = {
        "P@10": rankings.precisions(ranked, 10).mean(),
        "R@10": rankings.recalls(ranked, 10).mean(),
        "MAP": rankings.average_precisions(ranked).mean(),
        "MRR": rankings.reciprocal_ranks(ranked).mean(),
        "nDCG@10": rankings.ndcgs(ranked, 10).mean(),
    }
    return Timed(prepared - start, time.perf_counter() - prepared, means)


def pytrec(retrieved: Ids, relevant: Grades) -> Timed:
    """trec_eval in C."""
    pytrec_eval = importlib.import_module("pytrec_eval")
    names = {"P_10": "P@10", "recall_10": "R@10", "map": "MAP", "recip_rank": "MRR", "ndcg_cut_10": "nDCG@10"}
    start = time.perf_counter()
    truth = {str(number): dict(grades) for number, grades in enumerate(relevant)}
    run = {
        str(number): {each: float(-rank) for rank, each in enumerate(ranked)}
        for number, ranked in enumerate(retrieved)
    }
    prepared = time.perf_counter()
    wanted = {"P.10", "recall.10", "map", "recip_rank", "ndcg_cut.10"}
    found = pytrec_eval.RelevanceEvaluator(truth, wanted).evaluate(run)
    means = {
        told: sum(scores[name] for scores in found.values()) / len(found) for name, told in names.items()
    }
    return Timed(prepared - start, time.perf_counter() - prepared, means)


def ranx(retrieved: Ids, relevant: Grades) -> Timed:
    """Compiled by numba; compiling is not counted."""
    library = importlib.import_module("ranx")
    names = {
        "precision@10": "P@10",
        "recall@10": "R@10",
        "map": "MAP",
        "mrr": "MRR",
        "ndcg@10": "nDCG@10",
    }
    few = {"q": {"d": 1}}, {"q": {"d": 1.0}}
    library.evaluate(library.Qrels(few[0]), library.Run(few[1]), list(names))
    start = time.perf_counter()
    truth = library.Qrels({str(number): dict(grades) for number, grades in enumerate(relevant)})
    run = library.Run(
        {
            str(number): {each: float(-rank) for rank, each in enumerate(ranked)}
            for number, ranked in enumerate(retrieved)
        }
    )
    prepared = time.perf_counter()
    found = library.evaluate(truth, run, list(names))
    means = {told: float(found[name]) for name, told in names.items()}
    return Timed(prepared - start, time.perf_counter() - prepared, means)


def measure(count: int, hits: int) -> dict[str, Timed | str]:
    """Each library's times and means, or why it was left out."""
    retrieved, relevant = queries(count, hits)
    libraries: dict[str, Callable[[Ids, Grades], Timed]] = {
        "ragmetrics": ours,
        "pytrec_eval": pytrec,
        "ranx": ranx,
    }
    results: dict[str, Timed | str] = {}
    for name, library in libraries.items():
        try:
            results[name] = min((library(retrieved, relevant) for _ in range(3)), key=_seconds)
        except ImportError as error:
            results[name] = f"left out: {error}"
    return results


def _seconds(timed: Timed) -> float:
    return timed.preparing + timed.scoring


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--hits", type=int, default=100)
    given = parser.parse_args()
    results: dict[str, Any] = measure(given.queries, given.hits)
    own = results["ragmetrics"]
    print(f"{given.queries:,} queries x {given.hits} hits, P@10, R@10, MAP, MRR and nDCG@10; the best of 3")
    for name, found in results.items():
        if isinstance(found, str):
            print(f"  {name:<12} {found}")
            continue
        apart = max(abs(found.means[each] - own.means[each]) for each in own.means)
        times = f"{found.preparing:6.2f} s to prepare, {found.scoring:6.2f} s to score"
        ratio = _seconds(found) / _seconds(own)
        print(f"  {name:<12} {times}, {ratio:5.2f} times ours; means at most {apart:.1e} apart")


if __name__ == "__main__":
    main()
