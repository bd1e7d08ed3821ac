"""The tables of concordance: table 4 of the paper with counts and intervals, and what a search finds."""

from collections.abc import Iterator, Sequence

from ragmetrics_core.study._concordance import BestThresholds, Concordance, Conditional
from ragmetrics_core.study._tables import Cell, StudyTable, TableColumn, counted

__all__ = ["concordance_tables"]


def concordance_tables(found: Sequence[Concordance]) -> Iterator[StudyTable]:
    """Of one or several runs: the conditional shares, the best thresholds, and the grids."""
    yield _conditionals(found)
    if any(each.best or each.best_below for each in found):
        yield _best(found)
    grid = [(each.run, cell) for each in found for cell in each.grid]
    if grid:
        yield _grid("grid", "P(correct | above), all metrics together", grid)
        below = [(each.run, cell) for each in found for cell in each.grid_below]
        yield _grid("grid_below", "P(wrong | below), all metrics together", below)


def _conditionals(found: Sequence[Concordance]) -> StudyTable:
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for each in found:
        rows.append(
            (each.run, f"P({each.label})", "no metric", None, each.base, None, None, each.above[0].total)
        )
        for what, cells in (("P(correct | above)", each.above), ("P(wrong | below)", each.below)):
            rows += (_row(each.run, what, cell) for cell in cells)
        notes += each.notes
        if each.left_out:
            notes.append(f"{each.run}: left out {counted(each.left_out)}")
    return StudyTable(
        name="concordance",
        title="Concordance with expert evaluation",
        columns=(
            TableColumn("run"),
            TableColumn("probability"),
            TableColumn("metrics"),
            TableColumn("thresholds"),
            TableColumn("share", "estimate"),
            TableColumn("bayes", "number"),
            TableColumn("of", "count"),
            TableColumn("n", "count"),
        ),
        rows=tuple(rows),
        notes=(
            "share: by direct count, with Wilson's interval; bayes: through equations (1) and (2); of: "
            "answers that "
            "the thresholds select, of n",
            *notes,
        ),
    )


def _row(run: str, what: str, cell: Conditional) -> tuple[Cell, ...]:
    return (
        run,
        what,
        " and ".join(cell.metrics),
        _thresholds(cell),
        cell.direct,
        cell.bayes,
        cell.selected,
        cell.total,
    )


def _best(found: Sequence[Concordance]) -> StudyTable:
    def row(run: str, what: str, best: BestThresholds) -> tuple[Cell, ...]:
        cell = best.best
        return (
            run,
            what,
            _thresholds(cell),
            cell.direct,
            cell.selected,
            best.unseen,
            best.unseen_coverage,
            best.optimism,
        )

    rows = [
        row(each.run, what, best)
        for each in found
        for what, best in (("P(correct | above)", each.best), ("P(wrong | below)", each.best_below))
        if best is not None
    ]
    return StudyTable(
        name="best",
        title=f"Best thresholds of {' and '.join(found[0].metrics)}",
        columns=(
            TableColumn("run"),
            TableColumn("probability"),
            TableColumn("thresholds"),
            TableColumn("share", "estimate"),
            TableColumn("of", "count"),
            TableColumn("on unseen answers", "estimate"),
            TableColumn("coverage", "number"),
            TableColumn("optimism", "number"),
        ),
        rows=tuple(rows),
        notes=(
            f"searched among thresholds that select at least {found[0].minimum:.0%} of the answers; the "
            "share of the "
            "search flatters itself, the one on unseen answers is of cross-validation (five folds, ten "
            "shuffles), its interval of a nested bootstrap that searches again",
        ),
    )


def _grid(name: str, title: str, cells: Sequence[tuple[str, Conditional]]) -> StudyTable:
    metrics = cells[0][1].metrics
    return StudyTable(
        name=name,
        title=title,
        columns=(
            TableColumn("run"),
            *(TableColumn(f"{metric} threshold", "number") for metric in metrics),
            TableColumn("share", "estimate"),
            TableColumn("hits", "count"),
            TableColumn("of", "count"),
            TableColumn("beta", "estimate"),
        ),
        rows=tuple(
            (run, *cell.thresholds, cell.direct, cell.hits, cell.selected, cell.beta) for run, cell in cells
        ),
        notes=("share with Wilson's interval, beta with Jeffreys'",),
    )


def _thresholds(cell: Conditional) -> str:
    return ", ".join(f"{each:g}" for each in cell.thresholds)
