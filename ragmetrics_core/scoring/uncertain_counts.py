"""Distribution of the number of positive verdicts among independent verdicts with probabilities."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

__all__ = ["central_counts", "lowest_mean", "poisson_binomial"]

# Parts of a sample's share on the grid of `lowest_mean`: a multiple of each number up to ten.
_PARTS = 2520
_MOST_POINTS = 2**21


def poisson_binomial(probabilities: Sequence[float]) -> tuple[float, ...]:
    """Probability of each count of positive verdicts, from 0 to all.

    >>> poisson_binomial([0.5, 0.5])
    (0.25, 0.5, 0.25)

    Raises:
        ValueError: a probability is outside [0, 1].

    Wang (1993), On the number of successes in independent trials, Statistica Sinica 3.
    """
    counts = np.zeros(len(probabilities) + 1)
    counts[0] = 1.0
    for place, probability in enumerate(probabilities, start=1):
        if not 0 <= probability <= 1:
            raise ValueError(f"a probability must be between 0 and 1, got {probability}")
        positive = probability * counts[:place]
        counts[:place] *= 1 - probability
        counts[1 : place + 1] += positive
    return tuple(counts.tolist())


def central_counts(probabilities: Sequence[float], *, tail: float = 0.05) -> tuple[int, int]:
    """Lowest and highest count of the central interval; each side leaves out a probability of at most `tail`.

    >>> central_counts([0.9, 0.6, 0.2])
    (1, 3)
    """
    reached = list(accumulate(poisson_binomial(probabilities)))
    low = next(count for count, share in enumerate(reached) if share > tail)
    high = next((count for count, share in enumerate(reached) if share >= 1 - tail), len(probabilities))
    return low, high


def lowest_mean(samples: Sequence[Sequence[float]], *, tail: float = 0.05) -> float:
    r"""Lower end of the central interval of a mean of shares, for independent verdicts.

    .. math:: \max \{ t : P(T < t) \le \mathrm{tail} \}, \qquad
        T = \frac{1}{N} \sum_{i=1}^{N} \frac{1}{n_i} \sum_{j=1}^{n_i} X_{ij}, \quad X_{ij} \sim B(p_{ij})

    Samples with equally many verdicts are one Poisson-binomial count. The counts are added on a grid of
    1/2520 of a sample, which is exact if no sample has more than ten verdicts; else, or above 832 samples,
    each count is rounded down by less than a point of the grid.

    Args:
        samples: for each sample, at least one, the probabilities of its verdicts, at least one.
        tail: largest probability below the lower end.

    >>> lowest_mean([[0.9, 0.6], [1.0]])  # of T: 0.5 with 0.04, 0.75 with 0.42, 1 with 0.54
    0.75
    """
    by_size: dict[int, list[float]] = {}
    for probabilities in samples:
        by_size.setdefault(len(probabilities), []).extend(probabilities)
    parts = max(1, min(_PARTS, _MOST_POINTS // len(samples)))
    whole: NDArray[np.float64] = np.ones(1)
    for size, probabilities in by_size.items():
        counts = np.array(poisson_binomial(probabilities))
        places = np.arange(len(counts)) * parts // size
        spread = np.bincount(places, weights=counts).astype(np.float64)
        length = len(whole) + len(spread) - 1
        if len(whole) == 1:
            whole = spread
        else:
            points = 1 << (length - 1).bit_length()
            product = np.fft.rfft(whole, points) * np.fft.rfft(spread, points)
            whole = np.fft.irfft(product, points)[:length]
    place = int(np.argmax(whole.cumsum() > tail))
    return place / (parts * len(samples))
