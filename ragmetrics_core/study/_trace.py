"""The trace difference: which samples, and then which statements and verdicts, moved a mean."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from ragmetrics_core.records.comparison import RecordDiff, diff
from ragmetrics_core.runs import Run
from ragmetrics_core.study._scores import read_scores
from ragmetrics_core.study._tables import (
    Column,
    Marked,
    StudyTable,
    counted,
    in_notebooks,
    plain_table,
    table_of,
)

__all__ = ["Moved", "TraceDifference", "trace_difference", "trace_tables"]

# Samples that are shown where none moved.
_MOST = 10


class Moved(NamedTuple):
    """One sample whose score moved.

    Attributes:
        sample_id: the sample.
        before, after: its scores.
        share: contribution to the move of the mean: its own move divided by n.
        difference: statements and verdicts that moved; None if not followed in detail.
        is_better: whether it moved in the good direction.
    """

    sample_id: Annotated[str, Column("sample")]
    before: float
    after: float
    share: float
    difference: RecordDiff | None
    is_better: bool

    @property
    def marked(self) -> Annotated[Marked, Column("of the move", "number")]:
        """Its share of the move, coloured by its direction."""
        return Marked(self.share, "good" if self.is_better else "weak")


@dataclass(frozen=True)
class TraceDifference:
    """Causes of the move of a metric's mean between two runs, on samples with a value in both.

    An answer that declines only in the second run has lost its value there.

    Attributes:
        metric: signature of the metric.
        n: number of samples.
        move: mean of the second run minus mean of the first.
        moved: samples whose score moved, the largest effect on the mean first.
        up, down: numbers of samples that rose and fell.
        gains, losses: contributions of rising and falling samples to the move.
        changes: numbers of verdicts that turned to yes or to no, and of statements that were added, removed
            or worded differently, in the samples followed in detail.
        lower_is_better: whether lower is better.
    """

    metric: str
    n: int
    move: float
    moved: tuple[Moved, ...]
    up: int
    down: int
    gains: float
    losses: float
    changes: tuple[tuple[str, int], ...]
    lower_is_better: bool = False


def trace_difference(
    before: Run, after: Run, metric: str, *, detailed: int = 5, verdict: str = "cannot tell"
) -> TraceDifference:
    """Find the samples that moved a mean, first those that moved it in the direction of the verdict.

    Args:
        before: first run.
        after: second run.
        metric: signature of a metric in both runs.
        detailed: number of samples to follow into their records.
        verdict: "better" or "worse", as in the comparison; "cannot tell" means the direction of the mean.

    Raises:
        ConfigError: a run does not have the metric.
    """
    old, new = read_scores(before), read_scores(after)
    first, second = old.values.get(metric, {}), new.against(old).values.get(metric, {})
    moves = {sample_id: second[sample_id] - first[sample_id] for sample_id in first if sample_id in second}
    n = len(moves) or 1
    is_lower_better = metric in old.lower_is_better
    way = {"better": 1.0, "worse": -1.0}.get(verdict, 0.0) * (-1.0 if is_lower_better else 1.0)
    way = way or sum(moves.values())
    ordered = sorted(
        (sample_id for sample_id, move in moves.items() if move != 0),
        key=lambda sample_id: (moves[sample_id] * way < 0, -abs(moves[sample_id]), sample_id),
    )
    changes: Counter[str] = Counter()
    moved: list[Moved] = []
    for sample_id in ordered:
        difference = None
        if len(moved) < detailed:
            of = _repetition(before, after, metric, sample_id)
            difference = diff(before.score(sample_id, of), after.score(sample_id, of))
            changes.update(_kinds(difference))
        share, is_better = moves[sample_id] / n, (moves[sample_id] > 0) != is_lower_better
        moved.append(Moved(sample_id, first[sample_id], second[sample_id], share, difference, is_better))
    rises, falls = ([moves[name] for name in ordered if (moves[name] > 0) is up] for up in (True, False))
    sizes = len(rises), len(falls), sum(rises) / n, sum(falls) / n
    move, kinds = sum(moves.values()) / n, tuple(changes.most_common())
    return TraceDifference(metric, len(moves), move, tuple(moved), *sizes, kinds, is_lower_better)


def _repetition(before: Run, after: Run, metric: str, sample_id: str) -> str:
    """The signature of the measurement that moved most, where a score is the mean of several."""
    known = {entry.signature for entry in after.repetitions(metric)}
    both = [entry.signature for entry in before.repetitions(metric) if entry.signature in known]
    if len(both) == 1:
        return metric
    first, second = before.scores(sample_id), after.scores(sample_id)
    return max(both, key=lambda name: abs((second[name].value or 0.0) - (first[name].value or 0.0)))


def _kinds(difference: RecordDiff) -> Counter[str]:
    turned = {True: "verdict turned to yes", False: "verdict turned to no", None: "verdict lost"}
    kinds = Counter(turned[change.after.supported if change.after else None] for change in difference.flipped)
    kinds["statement added"] += len(difference.added)
    kinds["statement removed"] += len(difference.removed)
    kinds["statement worded differently"] += len(difference.reworded)
    return +kinds


@in_notebooks
def trace_tables(trace: TraceDifference) -> Iterator[StudyTable]:
    """The samples that moved the mean most, and what changed in their records."""
    detailed = [sample for sample in trace.moved if sample.difference]
    moved = detailed or trace.moved[:_MOST]
    notes = [
        f"the mean moved by {trace.move:+.3f} over {trace.n} samples: {trace.up} rose ({trace.gains:+.3f}) "
        f"and {trace.down} fell ({trace.losses:+.3f})"
    ]
    if more := len(trace.moved) - len(moved):
        notes.append(f"{more} more samples moved, each by less")
    columns = "sample_id before after marked"
    yield table_of("moved", f"What moved {trace.metric}", Moved, moved, columns, notes)
    lists = {"flipped": "verdict changed", "removed": "only before", "added": "only after"}
    rows = [
        (sample.sample_id, what, str(change))
        for sample in detailed
        for name, what in (lists | {"reworded": "worded differently"}).items()
        for change in getattr(sample.difference, name)
    ]
    counts = [counted((f"x {name}", count) for name, count in trace.changes)] if trace.changes else []
    heads = ["sample", "what", "statement"]
    yield plain_table("statements", "Changed statements and verdicts", heads, rows, counts)
