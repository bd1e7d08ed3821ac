"""What a cascade saves and costs, by the band in which its cheap judge is unsure; no judge is asked."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.models._cascade import Cascade
from ragmetrics_core.probe._by_source import balanced_accuracy, gain_of, share, stored
from ragmetrics_core.probe._people_card import Saving
from ragmetrics_core.records import Record

__all__ = ["BANDS", "cheap_probabilities", "savings_of"]

BANDS: Final = ((0.5, 0.5), (0.4, 0.6), (0.3, 0.7), (0.2, 0.8), (0.1, 0.9), (0.05, 0.95), (0.0, 1.0))
"""The bands of the table; of these, the ones within the band that was measured."""


class _Decided(NamedTuple):
    """A verdict: the cheap judge's probability, None without one, and the decision as it was measured."""

    probability: float | None
    supported: bool | None

    def within(self, low: float, high: float) -> bool:
        """Whether the cheap judge is unsure of it in a band."""
        return self.probability is None or low <= self.probability <= high

    def passes(self, low: float, high: float) -> bool:
        """Whether it passes with that band: the dear judge's decision inside, the cheap one's outside."""
        if self.probability is None or self.within(low, high):
            return bool(self.supported)
        return self.probability > high


def savings_of(
    records: Sequence[Record], good: NDArray[np.bool_], sources: Sequence[str], cascade: Cascade
) -> tuple[Saving, ...]:
    """For each band the calls that it saves and the agreement with people that it loses.

    An item passes when all its verdicts do. What a band loses is taken against the band that was measured,
    in which the dear judge decided most; wider ones are not known.

    Args:
        records: of the items, each with verdicts of the cascade.
        good: whether people call an item good.
        sources: what each item was made from.
        cascade: that judged them.
    """
    items = [_decisions(record, cascade.cheap_identity) for record in records]
    low, high = cascade.unsure
    if not items:
        return ()
    whole = balanced_accuracy(_passed(items, low, high), good)
    savings: list[Saving] = []
    for band in dict.fromkeys([*BANDS, cascade.unsure]):
        if band[0] < low or band[1] > high:
            continue
        # the dear judge decides all that is left of an item in one call
        saved = [not any(each.within(*band) for each in decisions) for decisions in items]
        agreement = balanced_accuracy(_passed(items, *band), good)
        savings.append(
            Saving(
                low=band[0],
                high=band[1],
                saved=stored(share(np.array(saved, float)), sources),
                agreement=stored(agreement, sources),
                lost=gain_of(whole, agreement, sources),
            )
        )
    return tuple(sorted(savings, key=lambda saving: saving.high - saving.low))


def cheap_probabilities(record: Record, cheap: str) -> dict[int, float]:
    """The cheap judge's probability of each number, from its replies as the record has them."""
    probabilities: dict[int, float] = {}
    for step in record.generate_steps:
        if step.judge == cheap:
            verdicts: Sequence[Mapping[str, Any]] = json.loads(step.reply)["verdicts"]  # `Cascade` wrote it
            for verdict in verdicts:
                probability = verdict.get("probability")
                if isinstance(probability, (int, float)):
                    probabilities[int(verdict["number"])] = float(probability)
    return probabilities


def _decisions(record: Record, cheap: str) -> list[_Decided]:
    probabilities = cheap_probabilities(record, cheap)
    return [_Decided(probabilities.get(verdict.number), verdict.supported) for verdict in record.verdicts]


def _passed(items: Sequence[Sequence[_Decided]], low: float, high: float) -> NDArray[np.bool_]:
    return np.array([all(each.passes(low, high) for each in decisions) for decisions in items], dtype=bool)
