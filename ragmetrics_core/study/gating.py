"""The decision of a gate: what may not pass, and what cannot be told."""

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study.comparison import Compared, Comparison
from ragmetrics_core.study.scores import Scores

__all__ = ["FailIf", "GateVerdict", "Limit", "beyond", "decide", "limit_of"]

FailIf = Literal["worse", "not-better", "inferior", "cannot-tell"]


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
        return tuple(told for _, told in self.failed)

    @property
    def unsure(self) -> tuple[str, ...]:
        """The sentences that say of what it cannot be told."""
        return tuple(told for _, told in self.untold)

    @property
    def word(self) -> Literal["passed", "failed", "cannot tell"]:
        """The verdict in a word."""
        return "failed" if self.failures else "cannot tell" if self.unsure else "passed"

    @property
    def code(self) -> int:
        """The exit code: 0 passed, 1 failed, 3 cannot tell."""
        return {"passed": 0, "failed": 1, "cannot tell": 3}[self.word]


class Limit(NamedTuple):
    """What a mean must reach, or must not exceed."""

    metric: str
    value: float
    end: Literal["min", "max"]


def limit_of(text: str, scores: Scores, end: Literal["min", "max"]) -> Limit:
    """Read a limit, "faithfulness=0.8".

    Raises:
        ConfigError: it is none, or no score of the metric could reach it, or all would.
    """
    name, equals, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        equals, value = "", 0.0
    if not equals or not (value - value == 0):
        raise ConfigError(f"{text!r} is no {end}imum: write METRIC=0.8")
    return Limit(scores.metric(name), value, end)


def decide(
    found: Comparison, fail_if: Collection[str], limits: Sequence[Limit] = (), *, runs: Sequence[Scores] = ()
) -> GateVerdict:
    """Whether the second run passes.

    A run that failed passes no condition: one that scored nothing of a metric, or less than half of what the
    first run did. Nor does one whose difference may have another reason: another judge, other expected
    texts, a metric that it left out.

    Args:
        found: the two runs compared.
        fail_if: the conditions, see `FailIf`.
        limits: means that the second run must reach, or must not exceed.
        runs: both runs, where there are limits.

    Raises:
        ConfigError: "inferior" without a margin, or a condition that there is not.
    """
    if unknown := [each for each in fail_if if each not in get_args(FailIf)]:
        raise ConfigError(f"there is no condition {unknown[0]!r}; there is {', '.join(get_args(FailIf))}")
    if "inferior" in fail_if and found.margin is None:
        raise ConfigError("--fail-if inferior needs --margin")
    failures = [("", doubt) for doubt in found.doubts] if fail_if else []
    for each in found.metrics if fail_if else ():
        failures += [(each.metric, told) for told in _failures(found, each, fail_if)]
    if limits:
        before, after = runs
        failures += [(limit.metric, told) for limit in limits for told in beyond(after, limit, before=before)]
    unsure = [
        (each.metric, f"{each.metric}: {each.pessimistic or 'no pair'} can be told neither better nor worse")
        for each in found.metrics
        if "cannot-tell" in fail_if and each.verdict == "cannot tell" and not each.within_margin
    ]
    return GateVerdict(tuple(failures), tuple(unsure))


def _failures(found: Comparison, each: Compared, fail_if: Collection[str]) -> Iterator[str]:
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


def beyond(scores: Scores, limit: Limit, *, before: Scores | None = None) -> Iterator[str]:
    """Why a mean does not reach its limit; nothing when it does.

    Scores that failed, are lost, or whose answers say nothing, count as the worst, incomplete ones with
    their worse bound. With an earlier run the mean over its samples must reach the limit too: easy samples
    that came since raise nothing.

    Args:
        scores: the run.
        limit: what the mean must reach.
        before: an earlier run, whose scores the run must have too.
    """
    metric, value, end = limit
    found = scores.values[metric]
    if not found:
        yield f"{metric} has no value in {scores.name}"
        return
    lost = {each: scores.worst(metric) for each in (before.values.get(metric, {}) if before else ())}
    counted = {**lost, **scores.sure.get(metric, {}), **found}
    told = _mean_beyond(metric, counted, found, value, end, "")
    if told is None and before is not None:
        known = {each: counted[each] for each in counted if each in before.labels}
        told = _mean_beyond(metric, known, found, value, end, f" of {before.name}") if known else None
    if told:
        yield told


def _mean_beyond(
    metric: str,
    counted: dict[str, float],
    found: Collection[str],
    value: float,
    end: Literal["min", "max"],
    whose: str,
) -> str | None:
    mean = sum(counted.values()) / len(counted)
    if not (mean < value if end == "min" else mean > value):
        return None
    side = "below" if end == "min" else "above"
    without = sum(each not in found for each in counted)
    told = f"the mean of {metric} is {mean:.3f} over {len(counted)} samples{whose}"
    at_worst = f", {without} of them without a score and counted as the worst" if without else ""
    return f"{told}{at_worst}, {side} {value:g}"
