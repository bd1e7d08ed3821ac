"""Turns of one conversation are not independent: studies and gates know the session of a sample."""

import pytest

from ragmetrics_core import Sample, evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.samples import grouping_labels
from ragmetrics_core.study import (
    clustering_of,
    compare_runs,
    decide_limits,
    limit_of,
    read_scores,
    study_groups,
)
from ragmetrics_core.testing import ScriptedJudge


def judge(request):
    if request.prompt.name == "statements":
        return {"statements": [str(request.variables["answer"])], "declined": False}
    verdict = "yes" if "right" in request.variables["items"][0].text else "no"
    return {"verdicts": [{"number": 1, "reason": "", "verdict": verdict}]}


def run_of(column, sessions=12, turns=3, **fields):
    """Conversations of some turns each, right and wrong by turns; the session is in a column of this name."""
    rows = [
        {
            "id": f"{session}#{turn}",
            "question": "Who?",
            "answer": "It is right." if session % 2 else "It is wrong.",
            "contexts": ["It."],
            column: session,
            "turn": turn,
            **fields,
        }
        for session in range(sessions)
        for turn in range(1, turns + 1)
    ]
    return evaluate(rows, metrics="faithfulness", judge=ScriptedJudge(judge))


@pytest.mark.parametrize("column", ["session", "session_id", "thread_id", "conversation_id", "Thread ID"])
def test_a_column_that_became_the_session_makes_clusters_by_itself_and_by_its_own_name(column):
    scores = read_scores(run_of(column))
    found = clustering_of([scores])
    assert found.by == "session"
    assert found.notes == ("36 samples in 12 clusters by session: intervals and tests are by cluster",)
    # 12 sessions of three turns, named by any of the columns of the field
    for name in (column, "session", "conversation_id"):
        assert len(set(clustering_of([scores], name).clusters(scores.samples))) == 12
    assert clustering_of([scores], "none").by is None
    with pytest.raises(ConfigError, match=r"no sample has the label 'topic'; labels are: session, turn"):
        clustering_of([scores], "topic")


def test_a_label_beside_the_session_keeps_its_own_values():
    # the column `session` is the field; `thread_id` beside it is a label, one value for all samples
    scores = read_scores(run_of("session", labels={"thread_id": "t"}))
    with pytest.raises(ConfigError, match="there are 1 clusters by thread_id"):
        clustering_of([scores], "thread_id")
    assert clustering_of([scores]).by == "session"


@pytest.mark.parametrize("label", ["session", "thread_id"])
@pytest.mark.parametrize("value", [3, "3", 3.0])
def test_a_session_that_an_older_run_kept_as_a_label_is_the_same_session(label, value):
    old, new = Sample(id="a", labels={label: value}), Sample(id="a", session="3", turn=2)
    assert grouping_labels(old)["session"] == grouping_labels(new)["session"] == "3"
    assert grouping_labels(new) == {"session": "3", "turn": 2}


def test_the_session_replaces_a_label_of_its_name_and_a_sample_without_one_has_its_labels():
    both = Sample(id="a", session="s", labels={"session": "t", "topic": "x"})
    assert grouping_labels(both) == {"session": "s", "topic": "x"}
    assert grouping_labels(Sample(id="a", labels={"topic": "x"})) == {"topic": "x"}


def test_groups_by_turn_and_by_a_column_of_the_session():
    scores = read_scores(run_of("conversation_id", sessions=10, turns=2))
    by_turn = study_groups([scores], by="turn")
    assert [each.group.value for each in by_turn.measured] == ["1", "2"]
    by_session = study_groups([scores], by="conversation_id")
    assert len(by_session.measured) == 10


def test_a_row_has_the_session_and_the_turn_as_columns():
    first = run_of("thread_id").to_rows()[0]
    assert (first["session"], first["turn"]) == ("0", 1)


@pytest.mark.parametrize("sessions", [12, 4])
def test_a_gate_decides_by_session_and_says_so(sessions):
    # half of the sessions are right: the mean is 0.5, and its interval is below 0.45 at its lower end
    scores = read_scores(run_of("session", sessions=sessions))
    gate = decide_limits(scores, [limit_of("faithfulness=0.45", scores, "min")])
    (unsure,), (note,) = gate.unsure, gate.notes
    if sessions == 12:
        assert "over 36 samples in clusters by session" in unsure
        assert note == "36 samples in 12 clusters by session: intervals and tests are by cluster"
    else:
        assert "clusters" not in unsure
        assert note.startswith("the samples are of 4 sessions, too few for intervals by session")
    assert decide_limits(scores, [limit_of("faithfulness=0.45", scores, "min")], cluster="none").notes == ()


def test_a_comparison_names_the_sessions_that_are_lost_as_a_whole(scores):
    # of session c0 both turns are lost, of c1 one of two
    labels = {"session": [f"c{place // 2}" for place in range(24)]}
    values = [0.5] * 24
    after = [None, None, None, *values[3:]]
    runs = (
        scores("a", faithfulness=values, correct=values, labels=labels),
        scores("b", faithfulness=after, correct=values, labels=labels),
    )
    assert "1 session is lost in b, with all scores of faithfulness: 'c0'" in compare_runs(*runs).notes
    assert not any("lost" in note for note in compare_runs(runs[0], runs[0]).notes)
