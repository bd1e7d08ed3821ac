"""Formulas over retrieved and relevant ids.

They follow trec_eval: a ranking is a list of distinct results, and relevant ids are a set. So an id counts at
its first rank, later repetitions are dropped, and each relevant id is credited once. An empty ranking scores
0. If nothing is relevant, all rankings are equally good, and the scores are undefined.

Relevant ids are a set, or a mapping with grades; a grade of 0 or below means "not relevant". `k` cuts the
ranking after k results; None keeps all of them. The order of the ranking is final: there are no ties.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from typing_extensions import TypeIs

__all__ = [
    "average_precision_at",
    "hit_at",
    "ndcg_at",
    "precision_at",
    "recall_at",
    "reciprocal_rank_at",
    "reciprocal_ranks_at",
]


def precision_at(retrieved: Sequence[str], relevant: Collection[str], k: int | None = None) -> float | None:
    r"""Share of the ranks that hold a relevant result.

    .. math:: P@k = |\{i \le k : d_i \in R\}| / k

    With `k` it divides by `k` even when fewer results were retrieved, as trec_eval does; without it, by the
    number of distinct results.

    Range [0, 1], higher is better. Undefined (`None`) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        trec_eval, m_P.c. https://github.com/usnistgov/trec_eval

    Examples:
        >>> precision_at(["a", "x", "b"], {"a", "b"})
        0.6666666666666666
        >>> precision_at(["a", "a", "b"], {"a"})
        0.5
        >>> precision_at(["a"], {"a"}, k=4)
        0.25
        >>> precision_at([], {"a"})
        0.0
        >>> precision_at(["a"], set()) is None
        True
    """
    gains = _gains(retrieved, relevant, k)
    if gains is None:
        return None
    ranks = len(gains) if k is None else k
    return sum(gains) / ranks if ranks else 0.0


def recall_at(retrieved: Sequence[str], relevant: Collection[str], k: int | None = None) -> float | None:
    r"""Share of the relevant results that were retrieved.

    .. math:: R@k = |\{i \le k : d_i \in R\}| / |R|

    Range [0, 1], higher is better. Undefined (`None`) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        trec_eval, m_recall.c. https://github.com/usnistgov/trec_eval

    Examples:
        >>> recall_at(["a", "x", "b"], {"a", "b", "c", "d"})
        0.5
        >>> recall_at(["a", "a"], {"a", "b"})
        0.5
        >>> recall_at([], {"a"})
        0.0
    """
    gains = _gains(retrieved, relevant, k)
    return None if gains is None else sum(gains) / len(grades_of(relevant))


def hit_at(retrieved: Sequence[str], relevant: Collection[str], k: int | None = None) -> float | None:
    r"""1 when a relevant result was retrieved, else 0.

    .. math:: \mathrm{hit}@k = [\exists i \le k : d_i \in R]

    Range [0, 1], higher is better. Undefined (`None`) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        trec_eval, m_success.c. https://github.com/usnistgov/trec_eval

    Examples:
        >>> hit_at(["x", "a"], {"a"})
        1.0
        >>> hit_at(["x", "a"], {"a"}, k=1)
        0.0
        >>> hit_at([], {"a"})
        0.0
    """
    gains = _gains(retrieved, relevant, k)
    return None if gains is None else float(any(gains))


def reciprocal_rank_at(
    retrieved: Sequence[str], relevant: Collection[str], k: int | None = None
) -> float | None:
    r"""1 divided by the rank of the first relevant result; 0 without one.

    .. math:: RR@k = 1 / \min\{i \le k : d_i \in R\}

    Range [0, 1], higher is better. Undefined (`None`) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        trec_eval, m_recip_rank.c. https://github.com/usnistgov/trec_eval

    Examples:
        >>> reciprocal_rank_at(["x", "a", "b"], {"a", "b"})
        0.5
        >>> reciprocal_rank_at(["x", "x", "a"], {"a"})
        0.5
        >>> reciprocal_rank_at(["x"], {"a"})
        0.0
    """
    gains = _gains(retrieved, relevant, k)
    if gains is None:
        return None
    return next((1 / rank for rank, gain in enumerate(gains, start=1) if gain), 0.0)


def reciprocal_ranks_at(
    retrieved: Sequence[str], relevant: Collection[str], k: int | None = None
) -> float | None:
    r"""Mean reciprocal rank of the retrieved relevant results; 0 without any.

    .. math:: \frac{\sum_{i \le k,\ d_i \in R} 1 / i}{|\{i \le k : d_i \in R\}|}

    trec_eval does not have it; LlamaIndex calls it the granular mean reciprocal rank. It ignores missing
    relevant results, and another relevant result far down lowers it.

    Range [0, 1], higher is better. Undefined (`None`) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        LlamaIndex, `MRR(use_granular_mrr=True)`, where a repeated result counts twice.

    Examples:
        >>> reciprocal_ranks_at(["a", "b"], {"a", "b"})
        0.75
        >>> reciprocal_ranks_at(["x"], {"a"})
        0.0
    """
    gains = _gains(retrieved, relevant, k)
    if gains is None:
        return None
    terms = [Fraction(1, rank) for rank, gain in enumerate(gains, start=1) if gain]
    return float(sum(terms) / len(terms)) if terms else 0.0


def average_precision_at(
    retrieved: Sequence[str],
    relevant: Collection[str],
    k: int | None = None,
    *,
    denominator: Literal["relevant", "found"] = "relevant",
) -> float | None:
    r"""Mean precision at the ranks of all relevant results; 0 for results that were not retrieved.

    .. math:: AP@k = \frac{\sum_{i \le k,\ d_i \in R} P@i}{|R|}

    It divides by all relevant results, so missing ones lower it. With the denominator "found" it divides by
    the retrieved ones, as some libraries do. Summed in fractions and rounded once.

    Range [0, 1], higher is better. Undefined (`None`) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        trec_eval, m_map.c and m_map_cut.c. https://github.com/usnistgov/trec_eval
        Manning, Raghavan, Schütze (2008), "Introduction to Information Retrieval", section 8.4.

    Examples:
        >>> average_precision_at(["a", "x", "b"], {"a", "b", "c"})
        0.5555555555555556
        >>> average_precision_at(["a", "a", "b"], {"a"})
        1.0
        >>> average_precision_at(["a"], {"a", "b", "c", "d"})
        0.25
        >>> average_precision_at(["a"], {"a", "b", "c", "d"}, denominator="found")
        1.0
        >>> average_precision_at([], {"a"})
        0.0
    """
    gains = _gains(retrieved, relevant, k)
    if gains is None:
        return None
    found, total = 0, Fraction(0)
    for rank, gain in enumerate(gains, start=1):
        if gain:
            found += 1
            total += Fraction(found, rank)
    return float(total / (len(grades_of(relevant)) if denominator == "relevant" else max(found, 1)))


def ndcg_at(
    retrieved: Sequence[str],
    relevant: Collection[str],
    k: int | None = None,
    *,
    gain: Literal["linear", "exponential"] = "linear",
) -> float | None:
    r"""Discounted cumulative gain, divided by that of the best possible ranking.

    .. math:: nDCG@k = \frac{\sum_{i \le k,\ d_i \in R} g(d_i) / \log_2(i + 1)}
        {\sum_{i=1}^{\min(|R|,\,k)} g(r_i) / \log_2(i + 1)}

    with :math:`r_1, r_2, \ldots` the relevant results, retrieved or not, highest grade first. The gain
    :math:`g` is the grade ("linear", as in trec_eval) or :math:`2^{grade} - 1` ("exponential", which
    emphasizes high grades); without grades both are 1.

    Range [0, 1], higher is better. Undefined (`None`) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        trec_eval, m_ndcg.c and m_ndcg_cut.c. https://github.com/usnistgov/trec_eval
        Järvelin and Kekäläinen (2002), "Cumulated gain-based evaluation of IR techniques".
        https://doi.org/10.1145/582415.582418
        Burges et al. (2005), "Learning to rank using gradient descent", for the exponential gain.

    Examples:
        >>> ndcg_at(["a", "a", "b"], {"a"})
        1.0
        >>> ndcg_at(["a", "b"], ["a", "a"])
        1.0
        >>> round(ndcg_at(["x", "a"], {"a"}), 4)
        0.6309
        >>> ndcg_at([], {"a"})
        0.0
        >>> round(ndcg_at(["b", "a"], {"a": 3, "b": 1}), 4)
        0.7967
        >>> round(ndcg_at(["b", "a"], {"a": 3, "b": 1}, gain="exponential"), 4)
        0.7098
    """
    ranked = _ranked(retrieved, k)
    grades = grades_of(relevant)
    if not grades:
        return None
    best = sorted(grades.values(), reverse=True)[:k]
    # shares of the highest gain: an exponential gain of a high grade would leave the range of a float
    highest = best[0]
    gained = _discounted([_gain(grades.get(each, 0.0), highest, gain) for each in ranked])
    return gained / _discounted([_gain(grade, highest, gain) for grade in best])


def _gain(grade: float, highest: float, gain: Literal["linear", "exponential"]) -> float:
    """The gain of a grade, divided by that of the highest grade; 0 for the grade 0."""
    if gain == "linear":
        return grade / highest
    # (2^grade - 1) / (2^highest - 1) without a power that could overflow
    lower, upper = (math.expm1(-value * math.log(2)) for value in (grade, highest))
    return math.exp2(grade - highest) * (lower / upper)


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1) if gain)


def _gains(retrieved: Sequence[str], relevant: Collection[str], k: int | None) -> list[bool] | None:
    """Relevance of the first `k` distinct results; None when no item is relevant."""
    ranked = _ranked(retrieved, k)
    wanted = grades_of(relevant)
    return [each in wanted for each in ranked] if wanted else None


def _ranked(retrieved: Sequence[str], k: int | None) -> list[str]:
    """The first `k` distinct results."""
    check_cut(k)
    return list(dict.fromkeys(retrieved))[:k]


def check_cut(k: int | None) -> None:
    """Raise `ValueError` unless `k` is at least 1, or None for all results."""
    if k is not None and k < 1:
        raise ValueError(f"k must be at least 1, or None, not {k}")


def _is_graded(relevant: Collection[str]) -> TypeIs[Mapping[str, float]]:
    """Whether the relevant ids have grades."""
    return isinstance(relevant, Mapping)


def grades_of(relevant: Collection[str]) -> dict[str, float]:
    """The relevant ids with their grades (default: 1)."""
    if not _is_graded(relevant):
        return dict.fromkeys(relevant, 1.0)
    return {result: float(grade) for result, grade in relevant.items() if grade > 0}
