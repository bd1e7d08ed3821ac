"""Share of the judge's verdicts that people confirm."""

from collections.abc import Sequence
from typing import NamedTuple

from ragmetrics_core.study._clustering import Clustering
from ragmetrics_core.study._consensus import consensus_of
from ragmetrics_core.study._estimates import FEWEST_CLUSTERS, Estimate, share_of
from ragmetrics_core.study._human_labels import Judgement, LabelledUnit, Value

__all__ = ["VerdictAccuracy", "verdict_accuracy"]


class VerdictAccuracy(NamedTuple):
    """Share of the judge's verdicts that people confirm; each verdict counts once.

    Attributes:
        metric: the metric.
        right: share of verdicts that people confirm.
        yes_right, no_right: the same for the judge's yes, and for its no.
        n: number of checked verdicts.
        missing: number of checked statements without a verdict of the judge.
        open: number of verdicts without a consensus of majority or adjudicator, which are left out.
    """

    metric: str
    right: Estimate
    yes_right: Estimate
    no_right: Estimate
    n: int
    missing: int
    open: int


def verdict_accuracy(
    judgements: Sequence[Judgement], *, adjudicator: str | None = None, clustering: Clustering | None = None
) -> tuple[VerdictAccuracy, ...]:
    """Share of the judge's verdicts that match the consensus of the people who checked them, by metric.

    Several people's decisions on one verdict count as one trial. Verdicts on one answer are dependent: from
    10 answers on, intervals are by answer, or by the clusters of answers.
    """
    judges = {judgement.unit: judgement.judge for judgement in judgements}
    votes: dict[LabelledUnit, dict[str, Value]] = {}
    for unit, by, _, person in judgements:
        votes.setdefault(unit, {})[by] = person
    agreed = consensus_of(votes, adjudicator=adjudicator)
    own = clustering or Clustering()

    def share(units: Sequence[LabelledUnit]) -> Estimate:
        clusters = own.clusters(unit.sample_id for unit in units)
        flags = [judges[unit] == agreed[unit].value for unit in units]
        return share_of(flags, clusters if len(set(clusters)) >= FEWEST_CLUSTERS else ())

    accuracies: list[VerdictAccuracy] = []
    for metric in dict.fromkeys(unit.metric or "" for unit in agreed):
        of_metric = [unit for unit in agreed if (unit.metric or "") == metric]
        closed = [unit for unit in of_metric if agreed[unit].value is not None]
        decided = [unit for unit in closed if judges[unit] is not None]
        accuracies.append(
            VerdictAccuracy(
                metric,
                share(decided),
                share([unit for unit in decided if judges[unit]]),
                share([unit for unit in decided if not judges[unit]]),
                n=len(decided),
                missing=len(closed) - len(decided),
                open=len(of_metric) - len(closed),
            )
        )
    return tuple(accuracies)
