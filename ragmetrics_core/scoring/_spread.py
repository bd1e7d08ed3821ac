"""How far a score would move if it were measured again, and which of its two kinds of steps moves it."""

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import fmean
from typing import NamedTuple

__all__ = ["Spread", "nested_spread"]


class Spread(NamedTuple):
    """Standard deviations of one score of one sample, over repetitions.

    Attributes:
        total: of a measurement with one vote for each verdict; None when no sample was measured twice.
        verdicts: what comes from verdicts that differ about the same statements; None when each was asked
            for once.
        statements: what comes from statements that were extracted differently; None unless both others are
            known.
        samples: how many samples were measured at least twice.
    """

    total: float | None
    verdicts: float | None
    statements: float | None
    samples: int


def nested_spread(samples: Sequence[Sequence[Sequence[float]]]) -> Spread:
    r"""Split the spread of scores into what happens within measurements and what happens between them.

    Score :math:`y_{irv}` is that of sample i in repetition r by vote v. With :math:`s^2` for sample variances
    (n - 1), averaged over samples, and B votes in each repetition:

    .. math::
        \sigma^2_{verdicts} = \overline{s^2_v(y_{irv})}, \quad
        \sigma^2_{statements} = \max(0, \overline{s^2_r(\bar y_{ir})} - \sigma^2_{verdicts} / B), \quad
        \sigma^2_{total} = \sigma^2_{verdicts} + \sigma^2_{statements}

    which are the method-of-moments estimates of a nested random effects model. With one vote each the two
    cannot be told apart, and the variance between repetitions is the total.

    Range [0, inf), lower is better. Undefined (`None`) as the fields of `Spread` say.

    Args:
        samples: for each sample, for each repetition, the score by each vote; repetitions without a score
            are left out, and so are samples with fewer than two.

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
