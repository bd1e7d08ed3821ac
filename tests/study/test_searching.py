"""A threshold that was found by search is told with what it is worth on new answers."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")

from ragmetrics_core.study._detection import best_threshold, detect


def drawn(generator, n):
    correct = generator.random(n) < 0.6
    return np.clip(generator.normal(0.5 + 0.15 * correct, 0.2), 0, 1), correct


def test_the_interval_on_unseen_answers_covers_what_the_search_is_worth():
    # what a threshold found among 60 answers catches and passes among many others, in the mean
    generator = np.random.default_rng(7)
    scores, correct = drawn(generator, 20_000)
    worth, intervals = [], []
    for _ in range(60):
        found = best_threshold(*drawn(generator, 60), count=2)
        passes = scores >= found.at.value
        worth.append(((~passes)[~correct].mean(), passes[correct].mean()))
        intervals.append((found.unseen_caught, found.unseen_passed))
    caught, passed = np.mean(worth, axis=0)
    held = [one.low <= caught <= one.high for one, _ in intervals]
    held += [other.low <= passed <= other.high for _, other in intervals]
    assert np.mean(held) == pytest.approx(0.95, abs=0.06)


def test_where_nothing_can_be_told_the_search_is_worth_no_more_than_chance():
    generator = np.random.default_rng(8)
    found = detect(generator.random(80).tolist(), (generator.random(80) < 0.5).tolist()).threshold
    unseen = found.unseen_caught.value + found.unseen_passed.value - 1
    assert unseen < found.youden
    # chance is within what its interval leaves open
    assert unseen < 0.25


def test_below_ten_answers_nothing_is_unseen():
    found = best_threshold(np.array([0.9, 0.8, 0.1]), np.array([True, True, False]))
    assert found.unseen_caught.value is None
