"""Concordance: how likely an answer is correct when metrics are high, and wrong when they are low.

Table 4 and equations (1) and (2) of Roychowdhury et al. (2024), https://arxiv.org/abs/2407.12873.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._clustering import clustering_of
from ragmetrics_core.study._clusters import cluster_share
from ragmetrics_core.study._intervals import Estimate, beta_interval, wilson_interval
from ragmetrics_core.study._scores import LeftOut, Scores, measured_notes, taken
from ragmetrics_core.study._searching import ShareAtThreshold, unseen_shares

__all__ = ["BestThresholds", "Concordance", "Conditional", "by_bayes", "study_concordance"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

Indices = NDArray[np.intp]


class Conditional(NamedTuple):
    """The share of correct (or wrong) answers among those whose metrics are above (or below) thresholds.

    Attributes:
        metrics: names of the metrics, all of which must be above or below.
        thresholds: one for each metric.
        hits: how many of the selected answers are correct (or wrong).
        selected: how many answers the thresholds select.
        total: how many answers there are.
        direct: hits / selected, with Wilson's interval (by cluster where there are clusters); None when
            nothing is selected.
        beta: the same with Jeffreys' interval, or again by cluster.
        bayes: the same through Bayes' formula, as the paper writes it.
    """

    metrics: tuple[str, ...]
    thresholds: tuple[float, ...]
    hits: int
    selected: int
    total: int
    direct: Estimate
    beta: Estimate
    bayes: float | None

    @property
    def coverage(self) -> Estimate:
        """The share of all answers that the thresholds select."""
        return wilson_interval(self.selected, self.total)


class BestThresholds(NamedTuple):
    """The best thresholds of a search, and what they are worth on answers that the search has not seen.

    Attributes:
        best: the thresholds that select the largest share of correct (or wrong) answers.
        unseen: that share by cross-validation: thresholds are searched in four fifths of the answers and
            applied to the last fifth, over ten shuffles; the interval covers the search (`unseen_shares`).
        unseen_coverage: the share of answers selected there.
        optimism: how much the search flatters itself: best less unseen.
    """

    best: Conditional
    unseen: Estimate
    unseen_coverage: float
    optimism: float | None


@dataclass(frozen=True, kw_only=True)
class Concordance:
    """Everything about concordance.

    Attributes:
        run: the run's name.
        label: what says which answers are correct.
        metrics: the metrics' names.
        base: the share of correct answers.
        above: P(correct | above), for each metric and for all together.
        below: P(wrong | below), likewise.
        grid: P(correct | above) of all metrics together, over a grid of thresholds.
        grid_below: P(wrong | below), likewise.
        best: the best thresholds for correct answers; None where none select enough.
        best_below: the best ones for wrong answers.
        minimum: the least share of answers that the best thresholds must select.
        left_out: samples without a value or label, by cause.
        notes: what a reader should know.
    """

    run: str
    label: str
    metrics: tuple[str, ...]
    base: Estimate
    above: tuple[Conditional, ...]
    below: tuple[Conditional, ...]
    grid: tuple[Conditional, ...]
    grid_below: tuple[Conditional, ...]
    best: BestThresholds | None
    best_below: BestThresholds | None
    minimum: float
    left_out: LeftOut
    notes: tuple[str, ...] = ()


def study_concordance(
    scores: Scores,
    correct: Mapping[str, bool],
    *,
    label: str = "correct",
    metrics: Sequence[str] = ("faithfulness", "factual_correctness"),
    above: Sequence[float] = (0.7,),
    below: Sequence[float] = (0.3,),
    minimum: float = 0.2,
    step: float = 0.1,
    cluster: str | None = None,
    seed: int = 0,
) -> Concordance:
    """How well metrics tell correct answers from wrong ones.

    Where lower is better, what is left to the other end of the range is held to the thresholds, and named so:
    "1 - hallucination" above 0.7 is a hallucination below 0.3. All figures are of the samples that have a
    label and a value of every metric, so that they compare.

    Args:
        scores: the run.
        correct: which answers are correct, by sample id.
        label: what that is called.
        metrics: one or several.
        above: thresholds that scores must exceed, one for all metrics or one for each.
        below: thresholds that scores must stay below, likewise.
        minimum: the least share of answers that the best thresholds must select.
        step: of the grid of thresholds, which goes over [0, 1).
        cluster: the label whose values say which samples belong together, or "none"; see `clustering_of`.
        seed: of the folds and the bootstrap.

    Raises:
        ConfigError: a metric is unknown, the thresholds are not as many, or no sample has values and a label.
    """
    signatures = tuple(scores.metric(name) for name in metrics)
    columns = [scores.oriented(each, signatures) for each in signatures]
    names = tuple(each.name for each in columns)
    highs, lows = _each(above, names, "above"), _each(below, names, "below")
    ids, left_out = taken(scores, signatures, correct, f"label {label}")
    if not ids:
        raise ConfigError(
            f"no sample of {scores.name} has the label {label!r} and a value of {', '.join(names)}"
        )
    values = np.array([[each.values[one] for each in columns] for one in ids])
    is_correct = np.array([bool(correct[one]) for one in ids])
    clustering = clustering_of([scores], cluster)
    clusters = clustering.clusters(ids)
    notes: list[str] = [*clustering.notes, *measured_notes([scores], signatures)]
    if is_correct.all() or not is_correct.any():
        notes.append(
            f"all {len(ids)} answers are {'correct' if is_correct.all() else 'wrong'}: nothing can be told "
            "apart"
        )
    elif min(is_correct.sum(), (~is_correct).sum()) < 10:
        notes.append("fewer than 10 answers are on one side: the intervals are what counts")
    grid_steps = [round(each, 10) for each in np.arange(0, 1, step).tolist()]
    pairs = list(product(grid_steps, repeat=len(names))) if len(names) <= 2 else []
    steps_below = [round(1 - each, 10) for each in grid_steps]
    pairs_below = list(product(steps_below, repeat=len(names))) if len(names) <= 2 else []
    parts: list[tuple[int, ...]] = [(place,) for place in range(len(names))]
    if len(names) > 1:
        parts.append(tuple(range(len(names))))

    def conditional(part: tuple[int, ...], thresholds: Sequence[float], *, upwards: bool) -> Conditional:
        chosen = values[:, list(part)]
        at = np.array([thresholds[place] for place in part])
        selected = np.all(chosen > at if upwards else chosen < at, axis=1)
        wanted = is_correct if upwards else ~is_correct
        return _conditional(
            tuple(names[place] for place in part), tuple(at.tolist()), selected, wanted, clusters
        )

    whole = tuple(range(len(names)))
    # where all answers are correct, or wrong, every threshold is as good
    to_search = bool(is_correct.any() and not is_correct.all())
    return Concordance(
        run=scores.name,
        label=label,
        metrics=names,
        base=wilson_interval(int(is_correct.sum()), len(ids))
        if clusters is None
        else cluster_share(is_correct, clusters),
        above=tuple(conditional(part, highs, upwards=True) for part in parts),
        below=tuple(conditional(part, lows, upwards=False) for part in parts),
        grid=tuple(conditional(whole, pair, upwards=True) for pair in pairs),
        grid_below=tuple(conditional(whole, pair, upwards=False) for pair in pairs_below),
        best=_search(names, values, is_correct, pairs, minimum, clusters, seed) if to_search else None,
        # below t for wrong answers is above -t for them
        best_below=_negated(
            _search(
                names,
                -values,
                ~is_correct,
                [tuple(-t for t in p) for p in pairs_below],
                minimum,
                clusters,
                seed,
            )
            if to_search
            else None
        ),
        minimum=minimum,
        left_out=left_out,
        notes=tuple(notes),
    )


def by_bayes(selected: Flags, wanted: Flags) -> float | None:
    r"""Equation (1) of the paper: the share of wanted answers among the selected ones.

    .. math:: P(c \mid m_1 > \theta_1; m_2 > \theta_2)
        = \frac{P(m_1 > \theta_1; m_2 > \theta_2 \mid c) \, P(c)}{P(m_1 > \theta_1; m_2 > \theta_2)}

    Undefined (`None`) when nothing is selected. When nothing is wanted it is 0.
    """
    if not selected.any():
        return None
    if not wanted.any():
        return 0.0
    given = float(selected[wanted].mean())
    return given * float(wanted.mean()) / float(selected.mean())


def _conditional(
    names: tuple[str, ...],
    thresholds: tuple[float, ...],
    selected: Flags,
    wanted: Flags,
    clusters: Sequence[Hashable] | None,
) -> Conditional:
    hits, count = int((selected & wanted).sum()), int(selected.sum())
    direct, beta, bayes = wilson_interval(hits, count), beta_interval(hits, count), by_bayes(selected, wanted)
    if clusters is not None:
        inside = [each for each, is_in in zip(clusters, selected, strict=True) if is_in]
        direct = beta = cluster_share(wanted[selected], inside)
    # two ways to the same number: they may differ by rounding only
    assert (direct.value is None) == (bayes is None)
    assert direct.value is None or bayes is None or abs(direct.value - bayes) < 1e-9
    return Conditional(names, thresholds, hits, count, len(selected), direct, beta, bayes)


def _search(
    names: tuple[str, ...],
    values: Array,
    wanted: Flags,
    pairs: Sequence[tuple[float, ...]],
    minimum: float,
    clusters: Sequence[Hashable] | None,
    seed: int,
) -> BestThresholds | None:
    """The best thresholds, and by cross-validation what a search like this is worth."""
    if not pairs:
        return None
    selects = np.array([(values > np.array(pair)).all(axis=1) for pair in pairs])
    best = _best(selects, wanted, minimum)
    if best is None:
        return None
    found = _conditional(names, pairs[best], selects[best], wanted, clusters)

    # answers on the same side of every threshold are one kind, however many there are
    sides = np.packbits(np.vstack([selects, wanted]), axis=0)
    _, first, kinds = np.unique(sides, axis=1, return_index=True, return_inverse=True)
    kinds = kinds.ravel()
    of_kinds = selects[:, first].T.astype(float)
    hits_of_kinds = of_kinds * wanted[first, None]

    def choose(weights: Array) -> Indices:
        drawn = np.array([np.bincount(kinds, weights=line, minlength=len(first)) for line in weights])
        counts, totals = drawn @ of_kinds, drawn.sum(axis=1)[:, None]
        hits = drawn @ hits_of_kinds
        allowed = counts >= np.maximum(1, minimum * totals)
        shares = np.where(allowed, hits / np.maximum(counts, 1), -1.0)
        # the highest share; of equal ones the one that selects most
        best = np.argmax(np.round(shares, 12) + 1e-6 * counts / np.maximum(totals, 1), axis=1)
        return np.where(allowed.any(axis=1), best, -1)

    parts = ShareAtThreshold(selects & wanted, selects), ShareAtThreshold(selects, np.ones_like(selects))
    unseen, inside = unseen_shares(choose, parts, n=len(wanted), clusters=clusters, seed=seed)
    if unseen.value is None or found.direct.value is None:
        return BestThresholds(found, Estimate(None), 0.0, None)
    return BestThresholds(found, unseen, inside.value or 0.0, found.direct.value - unseen.value)


def _best(selects: Flags, wanted: Flags, minimum: float) -> int | None:
    """The thresholds of the highest share; of equal ones those that select most."""
    counts = selects.sum(axis=1)
    hits = (selects & wanted).sum(axis=1)
    allowed = counts >= max(1, minimum * selects.shape[1])
    if not allowed.any():
        return None
    shares = np.where(allowed, hits / np.maximum(counts, 1), -1.0)
    return int(np.lexsort((counts, shares))[-1])


def _negated(found: BestThresholds | None) -> BestThresholds | None:
    if found is None:
        return None
    best = found.best._replace(thresholds=tuple(-each for each in found.best.thresholds))
    return found._replace(best=best)


def _each(thresholds: Sequence[float], names: Sequence[str], what: str) -> tuple[float, ...]:
    if len(thresholds) == 1:
        return tuple(thresholds) * len(names)
    if len(thresholds) != len(names):
        raise ConfigError(
            f"{len(thresholds)} thresholds {what} are given for {len(names)} metrics: give one, or one each"
        )
    return tuple(thresholds)
