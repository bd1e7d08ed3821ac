"""The example that sets cosines beside those of shuffled pairs."""

import sys

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from examples.cosines import main, worth_of
from ragmetrics_core import evaluate
from ragmetrics_core.testing import HashEmbedder


def worth(anchors, texts):
    pairs = [(f"s{i}", f"a{i}", f"t{i}") for i in range(len(anchors))]
    vectors = {f"a{i}": anchor for i, anchor in enumerate(anchors)}
    return worth_of(pairs, vectors | {f"t{i}": text for i, text in enumerate(texts) if text is not None})


def test_cosines_by_hand():
    # own pairs: 1 and 0; shuffled: a0-t1 = 1, a1-t0 = 0
    found = worth([(1, 0), (0, 1)], [(1, 0), (1, 0)])
    assert (found.own.value, found.shuffled) == (0.5, 0.5)
    # 1 is above 0 and equal to 1; 0 is equal to 0 and below 1
    assert found.percentiles == {"s0": 0.75, "s1": 0.25}
    assert "score 0.50 here, so that it is 0% of the way from there to 1" in str(found)


@pytest.mark.parametrize(
    ("towards", "alike", "own", "above"),
    [
        # all vectors lie around one direction, so that any two texts are close
        (10, 0, (0.95, 1.0), (0.4, 0.6)),
        (0, 0.5, (0.0, 0.6), (0.99, 1.0)),
    ],
)
def test_a_cosine_is_worth_what_it_is_above_those_of_other_pairs(towards, alike, own, above):
    generator = np.random.default_rng(1)
    anchors = generator.normal(size=(60, 200)) + towards
    found = worth(anchors, alike * anchors + generator.normal(size=(60, 200)) + towards)
    assert own[0] <= found.own.value <= own[1]
    assert above[0] <= found.above <= above[1]


def test_pairs_without_a_vector_or_with_a_zero_one_do_not_count():
    assert worth([(1, 0), (0, 1), (0, 0)], [(1, 0), None, (1, 1)]) is None


@pytest.mark.parametrize(("keeps", "embedder"), [(True, []), (False, ["embedded"]), (False, [])])
def test_vectors_are_those_of_the_run_or_made_anew(keeps, embedder, tmp_path, monkeypatch, capsys):
    rows = [
        {"id": f"s{i}", "question": "?", "answer": f"answer {i}", "reference": f"answer number {i}"}
        for i in range(6)
    ]
    settings = {"embedder": HashEmbedder(), "keep_vectors": keeps, "out": tmp_path / "run"}
    evaluate(rows, metrics="answer_similarity", **settings)
    monkeypatch.setattr(sys, "argv", ["cosines.py", str(tmp_path / "run"), *embedder])
    main()
    told = capsys.readouterr().out
    assert told.startswith("answer_similarity/strict.1: ")
    assert ("closer than" in told) == (keeps or bool(embedder))
    assert ("name the embedder" in told) == (not keeps and not embedder)
