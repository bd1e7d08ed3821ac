"""Tests, their adjustment, effect sizes, and the sign flips, against scipy and simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")
pytest.importorskip("statsmodels", reason="statsmodels is not installed")

from scipy import stats
from statsmodels.stats.multitest import multipletests

from ragmetrics_core.study import compare_runs
from ragmetrics_core.study._distributions import mann_whitney
from ragmetrics_core.study._estimates import Estimate, MeanPart
from ragmetrics_core.study._pairs import detectable_difference
from ragmetrics_core.study._tests import effect_size, holm, mean_test, sign_flip

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def groups(one, other):
    names = list(range(len(one) + len(other)))
    return MeanPart(one, names[: len(one)]), MeanPart(other, names[len(one) :])


def test_welch_and_effect_are_undefined_without_spread_or_values():
    for one, other in (([0.5] * 9, [0.6] * 9), ([0.5], [0.6, 0.7, 0.8])):
        assert mean_test(*groups(one, other)) is None
        assert effect_size(*groups(one, other)) == Estimate(None)


def test_an_effect_of_one_standard_deviation_is_one():
    # both variances are v = 1/49 * 50 * 0.04, the means are one sd apart
    one, other = np.tile([0.5, 0.9], 25), np.tile([0.3, 0.7], 25)
    apart = one.std(ddof=1)
    found = effect_size(*groups(other + apart, other))
    assert found.value == pytest.approx(1.0)
    # Bonett's variance by hand: d^2 (2 v^2/49) / (8 v^2) + (2 v / 49) / v = 2/(8*49) + 2/49
    half = 1.959963984540054 * np.sqrt(2 / (8 * 49) + 2 / 49)
    assert (found.low, found.high) == pytest.approx((1 - half, 1 + half))


@settings(max_examples=20)  # statsmodels collects all garbage at each call: long, late in a test run
@given(P_VALUES)
def test_holm_is_that_of_statsmodels(p_values):
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())


def test_a_test_without_p_does_not_count_as_a_test():
    assert holm([0.02, None]) == [0.02, None]


def test_rank_tests_without_a_difference_or_a_value_say_so():
    assert mann_whitney([1.0, 1.0], [1.0], alternative="two-sided") is None
    assert mann_whitney([], [1.0], alternative="two-sided") is None


def test_yes_no_scores_that_gained_16_and_lost_6_have_mcnemars_p():
    differences = [1.0] * 16 + [-1.0] * 6 + [0.0] * 78
    assert sign_flip(differences) == pytest.approx(stats.binomtest(16, 22).pvalue)
    assert sign_flip(differences) == pytest.approx(0.0525, abs=5e-4)


def test_few_differences_are_flipped_in_every_way_as_scipy_does():
    differences = np.random.default_rng(3).normal(0.4, 1, 12)
    found = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip(differences) == pytest.approx(found.pvalue)


def test_many_differences_are_flipped_at_random_by_a_seed():
    differences = np.random.default_rng(4).normal(0.2, 1, 120)
    # with 120 normal differences the flips agree with the t-test
    found = sign_flip(differences)
    assert found == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, abs=0.01)
    assert found == sign_flip(differences)
    assert found != sign_flip(differences, seed=1)


def test_no_p_is_zero():
    assert sign_flip(np.linspace(1, 2, 60)) == pytest.approx(1 / 10_001)


def test_the_differences_of_a_cluster_are_flipped_together():
    # 10 clusters of 10 equal differences each, all above zero: 2 of 2^10 flips, not 2 of 2^100
    differences = np.repeat(np.linspace(0.1, 1, 10), 10)
    assert sign_flip(differences, clusters=[place // 10 for place in range(100)]) == 2 / 2**10


def test_without_a_difference_p_is_undefined_and_without_a_move_it_is_1():
    assert sign_flip([]) is None
    assert sign_flip([0.0, 0.0]) == 1.0


def test_the_family_has_both_tests_of_a_metric_unless_they_are_one(scores):
    before = scores("a", faithfulness=[0.2, 0.9, 0.1, 0.1, 0.2], relevant=[0.0, 1.0, 0.0, 0.0, 0.0])
    after = scores("b", faithfulness=[0.6, 0.8, 0.4, 0.3, 0.5], relevant=[1.0, 1.0, 0.0, 0.0, 1.0])
    graded, yes_no = compare_runs(before, after).metrics
    # 0.1 against the rest is lost by the flips of {}, {0.1}: 2 * 2 of 2^5 = 0.125; both passes gained: 0.5
    assert (graded.p, graded.passes.p) == (0.125, 0.5)
    assert yes_no.p == yes_no.passes.p == 0.5
    # three tests: yes or no is one
    assert (graded.holm, graded.passes.holm) == (3 * 0.125, 1.0)
    assert yes_no.holm == yes_no.passes.holm == 1.0


@pytest.mark.parametrize(
    ("tests", "yes_no"), [pytest.param(1, False, id="one test"), pytest.param(4, True, id="four, yes or no")]
)
def test_the_detectable_difference_is_told_four_times_in_five(tests, yes_no):
    generator = np.random.default_rng(5)

    def draw(n, shift):
        if not yes_no:
            return generator.normal(shift, 0.3, n)
        # 30 % change, in the mean by the shift
        return generator.choice([1.0, -1.0, 0.0], n, p=[0.15 + shift / 2, 0.15 - shift / 2, 0.7])

    shift = float(np.mean([detectable_difference(draw(150, 0.1), tests=tests) for _ in range(40)]))
    told = [sign_flip(draw(150, shift), count=400) < 0.05 / tests for _ in range(300)]
    assert np.mean(told) == pytest.approx(0.8, abs=0.07)


def test_of_many_differences_of_few_sizes_p_is_that_of_all_flips():
    # 60 differences of 1 and 40 of 2: the sum of flips is that of two binomials, whose shares are multiplied
    differences = np.array([1.0] * 33 + [-1.0] * 27 + [2.0] * 24 + [-2.0] * 16)
    reached = abs(differences.sum())
    ones, twos = stats.binom(60, 0.5), stats.binom(40, 0.5)
    exact = sum(
        ones.pmf(a) * twos.pmf(b)
        for a in range(61)
        for b in range(41)
        if abs((2 * a - 60) + 2 * (2 * b - 40)) >= reached
    )
    # 10,000 random flips know p to 3 standard errors
    error = 3 * (exact * (1 - exact) / 10_000) ** 0.5
    assert sign_flip(differences) == pytest.approx(exact, abs=error)
