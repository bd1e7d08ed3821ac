"""The decision of a gate: limits on means, conditions on comparisons, and undecided metrics."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.runs import Run
from ragmetrics_core.scoring.uncertain_counts import lowest_mean
from ragmetrics_core.study._clustering import clustering_of
from ragmetrics_core.study._comparison import PairedMetric, RunComparison
from ragmetrics_core.study._contradictions import contradictions
from ragmetrics_core.study._estimates import score_mean
from ragmetrics_core.study._pairs import lacking_in, pairs_of, without_doubtful
from ragmetrics_core.study._scores import DECLINED, Scores, read_scores
from ragmetrics_core.study._tables import StudyTable, in_notebooks, plain_table
from ragmetrics_core.study._verdict_probabilities import is_verdict_share

__all__ = [
    "FailIf",
    "GateVerdict",
    "Limit",
    "beyond",
    "decide",
    "decide_limits",
    "doubts_of_mean",
    "gate_tables",
    "limit_of",
    "missed_limit",
    "near",
]

FailIf = Literal["worse", "not-better", "inferior", "declines", "contradicted", "cannot-tell"]


End = Literal["min", "max"]


class Limit(NamedTuple):
    """A minimum or maximum of a mean; `DECLINED` is the share of answers that decline.

    Attributes:
        metric: the metric's signature.
        value: the limit.
        end: "min" or "max".
        level: for a limit of the expected mean, the level of the interval whose worse end must meet it.
    """

    metric: str
    value: float
    end: End
    level: float | None = None

    def is_beyond(self, mean: float) -> bool:
        """Whether a mean is beyond the limit."""
        return mean < self.value if self.end == "min" else mean > self.value

    @property
    def mean(self) -> str:
        """The limited quantity in words."""
        if self.level is not None:
            side = "lower" if self.end == "min" else "upper"
            return f"the {side} end ({self.level:.4g} % interval) of the expected mean of {self.metric}"
        share = "the share of answers that decline"
        return share if self.metric == DECLINED else f"the mean of {self.metric}"

    @property
    def beyond(self) -> str:
        """The side beyond the limit in words: "below 0.8"."""
        return f"{'below' if self.end == 'min' else 'above'} {self.value:g}"


def limit_of(text: str, scores: Scores, end: End) -> Limit:
    """Read a limit such as "faithfulness=0.8"; "declined=0.1" limits the share of answers that decline.

    "faithfulness=0.8@p90" is a limit of the expected mean: the worse end of its 90 % interval must meet it.

    Raises:
        ConfigError: the text is not a limit, there is no such metric, or no score or every score would meet
            the limit; or the metric is not a share of verdicts, which a level needs.
    """
    name, equals, number = text.rpartition("=")
    number, at, percent = number.partition("@p")
    try:
        value, level = float(number), float(percent) if at else None
    except ValueError:
        equals, value, level = "", 0.0, None
    if not equals or not isfinite(value) or (level is not None and not 0 < level < 100):
        raise ConfigError(f"--{end} takes METRIC=0.8 or METRIC=0.8@p90, not {text!r}")
    metric = DECLINED if name.strip() == DECLINED else scores.metric(name.strip())
    low, high = scores.range_of(metric)
    if value < low or (value > high and metric not in scores.exceeds):
        raise ConfigError(
            f"scores of {metric} lie from {low:g} to {high:g}: {text!r} is not a possible {end}imum"
        )
    if level is not None and not is_verdict_share(metric):
        raise ConfigError(f"{text!r}: {metric} is not the share of its verdicts, which @p{level:g} needs")
    return Limit(metric, value, end, level)


def beyond(scores: Scores, limit: Limit, *, before: Scores | None = None) -> Iterator[str]:
    """Reasons why a mean does not meet its limit; none if it does.

    Failed and lost scores, and scores of empty answers, count as the worst; incomplete scores count with
    their worse bound. Invalid rows count as the worst. So do samples of the earlier run that are missing,
    each of which may be one of the invalid rows. The mean over the earlier run's samples must meet the limit
    too, so that new easy samples cannot raise it. An answer that declines only in this run has lost its
    scores. In the share of answers that decline, undecided answers count as declined.

    A limit with a level is one of the expected mean: each scored sample's share of positive verdicts is
    random, with the judge's probabilities, and all verdicts are independent. The worse end of the interval of
    their mean must meet the limit (`lowest_mean`). All other samples count as above.

    Args:
        scores: the run.
        limit: limit of the mean.
        before: earlier run whose scores this run must have too.
    """
    metric, is_share = limit.metric, limit.metric == DECLINED
    if before is not None:
        scores, before = scores.against(before), _held(before, limit)
    scores = _held(scores, limit)
    if not (scores.asks if is_share else scores.values[metric]):
        hint = "asks whether an answer declines: measure abstention, faithfulness or answer_relevance too"
        yield f"nothing in {scores.name} {hint}" if is_share else f"{metric} has no value in {scores.name}"
        return
    whole, certain, of_before = _counted(scores, limit), scores, None
    if before is not None:
        lost = dict.fromkeys(before.values.get(metric, {}), _worst(scores, limit))
        rows = scores.rejected - min(len(scores.unread), lacking_in(scores, before))
        whole = _counted(replace(scores, rejected=rows), limit, lost)
        certain = without_doubtful(scores, metric, before)
        by_id = _counted(certain, limit, lost).by_id
        of_before = _Counted({each: value for each, value in by_id.items() if each in before.labels})
    wholes = [("", whole, scores)]
    if before is not None and of_before is not None:
        wholes.append((f" of {before.name}", of_before, certain))
    for whose, counted, measured in wholes:
        values = counted.values
        mean = _mean(counted, measured, limit) if values else limit.value
        if limit.is_beyond(mean):
            known = measured.values[metric]
            without = sum(each not in known for each in counted.by_id) + len(counted.rows)
            lacking = "undecided" if is_share else "without a score"
            at_worst = f", {without} of them {lacking} and counted as the worst" if without else ""
            samples = f"{len(values)} samples{whose}{at_worst}"
            yield f"{limit.mean} is {mean:.3f} over {samples}, {limit.beyond}"
            return


def near(scores: Scores, limit: Limit, *, cluster: str | None = None) -> Iterator[str]:
    """Reasons why a mean that meets its limit might miss it on other samples.

    Args:
        scores: the run.
        limit: limit that the mean meets.
        cluster: label whose values are the clusters, or "none"; see `clustering_of`.
    """
    scores, limit = _held(scores, limit), limit._replace(level=None)
    clustering = clustering_of((scores,), cluster)
    counted = _counted(scores, limit)
    clusters = [*clustering.clusters(counted.by_id), *(("row", each) for each in range(len(counted.rows)))]
    mean = score_mean(counted.values, clusters, ends=scores.ends(limit.metric))
    bad = mean.low if limit.end == "min" else mean.high
    over = f"{limit.mean} is {mean} over {len(counted.values)} samples"
    if bad is None:
        yield f"{over}, too few for an interval"
    elif limit.is_beyond(bad):
        by = f" in clusters by {clustering.by}" if clustering.by else ""
        yield f"{over}{by}: on others it may be {limit.beyond}"


def _held(scores: Scores, limit: Limit) -> Scores:
    """The scores that a limit applies to; for `DECLINED`, whether the answers decline."""
    return scores.of_declining() if limit.metric == DECLINED else scores


class _Counted(NamedTuple):
    """The values of a decision: by sample id, and of invalid rows."""

    by_id: Mapping[str, float]
    rows: tuple[float, ...] = ()

    @property
    def values(self) -> list[float]:
        return [*self.by_id.values(), *self.rows]


def _counted(scores: Scores, limit: Limit, lost: Mapping[str, float] = MappingProxyType({})) -> _Counted:
    """The values of a decision, also of samples without a record; `lost` holds those of missing samples."""
    worst = _worst(scores, limit)
    sure: Mapping[str, float] = scores.sure.get(limit.metric, {})
    # a limit usually holds off the bad end; else the worse bound for it is the better one of the metric
    bad_end = "min" if limit.metric in scores.lower_is_better else "max"
    if limit.end == bad_end:
        sure = dict.fromkeys(sure, worst)
    why: Mapping[str, str] = scores.absent.get(limit.metric, {})
    unmeasured = {each: worst for each in scores.samples if each not in why}
    by_id = {**lost, **unmeasured, **sure, **scores.values[limit.metric]}
    return _Counted(by_id, (worst,) * scores.rejected)


def _mean(counted: _Counted, scores: Scores, limit: Limit) -> float:
    """The mean of the values, or the worse end of the expected mean."""
    values = counted.values
    if limit.level is None:
        return sum(values) / len(values)
    if limit.metric in scores.repetitions:
        raise ConfigError(
            f"a limit such as 0.8@p90 needs {limit.metric} to be measured once, without full_repeats"
        )
    known = scores.values[limit.metric].keys() & counted.by_id.keys()
    probabilities = scores.probabilities(limit.metric)
    shares = [probabilities[each] for each in counted.by_id if each in known]
    tail = (1 - limit.level / 100) / 2
    if limit.end == "min":
        end = lowest_mean(shares, tail=tail) if shares else 0.0
    else:
        others = [[1 - share for share in each] for each in shares]
        end = 1 - lowest_mean(others, tail=tail) if shares else 0.0
    if len(shares) == len(values):
        return end
    rest = [value for each, value in counted.by_id.items() if each not in known]
    return (end * len(shares) + sum(rest) + sum(counted.rows)) / len(values)


def _worst(scores: Scores, limit: Limit) -> float:
    """The bad end of the range, or the score farthest beyond it."""
    return scores.worst(limit.metric, lowest=limit.end == "min")


class GateVerdict(NamedTuple):
    """Verdict of a gate on two runs.

    Attributes:
        failed: reasons why the second run does not pass: pairs of a metric ("" for the whole runs) and a
            sentence.
        untold: the same for undecided metrics, with the condition "cannot-tell".
        has_conditions: whether there was a condition or a limit; without one nothing passes.
        notes: remarks on the intervals of the limits of one run.
    """

    failed: tuple[tuple[str, str], ...] = ()
    untold: tuple[tuple[str, str], ...] = ()
    has_conditions: bool = True
    notes: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[str, ...]:
        """The sentences of the failures."""
        return tuple(why for _, why in self.failed)

    @property
    def unsure(self) -> tuple[str, ...]:
        """The sentences on undecided metrics."""
        return tuple(why for _, why in self.untold)

    @property
    def word(self) -> Literal["passed", "failed", "cannot tell"]:
        """The verdict on the conditions: "passed", "failed" or "cannot tell"."""
        return "failed" if self.failures else "cannot tell" if self.unsure else "passed"

    @property
    def headline(self) -> Literal["passed", "failed", "cannot tell", "no condition"]:
        """The verdict for people, which is "no condition" if there was none."""
        return self.word if self.has_conditions else "no condition"

    @property
    def code(self) -> int:
        """The exit code: 0 passed or without a condition, 1 failed, 3 cannot tell."""
        return {"passed": 0, "failed": 1, "cannot tell": 3}[self.word]


def decide(
    found: RunComparison,
    fail_if: Collection[str],
    limits: Sequence[Limit] = (),
    *,
    runs: Sequence[Scores] = (),
    after: Run | None = None,
) -> GateVerdict:
    """Decide whether the second run passes.

    A failed run passes no condition: it scored less than half of the first run's samples of a metric, or
    none. Neither does a run whose difference may have another cause: a different judge, different expected
    texts, a missing metric.

    Args:
        found: comparison of the two runs.
        fail_if: conditions, see `FailIf`.
        limits: limits on the means of the second run.
        runs: both runs; required for limits and for the condition "declines".
        after: the second run; required for the condition "contradicted".

    Raises:
        ConfigError: "inferior" without a margin, "contradicted" without verdicts in three ways, or an unknown
            condition.
    """
    if unknown := [each for each in fail_if if each not in get_args(FailIf)]:
        raise ConfigError(f"--fail-if takes {', '.join(get_args(FailIf))}, not {unknown[0]!r}")
    if "inferior" in fail_if and found.margin is None:
        raise ConfigError("--fail-if inferior needs --margin")
    failed, untold = [("", doubt) for doubt in found.doubts if fail_if or limits], list[tuple[str, str]]()
    for each in found.metrics if fail_if else ():
        failed += [(each.metric, why) for why in _failures(found, each, fail_if)]
        if "cannot-tell" in fail_if and each.verdict == "cannot tell" and not each.within_margin:
            why = f"{each.metric}: {each.pessimistic or 'no pair'} is undecided: neither better nor worse"
            untold.append((each.metric, why))
    if "declines" in fail_if:
        failed += [(DECLINED, why) for why in _more_declines(*runs)]
    if "contradicted" in fail_if:
        if after is None:
            raise ConfigError('the condition "contradicted" needs the second run: pass after=...')
        failed += contradictions(after)
    for limit in limits:
        failed += [(limit.metric, why) for why in beyond(runs[1], limit, before=runs[0])]
    return GateVerdict(tuple(failed), tuple(untold), has_conditions=bool(fail_if or limits))


def decide_limits(scores: Scores, limits: Sequence[Limit], *, cluster: str | None = None) -> GateVerdict:
    """Decide whether the means of one run meet their limits, and which of these are undecided.

    Args:
        scores: the run.
        limits: limits on the means.
        cluster: label whose values are the clusters, or "none"; see `clustering_of`.

    Raises:
        ConfigError: no sample has that label, or scipy is not installed.
    """
    failed = {limit: why for limit in limits for why in beyond(scores, limit)}
    reached = (limit for limit in limits if limit not in failed)
    return GateVerdict(
        tuple((limit.metric, why) for limit, why in failed.items()),
        tuple((limit.metric, why) for limit in reached for why in near(scores, limit, cluster=cluster)),
        notes=clustering_of((scores,), cluster).notes if limits else (),
    )


def doubts_of_mean(run: Run, metric: str, limit: float, *, cluster: str | None = None) -> Sequence[str]:
    """Doubt whether a mean meets a limit: a sentence, or none if its 95 % interval meets the limit.

    Failed scores and empty answers count as the worst.

    Args:
        run: the run.
        metric: a name that is unique in the run, or a signature; `DECLINED` for the share of answers that
            decline.
        limit: minimum of the mean, or maximum if lower is better.
        cluster: label whose values group dependent samples, or "none". Default: `session`, if samples have
            it.

    Raises:
        ConfigError: there is no such metric or label, or scipy is not installed.
    """
    scores = read_scores(run)
    signature = DECLINED if metric == DECLINED else run.mean(metric).metric
    end: End = "max" if signature in (DECLINED, *scores.lower_is_better) else "min"
    return tuple(near(scores, Limit(signature, limit, end), cluster=cluster))


def missed_limit(run: Run, metric: str, limit: str) -> Sequence[str]:
    """Reason why a run does not meet a limit such as "0.8@p90"; none if it does.

    Args:
        run: the run.
        metric: a name that is unique in the run, or a signature.
        limit: minimum, or maximum if lower is better; see `limit_of`.

    Raises:
        ConfigError: there is no such metric, or the limit is malformed or does not fit the metric.
    """
    scores = read_scores(run)
    signature = scores.metric(metric)
    end: End = "max" if signature in scores.lower_is_better else "min"
    return tuple(beyond(scores, limit_of(f"{signature}={limit}", scores, end)))


@in_notebooks
def gate_tables(gate: GateVerdict) -> Iterator[StudyTable]:
    """Table of the reasons why the second run does not pass."""
    kinds = ("failed", gate.failed), ("cannot tell", gate.untold)
    if rows := [(kind, *reason) for kind, reasons in kinds for reason in reasons]:
        columns = ["verdict", "metric", "why"]
        yield plain_table("gate", "The gate", columns, rows)


def _more_declines(before: Scores, after: Scores) -> Iterator[str]:
    """Reason if more answers decline in the second run, among those that the first run decided.

    Answers that are undecided or missing in the second run count as declined.
    """
    pairs = pairs_of(before.of_declining(), after.of_declining(), DECLINED)
    was, now = (int(column.sum()) for column in (pairs.sure_before, pairs.sure_after))
    if not pairs.sure_ids:
        yield f"{before.name} knows of no answer whether it declines: there is nothing to compare with"
    elif now > was:
        told = f"{was} of {len(pairs.sure_ids)} in {before.name}, {now} in {after.name}"
        yield f"more answers decline: {told}, {pairs.lost} of them undecided or missing"


def _failures(found: RunComparison, each: PairedMetric, fail_if: Collection[str]) -> Iterator[str]:
    if each.failed:
        lost = f"it lost {each.lost} of the {each.n + each.lost} scores that {found.before} has"
        what = lost if each.lost else f"{found.after} has no score of it"
        yield f"{each.metric} failed: {what}"
        return
    if not each.n:
        yield f"{each.metric} has no score in {found.before}: there is nothing to compare with"
        return
    if "worse" in fail_if and each.verdict == "worse":
        at_worst = f", with {each.lost} lost scores at their worst" if each.lost else ""
        yield f"{each.metric} is worse by {abs(each.pessimistic.value or 0.0):.3f}{at_worst}"
    if "not-better" in fail_if and each.verdict != "better":
        yield f"{each.metric} is not shown to be better ({each.verdict}, difference {each.pessimistic})"
    if "inferior" in fail_if and not each.within_margin:
        margin = f"within {found.margin:g} of before"
        yield f"{each.metric} is not shown to be {margin} (difference {each.pessimistic})"
