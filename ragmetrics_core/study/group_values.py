"""The values of a label that makes groups: how they are written, and which of them means good."""

from ragmetrics_core.sample import Label
from ragmetrics_core.study.distributions import Alternative

__all__ = ["label_text", "order_of", "rank_of"]

# What a column of two values calls its good one and its bad one.
_PAIRS = {("true", "false"), ("yes", "no"), ("correct", "wrong"), ("right", "wrong"), ("1", "0")}


def label_text(value: Label) -> str:
    """A label's value as a group is called: "true", "2", "Mistral"."""
    match value:
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)


def order_of(one: str, other: str) -> tuple[str, str, Alternative]:
    """Which of two values is taken to be better, and whether that is tested ("greater")."""
    low, high = one.casefold(), other.casefold()
    if (low, high) in _PAIRS:
        return one, other, "greater"
    if (high, low) in _PAIRS:
        return other, one, "greater"
    return one, other, "two-sided"


def rank_of(value: str) -> tuple[bool, float, str]:
    """Good before bad, numbers in their order, then texts."""
    good = any(value.casefold() == pair[0] for pair in _PAIRS)
    try:
        return not good, float(value), value
    except ValueError:
        return not good, 0.0, value
