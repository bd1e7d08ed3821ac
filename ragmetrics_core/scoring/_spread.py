"""Spread of a score over repeated measurements, by its two sources: verdicts and statements."""

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import fmean
from typing import NamedTuple

__all__ = ["Spread", "nested_spread"]


class Spread(NamedTuple):
    """Standard deviations of one score of one sample, over repetitions.

    Attributes:
        total: spread of a measurement with one vote for each verdict; None if no sample was measured twice.
        verdicts: spread from different verdicts on the same statements; None if each verdict has one vote.
        statements: spread from differently extracted statements; None unless the other two are known.
        samples: number of samples that were measured at least twice.
    """

    total: float | None
    verdicts: float | None
    statements: float | None
    samples: int


def nested_spread(samples: Sequence[Sequence[Sequence[float]]]) -> Spread:
    r"""Split the spread of scores into the spread within measurements and the spread between them.

    Score :math:`y_{irv}` is that of sample i in repetition r by vote v. With :math:`s^2` for sample variances
    (n - 1), averaged over samples, and B votes in each repetition:

    .. math::
        \sigma^2_{verdicts} = \overline{s^2_v(y_{irv})}, \quad
        \sigma^2_{statements} = \max(0, \overline{s^2_r(\bar y_{ir})} - \sigma^2_{verdicts} / B), \quad
        \sigma^2_{total} = \sigma^2_{verdicts} + \sigma^2_{statements}

    which are the method-of-moments estimates of a nested random effects model. With one vote each, the two
    sources cannot be separated, and the variance between repetitions is the total.

    Range [0, inf), lower is better. The fields of `Spread` state when they are undefined (`None`).

    Args:
        samples: the score by each vote, for each repetition of each sample; repetitions without a score and
            samples with fewer than two repetitions are left out.

    References:
        Searle, Casella, McCulloch (1992), "Variance Components", section 3.6 (ANOVA estimators).

    Examples:
        The repetitions agree on average, the votes within them do not:

        >>> nested_spread([[[0.0, 1.0], [1.0, 0.0]]])
        Spread(total=0.7071067811865476, verdicts=0.7071067811865476, statements=0.0, samples=1)

        The votes agree, the repetitions do not:

        >>> nested_spread([[[0.0, 0.0], [1.0, 1.0]]])
        Spread(total=0.7071067811865476, verdicts=0.0, statements=0.7071067811865476, samples=1)
    """
    repeated = [sample for sample in samples if len(sample) > 1]
    if not repeated:
        return Spread(None, None, None, 0)
    means = [[fmean(votes) for votes in sample] for sample in repeated]
    between = fmean(map(_variance, means))
    voted = [votes for sample in repeated for votes in sample if len(votes) > 1]
    if not voted:
        return Spread(sqrt(between), None, None, len(repeated))
    within = fmean(map(_variance, voted))
    ballots = fmean(len(votes) for sample in repeated for votes in sample)
    statements = max(0.0, between - within / ballots)
    return Spread(sqrt(within + statements), sqrt(within), sqrt(statements), len(repeated))


def _variance(values: Sequence[float]) -> float:
    mean = fmean(values)
    return fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
