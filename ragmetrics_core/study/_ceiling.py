"""The ceiling of a judge: how far each person agrees with the others, by the same figures as the judge."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ragmetrics_core.study._clustering import Clustering
from ragmetrics_core.study._consensus import Rule, consensus_value
from ragmetrics_core.study._correlations import Correlation, correlate
from ragmetrics_core.study._detection import area_under_curve
from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.study._labels import LabelledUnit, Value, is_good

__all__ = ["POOLED", "Ceiling", "asked_after_disagreement", "ceilings"]

POOLED = "people, each against the others"

# An annotator with fewer labels may have met disagreements alone by chance.
_FEWEST = 5


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
    units: Mapping[LabelledUnit, Mapping[str, Value]],
    columns: Mapping[str, Mapping[str, float]],
    *,
    rule: Rule,
    correct_from: float | None = None,
    lower_is_better: frozenset[str] = frozenset(),
    clustering: Clustering | None = None,
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
        clustering: which samples belong together; without it each is drawn for itself.
        seed: of the bootstrap.
    """
    pairs = list(_pairs(units, rule, correct_from))
    if not pairs:
        return ()
    people = dict.fromkeys(pair.by for pair in pairs)
    found = [
        _against(name, True, [pair for pair in pairs if pair.by == name], None, clustering, seed)
        for name in people
    ]
    found.append(_against(POOLED, True, pairs, None, clustering, seed))
    for name, column in columns.items():
        known = [pair for pair in pairs if pair.sample_id in column]
        sign = -1.0 if name in lower_is_better else 1.0
        values = [sign * column[pair.sample_id] for pair in known]
        found.append(_against(name, False, known, values, clustering, seed))
    return tuple(found)


def _pairs(
    units: Mapping[LabelledUnit, Mapping[str, Value]], rule: Rule, correct_from: float | None
) -> Iterator[_Pair]:
    for unit, said in units.items():
        if unit.statement is not None or unit.metric is not None:
            continue
        for name, own in said.items():
            rest = {each: value for each, value in said.items() if each != name}
            if not rest:
                continue
            value = consensus_value(rest, rule=rule)
            if value is not None and not isinstance(own, str) and not isinstance(value, str):
                good = is_good(value, at_least=correct_from)
                yield _Pair(unit.sample_id, name, float(own), float(value), good)


def _against(
    who: str,
    is_person: bool,
    pairs: Sequence[_Pair],
    values: Sequence[float] | None,
    clustering: Clustering | None,
    seed: int,
) -> Ceiling:
    own = [pair.own for pair in pairs] if values is None else values
    ids: list[Hashable] = [pair.sample_id for pair in pairs]
    clusters = (None if clustering is None else clustering.clusters(pair.sample_id for pair in pairs)) or ids
    # with one pair a sample they are no clusters
    repeated = clusters if len(set(clusters)) < len(clusters) else None
    correlation = correlate(own, [pair.others for pair in pairs], clusters=repeated, seed=seed)
    area = Estimate(None)
    if pairs and all(pair.good is not None for pair in pairs):
        good = np.array([bool(pair.good) for pair in pairs])
        area = area_under_curve(np.asarray(own, dtype=float), good, clusters=repeated)
    return Ceiling(who, is_person, correlation, area)


def asked_after_disagreement(units: Mapping[LabelledUnit, Mapping[str, Value]]) -> str | None:
    """The annotator who seems to have been asked only where the others disagree; None without one.

    At least 5 units, in all of which the others differ, while there are units where they agree. The votes
    of such a person settle disagreements; taken as any other's they make agreement look better or worse.
    """
    names = dict.fromkeys(name for said in units.values() for name in said)
    for name in names:
        rest = {
            unit: {value for other, value in said.items() if other != name} for unit, said in units.items()
        }
        of = [unit for unit, said in units.items() if name in said]
        agreed = sum(
            len(said) > 1 and len(rest[unit]) == 1 for unit, said in units.items() if name not in said
        )
        if len(of) >= _FEWEST and agreed >= _FEWEST and all(len(rest[unit]) > 1 for unit in of):
            return name
    return None
