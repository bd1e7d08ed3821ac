"""Labels: the columns of a row that are not fields of a sample."""

import json
import math
import re
from collections.abc import Mapping
from typing import Final, TypeAlias, cast

import numpy as np

from ragmetrics_core.boundary.shapes import is_mapping
from ragmetrics_core.errors import SampleError
from ragmetrics_core.samples._cells import dated, parsed, plain, shown, valid_text

__all__ = ["Label", "label_of", "labels_in"]

Label: TypeAlias = str | float | bool | None

_NUMBER: Final = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def labels_in(column: str, value: object) -> Mapping[str, object]:
    """Labels from a column; a value that is not a mapping is one label."""
    if value is None:
        return {}
    inner = parsed(value)
    if not is_mapping(inner):
        return {column: value}
    if not all(isinstance(key, str) for key in inner):
        raise SampleError(f"{column!r} must be a mapping with text keys, got {shown(value)}")
    return inner


def label_of(name: str, value: object, *, textual: bool) -> Label:
    """The value of a label; lists and mappings as JSON text."""
    value = plain(value)
    value = _typed(value) if textual and isinstance(value, str) else dated(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isinf(value):
        raise SampleError(f"label {name!r} must be a finite number, got {value}")
    if isinstance(value, float) or (isinstance(value, int) and abs(value) <= 2**53):
        return float(value)
    if not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False, default=_jsonable)
        except (TypeError, ValueError, RecursionError):
            raise SampleError(f"label {name!r} cannot be kept, got {shown(value)}") from None
    return valid_text(f"label {name!r}", value)


def _typed(text: str) -> Label:
    """A CSV cell as a truth value or number if it spells one, otherwise the text."""
    truth = {"true": True, "false": False}.get(text.strip().casefold())
    if truth is not None or not _NUMBER.fullmatch(text):
        return text if truth is None else truth
    number = float(text)
    # from 2**53 on a float no longer tells neighbouring whole numbers apart
    return text if abs(number) >= 2**53 else number


def _jsonable(value: object) -> object:
    """JSON form of numpy values and dates in a label, for `json.dumps`."""
    if isinstance(value, np.generic | np.ndarray):
        return cast("object", value.tolist())
    written = dated(value)
    if written is value:
        raise TypeError(type(value).__name__)
    return written
