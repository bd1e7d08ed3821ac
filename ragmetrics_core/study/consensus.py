"""Consensus of annotators: what all say, else what most say, else what an adjudicator says."""

from collections import Counter
from collections.abc import Mapping
from typing import Literal, NamedTuple

from ragmetrics_core.study.labels import Unit

__all__ = ["Consensus", "How", "consensus_of"]

How = Literal["single", "unanimous", "majority", "adjudicated", "open"]

Value = bool | float | str


class Consensus(NamedTuple):
    """What annotators agree on about a unit.

    Attributes:
        value: the value; None while it is open.
        how: "single" (one annotator), "unanimous", "majority" (more than half), "adjudicated", or "open".
        said: what each said.
    """

    value: Value | None
    how: How
    said: tuple[tuple[str, Value], ...]


def consensus_of(
    units: Mapping[Unit, Mapping[str, Value]], *, adjudicator: str | None = None
) -> dict[Unit, Consensus]:
    """The consensus on each unit.

    Args:
        units: for each unit what each annotator said.
        adjudicator: the annotator who decides where the others do not agree by majority, and whose word does
            not count otherwise.
    """
    found: dict[Unit, Consensus] = {}
    for unit, said in units.items():
        votes = {name: value for name, value in said.items() if name != adjudicator}
        last = said.get(adjudicator) if adjudicator is not None else None
        found[unit] = Consensus(*_decided(votes, last), tuple(sorted(said.items())))
    return found


def _decided(votes: Mapping[str, Value], last: Value | None) -> tuple[Value | None, How]:
    if votes:
        (value, count), *others = Counter(votes.values()).most_common()
        if not others:
            return value, "single" if count == 1 else "unanimous"
        if 2 * count > len(votes):
            return value, "majority"
    return (None, "open") if last is None else (last, "adjudicated")
