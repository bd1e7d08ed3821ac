"""Consensus of annotators: what all say, else what most say, else what an adjudicator says."""

from collections import Counter
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeVar

from ragmetrics_core.study.labels import Unit

__all__ = ["Consensus", "How", "consensus_of", "majority"]

How = Literal["single", "unanimous", "majority", "adjudicated", "open"]

Value = bool | float | str

T = TypeVar("T", bound=Value)


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
    value = majority(votes)
    if value is not None:
        if len(set(votes.values())) > 1:
            return value, "majority"
        return value, "single" if len(votes) == 1 else "unanimous"
    return (None, "open") if last is None else (last, "adjudicated")


def majority(votes: Mapping[str, T]) -> T | None:
    """The value that more than half of the people gave; None without one.

    >>> majority({"ann": True, "bob": False, "cid": False}), majority({"ann": True, "bob": False})
    (False, None)
    """
    if not votes:
        return None
    ((value, count),) = Counter(votes.values()).most_common(1)
    return value if 2 * count > len(votes) else None
