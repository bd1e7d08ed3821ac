"""Shared steps of share metrics: the supported share of verdicts, and F1, precision or recall."""

from collections import Counter
from math import fsum
from typing import Literal

from ragmetrics_core import scoring
from ragmetrics_core.errors import StepFailed
from ragmetrics_core.measurement import Judged, Measurement, score
from ragmetrics_core.parsers import CONTRADICTED, NOT_MENTIONED, UNPROVEN
from ragmetrics_core.scoring.uncertain_counts import central_counts

__all__ = ["Aggregate", "Mode", "f1_of", "f1_spelled", "supported_share", "verdict_share"]

Mode = Literal["f", "precision", "recall"]
Aggregate = Literal["share", "expected", "least", "mean"]


def verdict_share(judged: Judged, part: str, whole: str, aggregate: Aggregate) -> Measurement:
    """Measurement of the positive share of verdicts, or of their probabilities.

    Args:
        judged: the verdicts.
        part: name of the count of positive verdicts.
        whole: name of the count of all verdicts.
        aggregate: "share" counts the decisions. "expected" is the expected share, the mean of the
            probabilities, with a 90 % interval for independent verdicts (Poisson-binomial). "mean" is the
            same number without an interval. "least" is the lowest probability.

    Raises:
        StepFailed: a verdict has no probability because its judge gives none.
    """
    if aggregate == "share":
        return supported_share(judged, part, whole)
    known = [
        probability
        for probability, decision in zip(judged.probabilities, judged.known, strict=True)
        if decision is not None
    ]
    given = [probability for probability in known if probability is not None]
    if len(given) < len(known):
        why = f"a verdict has no probability: aggregate={aggregate} needs a judge that gives one for each"
        raise StepFailed("metric_error", why)
    number = len(judged)
    counts: dict[str, float] = {part: judged.supported, whole: number, **stances_in(judged)}
    if aggregate == "least":
        counts["least"] = min(given, default=1.0)
        spelled, least = f"the least of {{{whole}}} probabilities", counts["least"]
        bounds = (0.0, least)
    else:
        counts["probabilities"] = fsum(given)
        spelled = f"{{probabilities:.4g}} / {{{whole}}}"
        bounds = (fsum(given) / number, (fsum(given) + judged.missing) / number) if number else (0.0, 0.0)
    if aggregate == "expected" and number and not judged.missing:
        counts["low"], counts["high"] = (count / number for count in central_counts(given))
        spelled += " (90 % from {low:.3g} to {high:.3g})"
    return score(
        lambda _: bounds[1] if number else None,
        judged,
        counts=counts,
        spelled=spelled,
        bounds=lambda _: bounds,
    )


def supported_share(judged: Judged, part: str, whole: str, **others: int) -> Measurement:
    """Share of positive verdicts; `part` and `whole` are the names of the two counts."""
    counts = {part: judged.supported, whole: len(judged), **stances_in(judged), **others}
    return score(scoring.supported_share, judged, counts=counts, spelled=f"{{{part}}} / {{{whole}}}")


def stances_in(judged: Judged) -> dict[str, int]:
    """Number of contradicted and of not mentioned items, and of unproven contradictions if there are any.

    Empty if the judge was not asked for verdicts in three ways.
    """
    if not judged.stances:
        return {}
    counted = Counter(judged.stances)
    counts = {"contradicted": counted[CONTRADICTED], "not_mentioned": counted[NOT_MENTIONED]}
    return counts | ({UNPROVEN: counted[UNPROVEN]} if counted[UNPROVEN] else {})


def f1_of(shared: int, answer: int, reference: int, mode: Mode) -> float:
    """F1, precision or recall of two texts' shared units; 0 if the answer or the reference has none."""
    precision, recall = scoring.share(shared, answer), scoring.share(shared, reference)
    value = {"f": scoring.f_measure(precision, recall), "precision": precision, "recall": recall}
    return value[mode] or 0.0


def f1_spelled(shared: str, answer: str, reference: str, mode: Mode) -> str:
    """The formula of `f1_of` as text, from the names of the three counts."""
    precision, recall = f"{{{shared}}} / {{{answer}}}", f"{{{shared}}} / {{{reference}}}"
    return {"f": f"F1 of P {precision} and R {recall}", "precision": precision, "recall": recall}[mode]
