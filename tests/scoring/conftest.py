"""Formulas are computed anew in each test."""

import pytest

from ragmetrics_core.scoring import _claims, _text


@pytest.fixture(autouse=True)
def nothing_is_remembered():
    """Without this an alteration would be hidden by what another test has computed."""
    for module in (_claims, _text):
        for each in vars(module).values():
            if hasattr(each, "cache_clear"):
                each.cache_clear()
