"""Judges that can answer any prompt."""

import pytest

from ragmetrics_core.testing import RandomJudge


@pytest.fixture(scope="session")
def any_judge() -> type[RandomJudge]:
    """Makes a judge that answers every prompt by the type of its answer, the same for the same seed."""
    return RandomJudge
