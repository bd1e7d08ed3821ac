"""The tables of agreement: annotators, consensus, correlations and detection."""

from collections.abc import Iterator

from ragmetrics_core.study._agreement import Agreement, counts_of
from ragmetrics_core.study._consensus import majority
from ragmetrics_core.study._metric_agreement import HUMAN
from ragmetrics_core.study._tables import Cell, StudyTable, TableColumn

__all__ = ["agreement_tables"]


def agreement_tables(found: Agreement) -> Iterator[StudyTable]:
    """All tables that there is something for."""
    yield _annotators(found)
    yield _consensus(found)
    if found.ceilings:
        yield _ceiling(found)
    if found.correlations:
        yield _correlations(found)
    if found.detections:
        yield _detections(found)
        yield _calibration(found)
    if found.verdicts:
        yield _verdicts(found)
    yield _open(found)


def _annotators(found: Agreement) -> StudyTable:
    rows: list[tuple[Cell, ...]] = [
        ("all annotators", f"alpha ({found.level})", found.alpha.value, found.alpha.n, None, found.alpha.note)
    ]
    name = "kappa" if found.level == "nominal" else "weighted kappa"
    rows += (
        (f"{pair.one} and {pair.other}", name, pair.kappa.value, pair.kappa.n, None, pair.kappa.note)
        for pair in found.pairs
    )
    rows += ((each.name, "labels", None, each.labelled, each.skipped, each.note) for each in found.annotators)
    return StudyTable(
        name="annotators",
        title=f"Agreement of annotators on {found.label}",
        columns=(
            TableColumn("who"),
            TableColumn("what"),
            TableColumn("value", "estimate"),
            TableColumn("n", "count"),
            TableColumn("skipped", "count"),
            TableColumn("note"),
        ),
        rows=tuple(rows),
        notes=found.notes,
    )


def _consensus(found: Agreement) -> StudyTable:
    counts = counts_of(found.consensus)
    return StudyTable(
        name="consensus",
        title="Consensus",
        columns=(TableColumn("how"), TableColumn("n", "count")),
        rows=tuple(
            (how, counts[how])
            for how in ("unanimous", "majority", "mean", "median", "adjudicated", "single", "open")
            if counts[how]
        ),
        notes=(
            f"the consensus is the {found.rule} of those who labelled a unit",
            *(
                ("what is open is left out of everything below, and listed for discussion in the table open",)
                if counts["open"]
                else ()
            ),
        ),
    )


def _ceiling(found: Agreement) -> StudyTable:
    return StudyTable(
        name="ceiling",
        title="Each person, and each metric, against the other people",
        columns=(
            TableColumn("who"),
            TableColumn("spearman", "estimate"),
            TableColumn("kendall", "estimate"),
            TableColumn("area", "estimate"),
            TableColumn("n", "count"),
            TableColumn("note"),
        ),
        rows=tuple(
            (
                each.who,
                each.correlation.spearman,
                each.correlation.kendall,
                each.area,
                each.correlation.n,
                each.correlation.note,
            )
            for each in found.ceilings
        ),
        notes=(
            f"against the {found.rule} of all people but one, once for each that is left out: metrics are "
            "held to the same as people",
            *_lower(found, "here with its sign turned"),
        ),
    )


def _correlations(found: Agreement) -> StudyTable:
    return StudyTable(
        name="correlations",
        title="Correlations with people, and among metrics",
        columns=(
            TableColumn("one"),
            TableColumn("other"),
            TableColumn("spearman", "estimate"),
            TableColumn("kendall", "estimate"),
            TableColumn("n", "count"),
            TableColumn("left out", "count"),
            TableColumn("note"),
        ),
        rows=tuple(
            (
                one,
                other,
                each.spearman,
                each.kendall,
                each.n,
                found.absent.get(other) if one == HUMAN else None,
                each.note,
            )
            for (one, other), each in found.correlations.items()
        ),
        notes=(
            "people: their consensus; left out: agreed samples without a value of the metric",
            *_lower(found, "it should correlate negatively with people"),
        ),
    )


def _detections(found: Agreement) -> StudyTable:
    rows: list[tuple[Cell, ...]] = []
    for name, each in found.detections.items():
        threshold = each.threshold
        rows.append(
            (
                name,
                each.area,
                each.correct,
                each.wrong,
                threshold.at if threshold else None,
                threshold.unseen_caught if threshold else None,
                threshold.unseen_passed if threshold else None,
                each.note,
            )
        )
    said = "" if found.correct_from is None else f"; an answer is correct from {found.correct_from:g} on"
    return StudyTable(
        name="detection",
        title="Metrics as detectors of wrong answers",
        columns=(
            TableColumn("metric"),
            TableColumn("area", "estimate"),
            TableColumn("correct", "count"),
            TableColumn("wrong", "count"),
            TableColumn("threshold", "estimate"),
            TableColumn("caught", "estimate"),
            TableColumn("passed", "estimate"),
            TableColumn("note"),
        ),
        rows=tuple(rows),
        notes=(
            "area: the chance that a correct answer scores better than a wrong one; threshold: the best one "
            "(Youden); caught and passed: on answers that the search has not seen (cross-validation, with "
            f"intervals of a nested bootstrap that searches again){said}",
            *_lower(found, "scores of at most the threshold pass"),
        ),
    )


def _calibration(found: Agreement) -> StudyTable:
    return StudyTable(
        name="calibration",
        title="Share of correct answers by score",
        columns=(
            TableColumn("metric"),
            TableColumn("scores"),
            TableColumn("mean score", "number"),
            TableColumn("correct", "estimate"),
            TableColumn("n", "count"),
        ),
        rows=tuple(
            (name, f"{bin_.low:.1f} to {bin_.high:.1f}", bin_.mean, bin_.correct, bin_.n)
            for name, each in found.detections.items()
            for bin_ in each.bins
        ),
        notes=(
            *(
                f"{name}: expected calibration error {each.error:.3f}, Brier score {each.brier:.3f}"
                for name, each in found.detections.items()
                if each.error is not None and each.brier is not None
            ),
            *_lower(found, "error and Brier score are of 1 - score"),
        ),
    )


def _lower(found: Agreement, what_follows: str) -> Iterator[str]:
    """A note about the metrics whose low end is the good one, where there are some."""
    names = [name for name in found.metrics if name in found.lower_is_better]
    if names:
        yield f"lower is better: {', '.join(names)}; {what_follows}"


def _verdicts(found: Agreement) -> StudyTable:
    return StudyTable(
        name="verdicts",
        title="The judge's verdicts, by the people who looked at them",
        columns=(
            TableColumn("metric"),
            TableColumn("right", "estimate"),
            TableColumn("yes right", "estimate"),
            TableColumn("no right", "estimate"),
            TableColumn("n", "count"),
            TableColumn("missing", "count"),
            TableColumn("open", "count"),
        ),
        rows=tuple(tuple(each) for each in found.verdicts),
        notes=(
            "a verdict counts once, by the consensus of those who looked at it; open: they do not agree",
            "verdicts that people chose to correct are no random sample: see ragmetrics study annotate",
        ),
    )


def _open(found: Agreement) -> StudyTable:
    rows = [
        (
            unit.sample_id,
            unit.metric or "",
            unit.statement,
            ", ".join(
                f"{name}: {value:g}" if isinstance(value, float) else f"{name}: {value}"
                for name, value in each.said
            ),
        )
        for unit, each in found.consensus.items()
        if each.value is None or (each.how in ("mean", "median") and majority(dict(each.said)) is None)
    ]
    return StudyTable(
        name="open",
        title="For discussion: no majority",
        columns=(
            TableColumn("sample"),
            TableColumn("metric"),
            TableColumn("statement", "count"),
            TableColumn("said"),
        ),
        rows=tuple(rows),
    )
