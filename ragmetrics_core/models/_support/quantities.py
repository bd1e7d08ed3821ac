"""Numbers with their units: what the digits can stand for, and when two numbers agree."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ragmetrics_core.models._support.vocabulary import UNITS, MeasureUnit

__all__ = ["PlacedQuantity", "Quantity", "readings", "unit_name", "with_shared_units"]

_LIST_GAP = re.compile(
    r"\s*(?:,|，|、|-|–|/)?\s*(?:and|or|to|und|oder|bis|et|ou|à|y|o|e|a|en|of|至|到|和|或)?\s*", re.IGNORECASE
)
_ORDINAL_OR_PLURAL = frozenset({"st", "nd", "rd", "th", "s", "er", "ème", "e"})
_CJK_UNITS = tuple(sorted((name for name in UNITS if name > "\u3000"), key=len, reverse=True))


class Quantity(NamedTuple):
    """A number of a sentence.

    Attributes:
        readings: the values that the digits can stand for ("1.200" is 1.2 and 1200), as decimal strings.
        unit: its unit, when it has one.
        text: as the sentence writes it, with its unit.
        segment: in which comma-separated part of the sentence it stands.
    """

    readings: frozenset[str]
    unit: MeasureUnit | None
    text: str
    segment: int

    def agrees(self, other: "Quantity") -> bool:
        """Whether both can mean the same: an equal number with a unit that fits, or an equal amount."""
        if self.unit is None or other.unit is None or self.unit == other.unit:
            return bool(self.readings & other.readings)
        if self.unit.dimension != other.unit.dimension:
            return False
        return any(
            _close(one * self.unit.factor, two * other.unit.factor)
            for one in self.values
            for two in other.values
        )

    @property
    def key(self) -> str:
        """The reading by which it is looked up among a sentence's tokens: the shortest one."""
        return min(self.readings, key=lambda reading: (len(reading), reading))

    @property
    def values(self) -> tuple[float, ...]:
        """The readings that are decimal numbers."""
        return tuple(float(reading) for reading in self.readings if _is_decimal(reading))


class PlacedQuantity(NamedTuple):
    """A quantity and where it stands in its sentence."""

    quantity: Quantity
    start: int
    end: int


def readings(digits: str) -> frozenset[str]:
    """The values that digits with points, commas and spaces can stand for.

    >>> sorted(readings("1,200")), sorted(readings("1 200")), sorted(readings("007"))
    (['1.2', '1200'], ['1200'], ['7'])
    """
    digits = digits.strip("$€£¥").replace("−", "-")
    if "^" in digits or ":" in digits:
        return frozenset({digits})
    bare = re.sub(r"[ \u00a0\u2009\u202f'’]", "", digits)
    if not re.search(r"[.,]", bare):
        return frozenset({_normal(bare)})
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", bare):
        whole = {_normal(bare.replace(",", ""))}
        is_either = bare.count(",") == 1 and "." not in bare
        return frozenset(whole | {_normal(bare.replace(",", "."))} if is_either else whole)
    if re.fullmatch(r"\d+\.\d{3}", bare):
        return frozenset({_normal(bare), _normal(bare.replace(".", ""))})
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+", bare):
        return frozenset({_normal(bare.replace(".", "").replace(",", "."))})
    if re.fullmatch(r"\d+,\d+", bare):
        return frozenset({_normal(bare.replace(",", "."))})
    return frozenset({_normal(bare)})


def _normal(number: str) -> str:
    """Without leading zeros and without zeros at the end of a fraction."""
    number = number.lstrip("0") or "0"
    if number.count(".") == 1:
        number = number.rstrip("0").rstrip(".")
    return f"0{number}" if number.startswith(".") else number or "0"


def _is_decimal(reading: str) -> bool:
    return re.fullmatch(r"\d{1,30}(?:\.\d{1,30})?", reading) is not None


def _close(one: float, two: float) -> bool:
    return abs(one - two) <= 1e-6 * max(abs(one), abs(two))


def unit_name(text: str, *, attached: bool) -> str | None:
    """The unit that a word is; right behind the digits an "s" makes a decade of them ("1990s")."""
    # a single letter is a unit only as it is written: "8 S" are no seconds
    for name in (text, text.rstrip("."), text.casefold() if len(text) > 2 else text):
        if name in UNITS and not (attached and name in _ORDINAL_OR_PLURAL):
            return name
    # "100毫秒以内": units of scripts without spaces stand at the start of a run
    return next((name for name in _CJK_UNITS if text.startswith(name)), None)


def with_shared_units(found: Sequence[PlacedQuantity], plain: str) -> tuple[Quantity, ...]:
    """Give the numbers of a list the unit that stands once at its end ("15, 30 and 60 kHz")."""
    quantities = [each.quantity for each in found]
    for place in range(len(found) - 2, -1, -1):
        unit = quantities[place + 1].unit
        gap = plain[found[place].end : found[place + 1].start]
        listed = len(gap) < 12 and _LIST_GAP.fullmatch(gap) is not None
        if quantities[place].unit is None and unit is not None and listed:
            quantities[place] = quantities[place]._replace(unit=unit)
    return tuple(quantities)
