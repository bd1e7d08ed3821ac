"""The tables of a study of groups: as the paper prints them, and every test behind them."""

from collections.abc import Iterator, Sequence

from ragmetrics_core.study._groups import Contrast, Group, GroupStudy, Measured
from ragmetrics_core.study._tables import Cell, Mark, Marked, StudyTable, TableColumn, short, table_of

__all__ = ["group_tables"]


def group_tables(study: GroupStudy) -> Iterator[StudyTable]:
    """Means (s.d.) with marks, then means with intervals and n, then every test."""
    lower = {each.metric for each in study.contrasts if each.lower_is_better}
    names = [short(metric, study.metrics) for metric in study.metrics if metric in lower]
    turned = [f"lower is better: {', '.join(names)}"] if names else []
    yield _overview(study, turned)
    titles = {"group.value": study.by or "group"}
    ordered = sorted(study.measured, key=lambda each: study.metrics.index(each.metric))
    columns = "metric group.run group.value interval sd summary.n without"
    yield table_of("means", "Means with 95 % intervals", Measured, ordered, columns, titles=titles)
    if study.contrasts:
        count = sum((each.welch is not None) + (each.rank is not None) for each in study.contrasts)
        by = f"; errors are those of whole clusters by {study.cluster}" if study.cluster else ""
        note = (
            "p welch is Welch's t-test, p rank the Mann-Whitney test; p holm and p rank holm are these "
            f"adjusted for all {count} tests of this table{by}"
        )
        columns = "metric within claim difference welch holm rank rank_holm effect verdict"
        tests = sorted(study.contrasts, key=lambda each: study.metrics.index(each.metric))
        yield table_of("tests", "Tests", Contrast, tests, columns, [note, *turned])


def _overview(study: GroupStudy, turned: Sequence[str]) -> StudyTable:
    """Mean (s.d.) n, one column for each metric, as tables 2 and 3 of the paper print them."""
    summaries = {(each.metric, each.group): each.summary for each in study.measured}
    to_baseline = {(each.metric, each.upper): each for each in study.contrasts if each.kind == "baseline"}

    def cell(metric: str, group: Group) -> Cell:
        """How a mean differs from the baseline's in the same group."""
        contrast = to_baseline.get((metric, group))
        mark: Mark = contrast.verdict.mark if contrast else ""
        return Marked(summaries[metric, group], "baseline" if group.run == study.baseline else mark)

    notes = ["mean (s.d.) and n"]
    if study.baseline:
        notes.append(
            f"against {study.baseline}: green is significantly better, red significantly worse "
            f"(Welch's t-test, Holm, alpha {study.alpha:g})"
        )
        notes += turned
    names = [short(metric, study.metrics) for metric in study.metrics]
    return StudyTable(
        name="groups",
        title=f"Means by {study.by}" if study.by else "Means",
        columns=(
            TableColumn("run"),
            TableColumn(study.by or "group"),
            *(TableColumn(name, "summary") for name in names),
        ),
        rows=tuple(
            (*group, *(cell(metric, group) for metric in study.metrics))
            for group in dict.fromkeys(each.group for each in study.measured)
        ),
        notes=(*notes, *study.notes),
    )
