"""What a threshold that was found by search is worth on samples that the search has not seen."""

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study._cluster_errors import cluster_codes
from ragmetrics_core.study._distributions import t_quantile
from ragmetrics_core.study._intervals import Estimate, wilson_of

__all__ = ["ShareAtThreshold", "unseen_shares"]

_FOLDS = 5
_SHUFFLES = 10
_OUTER = 200

# cells of one batch of weights
_BATCH = 4_000_000

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]


class ShareAtThreshold(NamedTuple):
    """A share to be told of the candidate that was chosen.

    Attributes:
        hits: for each candidate which samples count.
        of: for each candidate out of which ones.
    """

    hits: Flags
    of: Flags


def unseen_shares(
    choose: Callable[[Array], Indices],
    parts: Sequence[ShareAtThreshold],
    *,
    n: int,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    r"""Each share by cross-validation, with an interval that covers the search, by a nested bootstrap.

    The share: candidates are chosen in four fifths of the samples and counted in the last fifth, over ten
    shuffles. The interval: samples are drawn with replacement 200 times, and in each of these the whole
    procedure is done again, with all copies of a sample in one fold; their standard deviation s makes
    Wilson's interval for :math:`p(1-p)/s^2` samples, with Student's quantile. So it knows that another
    sample would have found another candidate. No share (None) below ten samples or clusters.

    Args:
        choose: from weights of samples, one row for each search, to the place of the candidate that is
            chosen; -1 for none.
        parts: the shares that are told.
        n: how many samples.
        clusters: each sample's cluster; whole clusters are drawn, and are in one fold.
        level: confidence.
        seed: of the folds and the draws.

    References:
        Varma and Simon (2006), "Bias in error estimation when using cross-validation for model selection",
        BMC Bioinformatics 7:91.
    """
    codes = np.arange(n) if clusters is None else cluster_codes(clusters)
    size = int(codes.max()) + 1 if n else 0
    if size < 2 * _FOLDS:
        return tuple(Estimate(None) for _ in parts)
    generator = np.random.default_rng(seed)
    hits, of = _counted(choose, parts, np.ones((_SHUFFLES, size)), codes, generator)
    drawn = generator.multinomial(size, np.full(size, 1 / size), size=_OUTER).astype(float)
    again_hits, again_of = _counted(choose, parts, drawn, codes, generator)
    found: list[Estimate] = []
    for place in range(len(parts)):
        trials = float(of[:, place].sum()) / _SHUFFLES
        if not trials:
            found.append(Estimate(None))
            continue
        share = float(hits[:, place].sum() / of[:, place].sum())
        known = again_of[:, place] > 0
        again = again_hits[known, place] / again_of[known, place]
        spread = float(again.std(ddof=1)) if len(again) > 1 else 0.0
        worth = min(trials, share * (1 - share) / spread**2) if spread and 0 < share < 1 else trials
        found.append(wilson_of(share, worth, t_quantile(0.5 + level / 2, size - 1)))
    return tuple(found)


def _counted(
    choose: Callable[[Array], Indices],
    parts: Sequence[ShareAtThreshold],
    weights: Array,
    codes: Indices,
    generator: np.random.Generator,
) -> tuple[Array, Array]:
    """For each row of weights of units, hits and trials of each part over all folds."""
    rows = max(1, _BATCH // (len(codes) * _FOLDS))
    all_hits: list[Array] = []
    all_of: list[Array] = []
    for start in range(0, len(weights), rows):
        batch = weights[start : start + rows]
        # a random fold for each unit, as even as can be
        folds = np.arange(int(batch.shape[1])) % _FOLDS
        order = generator.permuted(np.tile(folds, (len(batch), 1)), axis=1)
        hits, of = np.zeros((len(batch), len(parts))), np.zeros((len(batch), len(parts)))
        for fold in range(_FOLDS):
            seen = (batch * (order != fold))[:, codes]
            rest = (batch * (order == fold))[:, codes]
            chosen = choose(seen)
            told = chosen >= 0
            for place, part in enumerate(parts):
                hits[told, place] += (rest[told] * part.hits[chosen[told]]).sum(axis=1)
                of[told, place] += (rest[told] * part.of[chosen[told]]).sum(axis=1)
        all_hits.append(hits)
        all_of.append(of)
    return np.concatenate(all_hits), np.concatenate(all_of)
