"""Comparison of two records of the same score."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose
from sys import float_info
from typing import NamedTuple

from ragmetrics_core.measurement import Verdict
from ragmetrics_core.records import Record

__all__ = ["Change", "RecordDiff", "are_same", "diff"]

# Another machine may round a sum in another way: a few units in the last place.
_ROUNDING = 4 * float_info.epsilon


class Change(NamedTuple):
    """A text before and after; None in the record that lacks it."""

    before: Verdict | None
    after: Verdict | None

    def __str__(self) -> str:
        """The change in one line."""
        if self.before is None or self.after is None:
            sign, verdict = ("+", self.after) if self.before is None else ("-", self.before)
            assert verdict is not None
            return f"{sign} {verdict.label}: {verdict.text}"
        text = (
            self.after.text
            if self.before.text == self.after.text
            else f"{self.before.text} → {self.after.text}"
        )
        return f"~ {self.before.label} → {self.after.label}: {text}"


@dataclass(frozen=True, kw_only=True)
class RecordDiff:
    """Difference between two records of a score.

    Attributes:
        before, after: the two records.
        flipped: texts in both records whose verdict changed.
        reworded: corresponding texts with different wording and the same verdict.
        removed: texts only in the first record.
        added: texts only in the second record.
    """

    before: Record
    after: Record
    flipped: tuple[Change, ...]
    reworded: tuple[Change, ...]
    removed: tuple[Change, ...]
    added: tuple[Change, ...]

    @property
    def moved(self) -> float | None:
        """Second value minus the first; None unless both exist."""
        if self.before.value is None or self.after.value is None:
            return None
        return self.after.value - self.before.value

    def __str__(self) -> str:
        """The difference as text: the two formulas, then every change."""
        moved = "" if self.moved is None else f" ({self.moved:+.3f})"
        lines = [f"{self.before.signature}: {_outcome(self.before)} → {_outcome(self.after)}{moved}"]
        lines += [f"  {change}" for change in (*self.flipped, *self.removed, *self.added, *self.reworded)]
        return "\n".join(lines)


def are_same(one: object, other: object) -> bool:
    """Whether two values are equal; numbers may differ by rounding."""
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return one == other


def diff(before: Record, after: Record, *, alike: float = 0.75) -> RecordDiff:
    """List the changed texts and verdicts of two records, and the change of the score.

    Texts of the same kind are matched if they are equal, then if they are similar.

    Args:
        before: the first record.
        after: the second record.
        alike: lowest similarity (0 to 1, by `difflib`) at which two texts count as reworded.
    """
    pairs, removed, added = _matched(before.verdicts, after.verdicts, alike)
    return RecordDiff(
        before=before,
        after=after,
        flipped=tuple(Change(*pair) for pair in pairs if pair[0].supported != pair[1].supported),
        reworded=tuple(
            Change(one, other)
            for one, other in pairs
            if one.supported == other.supported and one.text != other.text
        ),
        removed=tuple(Change(verdict, None) for verdict in removed),
        added=tuple(Change(None, verdict) for verdict in added),
    )


class _Matched(NamedTuple):
    pairs: list[tuple[Verdict, Verdict]]
    removed: list[Verdict]
    added: list[Verdict]


def _matched(before: Sequence[Verdict], after: Sequence[Verdict], alike: float) -> _Matched:
    """Pair the texts of two records: equal ones, then the most similar ones."""
    pairs: list[tuple[Verdict, Verdict]] = []
    left, right = list(before), list(after)
    for one in before:
        equal = next((other for other in right if (other.about, other.text) == (one.about, one.text)), None)
        if equal:
            pairs.append((one, equal))
            left.remove(one)
            right.remove(equal)
    close = sorted(
        (
            (difflib.SequenceMatcher(None, one.text, other.text).ratio(), i, j)
            for i, one in enumerate(left)
            for j, other in enumerate(right)
            if one.about == other.about
        ),
        key=lambda each: -each[0],
    )
    used_left: set[int] = set()
    used_right: set[int] = set()
    for ratio, i, j in close:
        if ratio >= alike and i not in used_left and j not in used_right:
            pairs.append((left[i], right[j]))
            used_left.add(i)
            used_right.add(j)
    return _Matched(
        sorted(pairs, key=lambda pair: pair[0].number),
        [one for i, one in enumerate(left) if i not in used_left],
        [other for j, other in enumerate(right) if j not in used_right],
    )


def _outcome(record: Record) -> str:
    return record.formula if record.status == "ok" else f"{record.status} ({record.reason})"
