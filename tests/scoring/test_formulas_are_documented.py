"""Each formula says what it computes, and its examples are true."""

import doctest
import inspect

import pytest

from ragmetrics_core import scoring
from ragmetrics_core.scoring import _claims as claims
from ragmetrics_core.scoring import _ranking as ranking
from ragmetrics_core.scoring import _rankings as rankings
from ragmetrics_core.scoring import _retrieval as retrieval
from ragmetrics_core.scoring import _similarity as similarity
from ragmetrics_core.scoring import _spread as spread
from ragmetrics_core.scoring import _text as text

MODULES = [claims, ranking, rankings, retrieval, similarity, spread, text]
BATCHED = [getattr(rankings, name) for name in rankings.__all__ if name.islower() and name != "table"]
FORMULAS = [
    value for name in scoring.__all__ if inspect.isfunction(value := getattr(scoring, name))
] + BATCHED


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_in_the_docstrings_are_true(module):
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.__name__)
@pytest.mark.parametrize("part", [".. math::", "ange", "ndefined", "References:", ">>> "])
def test_every_formula_states_its_math_range_undefined_cases_source_and_an_example(formula, part):
    # "Its range is ..." and "Range [0, 1]", "Undefined ..." and "for which ... is undefined"
    assert part in formula.__doc__


def test_every_formula_of_the_modules_is_exported():
    # `rankings` has the forms of `retrieval` for many queries, and is used under its own name
    public = [name for module in MODULES if module is not rankings for name in module.__all__]
    assert sorted(public) == scoring.__all__
