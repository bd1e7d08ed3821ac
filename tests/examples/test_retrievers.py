"""The example that compares retrievers: accuracy at k from ids, with paired tests."""

import json
import sys

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")

from examples.retrievers import accuracies, main
from ragmetrics_core.study._parts import wilson_interval


def retriever(path, *ranked):
    """A file of a retriever whose i-th question has the right id r at the place where the string has it."""
    rows = [
        {"id": f"q{n}", "question": f"{n}?", "context_ids": [*ids], "reference_context_ids": ["r", "z"]}
        for n, ids in enumerate(ranked)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_a_question_is_right_when_a_right_id_is_among_the_first_k(tmp_path):
    file = retriever(tmp_path / "a.jsonl", "rxy", "xry", "xyr", "xyw")
    rows = [(k, accuracy.value, n) for _, k, accuracy, n, _ in accuracies([file], (1, 2, 3))]
    assert rows == [(1, 0.25, 4), (2, 0.5, 4), (3, 0.75, 4)]
    assert next(accuracies([file], (1,)))[2] == pytest.approx(wilson_interval(1, 4))


def test_retrievers_are_compared_on_the_same_questions(tmp_path, monkeypatch, capsys):
    before = retriever(tmp_path / "a.jsonl", *["xr"] * 10, *["rx"] * 2)
    after = retriever(tmp_path / "b.jsonl", *["rx"] * 10, *["xr"] * 2)
    *_, (_, _, _, _, at_1), (_, _, _, _, at_2) = accuracies([before, after], (1, 2))
    # right only after: 10, only before: 2; exact p = 2 * (1 + 12 + 66) / 4096
    assert (at_1.passes.gained, at_1.passes.lost, at_1.p) == (10, 2, pytest.approx(2 * 79 / 4096))
    assert at_1.difference.value == pytest.approx(8 / 12)
    assert (at_2.p, at_1.holm) == (1.0, pytest.approx(2 * at_1.p))
    monkeypatch.setattr(sys, "argv", ["retrievers.py", str(before), str(after), "-k", "1"])
    main()
    assert "b.jsonl  k=1  0.833 (0.552, 0.953)  n 12  +0.667" in capsys.readouterr().out
