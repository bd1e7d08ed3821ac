"""Intervals hold the truth about as often as they say; benchmarks/coverage has every design in full."""

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from benchmarks.coverage import DESIGNS, coverage

SIMULATIONS = 150
# rare cases, and those that take long
LEFT_TO_THE_BENCHMARK = ("0.02", "98%", "10%", "r 0.8", "with 0.8", "r 0.7", "3 sets", "d 0.5", "a trend")
CHOSEN = [
    design
    for design in DESIGNS
    if design.n == 100
    and not design.data.endswith("r 0")
    and "naive" not in design.interval
    and not any(word in f"{design.interval} {design.data}" for word in LEFT_TO_THE_BENCHMARK)
]


@pytest.mark.parametrize("design", CHOSEN, ids=lambda design: f"{design.interval}, {design.data}")
def test_a_95_percent_interval_of_100_samples_holds_the_truth(design):
    found = design.exact() if design.exact else coverage(design, simulations=SIMULATIONS, seed=7)
    assert found.without == 0
    # 0.95 and three standard errors of a share of 150 either way
    assert 0.89 <= found.share <= 1.0


def test_an_interval_that_is_too_narrow_is_noticed():
    # 98 % ones in 30 samples: often there is no 0, and Student's interval has no width
    (design,) = (
        each
        for each in DESIGNS
        if (each.interval, each.data, each.n) == ("mean, Student", "98% ones, the rest 0", 30)
    )
    assert coverage(design, simulations=SIMULATIONS).share < 0.7
