"""Declining against sufficiency: answered or declined, with contexts that suffice or do not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._estimates import Estimate, score_mean
from ragmetrics_core.study._frame import Frame, frame_of
from ragmetrics_core.study._scores import Oriented, Scores
from ragmetrics_core.study._tables import Column, StudyTable, TableColumn, plain_table, table_of
from ragmetrics_core.texts.wording import number_of

__all__ = ["AbstentionCell", "AbstentionStudy", "abstention_tables", "study_abstention"]


class AbstentionCell(NamedTuple):
    """One of the four cells.

    Attributes:
        answer: "answered" or "declined".
        contexts: "sufficient" or "insufficient".
        n: number of samples.
        share: share of the decided samples.
        quality: mean of a metric over the samples of the cell that have a value.
    """

    answer: str
    contexts: str
    n: int
    share: Annotated[Estimate, Column("share")]
    quality: Estimate


class AbstentionRate(NamedTuple):
    """A share of answers that decline, or do not, given the contexts."""

    rate: str
    value: Estimate
    n: int


@dataclass(frozen=True)
class AbstentionStudy:
    """Answers by whether they decline and whether the contexts suffice.

    Attributes:
        cells: the four cells.
        rates: needless refusals, risky answers and the share of answers.
        metric: the metric with a mean in each cell, or None.
        notes: remarks for readers.
    """

    cells: tuple[AbstentionCell, ...]
    rates: tuple[AbstentionRate, ...]
    metric: str | None = None
    notes: tuple[str, ...] = ()


def study_abstention(
    scores: Scores, *, metric: str | None = None, cluster: str | None = None, level: float = 0.95
) -> AbstentionStudy:
    """Cross declining with sufficiency.

    Sufficiency is the metric `sufficiency`, or follows from `abstention` and whether the answer declines.

    Args:
        scores: the run.
        metric: name or signature of a metric whose mean each cell shows, such as factual_correctness.
        cluster: label whose values group dependent samples, or "none"; see `clustering_of`.
        level: confidence level.

    Raises:
        ConfigError: the run does not say whether contexts suffice or whether answers decline, or has no such
            metric.
    """
    source = _source(scores)
    signature = None if metric is None else scores.metric(metric)
    frame = frame_of([scores], metrics=[source if signature is None else signature], cluster=cluster)
    decided = dict(_decided(scores, source))
    if not decided:
        raise ConfigError(
            f"{scores.name} has no sample with a decision on declining: measure abstention, or a "
            "metric that splits the answer into statements"
        )
    name, qualities = Oriented("", {}) if signature is None else scores.oriented(signature, [signature])
    cells = [
        _cell(frame, decided, (declines, suffices), qualities, level)
        for suffices in (True, False)
        for declines in (False, True)
    ]
    notes = list(frame.notes)
    if left := len(scores.samples) - len(decided):
        notes.append(f"left out: {number_of(left, 'sample')} without both decisions")
    if len(scores.samples) > len(decided) and not scores.asks:
        notes.append("nothing in the run asks whether answers decline; blank answers alone are known to")
    return AbstentionStudy(tuple(cells), tuple(_rates(frame, decided, level)), name or None, tuple(notes))


def _source(scores: Scores) -> str:
    """Signature of the metric that says whether contexts suffice."""
    for name in ("sufficiency", "abstention"):
        if any(each.partition("/")[0] == name for each in scores.metrics):
            return scores.metric(name)
    raise ConfigError(
        f"{scores.name} does not say whether contexts suffice: evaluate with --metrics sufficiency,abstention"
    )


def _decided(scores: Scores, source: str) -> Iterator[tuple[str, tuple[bool, bool]]]:
    """For each sample with both decisions, whether the answer declines and whether the contexts suffice."""
    is_own = source.startswith("sufficiency")
    for sample_id, value in scores.values[source].items():
        declines = scores.declining.get(sample_id)
        # repetitions that differ have a mean between 0 and 1
        if declines is not None and value in (0.0, 1.0):
            yield sample_id, (declines, value == 1 if is_own else declines != (value == 1))


def _cell(
    frame: Frame,
    decided: dict[str, tuple[bool, bool]],
    wanted: tuple[bool, bool],
    qualities: Mapping[str, float],
    level: float,
) -> AbstentionCell:
    declines, suffices = wanted
    flags, clusters = frame.columns({each: float(found == wanted) for each, found in decided.items()})
    inside = {each: value for each, value in qualities.items() if decided.get(each) == wanted}
    values, of_values = frame.columns(inside)
    return AbstentionCell(
        "declined" if declines else "answered",
        "sufficient" if suffices else "insufficient",
        int(sum(flags)),
        score_mean(flags, clusters, level=level),
        score_mean(values, of_values, level=level) if values else Estimate(None),
    )


def _rates(frame: Frame, decided: dict[str, tuple[bool, bool]], level: float) -> Iterator[AbstentionRate]:
    enough = {each: float(declines) for each, (declines, suffices) in decided.items() if suffices}
    lacking = {each: float(not declines) for each, (declines, suffices) in decided.items() if not suffices}
    answered = {each: float(not declines) for each, (declines, _) in decided.items()}
    for rate, column in (
        ("declined, of sufficient contexts", enough),
        ("answered, of insufficient contexts", lacking),
        ("answered, of all", answered),
    ):
        values, clusters = frame.columns(column)
        mean = score_mean(values, clusters, level=level) if values else Estimate(None)
        yield AbstentionRate(rate, mean, len(values))


def abstention_tables(study: AbstentionStudy) -> Iterator[StudyTable]:
    """The four cells, then the rates of needless refusals and of risky answers."""
    title = "Answered or declined, by whether the contexts suffice"
    columns = "answer contexts n share" + (" quality" if study.metric else "")
    titles = {"quality": f"mean {study.metric}"} if study.metric else {}
    yield table_of("cells", title, AbstentionCell, study.cells, columns, study.notes, titles=titles)
    heads: Sequence[TableColumn] = (
        TableColumn("rate"),
        TableColumn("share", "estimate"),
        TableColumn("n", "count"),
    )
    yield plain_table("rates", "Needless refusals and risky answers", heads, study.rates)
