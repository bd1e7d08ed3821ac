"""The verdict on one numbered statement, and its place beside the statements that were asked about."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

__all__ = ["LARGEST_NUMBER", "Aligned", "NumberedVerdict", "align", "number_of"]

LARGEST_NUMBER = 1_000_000
"""A larger one is no number of a statement."""


class NumberedVerdict(BaseModel):
    """What the judge says on one statement.

    Attributes:
        number: the statement's number.
        supported: whether it is supported; partly supported is not.
        reason: in the judge's words, when it gives one.
        evidence: words that the judge copied from the contexts; not checked here.
        confidence: the probability that it is supported, where the judge gives one.
        unsupported: the words of the statement that nothing supports, where the judge marks them.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    number: int
    supported: bool
    reason: str | None = None
    evidence: tuple[str, ...] = ()
    confidence: float | None = None
    unsupported: tuple[str, ...] | None = None


class Aligned(NamedTuple):
    """Verdicts at their statements' numbers, the numbers without one, and what does not count, with why."""

    verdicts: dict[int, NumberedVerdict]
    missing: tuple[int, ...]
    dropped: tuple[str, ...]


def align(numbers: Sequence[int], verdicts: Sequence[NumberedVerdict]) -> Aligned:
    """Put each verdict at its statement's number; say which numbers are missing.

    A judge that drops a statement would otherwise change the denominator of the score. The first verdict of a
    number counts; repeats and numbers that were not asked about are dropped. Two contrary verdicts on one
    number are a conflict: neither counts, and the number is missing.

    Args:
        numbers: the numbers of the statements that were asked about, in order.
        verdicts: what the judge said, in its order.

    >>> align([1, 2], [NumberedVerdict(number=2, supported=True)]).missing
    (1,)
    """
    if [verdict.number for verdict in verdicts] == [*numbers]:
        return Aligned(dict(zip(numbers, verdicts, strict=True)), (), ())  # as nearly always
    asked = frozenset(numbers)
    by_number: dict[int, NumberedVerdict] = {}
    dropped: list[str] = []
    contrary: set[int] = set()
    for verdict in verdicts:
        if verdict.number not in asked:
            dropped.append(f"verdict {verdict.number}: this number was not asked about")
        elif verdict.number in by_number:
            same = by_number[verdict.number].supported == verdict.supported
            contrary |= set() if same else {verdict.number}
            dropped.append(f"verdict {verdict.number}: {'repeats' if same else 'contradicts'} an earlier one")
        else:
            by_number[verdict.number] = verdict
    for number in sorted(contrary):
        del by_number[number]
        dropped.append(f"verdict {number}: contradicted by a later one")
    missing = tuple(number for number in numbers if number not in by_number)
    return Aligned(dict(sorted(by_number.items())), missing, tuple(dropped))


def number_of(value: object) -> int | None:
    """The whole number in a JSON value: 2, 2.0, "2", "Statement 2", "[2]"; None when there is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        value = int(value) if value.is_integer() and abs(value) <= LARGEST_NUMBER else None
    if isinstance(value, str):
        found = re.fullmatch(r"[\s#(\[]*(?:[^\W\d_]{1,14}[\s_.#(\[]*)?(\d{1,7})[\s.):\]]{0,3}", value)
        value = int(found[1]) if found else None
    return value if isinstance(value, int) and abs(value) <= LARGEST_NUMBER else None
