"""The formulas of `_retrieval` over many rankings at once, in numpy.

The results agree to the last few bits. An undefined score, of a query without relevant results, is masked:
`.mean()` leaves it out, and `.count()` gives the number of scores in the mean.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.scoring._retrieval import check_cut, grades_of

__all__ = [
    "Rankings",
    "Scores",
    "average_precisions",
    "hits",
    "ndcgs",
    "precisions",
    "recalls",
    "reciprocal_ranks",
    "table",
]

Scores: TypeAlias = "np.ma.MaskedArray[Any, np.dtype[np.float64]]"


class Rankings(NamedTuple):
    """Rankings of many queries, one row each.

    Attributes:
        grades: the grade of the result at each rank; 0 if it is not relevant, and after the last result.
        lengths: number of distinct results of each query.
        ideal: the grades of all relevant results of a query, highest first, then zeros.
    """

    grades: NDArray[np.float64]
    lengths: NDArray[np.int64]
    ideal: NDArray[np.float64]

    @property
    def relevant(self) -> NDArray[np.int64]:
        """Number of relevant results of each query."""
        counts: NDArray[np.int64] = np.count_nonzero(self.ideal > 0, axis=1)
        return counts


def table(
    retrieved: Sequence[Sequence[str]], relevant: Sequence[Collection[str] | Mapping[str, float]]
) -> Rankings:
    """Arrange ids in rows; repeated ids count once, and grades of 0 or below mean "not relevant".

    Args:
        retrieved: for each query, the retrieved ids in rank order.
        relevant: for each query, the relevant ids, or a mapping from them to their grades.

    Raises:
        ValueError: the two lists differ in length.
    """
    if len(retrieved) != len(relevant):
        raise ValueError(
            f"got {len(retrieved)} rankings and relevant ids for {len(relevant)}; give ids for each ranking"
        )
    found: list[list[float]] = []
    ideal: list[list[float]] = []
    for ranked, wanted in zip(retrieved, relevant, strict=True):
        grades = grades_of(wanted)
        found.append([grades.get(result, 0.0) for result in dict.fromkeys(ranked)])
        ideal.append(sorted(grades.values(), reverse=True))
    lengths = np.array([len(row) for row in found], dtype=np.int64)
    return Rankings(_padded(found), lengths, _padded(ideal))


def precisions(ranked: Rankings, k: int | None = None) -> Scores:
    r"""Precision of each ranking.

    .. math:: P@k = |\{i \le k : d_i \in R\}| / k

    Range [0, 1], higher is better. Undefined (masked) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        `scoring.precision_at`, here for many queries.

    Examples:
        >>> precisions(table([["a", "x"], []], [{"a"}, {"b"}])).tolist()
        [0.5, 0.0]
    """
    ranks = ranked.lengths if k is None else np.full(len(ranked.lengths), k)
    return _masked(_hits(ranked, k).sum(axis=1) / np.maximum(ranks, 1), ranked)


def recalls(ranked: Rankings, k: int | None = None) -> Scores:
    r"""Recall of each ranking.

    .. math:: R@k = |\{i \le k : d_i \in R\}| / |R|

    Range [0, 1], higher is better. Undefined (masked) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        `scoring.recall_at`, here for many queries.

    Examples:
        >>> recalls(table([["a", "x"], ["a"]], [{"a", "b"}, set()])).tolist()
        [0.5, None]
    """
    return _masked(_hits(ranked, k).sum(axis=1) / np.maximum(ranked.relevant, 1), ranked)


def hits(ranked: Rankings, k: int | None = None) -> Scores:
    r"""1 for each ranking with a relevant result, else 0.

    .. math:: \mathrm{hit}@k = [\exists i \le k : d_i \in R]

    Range [0, 1], higher is better. Undefined (masked) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        `scoring.hit_at`, here for many queries.

    Examples:
        >>> hits(table([["x", "a"], ["x"]], [{"a"}, {"a"}])).tolist()
        [1.0, 0.0]
    """
    return _masked(_hits(ranked, k).any(axis=1), ranked)


def reciprocal_ranks(ranked: Rankings, k: int | None = None) -> Scores:
    r"""1 divided by the rank of the first relevant result of each ranking; 0 without one.

    .. math:: RR@k = 1 / \min\{i \le k : d_i \in R\}

    Range [0, 1], higher is better. Undefined (masked) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        `scoring.reciprocal_rank_at`, here for many queries.

    Examples:
        >>> reciprocal_ranks(table([["x", "a"], ["x"]], [{"a"}, {"a"}])).tolist()
        [0.5, 0.0]
    """
    found = _hits(ranked, k)
    if not found.shape[1]:
        return _masked(np.zeros(len(found)), ranked)
    return _masked(found.any(axis=1) / (found.argmax(axis=1) + 1), ranked)


def average_precisions(
    ranked: Rankings, k: int | None = None, *, denominator: Literal["relevant", "found"] = "relevant"
) -> Scores:
    r"""Average precision of each ranking.

    .. math:: AP@k = \frac{\sum_{i \le k,\ d_i \in R} P@i}{|R|}

    With the denominator "found" it divides by the retrieved relevant results. Range [0, 1], higher is better.
    Undefined (masked) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        `scoring.average_precision_at`, here for many queries.

    Examples:
        >>> average_precisions(table([["a", "x", "b"]], [{"a", "b"}])).round(4).tolist()
        [0.8333]
    """
    found = _hits(ranked, k)
    precision: NDArray[np.float64] = found.cumsum(axis=1) / np.arange(1, int(found.shape[1]) + 1)
    total = np.where(found, precision, 0.0).sum(axis=1)
    divisor = ranked.relevant if denominator == "relevant" else found.sum(axis=1)
    return _masked(total / np.maximum(divisor, 1), ranked)


def ndcgs(
    ranked: Rankings, k: int | None = None, *, gain: Literal["linear", "exponential"] = "linear"
) -> Scores:
    r"""Discounted cumulative gain of each ranking, divided by that of its best possible ranking.

    .. math:: nDCG@k = \frac{\sum_{i \le k} g(d_i) / \log_2(i + 1)}{\sum_{i \le k} g(r_i) / \log_2(i + 1)}

    with :math:`r_1, r_2, \ldots` the relevant results, highest grade first. Range [0, 1], higher is better.
    Undefined (masked) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        `scoring.ndcg_at`, here for many queries.

    Examples:
        >>> ndcgs(table([["b", "a"]], [{"a": 3, "b": 1}])).round(4).tolist()
        [0.7967]
    """
    check_cut(k)
    highest = ranked.ideal[:, :1] if ranked.ideal.shape[1] else np.zeros((len(ranked.ideal), 1))
    best = _discounted(_gains(ranked.ideal[:, :k], highest, gain))
    gained = _discounted(_gains(ranked.grades[:, :k], highest, gain))
    # the highest grade is 1 of itself: the best ranking gains at least 1, unless nothing is relevant
    return _masked(gained / np.maximum(best, 1.0), ranked)


def _gains(grades: NDArray[np.float64], highest: NDArray[np.float64], gain: str) -> NDArray[np.float64]:
    """Gains divided by the highest gain of their query, so that no power overflows."""
    safe = np.where(highest > 0, highest, 1.0)
    if gain == "linear":
        return grades / safe
    shares = np.expm1(-grades * np.log(2)) / np.expm1(-safe * np.log(2))
    gains: NDArray[np.float64] = np.exp2(grades - safe) * shares
    return gains


def _discounted(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    sums: NDArray[np.float64] = np.dot(gains, 1 / np.log2(np.arange(2, int(gains.shape[1]) + 2)))
    return sums


def _hits(ranked: Rankings, k: int | None) -> NDArray[np.bool_]:
    check_cut(k)
    return ranked.grades[:, :k] > 0


def _masked(values: Any, ranked: Rankings) -> Scores:
    return np.ma.masked_array(values, mask=ranked.relevant == 0, dtype=np.float64)


def _padded(rows: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Rows of equal length, padded with zeros."""
    table = np.zeros((len(rows), max(map(len, rows), default=0)))
    if rows:
        lengths = np.array([len(row) for row in rows])
        table[np.arange(table.shape[1]) < lengths[:, None]] = [value for row in rows for value in row]
    return table
