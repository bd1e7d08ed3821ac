"""The table of an estimate: three ways to the mean that people would give."""

from collections.abc import Iterator

from ragmetrics_core.study._estimate import QualityEstimate
from ragmetrics_core.study._tables import Cell, StudyTable, TableColumn, counted

__all__ = ["estimate_tables"]


def estimate_tables(found: QualityEstimate) -> Iterator[StudyTable]:
    """Naive, classical and prediction-powered, beside each other."""
    notes: list[str] = []
    if found.scale is not None:
        notes.append(f"labels are read on the scale {found.scale[0]:g} to {found.scale[1]:g}, as 0 to 1")
    if found.weight is not None:
        notes.append(f"the scores are trusted with weight {found.weight:.2f}")
    if found.saved:
        notes.append(f"for the same interval the classical estimate needs about {found.saved} more labels")
    if found.left_out:
        notes.append(f"left out: {counted(found.left_out)}")
    rows: tuple[tuple[Cell, ...], ...] = (
        ("prediction-powered", found.powered, found.labelled, found.scored, "labels and scores together"),
        ("classical", found.classical, found.labelled, 0, "labels only"),
        (
            "naive",
            found.naive,
            0,
            found.labelled + found.scored,
            "scores taken for labels: biased as the judge is",
        ),
    )
    if found.corrected is not None:
        told = "scores of the others, corrected by the judge's errors on the labelled ones"
        rows = (*rows, ("corrected", found.corrected, found.labelled, found.scored, told))
    yield StudyTable(
        name="estimate",
        title=f"Mean quality as people judge it, predicted by {found.metric}",
        columns=(
            TableColumn("estimate"),
            TableColumn("mean", "estimate"),
            TableColumn("labelled", "count"),
            TableColumn("scored only", "count"),
            TableColumn("rests on"),
        ),
        rows=rows,
        notes=(*notes, *found.notes),
    )
