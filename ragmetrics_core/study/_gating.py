"""The decision of a gate: what may not pass, and what cannot be told."""

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._comparison import PairedMetric, RunComparison
from ragmetrics_core.study._limits import Limit, beyond, near
from ragmetrics_core.study._scores import Scores

__all__ = ["FailIf", "GateVerdict", "decide", "decide_limits"]

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


def decide_limits(scores: Scores, limits: Sequence[Limit], *, cluster: str | None = None) -> GateVerdict:
    """Whether the means of one run reach their limits, and of which that do it cannot be told.

    Args:
        scores: the run.
        limits: means that it must reach, or must not exceed.
        cluster: the label whose values are the clusters, or "none"; see `clustering_of`.

    Raises:
        ConfigError: no sample has that label, or scipy is not installed.
    """
    failed = tuple((limit.metric, told) for limit in limits for told in beyond(scores, limit))
    reached = [limit for limit in limits if not any(beyond(scores, limit))]
    untold = tuple((limit.metric, told) for limit in reached for told in near(scores, limit, cluster=cluster))
    return GateVerdict(failed, untold)


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
