"""The tables of a study of groups: as the paper prints them, and every test behind them."""

from collections.abc import Iterator

from ragmetrics_core.study._distributions import Alternative
from ragmetrics_core.study._groups import Contrast, Group, GroupStudy, Measured
from ragmetrics_core.study._scores import short
from ragmetrics_core.study._tables import Cell, Mark, Marked, StudyTable, TableColumn, counted

__all__ = ["group_tables"]

_SIGNS: dict[Alternative, str] = {"greater": ">", "less": "<", "two-sided": "≠"}


def group_tables(study: GroupStudy) -> Iterator[StudyTable]:
    """Means (s.d.) with marks, then means with intervals and n, then every test, then the correlation."""
    yield _overview(study)
    yield _means(study)
    if study.contrasts:
        yield _tests(study)
    if study.linked and study.pair:
        yield _linked(study)


def _overview(study: GroupStudy) -> StudyTable:
    """Mean (s.d.) n, one column for each metric, as tables 2 and 3 of the paper print them."""
    known = {(each.metric, each.group): each for each in study.measured}
    groups = dict.fromkeys(each.group for each in study.measured)
    names = tuple(short(metric, study.metrics) for metric in study.metrics)
    rows = tuple(
        (
            group.run,
            group.value,
            *(
                Marked(known[metric, group].summary, _mark(study, metric, group))
                if (metric, group) in known
                else None
                for metric in study.metrics
            ),
        )
        for group in groups
    )
    notes = ["mean (s.d.) and n"]
    if study.baseline:
        notes.append(
            f"against {study.baseline}: green is significantly better, red significantly worse "
            f"(Welch's t-test, Holm, alpha {study.alpha:g})"
        )
        notes += _lower(study)
    return StudyTable(
        name="groups",
        title=f"Means by {study.by}" if study.by else "Means",
        columns=(
            TableColumn("run"),
            TableColumn(study.by or "group"),
            *(TableColumn(name, "summary") for name in names),
        ),
        rows=rows,
        notes=(*notes, *study.notes),
    )


def _mark(study: GroupStudy, metric: str, group: Group) -> Mark:
    """How a mean differs from the baseline's in the same group."""
    if study.baseline is None:
        return ""
    if group.run == study.baseline:
        return "baseline"
    for each in study.contrasts:
        is_it = (each.kind, each.metric, each.upper) == ("baseline", metric, group)
        if is_it and each.holm is not None and each.holm < study.alpha:
            return _direction(each).mark
    return ""


def _means(study: GroupStudy) -> StudyTable:
    def row(each: Measured) -> tuple[Cell, ...]:
        summary = each.summary
        return (
            short(each.metric, study.metrics),
            each.group.run,
            each.group.value,
            each.interval,
            None if summary is None or summary.n == 1 else summary.sd,
            None if summary is None else summary.n,
            counted(each.left_out),
        )

    ordered = sorted(study.measured, key=lambda each: study.metrics.index(each.metric))
    return StudyTable(
        name="means",
        title="Means with 95 % intervals",
        columns=(
            TableColumn("metric"),
            TableColumn("run"),
            TableColumn(study.by or "group"),
            TableColumn("mean", "estimate"),
            TableColumn("sd", "number"),
            TableColumn("n", "count"),
            TableColumn("left out"),
        ),
        rows=tuple(map(row, ordered)),
    )


def _tests(study: GroupStudy) -> StudyTable:
    def row(each: Contrast) -> tuple[Cell, ...]:
        sign = _SIGNS[each.alternative]
        between = (
            f"{each.upper.value} {sign} {each.lower.value}"
            if each.kind == "label"
            else f"{each.upper.run} {sign} {each.lower.run}"
        )
        where = each.upper.run if each.kind == "label" else each.upper.value
        return (
            short(each.metric, study.metrics),
            where,
            between,
            each.difference,
            each.welch,
            each.holm,
            each.rank,
            each.rank_holm,
            each.effect,
            _told(each, study.alpha),
        )

    ordered = sorted(study.contrasts, key=lambda each: study.metrics.index(each.metric))
    return StudyTable(
        name="tests",
        title="Tests",
        columns=(
            TableColumn("metric"),
            TableColumn("within"),
            TableColumn("claim"),
            TableColumn("diff", "number"),
            TableColumn("p welch", "p"),
            TableColumn("p holm", "p"),
            TableColumn("p rank", "p"),
            TableColumn("p rank holm", "p"),
            TableColumn("effect size", "estimate"),
            TableColumn("verdict"),
        ),
        rows=tuple(map(row, ordered)),
        notes=(
            f"p welch is Welch's t-test, p rank the Mann-Whitney test; p holm and p rank holm are these "
            f"adjusted for all {_count(study)} tests of this table"
            + (f"; errors are those of whole clusters by {study.cluster}" if study.cluster else ""),
            *_lower(study),
        ),
    )


def _count(study: GroupStudy) -> int:
    return sum((each.welch is not None) + (each.rank is not None) for each in study.contrasts)


def _told(each: Contrast, alpha: float) -> Marked:
    if each.holm is None:
        return Marked(f"no test: {each.note}", "")
    return _direction(each) if each.holm < alpha else Marked("cannot tell", "")


def _direction(each: Contrast) -> Marked:
    """On which side a significant difference is, and whether that is the good one."""
    is_higher = (each.difference or 0.0) > 0
    return Marked("higher" if is_higher else "lower", "weak" if is_higher == each.lower_is_better else "good")


def _lower(study: GroupStudy) -> Iterator[str]:
    """The metrics in which a fall is the better direction, where there are some."""
    found = {each.metric for each in study.contrasts if each.lower_is_better}
    if found:
        names = (short(metric, study.metrics) for metric in study.metrics if metric in found)
        yield f"lower is better: {', '.join(names)}"


def _linked(study: GroupStudy) -> StudyTable:
    assert study.pair is not None
    one, other = (short(metric, study.metrics) for metric in study.pair)
    return StudyTable(
        name="correlation",
        title=f"Correlation of {one} and {other} within each group",
        columns=(
            TableColumn("run"),
            TableColumn(study.by or "group"),
            TableColumn("spearman", "estimate"),
            TableColumn("pearson", "estimate"),
            TableColumn("n", "count"),
            TableColumn("left out", "count"),
            TableColumn("note"),
        ),
        rows=tuple(
            (
                each.group.run,
                each.group.value,
                each.correlation.spearman,
                each.correlation.pearson,
                each.correlation.n,
                each.left_out,
                each.correlation.note,
            )
            for each in study.linked
        ),
        notes=(
            "a generator that answers from its own knowledge makes it negative where the retrieval is wrong",
        ),
    )
