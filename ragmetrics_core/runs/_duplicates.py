"""Choice between two records of one score, or two samples with one id."""

from collections.abc import Mapping
from typing import Generic, Literal, NamedTuple, TypeVar

from ragmetrics_core.drivers import correct
from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.records import FAILED, Correction, Record
from ragmetrics_core.records.comparison import are_same
from ragmetrics_core.samples import Sample

__all__ = ["Prefer", "Settled", "chosen_record", "chosen_sample"]

Prefer = Literal["first", "second"]
Kept = TypeVar("Kept")


class Settled(NamedTuple, Generic[Kept]):
    """The choice between two.

    Attributes:
        kept: the one that counts; without a conflict it holds what both hold.
        conflict: the contradiction in words; "" if there is none.
    """

    kept: Kept
    conflict: str = ""


def chosen_record(first: Record, second: Record, prefer: Prefer | None = None) -> Settled[Record]:
    """Choose between two records of a score.

    A finished score takes precedence over a failed one. With the same replies, the corrections of both are
    kept. With different replies and the same outcome, the first counts. Conflicts are: different outcomes,
    different decisions on the same text, a correction that would be lost, and contradicting corrections.

    Args:
        first: a record.
        second: another record of the same sample and signature.
        prefer: the one that counts in a conflict. Default: "first".
    """
    one, other = (second, first) if prefer == "second" else (first, second)
    if (one.status in FAILED) != (other.status in FAILED):
        one, other = (other, one) if one.status in FAILED else (one, other)
    elif one.status in FAILED and _of(one) == _of(other):
        return Settled(one)
    elif one.steps == other.steps:
        return _same_replies(one, other, first, second)
    elif _contradict(one, other):
        return Settled(one, f"{_outcome(first)} in the first, {_outcome(second)} in the second")
    if lost := [each for place, each in _of(other).items() if _of(one).get(place) != each]:
        return Settled(one, f"{_whose(lost[0])} is of other replies than those that count")
    return Settled(one)


def chosen_sample(first: Sample, second: Sample, prefer: Prefer | None = None) -> Settled[Sample]:
    """Choose between two samples with the same content; labels of both are kept."""
    one, other = (second, first) if prefer == "second" else (first, second)
    labels = {**other.labels, **one.labels}
    differing = [
        name for name in first.labels if second.labels.get(name, first.labels[name]) != first.labels[name]
    ]
    kept = one if labels == one.labels else one.model_copy(update={"id": one.id, "labels": labels})
    if not differing:
        return Settled(kept)
    name = differing[0]
    return Settled(
        kept,
        f"its label {name!r} is {first.labels[name]!r} in the first, {second.labels[name]!r} in the second",
    )


def _same_replies(one: Record, other: Record, first: Record, second: Record) -> Settled[Record]:
    """The record with the corrections of both; `one` wins if they contradict each other."""
    mine, theirs = _of(one), _of(other)
    contrary = [
        place for place in theirs if place in mine and mine[place].supported != theirs[place].supported
    ]
    new = [each for place, each in theirs.items() if place not in mine]
    kept, conflict = one, ""
    if contrary:
        path, item = contrary[0]
        conflict = f"{_whose(mine[path, item])} and {_whose(theirs[path, item])} contradict each other"
    if new and not mine and not contrary:
        kept = other
    elif new:
        try:
            for each in new:
                kept = correct(kept, number=_number(kept, each), supported=each.supported, by=each.by)
        except (ConfigError, RecordError) as error:
            conflict = conflict or f"the corrections of both cannot be put together: {error}"
    elif not contrary and set(mine) == set(theirs) and _contradict(one, other):
        conflict = f"{_outcome(first)} in the first, {_outcome(second)} in the second, of the same replies"
    return Settled(kept, conflict)


def _of(record: Record) -> Mapping[tuple[str, int], Correction]:
    return {(each.path, each.item): each for each in record.corrections}


def _number(record: Record, correction: Correction) -> int:
    """Number of the corrected verdict; 0 if there is none."""
    places = [number for number, each in enumerate(record.verdicts, 1) if each.path == correction.path]
    return places[correction.item - 1] if 1 <= correction.item <= len(places) else 0


def _contradict(one: Record, other: Record) -> bool:
    outcomes = [(record.status, record.value, *(record.bounds or (None, None))) for record in (one, other)]
    if not all(map(are_same, *outcomes)):
        return True
    mine = {(each.about, each.text): each.supported for each in one.verdicts}
    return any(
        mine.get(place, each.supported) != each.supported
        for each in other.verdicts
        if (place := (each.about, each.text)) in mine
    )


def _outcome(record: Record) -> str:
    return record.status if record.value is None else f"{record.value:.3f}"


def _whose(correction: Correction) -> str:
    return f"a correction by {correction.by}" if correction.by else "a correction"
