"""Label words: names and values of columns, read as good, bad or a number."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Final, Literal, NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.shapes import is_mapping, is_series

__all__ = [
    "LabelReading",
    "Question",
    "decoded",
    "number_in",
    "question_named",
    "rater_named",
    "reading_of",
    "stem",
]

Question = Literal["faithful", "correct", "relevant"]

_AROUND: Final = re.compile(
    r"^(?:(?:label|human|gold|is|has)_(?=.))+|(?:(?<=.)_(?:labels?|verdict|judgement))+$"
)
# What a column's name is about, and whether "yes" in it is good.
_NAMES: Final[Mapping[tuple[Question | None, bool], str]] = {
    ("faithful", True): "faithful faithfulness consistent supported attributable grounded begin_set "
    "hallucination_spans spans annotations labels",
    ("faithful", False): "hallucinated hallucination unfaithful inconsistent unsupported",
    ("correct", True): "correct acceptable correctness accurate",
    ("correct", False): "incorrect wrong",
    ("relevant", True): "relevant relevance",
    ("relevant", False): "irrelevant",
    (None, True): "good judgement judgment label verdict rating ratings utility preference "
    "preference_overall",
    (None, False): "bad",
}
_SENSES: Final = {name: sense for sense, names in _NAMES.items() for name in names.split()}
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


_RATER: Final = re.compile(
    r"(?:annotator|coder|evaluator|labell?er|rater|reviewer|worker)(?:\s*:\s*(.*\S)|[\s_.-]*(?:\d+|[a-z]))",
    re.IGNORECASE,
)


class LabelReading(NamedTuple):
    """Rules for reading the values of a label column.

    Attributes:
        kind: "truth" for good and bad, "rating" for numbers.
        yes_is_good: whether a plain yes is good; False for a column such as "hallucinated".
        good: values that count as good, if the caller named them; all others are then bad.
    """

    kind: Literal["truth", "rating"]
    yes_is_good: bool = True
    good: frozenset[str] = frozenset()

    def value(self, label: object) -> bool | float | None:
        """The meaning of a value; None if it is neither good nor bad.

        Marked spans are bad, an empty list is good; several words are good if one is good and none is bad.
        """
        if self.kind == "rating":
            return number_in(label)
        if is_series(label) or is_mapping(label):
            if not label:
                return True
            if any(not isinstance(word, str) for word in label):
                return False
            values = {self.value(word) for word in label}
            return None if values <= {None} else False not in values
        word = _word(label)
        if self.good:
            return word in self.good if word else None
        if word in _YES or word in _NO:
            return (word in _YES) == self.yes_is_good
        return None if word in _NEITHER else word in _GOOD


def stem(column: str) -> str:
    """The stem of a column's name: "hallucinated" for "label_hallucinated"."""
    return _AROUND.sub("", column.strip().casefold().replace("-", "_").replace(" ", "_"))


def question_named(column: str) -> Question | None:
    """The question that a column of this name answers; None if the name does not show it."""
    return _SENSES.get(stem(column.rpartition(".")[2]), (None, True))[0]


def is_label_name(column: str) -> bool:
    """Whether a column of this name holds labels."""
    return stem(column) in _SENSES


def rater_named(column: str) -> str | None:
    """The annotator whose labels a column of this name holds; None for any other column.

    >>> [rater_named(name) for name in ("rater_1", "Annotator B", "rater: Anna", "rater_id")]
    ['rater_1', 'Annotator B', 'Anna', None]
    """
    found = _RATER.fullmatch(column.strip())
    return None if found is None else found[1] or found[0]


def reading_of(column: str, values: Sequence[object], *, good: Collection[str] = ()) -> LabelReading:
    """Derive the rules for a column of labels from its name and values.

    Raises:
        ConfigError: a value is neither good nor bad nor a number.
    """
    yes_is_good = _SENSES.get(stem(column.rpartition(".")[2]), (None, True))[1]
    if good:
        return LabelReading("truth", yes_is_good, frozenset(map(_word, good)))
    flat = [word for value in values for word in (value if is_series(value) else [value])]
    words = {_word(word) for word in flat if not is_mapping(word)}
    numbers = {number_in(word) for word in words - _NEITHER}
    if numbers and None not in numbers and not numbers <= {0.0, 1.0}:
        return LabelReading("rating", yes_is_good)
    if strange := sorted(words - _YES - _NO - _GOOD - _BAD - _NEITHER):
        raise ConfigError(
            f"the column {column!r} says {', '.join(map(repr, strange[:4]))}: "
            "name the good values with --good VALUE,VALUE"
        )
    return LabelReading("truth", yes_is_good)


def number_in(cell: object) -> float | None:
    """A cell as a number; None if it is not one."""
    with suppress(ValueError, OverflowError):
        number = float(cell) if isinstance(cell, int | float | str) else None
        return number if number is not None and abs(number) < 1e300 else None
    return None


def decoded(cell: object) -> object:
    """A cell that is JSON text of a list or an object, as a CSV file has it, read; otherwise as it is."""
    if isinstance(cell, str) and cell.strip()[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            value: object = json.loads(cell)
            return value
    return cell


def _word(cell: object) -> str:
    return "" if cell is None else "_".join(re.split(r"[\s_-]+", str(cell).casefold())).strip("_")
