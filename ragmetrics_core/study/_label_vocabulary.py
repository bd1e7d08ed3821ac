"""The one reader of people's labels: names and values, read as good, bad, a number or a side."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final, Literal, NamedTuple

from ragmetrics_core.boundary.shapes import is_mapping, is_series
from ragmetrics_core.errors import ConfigError

__all__ = [
    "LabelKind",
    "LabelReading",
    "Question",
    "decoded",
    "is_absent",
    "is_label_name",
    "number_in",
    "question_named",
    "rater_named",
    "reading_of",
    "stem",
    "yes_or_no",
]

Question = Literal["faithful", "correct", "relevant"]
LabelKind = Literal["truth", "rating", "preference", "text", "mixed"]

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
# The vocabulary, as `_word` spells it: lower case, with "_" between words, and numbers without ".0".
_YES: Final = frozenset({"true", "yes", "y", "1"})
_NO: Final = frozenset({"false", "no", "n", "0"})
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
# The annotator answered, but neither good nor bad; an absent word is no answer at all.
_NEITHER: Final = frozenset({"none", "generic", "uncooperative", "unclear", "unknown", "skip"})
_ABSENT: Final = frozenset({"", "n/a", "na", "#n/a", "<na>", "nan", "null"})
_SIDES: Final[Mapping[str, float]] = {
    **dict.fromkeys(("a", "first"), -1.0),
    **dict.fromkeys(("b", "second"), 1.0),
    **dict.fromkeys(("tie", "equal", "same"), 0.0),
}


_RATER: Final = re.compile(
    r"(?:annotator|coder|evaluator|labell?er|rater|reviewer|worker)(?:\s*:\s*(.*\S)|[\s_.-]*(?:\d+|[a-z]))",
    re.IGNORECASE,
)


class LabelReading(NamedTuple):
    """Rules for reading the values of a label.

    Attributes:
        label: name of the label, or of its column.
        kind: "truth" for good and bad, "rating" for numbers, "preference" for sides of a pair, "text" for
            words that mean neither, and "mixed" for a label of several of these.
        yes_is_good: whether a plain yes is good; False for a label such as "hallucinated".
        good: values that count as good, if the caller named them; all others are then bad.
        problem: why a text or mixed label is neither good nor bad, and the fix.
    """

    label: str
    kind: LabelKind
    yes_is_good: bool = True
    good: frozenset[str] = frozenset()
    problem: str = ""

    def value(self, cell: object) -> bool | float | None:
        """The meaning of a value; None if it is neither good nor bad, and not a number.

        Marked spans are bad, an empty list is good; several words are good if one is good and none is bad.
        """
        if self.kind == "rating":
            return number_in(cell)
        if self.kind == "preference":
            return _SIDES.get(_word(cell), number_in(cell))
        if is_series(cell) or is_mapping(cell):
            if not cell:
                return True
            if any(not isinstance(word, str) for word in cell):
                return False
            values = {self.value(word) for word in cell}
            return None if values <= {None} else False not in values
        word = _word(cell)
        if self.good and word not in _ABSENT:
            is_neither = word in _NEITHER and _plain(word) not in self.good
            return None if is_neither else _plain(word) in self.good
        if word in _YES or word in _NO:
            return (word in _YES) == self.yes_is_good
        return word in _GOOD if word in _GOOD or word in _BAD else None

    def notes(self, values: Iterable[object]) -> Iterator[str]:
        """Sentences on words that are left out, and on a reading that is not plain yes and no."""
        if self.problem:
            yield self.problem
            return
        cells = [cell for cell in _flat(values) if _word(cell) not in _ABSENT]
        if left_out := Counter(_shown(cell) for cell in cells if self.value(cell) is None):
            words = ", ".join(f"{word!r} ({count})" for word, count in left_out.items())
            yield f"the label {self.label!r} says {words}, which decides nothing and is left out"
        if self.kind != "truth":
            return
        good = {_plain(_word(cell)): _shown(cell) for cell in cells if self.value(cell) is True}
        bad = {_plain(_word(cell)): _shown(cell) for cell in cells if self.value(cell) is False}
        if self.good or not self.yes_is_good or max(len(good), len(bad)) > 1:
            good_words, bad_words = _listed(good.values()), _listed(bad.values())
            yield f"the label {self.label!r} takes {good_words} as good and {bad_words} as bad"


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


def reading_of(
    label: str,
    values: Iterable[object],
    *,
    good: Collection[str] = (),
    kinds: Collection[LabelKind] = ("truth", "rating"),
) -> LabelReading:
    """Derive the rules for reading a label from its name and all of its values.

    Args:
        label: name of the label or its column; in one called "hallucinated" a plain yes is bad.
        values: its values.
        good: values that count as good; all others are then bad.
        kinds: kinds of labels that the caller can use.

    Raises:
        ConfigError: the label is of a different kind, or has none of the good values.
    """
    yes_is_good = _SENSES.get(stem(label.rpartition(".")[2]), (None, True))[1]
    words = {_word(cell): _shown(cell) for cell in _flat(values)}
    words = {word: shown for word, shown in words.items() if word not in _ABSENT}
    if "preference" in kinds:
        for word, shown in words.items():
            if word not in _SIDES and number_in(word) is None:
                raise ConfigError(
                    f"the preference {shown!r} is unknown: write numbers above or below 0, or a, b or tie, "
                    f"into {label!r}"
                )
        return LabelReading(label, "preference")
    if good:
        chosen = frozenset(_plain(_word(word)) for word in good)
        if words and chosen.isdisjoint(map(_plain, words)):
            named = _listed(good)
            raise ConfigError(
                f"no value of the label {label!r} is {named}: --good takes values that it has, such as "
                f"{_listed(words.values())}"
            )
        return LabelReading(label, "truth", yes_is_good, chosen)
    decided = {word: shown for word, shown in words.items() if word not in _NEITHER}
    ratings = {shown for word, shown in decided.items() if number_in(word) is not None}
    truths = {shown for word, shown in decided.items() if word in _YES | _NO | _GOOD | _BAD}
    others = set(decided.values()) - ratings - truths
    if ratings <= truths and not others:
        return LabelReading(label, "truth", yes_is_good)
    if not others and truths <= ratings:
        return LabelReading(label, "rating", yes_is_good)
    fix = "name the values that mean good, such as --good fine,ok"
    if ratings <= truths:
        problem = f"the label {label!r} says {_listed(others)}, neither good nor bad: {fix}"
    else:
        texts = _listed((truths | others) - ratings)
        both = f"ratings ({_listed(ratings)}) and words ({texts})"
        problem = f"the label {label!r} has both {both}: write one kind, or {fix}"
    kind: LabelKind = "mixed" if ratings or truths else "text"
    if kind in kinds:
        return LabelReading(label, kind, yes_is_good, problem=problem)
    raise ConfigError(
        problem + ("; or compare them as texts with --level nominal" if "text" in kinds else "")
    )


def is_absent(cell: object) -> bool:
    """Whether a cell holds no label: it is empty, or a word such as "N/A"."""
    return _word(cell) in _ABSENT


def yes_or_no(cell: object) -> bool | None:
    """The truth value of a cell that says true, yes, y, false, no or n; None for any other cell."""
    word = _word(cell)
    if number_in(word) is not None or word not in _YES | _NO:
        return None
    return word in _YES


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


def _flat(values: Iterable[object]) -> Iterator[object]:
    """The values that are words or numbers, and those inside lists; marked spans are not."""
    for value in values:
        for cell in value if is_series(value) else [value]:
            if not is_mapping(cell):
                yield cell


def _word(cell: object) -> str:
    """Canonical spelling of a value: "not_supported" for "Not supported", "1" for "1.0"."""
    if cell is None:
        return ""
    number = None if isinstance(cell, bool) else number_in(cell)
    if number is not None:
        return f"{number:.15g}"
    return "_".join(re.split(r"[\s_-]+", str(cell).casefold())).strip("_")


def _plain(word: str) -> str:
    """One word for every plain yes, and one for every plain no."""
    if word in _YES:
        return "yes"
    return "no" if word in _NO else word


def _shown(cell: object) -> str:
    """A value as a message has it."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:g}" if isinstance(cell, float) else str(cell).strip()


def _listed(words: Iterable[str]) -> str:
    """Some words in a sentence."""
    quoted = [repr(word) for word in sorted(set(words))]
    return ", ".join(quoted[:4]) + (" ..." if len(quoted) > 4 else "") or "nothing"
