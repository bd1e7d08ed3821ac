"""Means with the number of samples behind them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, sqrt
from typing import Any, NamedTuple

from ragmetrics_core.records import Status

__all__ = ["Declines", "Mean", "Outcome", "averaged", "declines", "summarise"]

_LEFT_OUT: frozenset[Status] = frozenset({"undefined", "skipped"})
# With fewer scores a standard deviation is not shown.
_FEW = 10
# Why a score is undefined through the expected texts of a sample, which no application writes.
_OF_THE_TEST_SET = ("no_reference", "nothing_relevant", "grades_of_other_items", "no_entities")
# Fields that the application fills: a score that is skipped for one of them is the application's doing.
_OF_THE_APPLICATION = ("question", "answer", "contexts", "context_ids", "retrievals")


class Outcome(NamedTuple):
    """Outcome of one record, as means and counts need it.

    `declined`: whether the answer declines; None if no step checked it. `corrected`: whether a person
    overruled or confirmed a verdict. `blank`: whether the answer has no visible character.
    """

    status: Status
    value: float | None
    bounds: tuple[float, float] | None
    declined: bool | None
    reason: str | None = None
    corrected: bool = False
    blank: bool = False

    @classmethod
    def of_stored(cls, fields: Mapping[str, Any]) -> "Outcome":
        """The outcome of a stored record."""
        bounds = fields["bounds"]
        abstained: Mapping[str, Any] = fields["abstained"] or {}
        declined = abstained.get("declined")
        return cls(
            status=fields["status"],
            value=fields["value"],
            bounds=None if bounds is None else (bounds[0], bounds[1]),
            declined=None if declined is None else bool(declined),
            reason=fields["reason"],
            corrected=bool(fields.get("corrections")),
        )

    @property
    def is_excused(self) -> bool:
        """Whether a missing score is right: the answer declines, or the sample lacks an expected text.

        An answer that says nothing, or for which nothing was retrieved, is not excused.
        """
        reason = self.reason or ""
        if self.status == "undefined":
            return (self.declined is True and not self.blank) or reason.startswith(_OF_THE_TEST_SET)
        return self.status == "skipped" and reason not in _OF_THE_APPLICATION

    def sure(self, *, worst: float, best: float) -> float | None:
        """Guaranteed value for decisions: the value, the worse bound, or else the bad end of the range.

        None if the missing score is excused; see `is_excused`.
        """
        if self.value is not None or self.is_excused:
            return self.value
        if self.bounds is not None:
            return min(self.bounds) if worst < best else max(self.bounds)
        return worst


class Declines(NamedTuple):
    """Number of samples of a run that were answered, declined or undecided.

    Attributes:
        answered: answers that do not decline.
        declined: answers that decline or are blank.
        undecided: answers that no step checked, or on which steps disagree.
        blank: blank answers among the declined.
    """

    answered: int = 0
    declined: int = 0
    undecided: int = 0
    blank: int = 0

    @property
    def asked(self) -> bool:
        """Whether any step in the run checked whether an answer declines."""
        return self.answered + self.declined > self.blank

    def __str__(self) -> str:
        """The counts in one line: "40 answered, 10 declined, 2 undecided"."""
        return f"{self.answered} answered, {self.declined} declined, {self.undecided} undecided"


def declines(outcomes: Iterable[Outcome]) -> bool | None:
    """Whether the answer of a sample declines, from the outcomes of its records.

    A blank answer declines. Otherwise the steps that checked it decide; None if none did or they disagree.

    >>> declines([Outcome("ok", 1.0, None, True), Outcome("ok", 1.0, None, None)])
    True
    """
    views = {outcome.blank or outcome.declined for outcome in outcomes} - {None}
    return views.pop() if len(views) == 1 else None


def averaged(repetitions: Sequence[Outcome], *, worst: float, best: float) -> Outcome:
    """Averaged outcome of repeated measurements of one sample.

    Excused repetitions count only if all are excused. If another repetition has no value, the result has
    bounds instead of a mean: the missing value may lie anywhere in the metric's range, and decisions assume
    the bad end.

    Args:
        repetitions: one outcome or more.
        worst: the bad end of the metric's range.
        best: the good end.
    """
    first, *others = repetitions
    counted = [each for each in repetitions if not each.is_excused]
    if not others or not counted:
        return first
    corrected = any(each.corrected for each in repetitions)
    values = [each.value for each in counted if each.value is not None]
    if len(values) == len(counted):
        return counted[0]._replace(
            status="ok", value=_mean(values), bounds=None, reason=None, corrected=corrected
        )
    lacking = next(each for each in counted if each.value is None)
    if not values and not any(each.bounds for each in counted):
        return lacking._replace(corrected=corrected)
    ends = [
        (each.value, each.value)
        if each.value is not None
        else each.bounds or (min(worst, best), max(worst, best))
        for each in counted
    ]
    low, high = (sum(side) / len(side) for side in zip(*ends, strict=True))
    return lacking._replace(bounds=(low, high), corrected=corrected)


@dataclass(frozen=True, kw_only=True)
class Mean:
    """The mean of one metric over a run, with counts and limits.

    Attributes:
        metric: the metric's signature.
        value: mean of the scores with status "ok"; None if there are none.
        sd: their standard deviation (n - 1); None for fewer than two, and if it exceeds the largest float.
        n: number of scores in the mean.
        total: number of samples.
        statuses: number of samples by status.
        worst, best: the mean if every failed or incomplete score were as bad, or as good, as possible; if
            lower is better, the worst mean is the higher one. Undefined and skipped samples are left out.
            The higher of the two is None if a score failed and the metric has no maximum.
        abstained: number of samples whose answer declined.
        separated: number of these that are excluded from the mean.
    """

    metric: str
    value: float | None
    sd: float | None
    n: int
    total: int
    statuses: dict[Status, int] = field(default_factory=dict)
    worst: float | None = None
    best: float | None = None
    abstained: int = 0
    separated: int = 0

    @property
    def spread(self) -> float | None:
        """The standard deviation to show; None for fewer than 10 scores.

        That of a few scores says little, and can be larger than half of the range: 0.707 for 0 and 1.
        """
        return self.sd if self.n >= _FEW else None

    def __str__(self) -> str:
        """The mean in one line: "0.750 (sd 0.200, n 38 of 40; 2 undefined)"."""
        others = ", ".join(f"{count} {status}" for status, count in self.statuses.items() if status != "ok")
        shown = "no mean" if self.value is None else f"{self.value:.3f}"
        sd = "" if self.spread is None else f"sd {self.spread:.3f}, "
        return f"{shown} ({sd}n {self.n} of {self.total}{f'; {others}' if others else ''})"


def summarise(
    metric: str,
    outcomes: Iterable[Outcome],
    *,
    worst: float,
    best: float,
    exceeds: bool = False,
    separate: bool = False,
) -> Mean:
    """The mean of a metric.

    Args:
        metric: its signature.
        outcomes: one for each sample.
        worst: the bad end of the metric's range, used for failed scores.
        best: the good end, likewise.
        exceeds: a score may lie above the range.
        separate: exclude samples whose answer declines.
    """
    statuses: Counter[Status] = Counter()
    values: list[float] = []
    if_bad: list[float] = []
    if_good: list[float] = []
    abstained = separated = 0
    is_open = False
    for outcome in outcomes:
        statuses[outcome.status] += 1
        abstained += outcome.declined is True
        if separate and outcome.declined:
            separated += 1
            continue
        if outcome.status in _LEFT_OUT:
            continue
        if outcome.value is not None:
            values.append(outcome.value)
        is_open |= exceeds and outcome.value is None and outcome.bounds is None
        low, high = outcome.bounds or (min(worst, best), max(worst, best))
        bad, good = (low, high) if worst < best else (high, low)
        if_bad.append(bad if outcome.value is None else outcome.value)
        if_good.append(good if outcome.value is None else outcome.value)
    mean = _mean(values)
    return Mean(
        metric=metric,
        value=mean,
        sd=_sd(values, mean),
        n=len(values),
        total=sum(statuses.values()),
        statuses=dict(statuses),
        worst=None if is_open and worst > best else _mean(if_bad),
        best=None if is_open and best > worst else _mean(if_good),
        abstained=abstained,
        separated=separated,
    )


def _mean(values: Sequence[float]) -> float | None:
    if not values:
        return None
    total = sum(values)
    # the sum of the largest floats is infinite, their mean is not
    return total / len(values) if isfinite(total) else sum(value / len(values) for value in values)


def _sd(values: Sequence[float], mean: float | None) -> float | None:
    if mean is None or len(values) < 2:
        return None
    deviations = [value - mean for value in values]
    sd = sqrt(sum(each * each for each in deviations) / (len(values) - 1))
    return sd if isfinite(sd) else None
