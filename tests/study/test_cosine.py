"""What a cosine is worth."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")

from ragmetrics_core import evaluate
from ragmetrics_core.study import compared_texts, cosine_tables, study_cosines
from ragmetrics_core.study._cosine import ComparedTexts
from ragmetrics_core.testing import HashEmbedder


def made(anchors, texts):
    """A comparison of the i-th anchor with the i-th text, and their vectors."""
    pairs = tuple((f"s{i}", f"a{i}", f"t{i}") for i in range(len(anchors)))
    vectors = {f"a{i}": anchor for i, anchor in enumerate(anchors)} | {
        f"t{i}": text for i, text in enumerate(texts)
    }
    return ComparedTexts("answer_similarity/strict.1", pairs, {}, {}), vectors


def test_cosines_by_hand():
    # own pairs: 1 and 0; shuffled: a0-t1 = 1, a1-t0 = 0
    compared, vectors = made([(1, 0), (0, 1)], [(1, 0), (1, 0)])
    found = study_cosines(compared, vectors, embedder="e")
    assert found.own.value == 0.5
    assert (found.shuffled, found.shuffled_pairs) == (0.5, 2)
    # 1 is above 0 and equal to 1; 0 is equal to 0 and below 1
    assert [each.percentile for each in found.placed] == [0.75, 0.25]


def test_a_high_cosine_of_an_embedder_that_finds_everything_alike_is_seen_for_what_it_is():
    generator = np.random.default_rng(1)
    # all vectors lie around one direction, so that any two texts are close
    anchors = generator.normal(size=(60, 20)) + 10
    texts = generator.normal(size=(60, 20)) + 10
    compared, vectors = made(anchors, texts)
    found = study_cosines(compared, vectors, embedder="e")
    assert found.own.value > 0.95
    assert found.shuffled > 0.95
    assert abs(found.above - 0.5) < 0.1


def test_a_low_cosine_of_an_embedder_that_tells_texts_apart_is_worth_much():
    generator = np.random.default_rng(1)
    anchors = generator.normal(size=(60, 200))
    texts = 0.5 * anchors + generator.normal(size=(60, 200))
    compared, vectors = made(anchors, texts)
    found = study_cosines(compared, vectors, embedder="e")
    assert found.own.value < 0.6
    assert found.above > 0.99


def test_pairs_without_a_vector_or_with_a_zero_one_are_counted():
    compared, vectors = made([(1, 0), (0, 1), (0, 0)], [(1, 0), (1, 0), (1, 1)])
    del vectors["t1"]
    found = study_cosines(compared, vectors, embedder="e")
    assert (found.pairs, found.left_out) == (1, 2)
    assert found.shuffled is None


def test_a_run_with_vectors_needs_no_embedder():
    samples = [
        {"id": f"s{i}", "question": "?", "answer": f"answer {i}", "reference": f"answer number {i}"}
        for i in range(6)
    ]
    run = evaluate(samples, metrics="answer_similarity", embedder=HashEmbedder(), keep_vectors=True)
    (compared,) = compared_texts(run.records())
    found = study_cosines(compared, compared.vectors, embedder=run.embedder)
    assert (found.pairs, found.left_out) == (6, 0)
    own = {each.sample_id: each.cosine for each in found.placed}
    assert own["s3"] == pytest.approx(run.score("s3", "answer_similarity").value)


def test_a_run_without_vectors_still_knows_its_texts():
    run = evaluate(
        [{"id": "s", "question": "?", "answer": "one", "reference": "two"}],
        metrics="answer_similarity",
        embedder=HashEmbedder(),
    )
    (compared,) = compared_texts(run.records())
    ((_, anchor, text),) = compared.pairs
    assert {compared.texts[anchor], compared.texts[text]} == {"one", "two"}


def test_the_table_says_in_words_what_the_mean_is_worth():
    compared, vectors = made([(1, 0), (0, 1)], [(1, 0), (1, 0)])
    table = next(cosine_tables([study_cosines(compared, vectors, embedder="e")]))
    assert any(
        "score 0.50 here, so that 0.50 is 0% of the way from there to 1" in note for note in table.notes
    )
