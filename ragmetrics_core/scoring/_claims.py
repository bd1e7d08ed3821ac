"""Formulas over counted claims: shares, F-measures, entity recall, weighted and harmonic means."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "entity_recall",
    "f_beta",
    "f_measure",
    "harmonic_mean",
    "nugget_recall",
    "nugget_recall_bounds",
    "share",
    "supported_share",
    "weighted_mean",
]

# Two fractions with smaller denominators are never so close that the same float stands for both.
_LARGEST_DENOMINATOR = 1_000_000


def supported_share(supported: Sequence[bool] | NDArray[np.bool_]) -> float | None:
    r"""Share of the statements that are supported.

    .. math:: F = \frac{|\{s \in S : s \text{ is supported}\}|}{|S|}

    Range [0, 1], higher is better. Undefined (`None`) when there are no statements.

    References:
        Es et al. (2023), "RAGAS: Automated Evaluation of Retrieval Augmented Generation", section 3.
        https://arxiv.org/abs/2309.15217

    Examples:
        >>> supported_share([True, True, False, True])
        0.75
        >>> supported_share([]) is None
        True
    """
    return share(sum(1 for verdict in supported if verdict), len(supported))


def share(part: int, whole: int) -> float | None:
    r"""A part divided by its whole.

    .. math:: \frac{\text{part}}{\text{whole}}

    Range [0, 1]; the direction depends on the counted items. Undefined (`None`) when the whole is 0.

    Raises:
        ValueError: the part is negative or larger than the whole.

    References:
        Es et al. (2023), section 3, context relevance: extracted sentences over all sentences.
        https://arxiv.org/abs/2309.15217

    Examples:
        >>> share(1, 4)
        0.25
        >>> share(0, 0) is None
        True
    """
    if not 0 <= part <= whole:
        raise ValueError(f"a part must be between 0 and its whole, got {part} of {whole}")
    if whole == 0:
        return None
    return float(part / whole)


def f_beta(tp: int, fp: int, fn: int, beta: float = 1.0) -> float | None:
    r"""F-beta of three counts: true positives, false positives and false negatives.

    .. math:: F_\beta = \frac{(1 + \beta^2)\, TP}{(1 + \beta^2)\, TP + \beta^2\, FN + FP}

    With :math:`\beta = 1` it is :math:`TP / (TP + 0.5\,(FP + FN))`. A beta above 1 gives more weight to
    missing items (FN), below 1 to wrong items (FP). Range [0, 1], higher is better. Undefined (`None`) when
    all three counts are 0; 0 when only TP is 0.

    Raises:
        ValueError: a count is negative, or beta is not a positive finite number.

    References:
        Roychowdhury et al. (2024), "Evaluation of RAG Metrics for Question Answering in the Telecom Domain",
        equation 7 (beta = 1). https://arxiv.org/abs/2407.12873
        van Rijsbergen (1979), "Information Retrieval", chapter 7 (any beta).

    Examples:
        >>> round(f_beta(2, 2, 1), 4)
        0.5714
        >>> f_beta(1, 1, 1)
        0.5
        >>> f_beta(0, 1, 1)
        0.0
        >>> f_beta(0, 0, 0) is None
        True
    """
    if min(tp, fp, fn) < 0:
        raise ValueError(f"counts cannot be negative, got TP {tp}, FP {fp}, FN {fn}")
    recall = _weight_of_recall(beta)
    if tp == fp == fn == 0:
        return None
    # the formula above with numerator and denominator divided by (1 + beta²)
    return float(tp / (tp + recall * fn + (1 - recall) * fp))


def f_measure(precision: float | None, recall: float | None, beta: float = 1.0) -> float | None:
    r"""F-beta of a precision and a recall, each counted in its own unit.

    .. math:: F_\beta = \frac{(1 + \beta^2)\, P\, R}{\beta^2\, P + R}

    Precision counts statements of the answer, recall statements of the reference; the two lists differ in
    length, so no single TP serves both. Range [0, 1], higher is better. An undefined side (`None`: it has no
    statement) counts as 0, because the other side has nothing to agree with. Undefined (`None`) only when
    both are undefined; 0 when either is 0.

    Raises:
        ValueError: precision or recall is outside [0, 1], or beta is not a positive finite number.

    References:
        van Rijsbergen (1979), "Information Retrieval", chapter 7.

    Examples:
        >>> f_measure(0.5, 1.0)
        0.6666666666666666
        >>> f_measure(0.5, 0.75)
        0.6
        >>> f_measure(1.0, None)
        0.0
        >>> f_measure(None, None) is None
        True
    """
    weight = _weight_of_recall(beta)
    for name, value in (("precision", precision), ("recall", recall)):
        if value is not None and not 0 <= value <= 1:
            raise ValueError(f"{name} must be between 0 and 1, got {value}")
    if precision is None and recall is None:
        return None
    if not precision or not recall:
        return 0.0
    return _weighted_harmonic_mean(precision, recall, weight)


def entity_recall(reference: Sequence[str], found: Sequence[str]) -> float | None:
    r"""Share of the reference's distinct entities that are in the contexts.

    .. math:: \frac{|CE \cap GE|}{|GE|}

    with :math:`GE` the entities of the reference and :math:`CE` those of the contexts. Entities are compared
    letter by letter; normalize both sides first. Range [0, 1], higher is better. Undefined (`None`) when the
    reference has no entity.

    References:
        ragas, "Context entities recall". https://docs.ragas.io/en/stable/concepts/metrics/ It adds 1e-8 to
        the denominator; this formula does not, so full recall is exactly 1.

    Examples:
        >>> entity_recall(["Agra", "1631", "Yamuna", "Agra"], ["Agra", "India"])
        0.3333333333333333
        >>> entity_recall([], ["India"]) is None
        True
    """
    wanted = set(reference)
    return share(len(wanted & set(found)), len(wanted))


def weighted_mean(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    r"""Mean of scores with weights, which need not add up to 1.

    .. math:: \frac{\sum_i w_i x_i}{\sum_i w_i}

    Its range is that of the values. A value with weight 0 is ignored. Undefined (`None`) when a value with a
    weight above 0 is `None`.

    Raises:
        ValueError: the lengths differ, a weight is negative, all are 0, or a number is not finite.

    References:
        Roychowdhury et al. (2024), equation 8: answer correctness from factual correctness and similarity.
        https://arxiv.org/abs/2407.12873

    Examples:
        >>> round(weighted_mean([1.0, 0.704], [0.75, 0.25]), 3)
        0.926
        >>> weighted_mean([1.0, None], [1, 0])
        1.0
        >>> weighted_mean([1.0, None], [3, 1]) is None
        True
    """
    if len(values) != len(weights):
        raise ValueError(f"each value needs one weight, got {len(values)} values and {len(weights)} weights")
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights):
        raise ValueError(f"weights must be finite and not negative, got {list(weights)}")
    if not any(weight > 0 for weight in weights):
        raise ValueError(f"at least one weight must be above 0, got {list(weights)}")
    known: list[tuple[Fraction, Fraction]] = []
    for value, weight in zip(values, weights, strict=True):
        if weight == 0:
            continue
        if value is None:
            return None
        known.append((_exact(weight), _exact(value)))
    return float(sum(weight * value for weight, value in known) / sum(weight for weight, _ in known))


def harmonic_mean(values: Sequence[float | None]) -> float | None:
    r"""Harmonic mean of scores, which is low if any of them is low.

    .. math:: H = \frac{n}{\sum_i 1 / x_i}

    Its range is that of the values, higher is better. 0 when a value is 0, the limit of the formula.
    Undefined (`None`) when there are no values, or a value is `None` or negative.

    Raises:
        ValueError: a value is not finite.

    References:
        ragas 0.0.x, the "ragas score": the harmonic mean of its parts. https://docs.ragas.io/

    Examples:
        >>> harmonic_mean([0.5, 1.0])
        0.6666666666666666
        >>> harmonic_mean([0.9, 0.0, 0.8])
        0.0
        >>> harmonic_mean([0.9, None]) is None
        True
    """
    parts = [_exact(value) for value in values if value is not None]
    if len(parts) < len(values) or not parts or min(parts) < 0:
        return None
    if min(parts) == 0:
        return 0.0
    return float(len(parts) / sum(1 / value for value in parts))


@lru_cache(maxsize=4096)
def _weighted_harmonic_mean(precision: float, recall: float, weight: Fraction) -> float:
    """The same formula, cached: few different shares occur."""
    return float(1 / ((1 - weight) / _exact(precision) + weight / _exact(recall)))


@lru_cache(maxsize=256)
def _weight_of_recall(beta: float) -> Fraction:
    """beta² / (1 + beta²), the weight of recall; 1/2 for beta 1."""
    if not (math.isfinite(beta) and beta > 0):
        raise ValueError(f"beta must be a positive finite number, got {beta}")
    square = _exact(beta) ** 2
    return square / (1 + square)


@lru_cache(maxsize=4096)
def _exact(number: float) -> Fraction:
    """The simple fraction that a float rounds, such as 1/3; else the float's exact value.

    Sums and products of fractions are rounded once, at the end: a score of 3/5 is always 0.6.
    """
    if not math.isfinite(number):  # a formula would carry it into a score without a word
        raise ValueError(f"a score must be a finite number, got {number}")
    own = Fraction(float(number))
    near = own.limit_denominator(_LARGEST_DENOMINATOR)
    return near if float(near) == number else own


def nugget_recall(
    full: Sequence[bool],
    part: Sequence[bool],
    vital: Sequence[bool],
    credit: float = 0.5,
    okay: float = 0.5,
) -> float | None:
    r"""Share of the credit for the nuggets that an answer should contain.

    .. math:: R = \frac{\sum_i w_i\, s_i}{\sum_i w_i}

    with :math:`s_i = 1` for full support, `credit` for support in part and 0 for none, and :math:`w_i = 1`
    for a vital nugget and `okay` for another one. The six scores of the TREC 2024 RAG track are those with
    `credit` 0.5, or 0 for "strict", and with `okay` 1 ("all"), 0 ("vital") and 0.5 ("weighted"). A nugget
    with full support counts as such, whatever `part` says. Range [0, 1], higher is better. Undefined (`None`)
    when no nugget has a weight. Summed in fractions and rounded once.

    References:
        Pradeep et al. (2024), "Initial Nugget Evaluation Results for the TREC 2024 RAG Track with the
        AutoNuggetizer Framework", section 3. https://arxiv.org/abs/2411.09607

    Examples:
        >>> nugget_recall([True, False, False], [True, True, False], [True, True, False])
        0.6
        >>> nugget_recall([True, False], [True, True], [True, False], credit=0, okay=0)
        1.0
        >>> nugget_recall([True], [True], [False], okay=0) is None
        True
    """
    supports = _supports(full, part, credit)
    weights = [Fraction(1) if each else Fraction(okay) for each in vital]
    whole = sum(weights)
    if not whole:
        return None
    return float(sum(weight * support for weight, support in zip(weights, supports, strict=True)) / whole)


def nugget_recall_bounds(
    full: Sequence[bool | None],
    part: Sequence[bool | None],
    vital: Sequence[bool | None],
    credit: float = 0.5,
    okay: float = 0.5,
) -> tuple[float | None, float | None]:
    r"""Lowest and highest nugget recall over all completions of the missing verdicts (`None`).

    .. math:: \left[\min_{v \in V} R(v),\ \max_{v \in V} R(v)\right]

    with :math:`V` the completions of the lists. More support never lowers the value. A nugget of unknown
    importance is vital where that helps: the nuggets are tried in the order of their support, the first ones
    as vital and the others as okay. Range [0, 1]. Undefined, `(None, None)`, if no completion has a value.

    References:
        The formula is that of `nugget_recall`; the bounds are this library's own.

    Examples:
        >>> nugget_recall_bounds([True, None], [True, False], [True, True])
        (0.5, 1.0)
        >>> nugget_recall_bounds([True, False], [True, False], [None, True], okay=0)
        (0.0, 0.5)
    """
    ends: list[list[float]] = []
    for filler in (False, True):
        supports = _supports(_filled(full, filler), _filled(part, filler), credit)
        unknown = [place for place, known in enumerate(vital) if known is None]
        unknown.sort(key=lambda place: supports[place], reverse=filler)
        values: list[float] = []
        for count in range(len(unknown) + 1):
            first = set(unknown[:count])
            completed = [place in first if known is None else known for place, known in enumerate(vital)]
            value = nugget_recall(_filled(full, filler), _filled(part, filler), completed, credit, okay)
            if value is not None:
                values.append(value)
        ends.append(values)
    lowest, highest = ends
    return (min(lowest), max(highest)) if lowest and highest else (None, None)


def _supports(full: Sequence[bool], part: Sequence[bool], credit: float) -> list[Fraction]:
    """The credit of each nugget."""
    rows = zip(full, part, strict=True)
    return [
        Fraction(1) if in_full else Fraction(credit) if in_part else Fraction(0) for in_full, in_part in rows
    ]


def _filled(known: Sequence[bool | None], filler: bool) -> list[bool]:
    return [filler if each is None else each for each in known]
