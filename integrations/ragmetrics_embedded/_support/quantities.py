"""Numbers: what their digits can stand for."""

import re
from typing import Final

__all__ = ["readings"]


# "1,200" is of the first two kinds, "1.200" of the last two.
_COMMAS_GROUP: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_COMMA_DIVIDES: Final = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d+,\d+|\d+\.\d{3}")
_POINT_DIVIDES: Final = re.compile(r"\d+\.\d+")


def readings(digits: str) -> frozenset[str]:
    """The values that digits with points, commas and spaces can stand for.

    >>> sorted(readings("1,200")), sorted(readings("1 200")), sorted(readings("007"))
    (['1.2', '1200'], ['1200'], ['7'])
    """
    digits = digits.strip("$€£¥").replace("−", "-")
    if (clock := re.fullmatch(r"(\d{1,2}):(\d{1,2})", digits)) is not None:
        return frozenset({f"{int(clock[1])}:{int(clock[2]):02}"})
    if ":" in digits:
        return frozenset({digits})
    bare = re.sub(r"[ \u00a0\u2009\u202f'’]", "", digits)
    values: set[str] = set()
    if _COMMAS_GROUP.fullmatch(bare):
        values.add(_normal(bare.replace(",", "")))
    if _COMMA_DIVIDES.fullmatch(bare):
        values.add(_normal(bare.replace(".", "").replace(",", ".")))
    if not values or _POINT_DIVIDES.fullmatch(bare):
        values.add(_normal(bare))
    return frozenset(values)


def _normal(number: str) -> str:
    """Without leading zeros and without zeros at the end of a fraction."""
    number = number.lstrip("0") or "0"
    if number.count(".") == 1:
        number = number.rstrip("0").rstrip(".")
    return f"0{number}" if number.startswith(".") else number or "0"
