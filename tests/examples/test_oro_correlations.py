"""The nine correlations of a paper's text: as printed, with intervals, and what they say about the claims."""

import csv
import os
from collections import Counter
from math import atanh, sqrt, tanh
from pathlib import Path
from statistics import NormalDist

import pytest

from examples.oro_correlations import (
    Correlation,
    check,
    interval,
    main,
    p_on_other_samples,
    p_on_same_samples,
    read_claims,
    read_correlations,
    z_of_same_samples,
)

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "examples" / "data"
SHARED = Path(os.environ.get("RAGMETRICS_SHARED") or ROOT.parent / "shared")
CORRELATIONS = read_correlations(DATA / "oro_correlations.csv")
CLAIMS = read_claims(DATA / "oro_claims.json")


def correlation(rho, n=50, half_width=0.0, **labels):
    names = {"set": "a", "metric": "m", "judge": "", "needs": "reference"}
    return Correlation(names | labels, rho, n, half_width)


def verdicts_of(words):
    (claim,) = (each for each in CLAIMS if words in each.claim)
    return Counter(each.verdict for each in check(claim, CORRELATIONS))


def test_all_nine_correlations_are_those_of_the_papers_text():
    (path,) = (SHARED / "seeds").glob("002_*.txt") or [None]
    if path is None:
        pytest.skip("the paper's text (shared seeds) is not present; set RAGMETRICS_SHARED")
    text = path.read_text(encoding="utf-8")
    section = text[text.index("shows a moderately strong") : text.index("Extending the analysis")]
    with (DATA / "oro_correlations.csv").open(encoding="utf-8", newline="") as file:
        printed = [row["rho"] for row in csv.DictReader(file)]
    assert len(set(printed)) == 9
    assert all(rho in section for rho in printed)


def test_an_interval_is_bonetts_and_wrights():
    # z = 0.5493, variance (1 + 0.25 / 2) / 45 = 0.025: 0.5493 +- 1.95996 * 0.15811
    low, high = interval(0.5, 48)
    assert (atanh(low), atanh(high)) == pytest.approx((0.2394, 0.8592), abs=1e-4)


def test_a_rounded_correlation_has_a_wider_interval():
    exact, rounded = correlation(0.67), correlation(0.67, half_width=0.005)
    assert rounded.interval[0] < exact.interval[0] < exact.interval[1] < rounded.interval[1]


def test_two_correlations_on_the_same_samples_are_compared_as_in_the_source():
    # the example of Meng, Rosenthal and Rubin (1992): N = 15, Z = 1.68
    assert z_of_same_samples(0.63, -0.03, -0.19, 15) == pytest.approx(1.68, abs=0.005)
    # equal correlations: no difference, whatever the two have in common
    assert z_of_same_samples(0.5, 0.5, 0.3, 50) == 0


def test_p_is_a_range_over_the_unknown_correlation_of_the_two_metrics():
    low, high = p_on_same_samples(correlation(0.7), correlation(0.5))
    for between in (-0.2, 0.0, 0.35, 0.9):
        factor = sqrt(1 + (0.49 + 0.25) / 4)
        z = z_of_same_samples(0.7, 0.5, between, 50) / factor
        assert low <= p_of(z) <= high
    assert p_on_same_samples(correlation(0.5), correlation(0.5)) == (0.5, 0.5)


def p_of(z):
    return 1 - NormalDist().cdf(z)


def test_correlations_on_other_samples_differ_by_fishers_z():
    # z 0.8107 and 0.5915, variances (1 + 0.67 ** 2 / 2) / 47 and (1 + 0.531 ** 2 / 2) / 47: 0.2192 / 0.2243
    low, high = p_on_other_samples(correlation(0.67), correlation(0.531))
    assert low == high == pytest.approx(p_of(0.2192 / 0.2243), abs=1e-3)
    assert tanh(0.8107) == pytest.approx(0.67, abs=1e-3)


@pytest.mark.parametrize(
    ("words", "verdicts"),
    [
        ("at least moderately", {"supported": 6}),
        ("poorly", {"open": 2}),
        ("closer to people", {"supported": 5, "open": 1}),
        ("lower on the Italian", {"supported": 2, "not supported": 4}),
    ],
)
def test_what_the_numbers_say_about_each_claim(words, verdicts):
    assert verdicts_of(words) == verdicts


def test_a_correlation_far_on_the_other_side_contradicts():
    (moderate,) = (each for each in CLAIMS if each.kind == "at_least")
    (low,) = check(moderate, [correlation(-0.2, set=moderate.sets[0])])
    assert low.verdict == "contradicted"
    (higher,) = (each for each in CLAIMS if each.kind == "higher_on_same_samples")
    pair = [correlation(0.1, set=higher.sets[0]), correlation(0.9, set=higher.sets[0], needs="no reference")]
    assert [each.verdict for each in check(higher, pair)] == ["contradicted"]


def test_the_script_prints_every_interval_and_what_is_not_supported(capsys):
    main([])
    printed = capsys.readouterr().out
    assert "AC RAGAS (gpt-4-turbo), FinAM-it: 0.531 (0.28, 0.72)" in printed
    assert "5 supported, 1 open" in printed
    assert "  supported:" not in printed
