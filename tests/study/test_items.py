"""Samples as items: the two-parameter model, and what is said of samples that tell nothing."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import Scores, item_tables, study_items
from ragmetrics_core.study._item_response import fit_two_parameters


def drawn(examinees, slopes, difficulties, seed=0):
    generator = np.random.default_rng(seed)
    ability = generator.normal(size=examinees)
    chance = expit(np.asarray(slopes) * (ability[:, None] - np.asarray(difficulties)))
    return generator.random(chance.shape) < chance


def test_the_fit_is_the_maximum_that_another_optimiser_finds():
    passes = drawn(300, [0.8, 1.2, 1.6, 2.0], [-1.0, 0.0, 0.5, 1.0])
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    log_weights = np.log(weights / weights.sum())

    def loss(parameters):
        slope, intercept = parameters.reshape(2, -1)
        logits = np.outer(nodes, slope) + intercept
        joint = passes @ log_expit(logits).T + ~passes @ log_expit(-logits).T + log_weights
        return -logsumexp(joint, axis=1).sum()

    other = minimize(loss, np.concatenate([np.ones(4), np.zeros(4)]), method="BFGS")
    slope, intercept = other.x.reshape(2, -1)
    fitted = fit_two_parameters(passes)
    assert fitted.converged
    assert fitted.log_likelihood == pytest.approx(-other.fun, abs=0.01)
    assert fitted.discrimination == pytest.approx(slope, abs=0.03)
    assert fitted.difficulty == pytest.approx(-intercept / slope, abs=0.03)


def test_the_fit_is_that_of_girth():
    # girth 0.8.0, twopl_mml, on the same answers: Discrimination and Difficulty of the first four of 20 items
    generator = np.random.default_rng(0)
    slopes, difficulties = generator.uniform(0.6, 2, 20), generator.normal(size=20)
    ability = generator.normal(size=500)
    chance = 1 / (1 + np.exp(-slopes * (ability[:, None] - difficulties)))
    fitted = fit_two_parameters(generator.random((500, 20)) < chance)
    girth = [1.54871541, 0.90719195, 0.49627288, 0.47984258]
    assert fitted.discrimination[:4] == pytest.approx(girth, abs=0.01)


def systems(*rows):
    return [
        Scores(
            name=f"system {number}",
            values={"token_f1/strict.1": {f"q{place}": value for place, value in enumerate(row, start=1)}},
            labels={f"q{place}": {} for place in range(1, len(row) + 1)},
        )
        for number, row in enumerate(rows, start=1)
    ]


# q1 is passed by all, q2 by none, q3 and q4 by the better systems, q5 by the worse ones
ROWS = [(1, 0, 1, 1, 0), (1, 0, 1, 1, 0), (1, 0, 1, 0, 1), (1, 0, 0, 0, 1)]


def test_samples_that_all_or_no_systems_pass_tell_nothing():
    study = study_items(systems(*ROWS), metric="token_f1")
    by_id = {item.sample_id: item for item in study.items}
    assert study.same == (1, 1)
    assert by_id["q1"].discrimination is by_id["q2"].discrimination is None
    assert {item.sample_id for item in study.items[-2:]} == {"q1", "q2"}


def test_a_sample_that_the_better_systems_fail_has_a_negative_item_rest():
    by_id = {item.sample_id: item for item in study_items(systems(*ROWS), metric="token_f1").items}
    # passes of q5 (0, 0, 1, 1) against the others (3, 3, 2, 1): -1.5 / sqrt(1 × 2.75)
    assert by_id["q5"].item_rest == pytest.approx(-1.5 / np.sqrt(2.75))
    assert by_id["q5"].passed == 0.5
    items, ranked = item_tables(study_items(systems(*ROWS), metric="token_f1"))
    assert len(items.rows) == 5
    assert [row[0] for row in ranked.rows][-1] == "system 4"


@pytest.mark.parametrize(
    ("rows", "message"),
    [(ROWS[:1], "3 systems or more, and there is 1"), ([(1, 0)] * 3, "no sample tells the systems apart")],
)
def test_too_few_systems_and_equal_ones_are_refused(rows, message):
    with pytest.raises(ConfigError, match=message):
        study_items(systems(*rows), metric="token_f1")
