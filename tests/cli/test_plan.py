"""`ragmetrics plan`: what an evaluation will ask and cost, before it is started."""

import json

import pytest

from ragmetrics_core import evaluate
from tests.servers import Answer, OpenAIServer

PRICES = {"small": {"prompt": 1000, "completion": 0}}
ROW = {"id": "q1", "question": "Where?", "answer": "In Ulm.", "contexts": ["In Ulm."], "reference": "Ulm."}


@pytest.fixture
def one(tmp_path):
    """A file of one sample."""
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps(ROW))
    return file


@pytest.fixture
def prices(tmp_path):
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(PRICES))
    return file


def row_of(outcome, name: str) -> list[str]:
    """The numbers in a row of the table."""
    return next(line.split()[1:] for line in outcome.out.splitlines() if line.lstrip().startswith(name))


def test_each_metric_has_a_row_with_its_calls(command, one):
    outcome = command("plan --judge embedded", one)
    assert outcome.code == 0
    # calls, of which estimated, shared, cached: two calls; then three, as the answer's statements are there
    assert row_of(outcome, "faithfulness/strict.1")[:4] == ["2", "1", "0", "0"]
    assert row_of(outcome, "factual_correctness/strict.1")[:4] == ["3", "2", "1", "0"]
    assert row_of(outcome, "together")[:4] == ["5", "3", "1", "0"]


def test_the_planned_calls_are_those_of_the_evaluation_and_the_page_says_what_they_rest_on(
    command, data, tmp_path
):
    outcome = command("plan --judge embedded", data)
    command("evaluate --judge embedded", data, "--out", tmp_path / "run")
    tally = json.loads((tmp_path / "run" / "manifest.json").read_text())["tally"]
    assert int(row_of(outcome, "together")[0]) == tally["calls"]
    assert "samples 3 left out 1 row" in outcome.words
    assert "Calls that depend on replies are estimated with the rules of the embedded judge." in outcome.words
    assert "Tokens are characters divided by four" in outcome.words


def test_the_cost_is_shown_when_prices_are_given(command, one, prices, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    outcome = command("plan", one, "--metrics faithfulness --judge openai:small --prices", prices)
    *_, prompt, _, cost = row_of(outcome, "faithfulness/strict.1")
    # 1000 for a million prompt tokens: a thousandth for each
    assert float(cost) == pytest.approx(int(prompt) / 1000, rel=0.001)
    assert "price 1000 for a million prompt tokens, 0 for completion tokens" in outcome.words


def test_no_server_is_asked(command, one, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with OpenAIServer(Answer(status=500)) as server:
        outcome = command("plan", one, "--judge", f"openai:small@{server.base_url}")
    assert (outcome.code, server.seen) == (0, [])


def test_a_finished_run_is_left_out(command, one, tmp_path):
    command("evaluate --judge embedded", one, "--out", tmp_path / "run")
    outcome = command("plan --judge embedded", one, "--out", tmp_path / "run")
    assert row_of(outcome, "together")[:4] == ["0", "0", "0", "0"]
    assert "kept 2 scores that the run has already" in outcome.words


def test_a_shared_journal_is_taken_into_account(command, one, tmp_path):
    cache = tmp_path / "cache.sqlite"
    evaluate([ROW], metrics="faithfulness", judge="embedded", cache=cache)
    outcome = command("plan --judge embedded", one, "--cache", cache, "--metrics faithfulness")
    assert row_of(outcome, "faithfulness/strict.1")[:4] == ["0", "0", "0", "2"]


def test_repeats_and_limit_are_planned(command, data):
    single = row_of(
        command("plan --judge embedded", data, "--metrics faithfulness --limit 1"),
        "faithfulness",
    )
    twice = command("plan --judge embedded", data, "--metrics faithfulness --limit 1 --full-repeats 2")
    assert row_of(twice, "together")[0] == str(2 * int(single[0]))


def test_where_references_are_asked_about_in_turn_it_says_at_most(command, one, tmp_path):
    assert "at most 1 score" not in command("plan --judge embedded", one).words
    file = tmp_path / "several.jsonl"
    file.write_text(json.dumps({**ROW, "references": ["In Ulm.", "In Bavaria."]}))
    # only factual correctness asks about references; faithfulness has none
    outcome = command("plan --judge embedded", file)
    told = (
        "at most 1 score asks about several references in turn; a run stops at the first with the full score"
    )
    assert told in outcome.words


def test_a_missing_price_exits_with_2_and_one_sentence(command, one, prices):
    outcome = command("plan --judge embedded", one, "--prices", prices)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "ragmetrics: there is no price for 'embedded:support.5+vectors', only for small\n"
