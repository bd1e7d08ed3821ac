"""What one version of a prompt ranks better than another, on the same items."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, TypeAdapter

from ragmetrics_core.probe import Interval
from ragmetrics_core.probe._by_source import area, drawn

__all__ = ["GAINS", "Gain", "Scored", "Scores", "base_of", "gain", "gains_of", "keep_gains"]

GAINS = "gains.json"
_VERSION = re.compile(r"\w+=(\w+\.v\d+(@[0-9a-f]+)?|alone)")


class Gain(BaseModel, frozen=True):
    """What one way to ask gains over another.

    Attributes:
        judge: who was asked.
        set: the name of the items.
        metric, other: the two ways, as signatures.
        items: how many have a score both ways.
        gain: the area of the first less that of the other; its interval is of 95 %, with whole sources drawn.
    """

    judge: str
    set: str
    metric: str
    other: str
    items: int
    gain: Interval


_GAINS = TypeAdapter(list[Gain])

Scores = Mapping[str, float | None]
"""By the item's name; None for one that has no score."""


class Scored(NamedTuple):
    """A way to ask, as a signature, and the scores that it gives."""

    metric: str
    scores: Scores


def gains_of(
    name: str,
    judge: str,
    scored: Sequence[Scored],
    *,
    labels: Mapping[str, bool],
    sources: Mapping[str, str],
) -> list[Gain]:
    """The gains of each way to ask over each later one that differs in nothing but versions of prompts.

    Args:
        name: of the set.
        judge: who was asked.
        scored: each way with its scores.
        labels: by the item's name, whether it is good.
        sources: by the item's name, what it was made from.
    """
    gains: list[Gain] = []
    for (metric, one), (other, two) in combinations(scored, 2):
        if base_of(metric) == base_of(other):
            both = {each: labels[each] for each in labels if None not in (one.get(each), two.get(each))}
            found = gain(one, two, both, sources)
            told = Gain(judge=judge, set=name, metric=metric, other=other, items=len(both), gain=found)
            gains.append(told)
    return gains


def gain(one: Scores, other: Scores, labels: Mapping[str, bool], sources: Mapping[str, str]) -> Interval:
    """The area of one less that of the other on the labelled items, both of which have scores.

    The interval is of 95 %, with whole sources drawn. It is undefined without a good or without a bad item.
    """
    good = np.array([*labels.values()], dtype=bool)
    of_items = [sources[each] for each in labels]
    first, second = (
        drawn(area(np.array([scores[each] for each in labels], dtype=float), good), of_items)
        for scores in (one, other)
    )
    return Interval.of(first.less(second))


def base_of(signature: str) -> str:
    """A metric's signature without the versions of its prompts.

    >>> base_of("context_precision/strict.1(chunks=alone,verify=chunk_verdicts.v1@c8e09fa6)")
    'context_precision/strict.1'
    >>> base_of("faithfulness/strict.1(per_call=1,verify=verdicts.v4@2bfb1b8f)")
    'faithfulness/strict.1(per_call=1)'
    """
    name, _, settings = signature.rstrip(")").partition("(")
    kept = [each for each in settings.split(",") if each and not _VERSION.fullmatch(each.strip())]
    return f"{name}({','.join(kept)})" if kept else name


def keep_gains(folder: Path, gains: Iterable[Gain]) -> None:
    """Put gains beside the others of a folder; those of the same judge, set and ways are replaced."""
    path = folder / GAINS
    kept = _GAINS.validate_json(path.read_bytes()) if path.is_file() else []
    by_key = {(each.set, each.metric, each.other, each.judge): each for each in [*kept, *gains]}
    dumped = _GAINS.dump_json([by_key[key] for key in sorted(by_key)], indent=1, exclude_none=True)
    path.write_text(dumped.decode() + "\n", encoding="utf-8")
