"""Three samples, as rows, and what is said of rows that are none."""

import pytest

from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs._loading import BadRow, read_samples
from ragmetrics_core.samples import Sample

__all__ = ["Q1", "Q2", "Q3", "ROWS", "bad", "refusal"]

Q1, Q2, Q3 = (Sample(id=f"q{n}", question=f"Question {n}?") for n in (1, 2, 3))
ROWS = [{"id": f"q{n}", "question": f"Question {n}?"} for n in (1, 2, 3)]


def bad(where, message):
    return BadRow(where=where, message=message)


def refusal(source):
    """The message with which a source as a whole is refused, without the folder of the test."""
    with pytest.raises(SampleError) as caught:
        list(read_samples(source))
    return str(caught.value)
