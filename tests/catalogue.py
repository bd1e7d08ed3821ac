"""The metrics of the catalogue and their variants, with a reason where one cannot be measured here."""

from importlib.util import find_spec

import pytest

from ragmetrics_core.metrics import METRICS

__all__ = ["EVERY", "MEASURABLE", "NOT_EMBEDDED", "VARIANTS", "reason_to_skip"]

NOT_EMBEDDED = frozenset(
    {"nugget_importance", "question_quality", "closed_book"}
    | {f"write_{kind}" for kind in ("single_hop", "multi_hop_specific", "multi_hop_abstract")}
    | {f"write_{kind}" for kind in ("unanswerable", "wrong_premise", "follow_up")}
)
"""The prompts that the embedded judge refuses; it does not know what is vital, and writes no text."""


def reason_to_skip(name: str) -> str:
    """What a metric needs that is not installed; empty when nothing is missing."""
    for module, extra in METRICS[name.partition("/")[0]].packages:
        if find_spec(module) is None:
            return f"needs the extra {extra}: pip install 'ragmetrics-core[{extra}]'"
    return ""


VARIANTS = [f"{name}/{variant}" for name, kind in METRICS.items() for variant in kind.variants]

# for `parametrize`: one of each variant
EVERY = [
    pytest.param(each, marks=pytest.mark.skipif(bool(reason_to_skip(each)), reason=reason_to_skip(each)))
    for each in VARIANTS
]

# for tests that measure several at once
MEASURABLE = [each for each in VARIANTS if not reason_to_skip(each)]
