"""The tables of a comparison of two runs, and of what moved a mean."""

from collections.abc import Iterator, Sequence

from ragmetrics_core.study._comparison import PairedMetric, RunComparison
from ragmetrics_core.study._gating import GateVerdict
from ragmetrics_core.study._scores import short
from ragmetrics_core.study._tables import Cell, Mark, Marked, StudyTable, TableColumn, counted
from ragmetrics_core.study._trace import Moved, TraceDifference

__all__ = ["comparison_tables", "gate_tables", "trace_tables"]

# Samples that are shown where none moved.
_MOST = 10
_MARKS: dict[str, Mark] = {"better": "good", "worse": "weak", "cannot tell": ""}


def comparison_tables(found: RunComparison) -> Iterator[StudyTable]:
    """Differences with the verdict, then the numbers behind them."""
    names = [each.metric for each in found.metrics]
    yield _differences(found, names)
    yield _details(found, names)


def _differences(found: RunComparison, names: Sequence[str]) -> StudyTable:
    def row(each: PairedMetric) -> tuple[Cell, ...]:
        cells: tuple[Cell, ...] = (
            short(each.metric, names),
            each.before.value,
            each.after.value,
            each.difference,
            each.n,
            Marked(each.lost, "weak" if each.lost else ""),
            each.gained,
            each.pessimistic,
            each.holm,
            Marked(each.verdict, _MARKS[each.verdict]),
        )
        if found.margin is None:
            return cells
        return (*cells, Marked(each.within_margin, "good" if each.within_margin else "weak"))

    level = f"{1 - found.alpha:.0%}"
    notes = [
        f"difference: {found.after} less {found.before} on the same samples, with its {level} paired "
        f"{'interval by cluster' if found.cluster else 'bootstrap interval'}; p holm: sign-flip permutation "
        "test, adjusted for all tests of both tables",
        f"lost: scored in {found.before} and not in {found.after}; at worst: the difference when these count "
        "as the worst, on which p holm and the verdict rest; gained: scored in "
        f"{found.after} only, which counts nowhere",
        f"better and worse: the interval at worst is on one side of zero and p holm is below {found.alpha:g}",
    ]
    if lower := [short(each.metric, names) for each in found.metrics if each.lower_is_better]:
        notes.append(f"lower is better: {', '.join(lower)}")
    if found.margin is not None:
        notes.append(f"not inferior: the bad end of the interval is less than {found.margin:g} from zero")
    return StudyTable(
        name="comparison",
        title=f"{found.after} against {found.before}",
        columns=(
            TableColumn("metric"),
            TableColumn("before", "number"),
            TableColumn("after", "number"),
            TableColumn("difference", "estimate"),
            TableColumn("n", "count"),
            TableColumn("lost", "count"),
            TableColumn("gained", "count"),
            TableColumn("at worst", "estimate"),
            TableColumn("p holm", "p"),
            TableColumn("verdict"),
            *((TableColumn("not inferior"),) if found.margin is not None else ()),
        ),
        rows=tuple(map(row, found.metrics)),
        notes=(*notes, *found.notes),
    )


def _details(found: RunComparison, names: Sequence[str]) -> StudyTable:
    def row(each: PairedMetric) -> tuple[Cell, ...]:
        passes = each.passes
        return (
            short(each.metric, names),
            each.p,
            f"{passes.before} to {passes.after}",
            f"+{passes.gained} -{passes.lost}",
            passes.p,
            passes.holm,
            each.detectable,
            each.note,
        )

    at = f"{found.metrics[0].passes.threshold:g}" if found.metrics else ""
    return StudyTable(
        name="details",
        title="Behind it",
        columns=(
            TableColumn("metric"),
            TableColumn("p flip", "p"),
            TableColumn(f"passes at {at}"),
            TableColumn("changed"),
            TableColumn("p mcnemar", "p"),
            TableColumn("its p holm", "p"),
            TableColumn("detectable", "number"),
            TableColumn("note"),
        ),
        rows=tuple(map(row, found.metrics)),
        notes=(
            "detectable: the difference that a comparison of this n, spread and number of tests tells four "
            "times in five",
            "p flip is the sign-flip permutation test of the scores, p mcnemar that of the passes; of yes/no "
            "scores the two are one test",
        ),
    )


def gate_tables(gate: GateVerdict) -> Iterator[StudyTable]:
    """Why the second run does not pass, where it does not."""
    rows = [("failed", *each) for each in gate.failed] + [("cannot tell", *each) for each in gate.untold]
    if rows:
        yield StudyTable(
            name="gate",
            title="The gate",
            columns=(TableColumn("verdict"), TableColumn("metric"), TableColumn("why")),
            rows=tuple(rows),
        )


def trace_tables(found: TraceDifference) -> Iterator[StudyTable]:
    """The samples that moved the mean most, and what changed in their records."""
    moved = [each for each in found.moved if each.difference] or list(found.moved[:_MOST])
    notes = [
        f"the mean moved by {found.move:+.3f} over {found.n} samples: {found.up} rose ({found.gains:+.3f}) "
        "and "
        f"{found.down} fell ({found.losses:+.3f})"
    ]
    if len(found.moved) > len(moved):
        notes.append(f"{len(found.moved) - len(moved)} more samples moved, each by less")
    yield StudyTable(
        name="moved",
        title=f"What moved {found.metric}",
        columns=(
            TableColumn("sample"),
            TableColumn("before", "number"),
            TableColumn("after", "number"),
            TableColumn("of the move", "number"),
        ),
        rows=tuple(_moved(each, found.lower_is_better) for each in moved),
        notes=tuple(notes),
    )
    lines = [
        (each.sample_id, kind, text)
        for each in moved
        if each.difference
        for kind, changes in (
            ("verdict changed", each.difference.flipped),
            ("only before", each.difference.removed),
            ("only after", each.difference.added),
            ("worded differently", each.difference.reworded),
        )
        for text in map(str, changes)
    ]
    yield StudyTable(
        name="statements",
        title="Which statements and verdicts",
        columns=(TableColumn("sample"), TableColumn("what"), TableColumn("statement")),
        rows=tuple(lines),
        notes=(counted((f"x {name}", count) for name, count in found.changes),) if found.changes else (),
    )


def _moved(each: Moved, lower_is_better: bool) -> tuple[Cell, ...]:
    mark: Mark = "weak" if (each.share > 0) == lower_is_better else "good"
    return each.sample_id, each.before, each.after, Marked(each.share, mark)
