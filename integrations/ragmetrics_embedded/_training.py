"""Training of the embedded judge on labelled claims: a logistic regression from the bundled weights on.

The bundled log-odds stay, and a weighted sum of all features is added to them. Each weight costs its square,
so that few labels move little. A cross-validation inside the training data chooses how much it costs, or that
the features do not count at all. Trees did not do better on labelled sets of this size: docs/study.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_embedded._rules.refusals import is_missing_remark
from ragmetrics_embedded._rules.statements import statements_of
from ragmetrics_embedded._support import support_model
from ragmetrics_embedded._support.adapted import AdaptedFile, LinearTerm, TrainedWeights, feature_names
from ragmetrics_embedded._support.citations import without_citations
from ragmetrics_embedded._support.denials import denial_of
from ragmetrics_embedded._support.model import CONTRARY
from ragmetrics_embedded._support.trees import PLACES, SCALE, Weights

__all__ = ["Training", "train"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_FOLDS: Final = 5
# A label needs two sources for each fold: one may be left out, and the inner folds need one each.
_FEWEST_SOURCES: Final = 2 * _FOLDS
_FEWEST_CLAIMS: Final = 25
# Costs of the weights that are tried; at infinity the features do not count.
_COSTS: Final = (np.inf, 1000.0, 300.0, 100.0, 30.0, 10.0, 3.0)
# What it costs to move the slope of the bundled log-odds from theirs.
_SLOPE_COST: Final = 1.0
_MOST_STEPS: Final = 50
_RULE: Final = CONTRARY / SCALE


@dataclass(frozen=True, kw_only=True)
class Training:
    """A trained judge, with the decisions of judges that did not see the claim in their training.

    Attributes:
        places: the claims that count, by their place among the given ones.
        left_out: why the other claims do not count, by place.
        decisions: for each judge, the log-odds of each claim; from 0 on it counts as supported.
        weights: the weights, trained on all claims.
        folds: number of folds of sources.
    """

    places: tuple[int, ...]
    left_out: dict[int, str]
    decisions: dict[str, Array]
    weights: TrainedWeights
    folds: int = _FOLDS

    @property
    def identity(self) -> str:
        """Identity of the judge with these weights."""
        return f"embedded:{self.weights.name}"

    @property
    def features(self) -> int:
        """Number of features with a weight."""
        return len(self.weights.linear)

    def text(self, card: Mapping[str, Any]) -> str:
        """The file of the weights with the card of the training."""
        file = AdaptedFile(digest=self.weights.digest, weights=self.weights, card=card)
        return file.model_dump_json(indent=1) + "\n"


class _Claims(NamedTuple):
    """Labelled claims as numbers.

    Attributes:
        rows: features, (claims, features).
        bundled: log-odds by the bundled weights.
        contrary: whether data of the evidence contradicts the claim.
        denied: whether the evidence denies the claim.
        labels: whether people call it supported.
        sources: sources that it is of.
    """

    rows: Array
    bundled: Array
    contrary: Flags
    denied: Flags
    labels: Flags
    sources: NDArray[np.str_]

    def where(self, chosen: Flags) -> "_Claims":
        """Some of the claims."""
        return _Claims(
            self.rows[chosen],
            self.bundled[chosen],
            self.contrary[chosen],
            self.denied[chosen],
            self.labels[chosen],
            self.sources[chosen],
        )


class _Fit(NamedTuple):
    """Log-odds as a sum: an offset, the bundled log-odds, and the features within their range."""

    offset: float
    slope: float
    weights: Array
    low: Array
    high: Array

    def log_odds(self, claims: _Claims) -> Array:
        """Log-odds of claims, less what the rules take for contradictions and denials."""
        own = (
            self.offset
            + self.slope * claims.bundled
            + np.clip(claims.rows, self.low, self.high) @ self.weights
        )
        return _less_rules(own, claims)


def train(
    claims: Sequence[tuple[str, Sequence[str]]],
    labels: Sequence[bool],
    sources: Sequence[str],
    *,
    are_claims: bool,
) -> Training:
    """Train on labelled claims, and measure the training by leaving sources out.

    Args:
        claims: each claim with its contexts.
        labels: whether people call it supported.
        sources: the source of each claim; claims of one source are in one fold.
        are_claims: whether each text is one claim; False if it may be an answer of several.

    Raises:
        ConfigError: an answer has several claims, or there are too few claims or sources of a label.
    """
    several = 0 if are_claims else sum(len(statements_of(text)) > 1 for text, _ in claims)
    if several:
        raise ConfigError(
            f"{several} of {len(claims)} labelled answers have more than one statement, and a verdict is on "
            "one: label each claim in a row of its own, with the columns claim, contexts and label"
        )
    measured, places, left_out = _measured(claims, labels, sources)
    _check_size(measured)
    odds = {name: np.zeros(len(places)) for name in ("trained", "recalibrated")}
    for fold in range(_FOLDS):
        here = _folds(measured) == fold
        seen, unseen = measured.where(~here), measured.where(here)
        odds["trained"][here] = _fit(seen, _best_cost(seen)).log_odds(unseen)
        odds["recalibrated"][here] = _fit(seen, np.inf).log_odds(unseen)
    weights = support_model().weights
    bundled = _less_rules(measured.bundled - weights.threshold / SCALE, measured)
    return Training(
        places=places,
        left_out=left_out,
        decisions={
            "trained": odds["trained"],
            "bundled": bundled,
            "bundled, recalibrated": odds["recalibrated"],
        },
        weights=_whole(_fit(measured, _best_cost(measured))),
    )


def _measured(
    claims: Sequence[tuple[str, Sequence[str]]], labels: Sequence[bool], sources: Sequence[str]
) -> tuple[_Claims, tuple[int, ...], dict[int, str]]:
    """Compare each claim with its contexts; claims that no weights decide are left out."""
    model, left_out = support_model(), dict[int, str]()
    rows: dict[int, tuple[tuple[float, ...], float, bool, bool]] = {}
    for place, (claim, contexts) in enumerate(claims):
        text = without_citations(claim)
        compared = model.compare(text, contexts)
        if is_missing_remark(text):
            left_out[place] = "remarks that something is missing, which a rule decides"
        elif compared.undecided(supported=False):
            left_out[place] = "not decided by words"
        else:
            denied = denial_of(text, compared.found) is not None
            odds = model.weights.log_odds(compared.values) / SCALE
            rows[place] = compared.values, odds, compared.is_contrary, denied
    places = tuple(rows)
    values, bundled, contrary, denials = zip(*rows.values(), strict=True) if rows else ((), (), (), ())
    measured = _Claims(
        np.array(values, np.float64).reshape(len(places), -1),
        np.array(bundled, np.float64),
        np.array(contrary, np.bool_),
        np.array(denials, np.bool_),
        np.array([labels[place] for place in places], np.bool_),
        np.array([sources[place] for place in places], np.str_),
    )
    return measured, places, left_out


def _check_size(claims: _Claims) -> None:
    for label, name in ((True, "supported"), (False, "unsupported")):
        own = claims.sources[claims.labels == label]
        count, of = len(own), len(set(own.tolist()))
        if count < _FEWEST_CLAIMS or of < _FEWEST_SOURCES:
            raise ConfigError(
                f"the labels have {count} {name} claims of {of} sources: training needs at least "
                f"{_FEWEST_CLAIMS} claims of {_FEWEST_SOURCES} sources for each label, because each of "
                f"{_FOLDS} folds of sources is judged by a judge trained on the others"
            )


def _folds(claims: _Claims) -> NDArray[np.int64]:
    """The fold of each claim: sources are dealt out in the order of their share of supported claims."""
    names, codes = np.unique(claims.sources, return_inverse=True)
    share = np.bincount(codes, claims.labels) / np.bincount(codes)
    drawn = [sha256(name.encode()).hexdigest() for name in names.tolist()]
    order = sorted(range(len(names)), key=lambda code: (share[code], drawn[code]))
    fold = np.empty(len(names), np.int64)
    fold[order] = np.arange(len(names)) % _FOLDS
    return fold[codes]


def _best_cost(claims: _Claims) -> float:
    """The cost with the lowest loss on sources left out; of equal ones the highest."""
    return _COSTS[int(np.argmin([losses.mean() for losses in _losses(claims)]))]


def _losses(claims: _Claims) -> Iterator[Array]:
    """For each cost the weighted logarithmic loss of each claim, by a fit without its fold of sources."""
    folds, sign, weights = _folds(claims), np.where(claims.labels, 1.0, -1.0), _balanced(claims.labels)
    for cost in _COSTS:
        odds = np.zeros(len(folds))
        for fold in range(_FOLDS):
            here = folds == fold
            odds[here] = _fit(claims.where(~here), cost).log_odds(claims.where(here))
        yield weights * np.logaddexp(0, -sign * odds)


def _fit(claims: _Claims, cost: float) -> _Fit:
    """Fit by Newton's method; both labels weigh the same, so that 0 is the threshold."""
    low, high = (np.quantile(claims.rows, share, axis=0) for share in (0.01, 0.99))
    rows = np.clip(claims.rows, low, high)
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    used = (spread > 0) & np.isfinite(cost)
    scaled = (rows[:, used] - mean[used]) / spread[used]
    matrix = np.column_stack([np.ones(len(rows)), claims.bundled, scaled])
    costs = np.array([0.0, _SLOPE_COST, *[cost] * scaled.shape[1]])
    start = np.zeros(matrix.shape[1])
    weights = support_model().weights
    start[1] = weights.slope if isinstance(weights, Weights) else 1.0
    start[0] = -start[1] * weights.threshold / SCALE
    found, balance = start.copy(), _balanced(claims.labels)
    for _ in range(_MOST_STEPS):
        odds = np.clip(_less_rules(matrix @ found, claims), -30, 30)
        probability = 1 / (1 + np.exp(-odds))
        gradient = matrix.T @ (balance * (claims.labels - probability)) - costs * (found - start)
        curvature = balance * probability * (1 - probability)
        step = np.linalg.solve((matrix.T * curvature) @ matrix + np.diag(costs + 1e-9), gradient)
        # a long step may overshoot where the curve is flat
        found += step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < 1e-8:
            break
    of_features = np.zeros(len(mean))
    of_features[used] = found[2:] / spread[used]
    return _Fit(float(found[0] - mean @ of_features), float(found[1]), of_features, low, high)


def _balanced(labels: Flags) -> Array:
    """Weights of the claims with which both labels count the same, and the mean is 1."""
    good = float(labels.mean())
    return np.where(labels, 0.5 / good, 0.5 / (1 - good))


def _less_rules(odds: Array, claims: _Claims) -> Array:
    """Log-odds less what contradicting data cost, and then a denial, as in `SupportModel.support`."""
    odds = odds - _RULE * claims.contrary
    return np.asarray(odds - _RULE * (claims.denied & (odds >= 0)))


def _whole(fit: _Fit) -> TrainedWeights:
    """The weights in whole numbers."""
    model = support_model()
    names = feature_names(vectors=model.vectors is not None)
    columns = zip(names, fit.weights.tolist(), fit.low.tolist(), fit.high.tolist(), strict=True)
    linear = {
        name: LinearTerm(weight=round(SCALE * weight), low=round(PLACES * low), high=round(PLACES * high))
        for name, weight, low, high in columns
        if round(SCALE * weight)
    }
    return TrainedWeights(
        base=model.name, offset=round(SCALE * fit.offset), slope=round(PLACES * fit.slope), linear=linear
    )
