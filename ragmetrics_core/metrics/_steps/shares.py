"""What metrics of shares have alike: the supported share of verdicts, and F1 or one of its two sides."""

from typing import Literal

from ragmetrics_core import scoring
from ragmetrics_core.measurement import Judged, Measurement, score

__all__ = ["Mode", "f1_of", "f1_spelled", "supported_share"]

Mode = Literal["f", "precision", "recall"]


def supported_share(judged: Judged, part: str, whole: str, **others: int) -> Measurement:
    """The share of the verdicts that are positive; `part` and `whole` are what the two counts are called."""
    counts = {part: judged.supported, whole: len(judged), **others}
    return score(scoring.supported_share, judged, counts=counts, spelled=f"{{{part}}} / {{{whole}}}")


def f1_of(shared: int, answer: int, reference: int, mode: Mode) -> float:
    """F1, precision or recall of what two texts share; 0 where the answer or the reference has nothing."""
    precision, recall = scoring.share(shared, answer), scoring.share(shared, reference)
    value = {"f": scoring.f_measure(precision, recall), "precision": precision, "recall": recall}
    return value[mode] or 0.0


def f1_spelled(shared: str, answer: str, reference: str, mode: Mode) -> str:
    """The formula of `f1_of` as text, from what the three counts are called."""
    precision, recall = f"{{{shared}}} / {{{answer}}}", f"{{{shared}}} / {{{reference}}}"
    return {"f": f"F1 of P {precision} and R {recall}", "precision": precision, "recall": recall}[mode]
