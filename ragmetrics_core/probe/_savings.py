"""Savings and costs of a cascade by the band in which its cheap judge is unsure, without calls."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.models import Cascade
from ragmetrics_core.probe._people_card import Saving
from ragmetrics_core.probe._weighted import balanced_accuracy, share, stored
from ragmetrics_core.records import Record

__all__ = ["cheap_probabilities", "savings_of"]

_BANDS: Final = ((0.5, 0.5), (0.4, 0.6), (0.3, 0.7), (0.2, 0.8), (0.1, 0.9), (0.05, 0.95), (0.0, 1.0))
"""The bands of the table; of these, the ones within the band that was measured."""

Decided = tuple[float | None, bool | None]
"""A verdict: the cheap judge's probability (None if missing) and the measured decision."""


def savings_of(
    records: Sequence[Record], good: NDArray[np.bool_], sources: Sequence[str], cascade: Cascade
) -> tuple[Saving, ...]:
    """Saved calls and lost agreement with people, by band.

    An item passes if all its verdicts do. Losses are relative to the measured band, in which the expensive
    judge decided most; wider bands are unknown.

    Args:
        records: of the items, each with verdicts of the cascade.
        good: whether people call an item good.
        sources: what each item was made from.
        cascade: that judged them.
    """
    items = [_verdicts(record, cascade.cheap_identity) for record in records]
    low, high = cascade.unsure
    savings: list[Saving] = []
    for band in dict.fromkeys([*_BANDS, cascade.unsure]) if items else ():
        if low <= band[0] and band[1] <= high:
            # the dear judge decides all that is left of an item in one call
            saved = [not any(_is_unsure(verdict, band) for verdict in item) for item in items]
            agreement, whole = (
                balanced_accuracy(_passed(items, of_band), good) for of_band in (band, cascade.unsure)
            )
            savings.append(
                Saving(
                    low=band[0],
                    high=band[1],
                    saved=stored(share(np.array(saved, float)), sources),
                    agreement=stored(agreement, sources),
                    lost=stored(whole, sources, less=agreement),
                )
            )
    return tuple(sorted(savings, key=lambda saving: saving.high - saving.low))


def cheap_probabilities(record: Record, cheap: str) -> dict[int, float]:
    """The cheap judge's probability of each number, from its replies as the record has them."""
    replies = [json.loads(step.reply) for step in record.generate_steps if step.judge == cheap]
    verdicts: list[Mapping[str, Any]] = [verdict for reply in replies for verdict in reply["verdicts"]]
    return {
        int(verdict["number"]): float(verdict["probability"])
        for verdict in verdicts
        if isinstance(verdict.get("probability"), int | float)
    }


def _verdicts(record: Record, cheap: str) -> list[Decided]:
    probabilities = cheap_probabilities(record, cheap)
    return [(probabilities.get(verdict.number), verdict.supported) for verdict in record.verdicts]


def _is_unsure(verdict: Decided, band: tuple[float, float]) -> bool:
    return verdict[0] is None or band[0] <= verdict[0] <= band[1]


def _passed(items: Sequence[Sequence[Decided]], band: tuple[float, float]) -> NDArray[np.bool_]:
    """Whether items pass with a band: the expensive judge decides inside, the cheap one outside."""

    def passes(verdict: Decided) -> bool:
        return bool(verdict[1]) if _is_unsure(verdict, band) else (verdict[0] or 0.0) > band[1]

    return np.array([all(map(passes, item)) for item in items], dtype=bool)
