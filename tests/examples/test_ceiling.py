"""The example that holds people to each other, and a metric to the same people."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from scipy import stats

from examples.ceiling import POOLED, ceilings


def rated(seed, *, count=40, people=("ann", "bob", "cid")):
    generator = np.random.default_rng(seed)
    quality = generator.normal(size=count)
    columns = {
        name: np.clip(np.round(3 + 1.2 * quality + 0.9 * generator.normal(size=count)), 1, 5).tolist()
        for name in people
    }
    return columns, (0.5 + 0.2 * quality + 0.1 * generator.normal(size=count)).tolist()


def test_each_person_is_compared_with_the_mean_of_the_others_and_so_is_a_metric():
    columns, metric = rated(1)
    ids = [f"s{place}" for place in range(40)]
    votes = {each: {who: column[place] for who, column in columns.items()} for place, each in enumerate(ids)}
    found = ceilings(votes, {"faithfulness": dict(zip(ids, metric, strict=True))})
    assert list(found) == ["ann", "bob", "cid", POOLED, "faithfulness"]
    others = np.mean([columns["bob"], columns["cid"]], axis=0)
    assert found["ann"].value == pytest.approx(stats.spearmanr(columns["ann"], others).statistic)
    # the metric is held to the same three means
    pooled = np.concatenate(
        [np.mean([columns[other] for other in columns if other != name], axis=0) for name in columns]
    )
    expected = stats.spearmanr(np.tile(metric, 3), pooled).statistic
    assert found["faithfulness"].value == pytest.approx(expected)
    # 120 pairs of 40 samples are no 120 samples: not narrower than one person's by a factor of sqrt(3)
    assert found[POOLED].width > 0.58 * found["ann"].width
