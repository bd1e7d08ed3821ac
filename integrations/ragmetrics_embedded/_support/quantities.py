"""Numbers: what their digits can stand for."""

import re

__all__ = ["readings"]


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
