"""A run of one metric on one sample, asked by file."""

from pathlib import Path

import pytest

from tests.runs.by_file import SAMPLE, Post


@pytest.fixture
def post(tmp_path: Path) -> Post:
    """A run of one metric on one sample: a call for its statements, then one for the verdict on them."""
    return Post(tmp_path, [SAMPLE], metrics="faithfulness")
