"""The decision of a gate: what a mean must reach, what may not pass, and what cannot be told."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Literal, NamedTuple, get_args

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.runs import Run
from ragmetrics_core.study._clustering import clustering_of
from ragmetrics_core.study._comparison import PairedMetric, RunComparison
from ragmetrics_core.study._pairs import lacking_in, pairs_of, without_doubtful
from ragmetrics_core.study._parts import score_mean
from ragmetrics_core.study._scores import DECLINED, Scores, read_scores
from ragmetrics_core.study._tables import StudyTable, plain_table

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
    "near",
]

FailIf = Literal["worse", "not-better", "inferior", "declines", "cannot-tell"]


End = Literal["min", "max"]


class Limit(NamedTuple):
    """What a mean must reach, or must not exceed; `DECLINED` is the share of the answers that decline."""

    metric: str
    value: float
    end: End

    def is_beyond(self, mean: float) -> bool:
        """Whether a mean is on the wrong side."""
        return mean < self.value if self.end == "min" else mean > self.value

    @property
    def mean(self) -> str:
        """What it is a limit of, in words."""
        share = "the share of answers that decline"
        return share if self.metric == DECLINED else f"the mean of {self.metric}"

    @property
    def beyond(self) -> str:
        """Where a mean is that does not reach it: "below 0.8"."""
        return f"{'below' if self.end == 'min' else 'above'} {self.value:g}"


def limit_of(text: str, scores: Scores, end: End) -> Limit:
    """Read a limit, "faithfulness=0.8"; "declined=0.1" is one of the share of answers that decline.

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
    metric = DECLINED if name.strip() == DECLINED else scores.metric(name.strip())
    low, high = scores.range_of(metric)
    if value < low or (value > high and metric not in scores.exceeds):
        raise ConfigError(f"scores of {metric} lie from {low:g} to {high:g}: {text!r} is no {end}imum")
    return Limit(metric, value, end)


def beyond(scores: Scores, limit: Limit, *, before: Scores | None = None) -> Iterator[str]:
    """Why a mean does not reach its limit; nothing when it does.

    Scores that failed, are lost, or whose answers say nothing, count as the worst, incomplete ones with
    their worse bound. Rows that were left out count as the worst too, and so do the samples of an earlier run
    that are not there, for which a row that was left out may stand. The mean over its samples must reach the
    limit as well: easy samples that came since raise nothing. An answer that declines where it did not before
    has lost its scores. Of the share of answers that decline, what is undecided counts as declined.

    Args:
        scores: the run.
        limit: what the mean must reach.
        before: an earlier run, whose scores the run must have too.
    """
    metric, is_share = limit.metric, limit.metric == DECLINED
    if before is not None:
        scores, before = scores.against(before), _held(before, limit)
    scores = _held(scores, limit)
    if not scores.values[metric]:
        hint = "asks whether an answer declines: measure abstention, faithfulness or answer_relevance too"
        yield f"nothing in {scores.name} {hint}" if is_share else f"{metric} has no value in {scores.name}"
        return
    wholes, certain = {"": _counted(scores, limit)}, scores
    if before is not None:
        lost = dict.fromkeys(before.values.get(metric, {}), _worst(scores, limit))
        rows = scores.rejected - min(len(scores.unread), lacking_in(scores, before))
        wholes[""] = {**lost, **_counted(replace(scores, rejected=rows), limit)}
        certain = without_doubtful(scores, metric, before)
        counted = {**lost, **_counted(replace(certain, rejected=0), limit)}
        of_before = {each: value for each, value in counted.items() if each in before.labels}
        wholes[f" of {before.name}"] = of_before
    for whose, values in wholes.items():
        mean = sum(values.values()) / len(values) if values else limit.value
        if limit.is_beyond(mean):
            known = (certain if whose else scores).values[metric]
            without = sum(each not in known for each in values)
            lacking = "undecided" if is_share else "without a score"
            at_worst = f", {without} of them {lacking} and counted as the worst" if without else ""
            samples = f"{len(values)} samples{whose}{at_worst}"
            yield f"{limit.mean} is {mean:.3f} over {samples}, {limit.beyond}"
            return


def near(scores: Scores, limit: Limit, *, cluster: str | None = None) -> Iterator[str]:
    """Why it cannot be told whether a mean that reaches its limit here would do so on other samples.

    Args:
        scores: the run.
        limit: what the mean reaches.
        cluster: the label whose values are the clusters, or "none"; see `clustering_of`.
    """
    scores = _held(scores, limit)
    clustering = clustering_of((scores,), cluster)
    counted = _counted(scores, limit)
    mean = score_mean(list(counted.values()), clustering.clusters(counted), ends=scores.ends(limit.metric))
    bad = mean.low if limit.end == "min" else mean.high
    over = f"{limit.mean} is {mean} over {len(counted)} samples"
    if bad is None:
        yield f"{over}, too few for an interval"
    elif limit.is_beyond(bad):
        by = f" in clusters by {clustering.by}" if clustering.by else ""
        yield f"{over}{by}: on others it may be {limit.beyond}"


def _held(scores: Scores, limit: Limit) -> Scores:
    """The scores that a limit holds: of that of answers that decline, whether they do."""
    return scores.of_declining() if limit.metric == DECLINED else scores


def _counted(scores: Scores, limit: Limit) -> dict[str, float]:
    """What a decision rests on, by sample id: samples without a record too, and rows that are no samples."""
    worst = _worst(scores, limit)
    sure: Mapping[str, float] = scores.sure.get(limit.metric, {})
    # a limit usually holds off the bad end; else the worse bound for it is the better one of the metric
    if (limit.end == "max") != (limit.metric in scores.lower_is_better):
        sure = dict.fromkeys(sure, worst)
    rows = {f"\0{number}": worst for number in range(scores.rejected)}
    why: Mapping[str, str] = scores.absent.get(limit.metric, {})
    unmeasured = {each: worst for each in scores.samples if each not in why}
    return {**rows, **unmeasured, **sure, **scores.values[limit.metric]}


def _worst(scores: Scores, limit: Limit) -> float:
    """The end of the range that the limit holds off, or the score that lies farthest beyond it."""
    return scores.worst(limit.metric, lowest=limit.end == "min")


class GateVerdict(NamedTuple):
    """What a gate says of two runs.

    Attributes:
        failed: why the second run does not pass: pairs of a metric ("" for the runs as a whole) and a
            sentence.
        untold: the metrics of which it cannot be told, likewise; asked for by "cannot-tell".
    """

    failed: tuple[tuple[str, str], ...] = ()
    untold: tuple[tuple[str, str], ...] = ()

    @property
    def failures(self) -> tuple[str, ...]:
        """The sentences that say why it does not pass."""
        return tuple(why for _, why in self.failed)

    @property
    def unsure(self) -> tuple[str, ...]:
        """The sentences that say of what it cannot be told."""
        return tuple(why for _, why in self.untold)

    @property
    def word(self) -> Literal["passed", "failed", "cannot tell"]:
        """The verdict in a word."""
        return "failed" if self.failures else "cannot tell" if self.unsure else "passed"

    @property
    def code(self) -> int:
        """The exit code: 0 passed, 1 failed, 3 cannot tell."""
        return {"passed": 0, "failed": 1, "cannot tell": 3}[self.word]


def decide(
    found: RunComparison,
    fail_if: Collection[str],
    limits: Sequence[Limit] = (),
    *,
    runs: Sequence[Scores] = (),
) -> GateVerdict:
    """Whether the second run passes.

    A run that failed passes no condition: one that scored nothing of a metric, or less than half of what the
    first run did. Nor does one whose difference may have another reason: another judge, other expected
    texts, a metric that it left out.

    Args:
        found: the two runs compared.
        fail_if: the conditions, see `FailIf`.
        limits: means that the second run must reach, or must not exceed.
        runs: both runs, where there are limits, or "declines" is a condition.

    Raises:
        ConfigError: "inferior" without a margin, or a condition that there is not.
    """
    if unknown := [each for each in fail_if if each not in get_args(FailIf)]:
        raise ConfigError(f"there is no condition {unknown[0]!r}; there is {', '.join(get_args(FailIf))}")
    if "inferior" in fail_if and found.margin is None:
        raise ConfigError("--fail-if inferior needs --margin")
    failed, untold = [("", doubt) for doubt in found.doubts if fail_if or limits], list[tuple[str, str]]()
    for each in found.metrics if fail_if else ():
        failed += [(each.metric, why) for why in _failures(found, each, fail_if)]
        if "cannot-tell" in fail_if and each.verdict == "cannot tell" and not each.within_margin:
            why = f"{each.metric}: {each.pessimistic or 'no pair'} can be told neither better nor worse"
            untold.append((each.metric, why))
    if "declines" in fail_if:
        failed += [(DECLINED, why) for why in _more_declines(*runs)]
    for limit in limits:
        failed += [(limit.metric, why) for why in beyond(runs[1], limit, before=runs[0])]
    return GateVerdict(tuple(failed), tuple(untold))


def decide_limits(scores: Scores, limits: Sequence[Limit], *, cluster: str | None = None) -> GateVerdict:
    """Whether the means of one run reach their limits, and of which that do it cannot be told.

    Args:
        scores: the run.
        limits: means that it must reach, or must not exceed.
        cluster: the label whose values are the clusters, or "none"; see `clustering_of`.

    Raises:
        ConfigError: no sample has that label, or scipy is not installed.
    """
    failed = {limit: why for limit in limits for why in beyond(scores, limit)}
    reached = (limit for limit in limits if limit not in failed)
    return GateVerdict(
        tuple((limit.metric, why) for limit, why in failed.items()),
        tuple((limit.metric, why) for limit in reached for why in near(scores, limit, cluster=cluster)),
    )


def doubts_of_mean(run: Run, metric: str, limit: float, *, cluster: str | None = None) -> Sequence[str]:
    """Why it cannot be told: a sentence, or none where the 95 % interval of the mean reaches the limit.

    Scores that failed, and answers that say nothing, count as the worst.

    Args:
        run: the run.
        metric: a name that is unique in the run, or a signature; `DECLINED` for the share of answers that
            decline.
        limit: what the mean must reach; what it must not exceed where lower is better.
        cluster: the label whose values say which samples belong together, or "none"; without it `session`,
            where samples carry it.

    Raises:
        ConfigError: there is no such metric or label, or scipy is not installed.
    """
    scores = read_scores(run)
    signature = DECLINED if metric == DECLINED else run.mean(metric).metric
    end: End = "max" if signature in (DECLINED, *scores.lower_is_better) else "min"
    return tuple(near(scores, Limit(signature, limit, end), cluster=cluster))


def gate_tables(gate: GateVerdict) -> Iterator[StudyTable]:
    """Why the second run does not pass, where it does not."""
    kinds = ("failed", gate.failed), ("cannot tell", gate.untold)
    if rows := [(kind, *reason) for kind, reasons in kinds for reason in reasons]:
        columns = ["verdict", "metric", "why"]
        yield plain_table("gate", "The gate", columns, rows)


def _more_declines(before: Scores, after: Scores) -> Iterator[str]:
    """Why not as few answers decline in the second run as in the first, of those of which the first knows it.

    What is undecided in the second run, or is not there, counts as declined.
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
