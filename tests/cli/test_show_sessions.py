"""`ragmetrics show RUN SESSION`: the turns of a conversation in order."""

import pytest

from ragmetrics_core import Run, Sample, evaluate
from tests.conversations import GOODS, SCORES, conversation, literal_judge


@pytest.fixture(scope="module")
def talks(tmp_path_factory):
    """Two conversations out of order, and a sample whose id is that of the second."""
    out = tmp_path_factory.mktemp("talks") / "run"
    namesake = Sample(id="second", question="Who?", answer=GOODS, contexts=[GOODS])
    samples = [*conversation("first")[::-1], *conversation("second", 2), namesake]
    evaluate(samples, metrics="faithfulness", judge=literal_judge(), out=out)
    return out


def test_the_sessions_of_a_run_have_their_turns_in_order(talks):
    run = Run.load(talks)
    assert run.session("first") == ["first#1", "first#2", "first#3"]
    assert {name: len(turns) for name, turns in run.sessions().items()} == {"first": 3, "second": 2}


def test_a_session_shows_its_turns_with_both_questions_scores_and_verdicts(command, talks):
    out = command("show", talks, "first").words
    assert out.startswith("first: 3 turns turn 1 first#1 question Who founded Acme? answer Ada Byron")
    order = [out.index(f"turn {turn} first#{turn}") for turn in (1, 2, 3)]
    assert order == sorted(order)
    assert "question And when? stand-alone When was Acme founded? answer Acme was founded in 1987." in out
    assert "0.500 1 / 2 = 0.5 ✓ supported: Ada Byron founded Acme. ✗ not supported: Acme was founded" in out
    assert "diagnosis unsupported statement" in out


def test_a_turn_is_shown_as_a_sample_with_the_way_to_its_session(command, talks):
    out = command("show", talks, "first#2").words
    assert "earlier user: Who founded Acme?" in out
    assert 'calls search {"query": "Acme"} 2 chunks' in out
    assert "question And when? stand-alone question When was Acme founded?" in out
    assert (
        f"ragmetrics show {talks} first the conversation"
        in command("show", talks, "first#2", columns=300).words
    )
    assert "stand-alone question" in command("show", talks, "first#2", "faithfulness").words


def test_a_sample_comes_before_a_session_of_its_id_which_an_option_shows(command, talks):
    assert "question Who?" in command("show", talks, "second").words
    assert command("show", talks, "second", "--session").words.startswith("second: 2 turns")


def test_a_sample_that_has_the_id_of_its_own_session_names_the_option(command, tmp_path):
    sample = Sample(id="talk", session="talk", question="Who?", answer=GOODS, contexts=[GOODS])
    evaluate([sample], metrics="faithfulness", judge=literal_judge(), out=tmp_path / "run")
    out = command("show", tmp_path / "run", "talk", columns=300).words
    assert f"ragmetrics show {tmp_path / 'run'} talk --session the conversation" in out


def test_a_session_as_json_has_its_turns_like_samples_with_the_verdicts(command, talks):
    page = command("show", talks, "first", "--json").json
    assert (page["session"], [turn["sample"]["turn"] for turn in page["turns"]]) == ("first", [1, 2, 3])
    (signature,) = page["turns"][0]["scores"]
    assert [turn["scores"][signature]["value"] for turn in page["turns"]] == [*SCORES]
    assert [turn["standalone"] for turn in page["turns"]][:2] == [
        None,
        "When was Acme founded?",
    ]
    verdicts = page["turns"][0]["scores"][signature]["verdicts"]
    assert [each["label"] for each in verdicts] == ["supported", "not supported"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["third", "--session"], "the run has no session 'third'; there is first, second"),
        (["--session"], "--session shows one session: give its id"),
        (["first", "faithfulness"], "'first' is a session: name one of its samples"),
        (["first", "--history"], "'first' is a session: name one of its samples"),
        (["third"], "the run has no sample 'third'"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_the_way_out(command, talks, words, message):
    outcome = command("show", talks, *words)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())
