"""Kendall's correlation of whole systems' means, with an interval for other systems and other questions."""

from functools import partial
from math import asin, pi, sin, sqrt
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.study._coefficients import kendall
from ragmetrics_core.study._distributions import normal_quantile, scipy_module
from ragmetrics_core.study._estimates import FEWEST_CLUSTERS, Clusters, Estimate, clusters_of
from ragmetrics_core.study._resampling import Resampling, divided, drawn_units, resampled

__all__ = ["FEWEST_SYSTEMS", "kendall_score_interval", "means_of_systems", "system_correlation"]

Array = NDArray[np.float64]

# Below this many systems Kendall's correlation has so few values that no interval holds what it says.
FEWEST_SYSTEMS = 6

# numbers that are compared at once
_BATCH = 4_000_000


def system_correlation(
    metric: ArrayLike,
    people: ArrayLike,
    *,
    clusters: Clusters | None = None,
    level: float = 0.95,
    **how: Unpack[Resampling],
) -> Estimate:
    r"""Kendall's correlation of systems' mean scores with their means by people, over systems and questions.

    The variance over other systems is that of `kendall_score_interval`. It includes the effect of questions
    on single systems, through the systems' means. The effect of questions on all systems together is added:

    .. math:: v = \max(0, \mathrm{var}(\tau^*) - \mathrm{var}(\tau^*_{\perp}))

    with :math:`\tau^*` where all systems have the same questions drawn, and :math:`\tau^*_\perp` where each
    system has questions drawn for itself. Drawing both systems and questions, as is customary, counts the
    questions twice, and holds the truth nearly always.

    Args:
        metric: one row for each system, one column for each question; not a number where there is none.
        people: likewise.
        clusters: each question's cluster; whole clusters are drawn.
        level: confidence.
        how: `count` and `seed` of the resamples of the questions.

    Undefined (None) for fewer than three systems, and where one side ranks none above another. No interval
    below 6 systems, or 10 questions or clusters of them.

    References:
        Deutsch, Dror, Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics Using
        Resampling Methods", TACL 9, https://arxiv.org/abs/2104.00054; Owen (2007), "The Pigeonhole
        Bootstrap", Annals of Applied Statistics 1(2), 386-411, on drawing both ways.
    """
    scores, labels = np.asarray(metric, dtype=float), np.asarray(people, dtype=float)
    systems, questions = (int(each) for each in scores.shape)
    if systems < 3:
        return Estimate(None)
    even = np.ones((1, questions))
    value = kendall(means_of_systems(scores, even)[0], means_of_systems(labels, even)[0])
    clusters = clusters_of(questions, clusters)
    if value is None or systems < FEWEST_SYSTEMS or len(set(clusters)) < FEWEST_CLUSTERS:
        return Estimate(value)
    x, y = (
        resampled(partial(means_of_systems, table), clusters, draws=drawn_units, **how)
        for table in (scores, labels)
    )
    order = np.argsort(np.random.default_rng(how.get("seed", 0)).random(x.shape), axis=0)
    apart = (np.take_along_axis(each, order, axis=0) for each in (x, y))
    shared = _variance(x, y) - _variance(*apart)
    if not np.isfinite(shared):
        return Estimate(value)
    return kendall_score_interval(value, systems, more=max(0.0, shared), level=level)


def kendall_score_interval(value: float, n: int, *, more: float = 0.0, level: float = 0.95) -> Estimate:
    r"""Kendall's correlation of n pairs with the values :math:`\tau` that it would not be unlikely for.

    .. math:: |\hat\tau - \tau| \le z \sqrt{\sigma^2(\tau) + v}, \quad \sigma^2(\tau) = \frac{2}{n (n - 1)}
        \left(1 - \tau^2 + 2 (n - 2) \left(\frac{1}{9} -
        \left(\tfrac{2}{\pi} \arcsin \tfrac{\rho}{2}\right)^2\right)\right), \quad
        \rho = \sin \frac{\pi \tau}{2}

    which is the variance in samples of a bivariate normal distribution, or of any that is one after a
    monotone change of each column. As in Wilson's interval, it is evaluated at the candidate value, so that a
    perfect order of six systems does not prove much. A percentile interval of few pairs is far too wide.

    Args:
        value: the correlation.
        n: how many pairs it is of.
        more: a variance v that comes on top.
        level: confidence.

    References:
        Esscher (1924), "On a Method of Determining Correlation from the Ranks of the Variates",
        Skandinavisk Aktuarietidskrift 7, 201-219.

    >>> str(kendall_score_interval(1.0, 6))
    '1.000 (0.387, 1.000)'
    """
    z = normal_quantile(0.5 + level / 2)

    def reach(tau: float) -> float:
        rho = sin(pi * tau / 2)
        pairs = 1 - tau**2 + 2 * (n - 2) * (1 / 9 - (2 / pi * asin(rho / 2)) ** 2)
        return z * sqrt(max(0.0, 2 / (n * (n - 1)) * pairs) + more)

    def excess(tau: float) -> float:
        return abs(value - tau) - reach(tau)

    def end(sign: float) -> float:
        if excess(sign) <= 0:
            return sign
        # of a perfect order the variance is 0 at the value itself, which is no end
        inside = value + 1e-9 * (sign - value)
        return float(scipy_module("optimize").brentq(excess, inside, sign))

    return Estimate(value, end(-1.0), end(1.0))


def means_of_systems(table: Array, weights: Array) -> Array:
    """Each system's mean over questions, one row for each row of weights; not a number without a question."""
    known = np.isfinite(table)
    sums, of = weights @ np.where(known, table, 0.0).T, weights @ known.T.astype(float)
    return divided(sums, of)


def _variance(x: Array, y: Array) -> float:
    """The variance of Kendall's correlation over rows; not a number when more than half of them have none."""
    rows = max(1, _BATCH // x.shape[1] ** 2)
    parts = (slice(start, start + rows) for start in range(0, len(x), rows))
    taus = np.concatenate([_kendall_rows(x[part], y[part]) for part in parts])
    known = taus[np.isfinite(taus)]
    return float(known.var()) if 2 * len(known) >= len(x) else float("nan")


def _kendall_rows(x: Array, y: Array) -> Array:
    up, across = (np.sign(each[:, :, None] - each[:, None, :]) for each in (x, y))
    scale = np.sqrt((up * up).sum(axis=(1, 2)) * (across * across).sum(axis=(1, 2)))
    return divided((up * across).sum(axis=(1, 2)), scale)
