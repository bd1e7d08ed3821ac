"""The tables of agreement: annotators, consensus, correlations and detection."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from ragmetrics_core.study._agreement import HUMAN, Agreement
from ragmetrics_core.study._consensus import majority
from ragmetrics_core.study._correlations import Correlation
from ragmetrics_core.study._detection import Bin, Detection
from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.study._reliability import plain
from ragmetrics_core.study._tables import Column, StudyTable, TableColumn, table_of
from ragmetrics_core.study._verdict_accuracy import VerdictAccuracy

__all__ = ["agreement_tables"]


class _Coefficients(NamedTuple):
    who: str
    what: str
    value: Estimate | None
    n: int
    skipped: int | None
    note: str


class _Correlated(NamedTuple):
    one: str
    other: str
    correlation: Correlation
    left_out: int | None


class _Detected(NamedTuple):
    metric: str
    detection: Detection


class _Binned(NamedTuple):
    metric: str
    bin: Bin


class _Undecided(NamedTuple):
    sample: str
    metric: str
    statement: int | None
    votes: Annotated[str, Column("said")]


def agreement_tables(agreement: Agreement) -> Iterator[StudyTable]:
    """All tables that there is something for."""
    yield _coefficients(agreement)
    yield _consensus(agreement)

    def lower(what_follows: str) -> Iterator[str]:
        """A note about the metrics whose low end is the good one, where there are some."""
        names = [name for name in agreement.metrics if name in agreement.lower_is_better]
        if names:
            yield f"lower is better: {', '.join(names)}; {what_follows}"

    if agreement.correlations:
        yield table_of(
            "correlations",
            "Correlations with people, and among metrics",
            _Correlated,
            (
                _Correlated(one, other, each, agreement.absent.get(other) if one == HUMAN else None)
                for (one, other), each in agreement.correlations.items()
            ),
            "one other correlation.spearman correlation.kendall correlation.n left_out correlation.note",
            (
                "people: their consensus; left out: agreed samples without a value of the metric",
                *lower("it should correlate negatively with people"),
            ),
        )
    detected = [_Detected(*each) for each in agreement.detections.items()]
    if detected:
        least = agreement.correct_from
        correct = "" if least is None else f"; an answer is correct from {least:g} on"
        yield table_of(
            "detection",
            "Metrics as detectors of wrong answers",
            _Detected,
            detected,
            "metric detection.area detection.correct detection.wrong detection.threshold.at "
            "detection.threshold.unseen_caught detection.threshold.unseen_passed detection.note",
            (
                "area: the chance that a correct answer scores better than a wrong one; threshold: the best "
                "one (Youden); caught and passed: on answers that the search has not seen (cross-validation, "
                f"with intervals of a nested bootstrap that searches again){correct}",
                *lower("scores of at most the threshold pass"),
            ),
        )
        errors = (
            f"{each.metric}: expected calibration error {each.detection.error:.3f}, Brier score "
            f"{each.detection.brier:.3f}"
            for each in detected
            if each.detection.error is not None
        )
        yield table_of(
            "calibration",
            "Share of correct answers by score",
            _Binned,
            (_Binned(each.metric, bin_) for each in detected for bin_ in each.detection.bins),
            "metric bin.scores bin.mean bin.correct bin.n",
            (*errors, *lower("error and Brier score are of 1 - score")),
        )
    if agreement.verdicts:
        yield table_of(
            "verdicts",
            "The judge's verdicts, by the people who looked at them",
            VerdictAccuracy,
            agreement.verdicts,
            "metric right yes_right no_right n missing open",
            (
                "a verdict counts once, by the consensus of those who looked at it; open: they do not agree",
                "verdicts that people chose to correct are no random sample: see ragmetrics study annotate",
            ),
        )
    undecided = (
        _Undecided(
            unit.sample_id,
            unit.metric or "",
            unit.statement,
            ", ".join(f"{name}: {plain(value)}" for name, value in each.said),
        )
        for unit, each in agreement.consensus.items()
        if each.value is None or (each.how in ("mean", "median") and majority(dict(each.said)) is None)
    )
    title = "For discussion: no majority"
    yield table_of("open", title, _Undecided, undecided, "sample metric statement votes")


def _coefficients(agreement: Agreement) -> StudyTable:
    alpha = agreement.alpha
    kappa = "kappa" if agreement.level == "nominal" else "weighted kappa"
    rows = [
        _Coefficients("all annotators", f"alpha ({agreement.level})", alpha.value, alpha.n, None, alpha.note),
        *(
            _Coefficients(f"{one} and {other}", kappa, value, n, None, note)
            for one, other, (value, n, note) in agreement.pairs
        ),
        *(
            _Coefficients(name, "labels", None, labelled, skipped, note)
            for name, labelled, skipped, note in agreement.annotators
        ),
    ]
    title = f"Agreement of annotators on {agreement.label}"
    columns = "who what value n skipped note"
    return table_of("annotators", title, _Coefficients, rows, columns, agreement.notes)


def _consensus(agreement: Agreement) -> StudyTable:
    counts = Counter[str](each.how for each in agreement.consensus.values())
    notes = [f"the consensus is the {agreement.rule} of those who labelled a unit"]
    if counts["open"]:
        notes.append(
            "what is open is left out of everything below, and listed for discussion in the table open"
        )
    ways = ("unanimous", "majority", "mean", "median", "adjudicated", "single", "open")
    return StudyTable(
        name="consensus",
        title="Consensus",
        columns=(TableColumn("how"), TableColumn("n", "count")),
        rows=tuple((how, counts[how]) for how in ways if counts[how]),
        notes=tuple(notes),
    )
