"""What a mean must reach, or must not exceed, and whether it does: on nothing that is not known."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from math import isfinite
from typing import Literal, NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._clustering import clustering_of
from ragmetrics_core.study._means import score_mean
from ragmetrics_core.study._scores import Scores

__all__ = ["Limit", "beyond", "limit_of", "near"]

End = Literal["min", "max"]


class Limit(NamedTuple):
    """What a mean must reach, or must not exceed."""

    metric: str
    value: float
    end: End

    def is_beyond(self, mean: float) -> bool:
        """Whether a mean is on the wrong side."""
        return mean < self.value if self.end == "min" else mean > self.value


def limit_of(text: str, scores: Scores, end: End) -> Limit:
    """Read a limit, "faithfulness=0.8".

    Raises:
        ConfigError: it is none, there is no such metric, or no score of the metric could reach it, or all
            would.
    """
    name, equals, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        equals, value = "", 0.0
    if not equals or not isfinite(value):
        raise ConfigError(f"{text!r} is no {end}imum: write METRIC=0.8")
    metric = scores.metric(name.strip())
    low, high = scores.ranges.get(metric, (0.0, 1.0))
    if value < low or (value > high and metric not in scores.exceeds):
        raise ConfigError(f"scores of {metric} lie from {low:g} to {high:g}: {text!r} is no {end}imum")
    return Limit(metric, value, end)


def beyond(scores: Scores, limit: Limit, *, before: Scores | None = None) -> Iterator[str]:
    """Why a mean does not reach its limit; nothing when it does.

    Scores that failed, are lost, or whose answers say nothing, count as the worst, incomplete ones with
    their worse bound. Rows that are no samples count as the worst too; with an earlier run it is its samples
    that do, where they are not there. The mean over its samples must reach the limit as well: easy samples
    that came since raise nothing.

    Args:
        scores: the run.
        limit: what the mean must reach.
        before: an earlier run, whose scores the run must have too.
    """
    metric = limit.metric
    found = scores.values[metric]
    if not found:
        yield f"{metric} has no value in {scores.name}"
        return
    lost = {} if before is None else dict.fromkeys(before.values.get(metric, {}), _worst(scores, limit))
    counted = {**lost, **_counted(scores if before is None else replace(scores, rejected=0), limit)}
    told = _mean_beyond(limit, counted, found, "")
    if told is None and before is not None:
        known = {each: counted[each] for each in counted if each in before.labels}
        told = _mean_beyond(limit, known, found, f" of {before.name}") if known else None
    if told:
        yield told


def near(scores: Scores, limit: Limit, *, cluster: str | None = None) -> Iterator[str]:
    """Why it cannot be told whether a mean that reaches its limit here would do so on other samples.

    Args:
        scores: the run.
        limit: what the mean reaches.
        cluster: the label whose values are the clusters, or "none"; see `clustering_of`.
    """
    clustering = clustering_of((scores,), cluster)
    counted = _counted(scores, limit)
    values = list(counted.values())
    told = score_mean(values, clustering.clusters(counted), ends=scores.ends(limit.metric))
    bad = told.low if limit.end == "min" else told.high
    if bad is None:
        yield f"the mean of {limit.metric} is {told} over {len(counted)} samples, too few for an interval"
    elif limit.is_beyond(bad):
        side = "below" if limit.end == "min" else "above"
        by = f" in clusters by {clustering.by}" if clustering.by else ""
        yield (
            f"the mean of {limit.metric} is {told} over {len(counted)} samples{by}: on others it may be "
            f"{side} {limit.value:g}"
        )


def _counted(scores: Scores, limit: Limit) -> dict[str, float]:
    """What a decision rests on, by sample id: samples without a record too, and rows that are no samples."""
    worst = _worst(scores, limit)
    sure: Mapping[str, float] = scores.sure.get(limit.metric, {})
    if not _is_usual(scores, limit):  # the worse bound for this limit is the better one of the metric
        sure = dict.fromkeys(sure, worst)
    rows = {f"\0{number}": worst for number in range(scores.rejected)}
    why: Mapping[str, str] = scores.absent.get(limit.metric, {})
    unmeasured = {each: worst for each in scores.samples if each not in why}
    return {**rows, **unmeasured, **sure, **scores.values[limit.metric]}


def _is_usual(scores: Scores, limit: Limit) -> bool:
    """Whether the limit holds off the bad end of the metric, as limits do."""
    return (limit.end == "max") == (limit.metric in scores.lower_is_better)


def _worst(scores: Scores, limit: Limit) -> float:
    """The end of the range that the limit holds off, or the score that lies farthest beyond it."""
    low, high = scores.ranges.get(limit.metric, (0.0, 1.0))
    values = scores.values.get(limit.metric, {}).values()
    return min(low, *values, low) if limit.end == "min" else max(high, *values, high)


def _mean_beyond(
    limit: Limit, counted: Mapping[str, float], found: Collection[str], whose: str
) -> str | None:
    mean = sum(counted.values()) / len(counted)
    if not limit.is_beyond(mean):
        return None
    side = "below" if limit.end == "min" else "above"
    without = sum(each not in found for each in counted)
    told = f"the mean of {limit.metric} is {mean:.3f} over {len(counted)} samples{whose}"
    at_worst = f", {without} of them without a score and counted as the worst" if without else ""
    return f"{told}{at_worst}, {side} {limit.value:g}"
