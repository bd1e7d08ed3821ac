"""Labels that people gave: read from files, and taken from corrections of verdicts."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from sys import float_info
from typing import Any, NamedTuple

from ragmetrics_core.boundary.shapes import is_mapping
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Verdict
from ragmetrics_core.metrics import ALIASES
from ragmetrics_core.records import Record
from ragmetrics_core.runs import read_rows
from ragmetrics_core.study._label_vocabulary import (
    LabelKind,
    LabelReading,
    is_absent,
    number_in,
    rater_named,
    reading_of,
    yes_or_no,
)
from ragmetrics_core.study._scores import Scores

__all__ = [
    "HumanLabel",
    "Judgement",
    "LabelledUnit",
    "LabelledUnits",
    "Value",
    "corrected_verdicts",
    "good_values",
    "is_good",
    "label_names",
    "labelled_correct",
    "labelled_verdicts",
    "likert_threshold",
    "on_unit_scale",
    "read_labels",
    "read_units",
    "scale_of",
]

LIKERT_GOOD = 4.0

_ALIASES = {
    "sample": "sample_id",
    "id": "sample_id",
    "rater": "annotator",
    "by": "annotator",
    "score": "value",
    "number": "statement",
}


# What a person says about a unit: a truth value, a number or a text.
Value = bool | float | str


class LabelledUnit(NamedTuple):
    """The labelled unit: a sample, or one statement (verdict number) in a metric's record of it."""

    sample_id: str
    metric: str | None = None
    statement: int | None = None


class HumanLabel(NamedTuple):
    """The label that one person gave one unit, as the person wrote it; `read_units` gives its meaning."""

    unit: LabelledUnit
    annotator: str
    label: str
    value: Value


class LabelledUnits(NamedTuple):
    """One label, read.

    Attributes:
        label: name of the label.
        units: values by unit and annotator; True is good.
        reading: rules by which they were read.
        notes: remarks on the reading for readers.
    """

    label: str
    units: Mapping[LabelledUnit, Mapping[str, Value]]
    reading: LabelReading
    notes: tuple[str, ...]


class Judgement(NamedTuple):
    """The judge's decision on a statement, and a person's decision on it."""

    unit: LabelledUnit
    by: str
    judge: bool | None
    person: bool


def read_labels(path: Path) -> list[HumanLabel]:
    """Read labels: columns sample_id, annotator, value, and optionally label, metric and statement.

    Each annotator has rows, or a column with a name like "rater 1", "annotator_B" or "rater: Anna".

    An empty value, or one such as N/A, means that the annotator skipped the unit. Yes, no, true and false are
    truth values, numbers are numbers, all others are texts, which `read_units` reads.

    Args:
        path: a file of any format that `read_samples` reads.

    Raises:
        ConfigError: a column is missing, or an annotator gave one unit two values.
    """
    labels: dict[tuple[LabelledUnit, str, str], HumanLabel] = {}
    for where, row in _rows(path):
        named = {_column(name): cell for name, cell in row.items()}
        for column in ("sample_id", "annotator", "value"):
            if column not in named:
                raise ConfigError(
                    f"{where} has no {column}; columns are sample_id, annotator, label, value, or sample_id "
                    "and one for each annotator: 'rater 1', 'rater: Anna'"
                )
        value = _value(named["value"], where)
        if value is None:
            continue
        # an empty cell says nothing
        texts = {name: "" if cell is None else str(cell).strip() for name, cell in named.items()}
        unit = LabelledUnit(texts["sample_id"], texts.get("metric") or None, _statement(texts, where))
        label = HumanLabel(unit, texts["annotator"], texts.get("label") or "label", value)
        first = labels.setdefault(label[:3], label)
        if first.value != value:
            raise ConfigError(
                f"{where}: {label.annotator} labelled {unit.sample_id} twice, as {first.value} and {value}"
            )
    if not labels:
        raise ConfigError(f"{path} has no label with a value")
    return list(labels.values())


@lru_cache
def _column(name: str) -> str:
    """Canonical name of a column."""
    plain = name.strip().casefold()
    return _ALIASES.get(plain, plain)


def label_names(labels: Iterable[HumanLabel]) -> tuple[str, ...]:
    """Names of the labels, the most frequent first."""
    return tuple(name for name, _ in Counter(label.label for label in labels).most_common())


def read_units(
    labels: Sequence[HumanLabel],
    label: str | None = None,
    *,
    good: Collection[str] = (),
    kinds: Collection[LabelKind] = ("truth", "rating"),
) -> LabelledUnits:
    """Read one label: its values by unit and annotator, as truth values or numbers.

    Args:
        labels: human labels.
        label: name of the label; required if there are several.
        good: values that count as good; all others are then bad.
        kinds: kinds of labels that the caller can use; values of a "text" or "mixed" label stay as they are.

    Raises:
        ConfigError: the label is missing, unknown or ambiguous, of a different kind, or decides nothing.
    """
    names = label_names(labels)
    if not names:
        raise ConfigError("there are no labels")
    if label is None and len(names) > 1:
        raise ConfigError(f"there are several labels ({', '.join(names)}): name one with --label")
    name = label or next(iter(names))
    if name not in names:
        raise ConfigError(f"there is no label {name!r}; there is {', '.join(names)}")
    of_name = [each for each in labels if each.label == name]
    values = [each.value for each in of_name]
    reading = reading_of(name, values, good=good, kinds=kinds)
    units: dict[LabelledUnit, dict[str, Value]] = {}
    for unit, annotator, _, value in of_name:
        meaning = value if reading.problem else reading.value(value)
        # a lone 1 may be the worst of five points: it stays a number, whose scale can be asked for
        if isinstance(meaning, bool) and not isinstance(value, bool) and number_in(value) is not None:
            meaning = float(meaning)
        if meaning is not None:
            units.setdefault(unit, {})[annotator] = meaning
    notes = tuple(reading.notes(values))
    if not units:
        raise ConfigError("; ".join(notes))
    return LabelledUnits(name, units, reading, notes)


def corrected_verdicts(records: Iterable[Record]) -> Iterator[Judgement]:
    """The verdicts that people overruled or confirmed with `ragmetrics correct`."""
    for record in records:
        for correction in record.corrections:
            beside = [verdict for verdict in record.verdicts if verdict.path == correction.path]
            for verdict in beside[correction.item - 1 : correction.item]:
                by, person = correction.by or "a person", correction.supported
                yield Judgement(_unit(record, verdict), by, _own(verdict), person)


def labelled_verdicts(
    records: Iterable[Record],
    labels: Iterable[HumanLabel],
    *,
    label: str | None = None,
    good: Collection[str] = (),
) -> Iterator[Judgement]:
    """The judge's verdicts with the annotators' labels on the same statements.

    A label identifies the statement by metric (name or signature) and verdict number. Ratings, texts, words
    that decide nothing, and statements that the record does not have, are left out.

    Args:
        records: records of scores.
        labels: human labels.
        label: name of the studied label, which has the `good` values. Default: all labels have them.
        good: values that count as good.

    Raises:
        ConfigError: a label that is not studied mixes known words with unknown ones.
    """
    by_name: dict[str, list[HumanLabel]] = {}
    for one in labels:
        if one.unit.metric is not None and one.unit.statement is not None:
            by_name.setdefault(one.label, []).append(one)
    by_record: dict[tuple[str, str], list[tuple[HumanLabel, bool]]] = {}
    for name, of_name in by_name.items():
        kinds: list[LabelKind] = ["truth", "rating", "text"]
        is_chosen = label in (None, name)
        if is_chosen:  # `study_agreement` refuses it, or compares its values as texts
            kinds.append("mixed")
        values = [one.value for one in of_name]
        reading = reading_of(name, values, good=good if is_chosen else (), kinds=kinds)
        if reading.kind != "truth":
            continue
        for one in of_name:
            person = reading.value(one.value)
            if isinstance(person, bool):
                metric = ALIASES.get(one.unit.metric or "", one.unit.metric or "")
                by_record.setdefault((one.unit.sample_id, metric), []).append((one, person))
    for record in records:
        verdicts = {verdict.number: verdict for verdict in record.verdicts}
        for name in (record.signature, record.metric):
            for one, person in by_record.get((record.sample_id, name), ()):
                verdict = verdicts.get(one.unit.statement or 0)
                if verdict is not None:
                    yield Judgement(_unit(record, verdict), one.annotator, _own(verdict), person)


def _unit(record: Record, verdict: Verdict) -> LabelledUnit:
    return LabelledUnit(record.sample_id, record.signature, verdict.number)


def _own(verdict: Verdict) -> bool | None:
    """The judge's own decision, before a person overruled it."""
    return verdict.supported if verdict.overruled is None else verdict.overruled


def is_good(value: Value, *, at_least: float | None = None) -> bool | None:
    """Whether a value that was read is good: True, 1, or a number of at least `at_least`.

    >>> is_good(True), is_good(3.0, at_least=4.0), is_good("perhaps")
    (True, False, None)
    """
    if isinstance(value, bool | str):
        return value if isinstance(value, bool) else None
    if at_least is not None:
        return value >= at_least
    return bool(value) if value in (0.0, 1.0) else None


def labelled_correct(
    scores: Scores, label: str, *, at_least: float | None = None, good: Collection[str] = ()
) -> dict[str, bool]:
    """Whether each sample is correct, by a label of the run.

    Args:
        scores: the run.
        label: name of the label.
        at_least: lowest value of a correct sample; required unless values are 0 and 1.
        good: values that count as good; all others are then bad.

    Raises:
        ConfigError: no sample has the label, or its values are neither good nor bad.
    """
    values = {name: value for name, of in scores.labels.items() if (value := of.get(label)) is not None}
    if not values:
        known = scores.label_names
        raise ConfigError(f"no sample of {scores.name} has the label {label!r}; labels are: {known}")
    reading = reading_of(label, values.values(), good=good)
    meanings = {name: reading.value(value) for name, value in values.items()}
    read = {name: meaning for name, meaning in meanings.items() if meaning is not None}
    return good_values(read, label, at_least=at_least)


def good_values(values: Mapping[str, Value], label: str, *, at_least: float | None = None) -> dict[str, bool]:
    """Whether each value that was read is good.

    Raises:
        ConfigError: one of them is a rating, and there is no lowest correct one.
    """
    correct: dict[str, bool] = {}
    for sample_id, value in values.items():
        good = is_good(value, at_least=at_least)
        if good is None:
            raise ConfigError(
                f"the label {label!r} of {sample_id} is {value!r}, neither good nor bad: give the lowest "
                "correct value with --correct-from"
            )
        correct[sample_id] = good
    return correct


def likert_threshold(values: Sequence[Value]) -> float | None:
    """4 for a scale of 1 to 5, where "good" begins; None for any other values."""
    is_likert = all(isinstance(value, float) and value in (1.0, 2.0, 3.0, 4.0, 5.0) for value in values)
    return LIKERT_GOOD if is_likert and any(value != 1.0 for value in values) else None


def on_unit_scale(values: Sequence[Value], *, scale: tuple[float, float] | None = None) -> list[float]:
    """Labels as numbers from 0 to 1, as scores are.

    Args:
        values: truth values, shares, or numbers on a scale.
        scale: minimum and maximum of the scale. Default: those of `scale_of`.

    Raises:
        ConfigError: a value is a text or outside the scale, or the values do not determine the scale.

    >>> on_unit_scale([1.0, 4.0, 5.0])
    [0.0, 0.75, 1.0]
    """
    low, high = scale_of(values) if scale is None else scale
    numbers = _numbers(values)
    for outside in (number for number in numbers if not low <= number <= high):
        raise ConfigError(
            f"the label {outside:g} is outside the scale {low:g} to {high:g}: name its ends with --scale"
        )
    return [(number - low) / (high - low) for number in numbers]


def scale_of(values: Sequence[Value]) -> tuple[float, float]:
    """The minimum and maximum of the labels' scale: 0 to 1, or 1 to 5 if a label is 5.

    Raises:
        ConfigError: a value is a text, or the values do not determine their scale: ratings from 1 to 4 may
            have a scale of 1 to 4 or 1 to 5, and all ones may be the best or the worst.

    >>> scale_of([0.0, 1.0]), scale_of([0.25, 0.5]), scale_of([2.0, 5.0])
    ((0.0, 1.0), (0.0, 1.0), (1.0, 5.0))
    """
    numbers = _numbers(values)
    if all(isinstance(value, bool) for value in values) or not set(numbers) <= {1, 2, 3, 4, 5}:
        return 0.0, 1.0
    if 5 in numbers:
        return 1.0, 5.0
    seen = f"{min(numbers):g} to {max(numbers):g}" if min(numbers) != max(numbers) else f"all {numbers[0]:g}"
    raise ConfigError(
        f"the labels are {seen}, which does not show their scale: give it with --scale, such as --scale 1:5"
    )


def _numbers(values: Sequence[Value]) -> list[float]:
    if texts := [value for value in values if isinstance(value, str)]:
        raise ConfigError(f"the label {texts[0]!r} is a text: a mean needs numbers or truth values")
    return [float(value) for value in values]


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a file with their places; columns of annotators become rows."""
    for where, row, _, problem in read_rows(path):
        place = f"{path.name} {where}"
        if problem is not None or not is_mapping(row):
            raise ConfigError(f"{place}: {problem or 'it is not an object'}")
        columns = {str(name): cell for name, cell in row.items()}
        votes = {rater: cell for name, cell in columns.items() if (rater := rater_named(name)) is not None}
        if not votes or {"annotator", "value"} & set(map(_column, columns)):
            yield place, columns
            continue
        for rater, cell in votes.items():
            yield place, {**columns, "annotator": rater, "value": cell}


def _value(cell: object, where: str) -> Value | None:
    if is_absent(cell):
        return None
    if isinstance(cell, bool):
        return cell
    if isinstance(cell, str):
        if (truth := yes_or_no(cell)) is not None:
            return truth
        try:
            number = float(cell)
        except ValueError:
            return cell.strip()
    elif isinstance(cell, int | float):
        number = cell
    else:
        raise ConfigError(f"{where}: the value {cell!r} is not a number, text or truth value")
    if not abs(number) <= float_info.max:
        raise ConfigError(f"{where}: the value {cell!r} is not a finite number")
    return float(number)


def _statement(texts: Mapping[str, str], where: str) -> int | None:
    text = texts.get("statement")
    try:
        return int(float(text)) if text else None
    except (ValueError, OverflowError):
        raise ConfigError(f"{where}: the statement {text!r} is not a number") from None
