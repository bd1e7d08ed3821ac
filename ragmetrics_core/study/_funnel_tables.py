"""The tables of `study funnel`."""

from collections import Counter
from collections.abc import Iterator

from ragmetrics_core.study._funnel import Funnel
from ragmetrics_core.study._tables import StudyTable, TableColumn
from ragmetrics_core.wording import number_of

__all__ = ["funnel_tables"]


def funnel_tables(funnel: Funnel) -> Iterator[StudyTable]:
    """Stages, what each lost, searches, and samples to look at."""
    used = (
        ()
        if funnel.used is None
        else (f"{funnel.used} of the shown chunks are used by a supported statement",)
    )
    without = funnel.without_reference
    yield StudyTable(
        name="stages",
        title="Relevant chunks, stage by stage",
        columns=(
            TableColumn("stage"),
            TableColumn("component"),
            TableColumn("samples", "count"),
            TableColumn("chunks", "number"),
            TableColumn("hit", "estimate"),
            TableColumn("recall", "estimate"),
            TableColumn("lost here", "count"),
        ),
        rows=tuple(tuple(stage) for stage in funnel.stages),
        notes=(
            "hit: samples with a relevant chunk; recall: relevant chunks that are there; Wilson's intervals",
            *used,
            *(
                (f"{number_of(without, 'sample')} of {funnel.samples} do not say which chunks are relevant",)
                if without
                else ()
            ),
        ),
    )
    if funnel.lost:
        causes = Counter((lost.stage, lost.component) for lost in funnel.lost)
        yield StudyTable(
            name="lost",
            title="Which stage lost the relevant chunks",
            columns=(TableColumn("stage"), TableColumn("component"), TableColumn("lost", "count")),
            rows=tuple((stage, component, count) for (stage, component), count in causes.most_common()),
        )
        yield StudyTable(
            name="lost_chunks",
            title="Relevant chunks that were not shown",
            columns=(
                TableColumn("sample"),
                TableColumn("chunk"),
                TableColumn("stage"),
                TableColumn("component"),
            ),
            rows=tuple(
                (lost.sample_id, _short(lost.reference), lost.stage, lost.component) for lost in funnel.lost
            ),
        )
    if funnel.hops:
        yield StudyTable(
            name="hops",
            title="Search by search",
            columns=(
                TableColumn("search", "count"),
                TableColumn("samples", "count"),
                TableColumn("new relevant", "number"),
                TableColumn("nothing new", "count"),
                TableColumn("repeated", "count"),
            ),
            rows=tuple(tuple(hop) for hop in funnel.hops),
            notes=(
                "new relevant: mean number of relevant chunks that no earlier search of the sample found",
            ),
        )
    if funnel.findings:
        yield StudyTable(
            name="findings",
            title="Searches to look at",
            columns=(TableColumn("sample"), TableColumn("finding"), TableColumn("what")),
            rows=tuple((each.sample_id, each.finding, _short(each.what)) for each in funnel.findings),
        )


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 80 else f"{words[:79]}…"
