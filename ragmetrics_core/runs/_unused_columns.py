"""Note on text columns that became labels, for runs with skipped scores."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from ragmetrics_core.runs._stored_lines import Key
from ragmetrics_core.runs._summary import Outcome
from ragmetrics_core.samples import Sample

__all__ = ["unused_columns"]

# Samples that are looked at, and columns that are named.
_SAMPLES: Final = 20
_COLUMNS: Final = 8


def unused_columns(outcomes: Iterable[tuple[Key, Outcome]], sample_of: Callable[[str], Sample]) -> str | None:
    """Note that names the text columns of skipped samples; None if there are none."""
    skipped = {key.sample_id: outcome.reason for key, outcome in outcomes if outcome.status == "skipped"}
    names = {
        name: field
        for sample_id, field in islice(skipped.items(), _SAMPLES)
        for labels in [sample_of(sample_id).labels]
        for name, value in labels.items()
        if isinstance(value, str) and "found_contexts" not in labels  # those are not from columns
    }
    if not names:
        return None
    first, field = next(iter(names.items()))
    listed = ", ".join(map(repr, islice(names, _COLUMNS))) + (" and more" if len(names) > _COLUMNS else "")
    verb = "this text column became a label" if len(names) == 1 else "these text columns became labels"
    return f"{verb}: {listed}; if one holds the {field}, name it: --columns {field}={first!r}"
