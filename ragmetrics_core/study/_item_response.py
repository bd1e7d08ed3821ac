"""The two-parameter logistic model of item response theory, by marginal maximum likelihood."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["TwoParameters", "fit_two_parameters"]

Floats = NDArray[np.float64]

# As in girth and BILOG: outside, few examinees drive a slope to 0 or to infinity.
SLOPES = (0.25, 4.0)
DIFFICULTIES = (-6.0, 6.0)
_POINTS = 61
_ROUNDS = 2000
_ENOUGH = 1e-7


class TwoParameters(NamedTuple):
    """The fitted model.

    Attributes:
        discrimination: slope of each item.
        difficulty: ability at which half of the examinees pass the item.
        information: Fisher information of each item about ability, averaged over the examinees' estimates.
        ability: each examinee's mean ability, given its answers.
        ability_sd: the standard deviation of it.
        log_likelihood: the marginal log-likelihood.
        converged: whether the last round of the fit moved the log-likelihood by next to nothing.
    """

    discrimination: Floats
    difficulty: Floats
    information: Floats
    ability: Floats
    ability_sd: Floats
    log_likelihood: float
    converged: bool


def fit_two_parameters(passes: NDArray[np.bool_]) -> TwoParameters:
    r"""Fit :math:`P = 1 / (1 + e^{-a (\theta - b)})` with :math:`\theta \sim N(0, 1)` by EM.

    The E-step takes the posterior of each examinee's ability on a grid from -6 to 6, the M-step makes Newton
    steps on each item's slope and intercept, with slopes from 0.25 to 4.

    Args:
        passes: a row for each examinee, a column for each item; no column may be constant.

    References:
        Bock and Aitkin (1981), "Marginal maximum likelihood estimation of item parameters: application of an
        EM algorithm", Psychometrika 46. https://doi.org/10.1007/BF02293801
    """
    answers = passes.astype(float)
    grid = np.linspace(-6, 6, _POINTS)
    prior = -0.5 * grid**2
    prior -= np.logaddexp.reduce(prior)
    share = np.clip(answers.mean(axis=0), 0.02, 0.98)
    slope, intercept = np.ones(answers.shape[1]), np.log(share / (1 - share))
    before, converged = -np.inf, False
    for _ in range(_ROUNDS):
        posterior, likelihood = _posterior(answers, slope, intercept, grid, prior)
        if likelihood - before < _ENOUGH * abs(likelihood):
            converged = True
            break
        before = likelihood
        tries = posterior.sum(axis=0)
        right = posterior.T @ answers
        for _ in range(5):
            slope, intercept = _newton(slope, intercept, grid, tries, right)
    posterior, likelihood = _posterior(answers, slope, intercept, grid, prior)
    ability = posterior @ grid
    sd = np.sqrt(np.maximum(posterior @ grid**2 - ability**2, 0))
    chance = _chance(np.outer(ability, slope) + intercept)
    information = (slope**2 * chance * (1 - chance)).mean(axis=0)
    return TwoParameters(slope, -intercept / slope, information, ability, sd, float(likelihood), converged)


def _posterior(
    answers: Floats, slope: Floats, intercept: Floats, grid: Floats, prior: Floats
) -> tuple[Floats, float]:
    """Each examinee's posterior on the grid, and the marginal log-likelihood."""
    logits = np.outer(grid, slope) + intercept
    joint = answers @ _log_chance(logits).T + (1 - answers) @ _log_chance(-logits).T + prior
    whole: Floats = np.logaddexp.reduce(joint, axis=1, keepdims=True)
    return np.exp(joint - whole), float(whole.sum())


def _newton(
    slope: Floats, intercept: Floats, grid: Floats, tries: Floats, right: Floats
) -> tuple[Floats, Floats]:
    """One Newton step on each item; a slope at an end of its range stays there, with the intercept alone."""
    chance = _chance(np.outer(grid, slope) + intercept)
    off = right - tries[:, None] * chance
    weight = tries[:, None] * chance * (1 - chance)
    by_slope, by_intercept = grid @ off, off.sum(axis=0)
    ss, si, ii = grid**2 @ weight, grid @ weight, weight.sum(axis=0)
    determinant = np.maximum(ss * ii - si**2, 1e-12)
    step = np.clip((ii * by_slope - si * by_intercept) / determinant, -1, 1)
    moved = np.clip(slope + step, *SLOPES)
    # the intercept's best step for the slope's actual one
    shift = np.clip((by_intercept - si * (moved - slope)) / np.maximum(ii, 1e-12), -2, 2)
    low, high = -DIFFICULTIES[1] * moved, -DIFFICULTIES[0] * moved
    return moved, np.clip(intercept + shift, low, high)


def _log_chance(logits: Floats) -> Floats:
    return -np.logaddexp(0.0, -logits)


def _chance(logits: Floats) -> Floats:
    return np.exp(_log_chance(logits))
