"""Promises on `benchmarks.conversations`: which turns are compared, and what is counted."""

import pytest

from benchmarks.conversations import (
    ALONE,
    DROPPED,
    NAMED,
    Pair,
    Pronoun,
    changes_line,
    contexts_of_turns,
    drawn,
    gain,
    history_of,
    model_lines,
    named,
    retrieval_lines,
    rewrites,
    sample_of,
)


def row(conversation="c", turn=2, model="m", **fields):
    history = []
    for number in range(1, turn):
        history += [
            {"speaker": "user", "text": f"Question {number}?"},
            {"speaker": "agent", "text": f"Answer {number}."},
        ]
    return {
        "id": f"mtrag-{conversation}{turn}-{model}",
        "task_id": f"{conversation}{turn}",
        "conversation_id": conversation,
        "turn": str(turn),
        "model": model,
        "question": f"Question {turn}?",
        "history": history,
        "answer": "It is red.",
        "contexts": [f"Chunk {turn} of {conversation}."],
        **fields,
    }


def test_an_earlier_answer_has_the_contexts_of_its_turn():
    rows = [row(turn=1), row(turn=2), row(turn=3)]
    history = history_of(rows[2], contexts_of_turns(rows))
    assert [message.contexts for message in history] == [
        None, ("Chunk 1 of c.",), None, ("Chunk 2 of c.",),
    ]  # fmt: skip
    assert all(message.contexts is None for message in history_of(rows[2], {}))


def test_a_turn_without_history_is_a_sample_without_one():
    assert sample_of(row(), ALONE).history is None
    assert sample_of(row(), ALONE).id == "mtrag-c2-m#alone"


def test_each_beginning_of_the_draw_is_balanced_over_conversations():
    rows = [row(name, turn, model) for name in "abc" for turn in (1, 2, 3, 4) for model in ("m", "n")]
    order = drawn(rows, 7)
    # turns 2, 3 and 4 of three conversations, each once
    assert len({one["task_id"] for one in order}) == len(order) == 9
    for start in (0, 3, 6):
        assert {one["conversation_id"] for one in order[start : start + 3]} == set("abc")
    assert order == drawn(rows, 7) != drawn(rows, 8)


def test_a_name_replaces_the_pronoun_and_another_version_of_the_text_is_refused():
    assert named(row(), Pronoun("answer", 0, "It", "The door"))["answer"] == "The door is red."
    with pytest.raises(SystemExit, match="no 'It' at 1"):
        named(row(), Pronoun("answer", 1, "It", "The door"))


def test_changed_scores_are_counted_where_both_are_known():
    scores = {"a": 0.5, f"a{NAMED}": 0.5, "b": 0.5, f"b{NAMED}": 1.0, f"c{NAMED}": 1.0, f"a{DROPPED}": 0.0}
    assert "1 of 2 scores change (50%), by 0.250 on average of all, 0.50 at most" in changes_line(
        scores, NAMED
    )
    assert "1 of 1 scores change" in changes_line(scores, DROPPED)
    assert changes_line({"a": 0.5}, NAMED).endswith("no scores yet")


def test_a_gain_is_the_difference_of_both_correlations_with_people():
    # in both conversations the scores with the history are in people's order, the others in reverse
    pairs = [Pair(f"{name}{n}", name, -n, n, n) for name in "ab" for n in (1, 2, 3)]
    found = gain(pairs)
    assert (found.without, found.with_history) == pytest.approx((-1, 1))
    assert (found.low, found.high) == pytest.approx((2, 2))
    assert (found.n, found.better, found.worse) == (6, 2, 0)


def test_recall_of_rewritten_questions_lies_between_those_of_the_authors_and_the_typed_ones(tmp_path):
    (tmp_path / "x_lastturn.jsonl").write_text(
        '{"_id": "1", "text": "|user|: And that? "}\n{"_id": "2", "text": "|user|: Why?"}\n'
    )
    (tmp_path / "x_rewrite.jsonl").write_text(
        '{"_id": "1", "text": "|user|: The museum?"}\n{"_id": "2", "text": "|user|: Why the mill?"}\n'
    )
    authors = rewrites(tmp_path)
    assert authors == {"And that?": "The museum?", "Why?": "Why the mill?"}
    others = [row("z", turn, contexts=[f"Noise {turn}."]) for turn in range(1, 8)]
    rows = [
        *others,
        row("a", question="And that? ", contexts=["The museum opened."]),
        row("b", question="Why?", contexts=["The mill closed."]),
    ]
    ours = {"x": {"a2": "The museum?", "b2": "Why?"}, "y": {}}
    *_, found, nothing = retrieval_lines(rows, authors, ours)
    # typed 0 / 2, ours 1 / 2, the authors 2 / 2
    assert found.startswith("| x | 2 | 0.000 | 0.500 | 1.000 | +0.500")
    assert found.endswith("| 0.50 |")
    assert nothing.startswith("| y | 0 |")


def test_a_folder_without_runs_has_no_figures(tmp_path):
    assert not any("0." in line for line in model_lines([row()], tmp_path))
