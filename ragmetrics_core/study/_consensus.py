"""Consensus of annotators: majority, decision of an adjudicator, mean or median."""

from collections.abc import Iterable, Mapping
from statistics import fmean, median
from typing import Literal, NamedTuple, TypeVar

from ragmetrics_core.study._human_labels import LabelledUnit, Value

__all__ = ["Consensus", "How", "Rule", "asked_after_disagreement", "consensus_of", "majority", "rule_of"]

Rule = Literal["majority", "mean", "median"]
How = Literal["single", "unanimous", "majority", "mean", "median", "adjudicated", "open"]

T = TypeVar("T", bound=Value)

Units = Mapping[LabelledUnit, Mapping[str, Value]]

# An annotator with fewer labels may have met disagreements alone by chance.
_FEWEST = 5


class Consensus(NamedTuple):
    """Consensus of the annotators on a unit.

    Attributes:
        value: value of the consensus; None if open.
        how: "single" (one annotator), "unanimous", "majority" (more than half), "mean" or "median" (of all),
            "adjudicated", or "open".
        said: value by annotator.
    """

    value: Value | None
    how: How
    said: tuple[tuple[str, Value], ...]


def rule_of(values: Iterable[Value], *, adjudicator: str | None = None) -> Rule:
    """Default rule for the consensus: the mean for graded numbers, the majority for all other labels.

    With an adjudicator, who decides if the others disagree, it is the majority, as in Oro et al. (2024).

    >>> rule_of([1.0, 4.0]), rule_of([True, False]), rule_of([0.0, 1.0])
    ('mean', 'majority', 'majority')
    """
    known = set(values)
    graded = all(isinstance(each, float) for each in known) and not known <= {0.0, 1.0}
    return "mean" if graded and adjudicator is None else "majority"


def consensus_of(
    units: Units, *, adjudicator: str | None = None, rule: Rule = "majority"
) -> dict[LabelledUnit, Consensus]:
    """The consensus on each unit.

    A majority of exact values discards {5, 4}, though its two annotators nearly agree; the mean and the
    median of numbers discard nothing.

    Args:
        units: values by unit and annotator; texts need the majority rule.
        rule: rule for the consensus.
        adjudicator: annotator who decides if the others have no majority, and whose label does not count
            otherwise.
    """
    agreed: dict[LabelledUnit, Consensus] = {}
    for unit, labels in units.items():
        votes = {name: value for name, value in labels.items() if name != adjudicator}
        last = labels.get(adjudicator) if adjudicator is not None else None
        agreed[unit] = Consensus(*_decided(votes, last, rule), tuple(sorted(labels.items())))
    return agreed


def _decided(votes: Mapping[str, Value], last: Value | None, rule: Rule) -> tuple[Value | None, How]:
    value, is_one = majority(votes), len(set(votes.values())) <= 1
    if rule != "majority" and not is_one and (value is not None or last is None):
        return (fmean if rule == "mean" else median)(map(float, votes.values())), rule
    if value is None:
        return last, "open" if last is None else "adjudicated"
    return value, "majority" if not is_one else "single" if len(votes) == 1 else "unanimous"


def majority(votes: Mapping[str, T]) -> T | None:
    """The value that more than half of the people gave; None if there is none.

    >>> majority({"ann": True, "bob": False, "cid": False}), majority({"ann": True, "bob": False})
    (False, None)
    """
    values = [*votes.values()]
    return next((value for value in dict.fromkeys(values) if 2 * values.count(value) > len(values)), None)


def asked_after_disagreement(units: Units) -> str | None:
    """The annotator who seems to label only units on which the others disagree; None if there is none.

    Requires at least 5 units, on all of which the others disagree, and other units on which they agree. The
    labels of such a person settle disagreements; counted like all others, they distort agreement.
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
