"""What people said, in many words: a column's name and its values read as good, bad or a number."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Final, Literal, NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.shapes import is_mapping, is_series

__all__ = ["LabelReading", "Question", "decoded", "number_of", "question_named", "reading_of", "stem"]

Question = Literal["faithful", "correct", "relevant"]

_PREFIX: Final = re.compile(r"^(label|human|gold|is|has)_|_(label|labels|verdict|judgement)$")
# What a column's name is about, and whether "yes" in it is good.
_SENSES: Final[Mapping[str, tuple[Question | None, bool]]] = {
    **dict.fromkeys(
        ("faithful", "faithfulness", "consistent", "supported", "attributable", "grounded", "begin_set"),
        ("faithful", True),
    ),
    **dict.fromkeys(
        ("hallucinated", "hallucination", "unfaithful", "inconsistent", "unsupported"), ("faithful", False)
    ),
    **dict.fromkeys(("correct", "acceptable", "correctness", "accurate"), ("correct", True)),
    **dict.fromkeys(("incorrect", "wrong"), ("correct", False)),
    **dict.fromkeys(("relevant", "relevance"), ("relevant", True)),
    **dict.fromkeys(("irrelevant",), ("relevant", False)),
    **dict.fromkeys(("good", "judgement", "judgment", "label", "verdict", "rating", "ratings"), (None, True)),
    **dict.fromkeys(("utility", "preference", "preference_overall"), (None, True)),
    **dict.fromkeys(("hallucination_spans", "spans", "annotations", "labels"), ("faithful", True)),
    "bad": (None, False),
}
_YES: Final = frozenset({"true", "yes", "y", "1", "1.0"})
_NO: Final = frozenset({"false", "no", "n", "0", "0.0"})
_GOOD: Final = frozenset(
    {"supported", "supports", "support", "entailment", "entailed", "attributable", "grounded", "factual"}
    | {"correct", "right", "faithful", "good", "consistent", "acceptable", "relevant", "accurate", "pass"}
)
_BAD: Final = frozenset(
    {"unsupported", "partially_supported", "partial", "neutral", "incorrect", "wrong", "bad", "fail"}
    | {"hallucinated", "hallucination", "partial_hallucination", "unfaithful", "inconsistent", "irrelevant"}
    | {"contradiction", "contradicted", "contradictory", "refuted", "refutes", "extrapolatory", "nei"}
    | {"not_enough_info", "not_mentioned"}
    | {f"not_{word}" for word in _GOOD}
)
_NEITHER: Final = frozenset(
    {"", "none", "null", "nan", "generic", "uncooperative", "unclear", "unknown", "skip"}
)


class LabelReading(NamedTuple):
    """How the values of a label column are read.

    Attributes:
        kind: "truth" for good and bad, "rating" for numbers.
        yes_is_good: whether a plain yes in it is good; no for a column such as "hallucinated".
        good: the values that are good, where the caller said so; all others are bad then.
    """

    kind: Literal["truth", "rating"]
    yes_is_good: bool = True
    good: frozenset[str] = frozenset()

    def value(self, given: object) -> bool | float | None:
        """What a value says; None for one that says neither good nor bad."""
        if self.kind == "rating":
            return number_of(given)
        if is_series(given) or is_mapping(given):
            return self._of_several(given)
        word = _word(given)
        if self.good:
            return None if given is None or word == "" else word in self.good
        return _truth(word, yes_is_good=self.yes_is_good)

    def _of_several(self, given: object) -> bool | None:
        """Marked spans are bad, none is good; several words are good when one is and none is bad."""
        assert is_series(given) or is_mapping(given)
        if not given:
            return True
        if any(not isinstance(each, str) for each in given):
            return False
        words = [self.value(each) for each in given]
        return None if set(words) <= {None} else False not in words


def stem(column: str) -> str:
    """A column's name without what is around it: "hallucinated" of "label_hallucinated"."""
    name = column.strip().casefold().replace("-", "_").replace(" ", "_")
    while (shorter := _PREFIX.sub("", name)) != name and shorter:
        name = shorter
    return name


def question_named(column: str) -> Question | None:
    """What a column of this name was asked about; None when the name does not say."""
    return _SENSES.get(stem(column.rpartition(".")[2]), (None, True))[0]


def is_label_name(column: str) -> bool:
    """Whether a column of this name is one of labels."""
    return stem(column) in _SENSES


def reading_of(column: str, values: Sequence[object], *, good: Collection[str] = ()) -> LabelReading:
    """How a column of labels is read, from its name and all its values.

    Raises:
        ConfigError: a value is neither good nor bad nor a number.
    """
    yes_is_good = _SENSES.get(stem(column.rpartition(".")[2]), (None, True))[1]
    if good:
        return LabelReading("truth", yes_is_good, frozenset(map(_word, good)))
    flat = [word for each in values for word in (each if is_series(each) else [each])]
    words = {_word(word) for word in flat if not is_mapping(word)}
    numbers = {number_of(word) for word in words - _NEITHER}
    if numbers and None not in numbers and not numbers <= {0.0, 1.0}:
        return LabelReading("rating", yes_is_good)
    known = _YES | _NO | _GOOD | _BAD | _NEITHER
    if strange := sorted(words - known):
        raise ConfigError(
            f"the column {column!r} says {', '.join(map(repr, strange[:4]))}: "
            "name the values that are good with --good VALUE,VALUE"
        )
    return LabelReading("truth", yes_is_good)


def number_of(given: object) -> float | None:
    """A value as a number; None where it is none."""
    if isinstance(given, bool):
        return float(given)
    try:
        number = float(given) if isinstance(given, int | float | str) else None
    except (ValueError, OverflowError):
        return None
    return number if number is not None and abs(number) < 1e300 else None


def decoded(given: object) -> object:
    """A value that is JSON text of a list or an object, as a CSV file has it, read; otherwise as it is."""
    if isinstance(given, str) and given.strip()[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            value: object = json.loads(given)
            return value
    return given


def _word(given: object) -> str:
    if given is None:
        return ""
    return "_".join(str(given).strip().casefold().replace("-", " ").replace("_", " ").split())


def _truth(word: str, *, yes_is_good: bool) -> bool | None:
    if word in _YES or word in _NO:
        return (word in _YES) == yes_is_good
    return None if word in _NEITHER else word in _GOOD
