"""The ceiling of a judge: how far each person agrees with the others, by the same figures as the judge."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ragmetrics_core.study._clustering import Clustering
from ragmetrics_core.study._consensus import Rule, consensus_value
from ragmetrics_core.study._correlations import Correlation, correlate
from ragmetrics_core.study._detection import area_under_curve
from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.study._labels import LabelledUnit, Value, is_good
from ragmetrics_core.study._tables import StudyTable, table_of

__all__ = ["POOLED", "Ceiling", "asked_after_disagreement", "ceiling_table", "ceilings"]

POOLED = "people, each against the others"

# An annotator with fewer labels may have met disagreements alone by chance.
_FEWEST = 5

Units = Mapping[LabelledUnit, Mapping[str, Value]]


class Ceiling(NamedTuple):
    """Somebody, or a metric, against what the other people agree on.

    Attributes:
        who: the annotator, all of them pooled, or the metric.
        is_person: whether that is a person.
        correlation: with the consensus of the others.
        area: the chance that an answer which the others call correct is rated above one which they call
            wrong; without a value where labels do not say which are correct.
    """

    who: str
    is_person: bool
    correlation: Correlation
    area: Estimate


class _Pair(NamedTuple):
    sample_id: str
    by: str
    own: float
    others: float
    good: bool | None


def ceilings(
    units: Units,
    columns: Mapping[str, Mapping[str, float]],
    *,
    rule: Rule,
    correct_from: float | None = None,
    lower_is_better: frozenset[str] = frozenset(),
    clustering: Clustering,
    seed: int = 0,
) -> tuple[Ceiling, ...]:
    """Each person against the consensus of the others, all of them pooled, and each metric likewise.

    The metrics are held to the same consensuses as the people: what all but one say, once for each person
    who is left out. Otherwise a judge would be compared with more people than a person is. Units are drawn
    whole for the intervals. Nothing where no unit has two labels that are numbers.

    Args:
        units: for each unit what each annotator said.
        columns: for each metric its values by sample id.
        rule: what makes the consensus of the others.
        correct_from: from which number on an answer is correct.
        lower_is_better: the metrics whose low end is the good one.
        clustering: which samples belong together.
        seed: of the bootstrap.
    """
    pairs = list(_pairs(units, rule, correct_from))
    if not pairs:
        return ()

    def against(who: str, is_person: bool, known: Sequence[_Pair], own: Sequence[float]) -> Ceiling:
        clusters = clustering.clusters(pair.sample_id for pair in known)
        correlation = correlate(own, [pair.others for pair in known], clusters=clusters, seed=seed)
        area = Estimate(None)
        if known and all(pair.good is not None for pair in known):
            good = np.array([bool(pair.good) for pair in known])
            area = area_under_curve(np.asarray(own, dtype=float), good, clusters)
        return Ceiling(who, is_person, correlation, area)

    of_people = {
        name: [pair for pair in pairs if pair.by == name] for name in dict.fromkeys(p.by for p in pairs)
    }
    rows = [
        against(name, True, known, [pair.own for pair in known])
        for name, known in {**of_people, POOLED: pairs}.items()
    ]
    for name, column in columns.items():
        known = [pair for pair in pairs if pair.sample_id in column]
        sign = -1.0 if name in lower_is_better else 1.0
        rows.append(against(name, False, known, [sign * column[pair.sample_id] for pair in known]))
    return tuple(rows)


def ceiling_table(
    rows: Sequence[Ceiling], rule: Rule, notes: Iterable[str] = (), area: str = ""
) -> StudyTable:
    """Each person, and each metric, against the other people."""
    note = (
        f"against the {rule} of all people but one, once for each that is left out: metrics are held to the "
    )
    return table_of(
        "ceiling",
        "Each person, and each metric, against the other people",
        Ceiling,
        rows,
        f"who correlation.spearman correlation.kendall {area}correlation.n correlation.note",
        (note + "same as people", *notes),
    )


def _pairs(units: Units, rule: Rule, correct_from: float | None) -> Iterator[_Pair]:
    for unit, votes in units.items():
        for name, own in votes.items() if unit.statement is None and unit.metric is None else ():
            rest = {each: value for each, value in votes.items() if each != name}
            value = consensus_value(rest, rule=rule) if rest else None
            if value is not None and not isinstance(own, str) and not isinstance(value, str):
                good = is_good(value, at_least=correct_from)
                yield _Pair(unit.sample_id, name, float(own), float(value), good)


def asked_after_disagreement(units: Units) -> str | None:
    """The annotator who seems to have been asked only where the others disagree; None without one.

    At least 5 units, in all of which the others differ, while there are units where they agree. The votes
    of such a person settle disagreements; taken as any other's they make agreement look better or worse.
    """
    for name in dict.fromkeys(name for votes in units.values() for name in votes):
        rest = [
            (name in votes, len(votes), {value for other, value in votes.items() if other != name})
            for votes in units.values()
        ]
        of = [values for was_asked, _, values in rest if was_asked]
        agreed = sum(not was_asked and count > 1 == len(values) for was_asked, count, values in rest)
        if len(of) >= _FEWEST and agreed >= _FEWEST and all(len(values) > 1 for values in of):
            return name
    return None
