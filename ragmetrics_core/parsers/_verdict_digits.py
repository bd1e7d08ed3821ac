"""1 and 0 in a reply: verdicts where the prompt asks for them, else often the number of a statement."""

from collections.abc import Sequence
from functools import lru_cache

from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._reading import Hints

__all__ = ["asks_for_digits", "may_be_numbers"]

_DIGIT = lazy(r"(?<![\w.,/\-])[01](?![\w/\-]|[.,]\d)")
# The number of a statement in the form that prompts show is no verdict that they ask for.
_NUMBER = lazy(r"\"(?:number|index|id)\"\s*:\s*\d+")


@lru_cache(maxsize=256)
def asks_for_digits(form: tuple[str, ...]) -> bool:
    """Whether a prompt's own text names both verdicts, 1 and 0: "Reply with 1 if it is supported, else 0"."""
    return {digit for piece in form for digit in _DIGIT.findall(_NUMBER.sub(" ", piece))} == {"0", "1"}


def may_be_numbers(digits: Sequence[int], hints: Hints) -> bool:
    """Whether ones and zeros, and nothing else, may be the numbers of the statements instead of verdicts.

    A prompt that asks for yes and no gets its number back from many a model: one digit for one statement, or
    0 and 1 for two, is no verdict then. Where nothing is known of the prompt, a digit that is the statement's
    own number is none.
    """
    if asks_for_digits(hints.form):
        return False
    if not hints.form:
        return len(digits) == 1 and tuple(digits) == hints.numbers
    return list(digits) == list(range(len(digits))) or len(digits) == 1
