"""The boundary to callers, their data and their files: arguments, external values, private texts, writing."""

from ragmetrics_core.boundary.keywords import checked, listing_settings, names_in, refuse_unknown
from ragmetrics_core.boundary.redaction import Redact, redacted
from ragmetrics_core.boundary.shapes import (
    field_of,
    is_dict,
    is_iterable,
    is_list,
    is_mapping,
    is_sequence,
    is_series,
)
from ragmetrics_core.boundary.writing import write_whole

__all__ = [
    "Redact",
    "checked",
    "field_of",
    "is_dict",
    "is_iterable",
    "is_list",
    "is_mapping",
    "is_sequence",
    "is_series",
    "listing_settings",
    "names_in",
    "redacted",
    "refuse_unknown",
    "write_whole",
]
