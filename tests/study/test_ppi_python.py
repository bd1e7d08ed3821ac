"""The prediction-powered mean beside that of ppi-python, whose values are kept: it brings numba.

`ppi_python.json` has data, the values of `ppi_mean_pointestimate` and `ppi_mean_ci` at weights of 0, 0.5
and 1 and at the weight that the package tunes, and the versions that made them.
"""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from scipy import stats

from ragmetrics_core.study._powered import prediction_powered_mean

KEPT = json.loads(Path(__file__).with_name("ppi_python.json").read_text())
CASES = KEPT["cases"]


def columns(case):
    return tuple(np.array(case[name]) for name in ("labels", "predicted", "unlabelled"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{len(case['labels'])} labels")
@pytest.mark.parametrize("weight", ["0.0", "0.5", "1.0"])
def test_at_a_given_weight_the_mean_is_that_of_ppi_python(case, weight):
    y, f, rest = columns(case)
    expected, low, high = case["with_weight"][weight]
    found, _ = prediction_powered_mean(y, f, rest, weight=float(weight))
    assert found.value == pytest.approx(expected)
    # it takes the normal's quantile and variances by n; this one Student's t and variances by n - 1
    by_n = float(weight) ** 2 * rest.var() / len(rest), (y - float(weight) * f).var() / len(y)
    assert (high - low) / 2 == pytest.approx(stats.norm.ppf(0.975) * sum(by_n) ** 0.5)
    a, b = by_n[0] * len(rest) / (len(rest) - 1), by_n[1] * len(y) / (len(y) - 1)
    # no more degrees of freedom than the labels have
    df = min((a + b) ** 2 / (a**2 / (len(rest) - 1) + b**2 / (len(y) - 1)), len(y) - 1)
    assert (found.high - found.low) / 2 == pytest.approx(stats.t.ppf(0.975, df) * (a + b) ** 0.5)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{len(case['labels'])} labels")
def test_at_the_tuned_weight_it_is_close_to_ppi_python_and_not_narrower(case):
    expected, low, high = case["tuned"]
    found, _ = prediction_powered_mean(*columns(case))
    width = found.high - found.low
    # both tune the weight on the same data by slightly other variances; theirs may leave [0, 1]
    assert found.value == pytest.approx(expected, abs=0.05 * width)
    assert 0.995 <= width / (high - low) <= 1.07


def test_the_kept_values_say_what_made_them():
    assert KEPT["made_by"].startswith("ppi-python 0.2.3")
