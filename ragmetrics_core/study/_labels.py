"""Labels that people gave: read from CSV or JSON lines, and taken from corrections of verdicts."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import inf
from pathlib import Path
from sys import float_info
from typing import Any, NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import ALIASES
from ragmetrics_core.records import Record
from ragmetrics_core.samples import Label
from ragmetrics_core.shapes import Json
from ragmetrics_core.study._scores import Scores

__all__ = [
    "HumanLabel",
    "Judgement",
    "LabelledUnit",
    "Value",
    "corrected_verdicts",
    "good_values",
    "is_good",
    "label_names",
    "labelled_correct",
    "labelled_verdicts",
    "likert_threshold",
    "read_labels",
    "units_of",
]

LIKERT_GOOD = 4.0

_YES = frozenset({"true", "yes", "correct", "right", "supported", "good"})
_NO = frozenset({"false", "no", "wrong", "incorrect", "not supported", "bad"})
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
    """What is labelled: a sample, or one statement (verdict number) of a metric's record of it."""

    sample_id: str
    metric: str | None = None
    statement: int | None = None


class HumanLabel(NamedTuple):
    """What one person said about one unit."""

    unit: LabelledUnit
    annotator: str
    label: str
    value: Value


class Judgement(NamedTuple):
    """The judge's own decision about a statement, and that of a person who looked at it."""

    unit: LabelledUnit
    by: str
    judge: bool | None
    person: bool


def read_labels(path: Path) -> list[HumanLabel]:
    """Read labels: columns sample_id, annotator, value, and optionally label, metric and statement.

    An empty value means that the annotator skipped the unit. `true`, `yes`, `correct` and the like are truth
    values, numbers are numbers, all else stays text. In a label that has numbers or other texts only
    true, yes, false and no are.

    Args:
        path: a CSV file with a header, or JSON lines.

    Raises:
        ConfigError: a column is missing, or an annotator said two things about one unit.
    """
    found: dict[tuple[LabelledUnit, str, str], HumanLabel] = {}
    for where, row in _rows(path):
        named = {_column(name): value for name, value in row.items()}
        for column in ("sample_id", "annotator", "value"):
            if column not in named:
                raise ConfigError(f"{where} has no {column}; columns are sample_id, annotator, label, value")
        value = _value(named["value"], where)
        if value is None:
            continue
        unit = LabelledUnit(
            str(named["sample_id"]).strip(), _text(named.get("metric")), _whole(named.get("statement"), where)
        )
        each = HumanLabel(unit, str(named["annotator"]).strip(), _text(named.get("label")) or "label", value)
        key = (unit, each.annotator, each.label)
        if key in found and found[key].value != value:
            raise ConfigError(
                f"{where}: {each.annotator} labelled {unit.sample_id} twice, as {found[key].value} and "
                f"{value}"
            )
        found[key] = each
    if not found:
        raise ConfigError(f"{path} has no label with a value")
    return _as_truth([*found.values()])


@lru_cache
def _column(name: str) -> str:
    """What a column is called here."""
    plain = name.strip().casefold()
    return _ALIASES.get(plain, plain)


def _as_truth(labels: list[HumanLabel]) -> list[HumanLabel]:
    """The labels with "correct" and "wrong" as truth values, where a label has nothing else."""
    strange = {
        each.label
        for each in labels
        if isinstance(each.value, float) or (isinstance(each.value, str) and is_good(each.value) is None)
    }
    return [
        each._replace(value=bool(is_good(each.value)))
        if isinstance(each.value, str) and each.label not in strange
        else each
        for each in labels
    ]


def label_names(labels: Iterable[HumanLabel]) -> tuple[str, ...]:
    """What is labelled, the most frequent first."""
    return tuple(name for name, _ in Counter(each.label for each in labels).most_common())


def units_of(labels: Iterable[HumanLabel], label: str) -> dict[LabelledUnit, dict[str, Value]]:
    """For each unit what each annotator said."""
    found: dict[LabelledUnit, dict[str, Value]] = {}
    for each in labels:
        if each.label == label:
            found.setdefault(each.unit, {})[each.annotator] = each.value
    return found


def corrected_verdicts(records: Iterable[Record]) -> Iterator[Judgement]:
    """The verdicts that people overruled or confirmed with `ragmetrics correct`."""
    for record in records:
        for correction in record.corrections:
            beside = [each for each in record.verdicts if each.path == correction.path]
            if correction.item <= len(beside):
                verdict = beside[correction.item - 1]
                changed = verdict.overruled is not None
                yield Judgement(
                    LabelledUnit(record.sample_id, record.signature, verdict.number),
                    correction.by or "a person",
                    verdict.overruled if changed else verdict.supported,
                    correction.supported,
                )


def labelled_verdicts(records: Iterable[Record], labels: Iterable[HumanLabel]) -> Iterator[Judgement]:
    """The judge's verdicts beside what annotators said of the same statements.

    A label names the statement by the metric (its name or signature) and the verdict's number; a value that
    is neither yes nor no, and a statement that the record does not have, are left out.
    """
    said: dict[tuple[str, str], list[HumanLabel]] = {}
    for each in labels:
        if each.unit.metric is not None and each.unit.statement is not None:
            metric = ALIASES.get(each.unit.metric, each.unit.metric)
            said.setdefault((each.unit.sample_id, metric), []).append(each)
    for record in records:
        verdicts = {verdict.number: verdict for verdict in record.verdicts}
        for name in (record.signature, record.metric):
            for each in said.get((record.sample_id, name), ()):
                verdict, person = verdicts.get(each.unit.statement or 0), is_good(each.value)
                if verdict is not None and person is not None:
                    own = verdict.supported if verdict.overruled is None else verdict.overruled
                    unit = LabelledUnit(record.sample_id, record.signature, verdict.number)
                    yield Judgement(unit, each.annotator, own, person)


def is_good(value: Value, *, at_least: float | None = None) -> bool | None:
    """Whether a value means good: true, 1, "correct", or a number of at least `at_least`.

    >>> is_good(True), is_good(3.0, at_least=4.0), is_good("perhaps")
    (True, False, None)
    """
    match value:
        case bool():
            return value
        case str():
            word = value.strip().casefold()
            return True if word in _YES else False if word in _NO else None
        case _ if at_least is not None:
            return value >= at_least
        case _:
            return bool(value) if value in (0.0, 1.0) else None


def labelled_correct(scores: Scores, label: str, *, at_least: float | None = None) -> dict[str, bool]:
    """Which samples a label of the run calls correct.

    Args:
        scores: the run.
        label: the label's name.
        at_least: from which number on a sample is correct; needed for numbers other than 0 and 1.

    Raises:
        ConfigError: no sample has the label, or its values are neither good nor bad.
    """
    values = {each: labels[label] for each, labels in scores.labels.items() if labels.get(label) is not None}
    if not values:
        raise ConfigError(
            f"no sample of {scores.name} has the label {label!r}; labels are: {scores.label_names}"
        )
    return good_values(values, label, at_least=at_least)


def good_values(values: Mapping[str, Label], label: str, *, at_least: float | None = None) -> dict[str, bool]:
    """Which values mean good.

    Raises:
        ConfigError: one of them is neither good nor bad.
    """
    found = {each: is_good(value, at_least=at_least) for each, value in values.items() if value is not None}
    strange = next((each for each, good in found.items() if good is None), None)
    if strange is not None:
        hint = (
            "say from which number on with --correct-from"
            if isinstance(values[strange], int | float)
            else ("values are yes and no, true and false, correct and wrong, 1 and 0")
        )
        raise ConfigError(
            f"the label {label!r} of {strange} is {values[strange]!r}, neither good nor bad: {hint}"
        )
    return {each: bool(good) for each, good in found.items()}


def likert_threshold(values: Sequence[Value]) -> float | None:
    """4 for a scale of 1 to 5, where "good" begins; None for any other values."""
    numbers = [each for each in values if isinstance(each, float)]
    is_likert = len(numbers) == len(values) and all(each in (1.0, 2.0, 3.0, 4.0, 5.0) for each in numbers)
    return LIKERT_GOOD if is_likert and any(each > 1 for each in numbers) else None


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    where = path.name
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows: Iterable[Any] = csv.DictReader(file, restkey="") if path.suffix.lower() == ".csv" else file
            for number, row in enumerate(rows, start=2 if rows is not file else 1):
                where = f"{path.name} line {number}"
                read: Json = json.loads(row) if isinstance(row, str) and row.strip() else row
                if isinstance(read, dict):
                    yield where, read
                elif not isinstance(row, str) or row.strip():
                    raise ConfigError(f"{where} is no JSON object")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is no CSV file or JSON lines in UTF-8: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where} is no JSON: {error}") from error


def _value(value: object, where: str) -> Value | None:
    match value:
        case None:
            return None
        case bool():
            return value
        case int() | float():
            number = float(value) if abs(value) <= float_info.max else inf
        case str() if not value.strip():
            return None
        case str():
            word = value.strip().casefold()
            if word in ("true", "yes"):
                return True
            if word in ("false", "no"):
                return False
            try:
                number = float(word)
            except ValueError:
                return value.strip()
        case _:
            raise ConfigError(f"{where}: the value {value!r} is no number, text or truth value")
    if number - number != 0:
        raise ConfigError(f"{where}: the value {value!r} is no finite number")
    return number


def _text(value: object) -> str | None:
    return None if value is None or not str(value).strip() else str(value).strip()


def _whole(value: object, where: str) -> int | None:
    text = _text(value)
    if text is None:
        return None
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        raise ConfigError(f"{where}: the statement {text!r} is no number") from None
