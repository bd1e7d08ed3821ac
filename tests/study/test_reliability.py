"""Krippendorff's alpha and weighted kappa."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("krippendorff", reason="krippendorff is not installed")
pytest.importorskip("sklearn", reason="scikit-learn is not installed")

import krippendorff
from sklearn.metrics import cohen_kappa_score

from ragmetrics_core.study._reliability import krippendorff_alpha, weighted_kappa

LIKERT = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0])
MAYBE = st.one_of(st.none(), LIKERT)
TABLES = st.lists(st.lists(MAYBE, min_size=3, max_size=3), min_size=3, max_size=25)


def usable(table) -> bool:
    paired = [[v for v in row if v is not None] for row in table]
    paired = [row for row in paired if len(row) > 1]
    return len(paired) > 1 and len({v for row in paired for v in row}) > 1


@given(TABLES.filter(usable), st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_is_that_of_the_krippendorff_package(table, level):
    units = [[value for value in row if value is not None] for row in table]
    data = np.array([[np.nan if value is None else value for value in row] for row in table]).T
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement=level)
    assert krippendorff_alpha(units, level=level, count=10).value.value == pytest.approx(expected, abs=1e-9)


@given(
    st.lists(st.tuples(LIKERT, LIKERT), min_size=3, max_size=40).filter(
        lambda pairs: (
            len({v for pair in pairs for v in pair}) > 1
            and not all(len({pair[side] for pair in pairs}) == 1 for side in (0, 1))
        )
    ),
    st.sampled_from(["none", "linear", "quadratic"]),
)
def test_kappa_is_that_of_scikit_learn(pairs, weights):
    one, other = zip(*pairs, strict=True)
    expected = cohen_kappa_score(
        [int(v) for v in one],
        [int(v) for v in other],
        labels=[1, 2, 3, 4, 5],
        weights=None if weights == "none" else weights,
    )
    found = weighted_kappa(one, other, weights=weights, count=10).value.value
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("coefficient", ["alpha", "kappa"])
def test_ratings_from_0_to_100_do_not_take_the_memory_of_2000_tables(coefficient):
    one, other = np.random.default_rng(1).integers(0, 101, (2, 300)).astype(float).tolist()
    weighted_kappa([1.0, 2.0], [2.0, 2.0])  # what is imported at the first use is not counted
    tracemalloc.start()
    found = (
        krippendorff_alpha(list(zip(one, other, strict=True)))
        if coefficient == "alpha"
        else weighted_kappa(one, other)
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.value.low < found.value.value < found.value.high
    # about 95 values occur: 2,000 tables of 95 * 95 numbers of 8 bytes would be 144 MB, and there are several
    assert peak < 60e6


def test_perfect_agreement_has_no_interval_and_a_reason():
    values = [float(place % 5) for place in range(40)]
    for found in (weighted_kappa(values, values), krippendorff_alpha([(each, each) for each in values])):
        assert (found.value, found.note) == ((1.0, None, None), "all agree: resamples give no interval")


@pytest.mark.parametrize(
    ("found", "note"),
    [
        (krippendorff_alpha([[3.0, 3.0], [3.0, 3.0]]), "every label is 3: alpha has no meaning"),
        (krippendorff_alpha([[1.0], [2.0]]), "fewer than two units have two labels"),
        (weighted_kappa([True, True], [True, True]), "every label is True: kappa has no meaning"),
        (weighted_kappa([True], [False]), "fewer than two units were labelled by both"),
    ],
)
def test_what_has_no_coefficient_has_a_reason(found, note):
    assert (found.value.value, found.note) == (None, note)
