"""Formulas over retrieved and relevant ids.

They are trec_eval's, which takes a ranking to be a list of different results and the relevant ids to be a
set. So an id counts at the first rank where it stands, later repetitions are left out of the ranking, and
each relevant id is credited once. An empty ranking has 0. Where nothing is relevant, every ranking is as good
as any other, and nothing is defined.

`k` cuts the ranking after so many results; None takes all of it.
"""

import math
from collections.abc import Collection, Sequence
from fractions import Fraction

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

    With a `k` it divides by `k` also when fewer were retrieved, as trec_eval does; without one, by the number
    of different results.

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
    return None if gains is None else sum(gains) / len(set(relevant))


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
    r"""One over the rank of the first relevant result; 0 when there is none.

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
    r"""Mean of one over the rank, over the relevant results that were retrieved; 0 when there is none.

    .. math:: \frac{\sum_{i \le k,\ d_i \in R} 1 / i}{|\{i \le k : d_i \in R\}|}

    Not one of trec_eval's: LlamaIndex calls it the granular mean reciprocal rank. It does not say how many
    relevant results are missing, and one more relevant result far down lowers it.

    Range [0, 1], higher is better. Undefined (`None`) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        LlamaIndex, `MRR(use_granular_mrr=True)`; there a result that is retrieved twice counts twice.

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
    return float(sum(terms, Fraction(0)) / len(terms)) if terms else 0.0


def average_precision_at(
    retrieved: Sequence[str], relevant: Collection[str], k: int | None = None
) -> float | None:
    r"""Mean over all relevant results of the precision at their rank; 0 for those that were not retrieved.

    .. math:: AP@k = \frac{\sum_{i \le k,\ d_i \in R} P@i}{|R|}

    It divides by all relevant results, so it falls when some are missing; `scoring.average_precision` divides
    by those that were retrieved. Summed in fractions and rounded once.

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
    return float(total / len(set(relevant)))


def ndcg_at(retrieved: Sequence[str], relevant: Collection[str], k: int | None = None) -> float | None:
    r"""Discounted cumulative gain, as a share of that of the best ranking.

    .. math:: nDCG@k = \frac{\sum_{i \le k,\ d_i \in R} 1 / \log_2(i + 1)}
        {\sum_{i=1}^{\min(|R|,\,k)} 1 / \log_2(i + 1)}

    The best ranking has all relevant results first, also those that were not retrieved.

    Range [0, 1], higher is better. Undefined (`None`) when nothing is relevant.

    Raises:
        ValueError: `k` is below 1.

    References:
        trec_eval, m_ndcg.c and m_ndcg_cut.c. https://github.com/usnistgov/trec_eval
        Järvelin and Kekäläinen (2002), "Cumulated gain-based evaluation of IR techniques".
        https://doi.org/10.1145/582415.582418

    Examples:
        >>> ndcg_at(["a", "a", "b"], {"a"})
        1.0
        >>> ndcg_at(["a", "b"], ["a", "a"])
        1.0
        >>> round(ndcg_at(["x", "a"], {"a"}), 4)
        0.6309
        >>> ndcg_at([], {"a"})
        0.0
    """
    gains = _gains(retrieved, relevant, k)
    if gains is None:
        return None
    best = len(set(relevant)) if k is None else min(len(set(relevant)), k)
    gained = math.fsum(1 / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1) if gain)
    return gained / math.fsum(1 / math.log2(rank + 1) for rank in range(1, best + 1))


def _gains(retrieved: Sequence[str], relevant: Collection[str], k: int | None) -> list[bool] | None:
    """For each rank of the first `k` different results, whether it is relevant; None when nothing is."""
    if k is not None and k < 1:
        raise ValueError(f"k must be at least 1, or None, not {k}")
    wanted = set(relevant)
    if not wanted:
        return None
    return [each in wanted for each in dict.fromkeys(retrieved)][:k]
