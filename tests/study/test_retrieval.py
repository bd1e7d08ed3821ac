"""Accuracy at k from ids."""

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import first_hits, retrieval_tables, study_retrieval
from ragmetrics_core.study._estimates import wilson_interval


def retriever(name, *ranked):
    """A retriever whose i-th question has the right id r at the place where the string has it."""
    samples = [
        Sample(id=f"q{number}", question=f"{number}?", context_ids=tuple(ids), reference_context_ids=("r",))
        for number, ids in enumerate(ranked)
    ]
    return first_hits(name, samples)


def test_a_question_is_right_when_a_right_id_is_among_the_first_k():
    found = study_retrieval([retriever("a", "rxy", "xry", "xyr", "xyz")], ks=(1, 2, 3))
    assert [(each.k, each.share.value, each.n) for each in found.accuracies] == [
        (1, 0.25, 4),
        (2, 0.5, 4),
        (3, 0.75, 4),
    ]
    assert found.accuracies[0].share == wilson_interval(1, 4)


def test_one_of_several_right_ids_is_enough():
    sample = Sample(id="q", question="?", context_ids=("x", "b"), reference_context_ids=("a", "b"))
    assert first_hits("a", [sample]).ranks == {"q": 2}


def test_retrievers_are_compared_on_the_same_questions():
    pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")
    before = retriever("a", *["xr"] * 10, *["rx"] * 2)
    after = retriever("b", *["rx"] * 10, *["xr"] * 2)
    found = study_retrieval([before, after], ks=(1, 2))
    at_1, at_2 = found.versus
    # right only after: 10, only before: 2; exact p = 2 * (1 + 12 + 66) / 4096
    assert (at_1.gained, at_1.lost, at_1.p) == (10, 2, pytest.approx(2 * 79 / 4096))
    assert at_1.difference.value == pytest.approx(8 / 12)
    assert (at_2.p, at_2.holm) == (1.0, 1.0)
    assert at_1.holm == pytest.approx(2 * at_1.p)


def test_samples_without_ids_are_left_out_with_the_cause():
    samples = [
        Sample(id="a", question="?", context_ids=("x",), reference_context_ids=("x",)),
        Sample(id="b", question="?", context_ids=("x",)),
        Sample(id="c", question="?", reference_context_ids=("x",)),
        Sample(id="d", question="?", context_ids=(), reference_context_ids=("x",)),
    ]
    found = first_hits("a", samples)
    # nothing retrieved is a miss, not a gap
    assert found.ranks == {"a": 1, "d": None}
    assert dict(found.left_out) == {"without context_ids": 1, "without reference_context_ids": 1}


def test_a_retriever_without_ids_is_a_mistake():
    with pytest.raises(ConfigError, match=r"a has no sample with context_ids .*1 without context_ids"):
        study_retrieval([first_hits("a", [Sample(id="q", question="?")])])


def test_a_k_beyond_what_was_retrieved_comes_with_a_remark():
    found = study_retrieval([retriever("a", "rx", "xr")], ks=(1, 5))
    assert found.notes == ("a has at most 2 results a question: larger k tell nothing more",)


def test_the_table_is_that_of_the_paper():
    table = next(retrieval_tables(study_retrieval([retriever("a", "rxy", "xry")], ks=(1, 3, 5))))
    assert [column.name for column in table.columns] == ["retriever", "k=1", "k=3", "k=5", "n", "left out"]
