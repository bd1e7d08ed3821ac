"""Distribution of the number of positive verdicts among independent verdicts with probabilities."""

from collections.abc import Sequence
from itertools import accumulate

__all__ = ["central_counts", "poisson_binomial"]


def poisson_binomial(probabilities: Sequence[float]) -> tuple[float, ...]:
    """Probability of each count of positive verdicts, from 0 to all.

    >>> poisson_binomial([0.5, 0.5])
    (0.25, 0.5, 0.25)

    Raises:
        ValueError: a probability is outside [0, 1].

    Wang (1993), On the number of successes in independent trials, Statistica Sinica 3.
    """
    counts = [1.0]
    for probability in probabilities:
        if not 0 <= probability <= 1:
            raise ValueError(f"a probability must be between 0 and 1, got {probability}")
        pairs = zip([*counts, 0.0], [0.0, *counts], strict=True)
        counts = [(1 - probability) * same + probability * fewer for same, fewer in pairs]
    return tuple(counts)


def central_counts(probabilities: Sequence[float], *, tail: float = 0.05) -> tuple[int, int]:
    """Lowest and highest count of the central interval; each side leaves out a probability of at most `tail`.

    >>> central_counts([0.9, 0.6, 0.2])
    (1, 3)
    """
    reached = list(accumulate(poisson_binomial(probabilities)))
    low = next(count for count, share in enumerate(reached) if share > tail)
    high = next((count for count, share in enumerate(reached) if share >= 1 - tail), len(probabilities))
    return low, high
