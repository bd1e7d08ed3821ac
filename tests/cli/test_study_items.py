"""`ragmetrics study items` and `study abstention`: the tables and the refusals."""

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from ragmetrics_core import evaluate

ANSWERS = {"a": ["Ulm", "Bonn", "Köln"], "b": ["Ulm", "Bonn", "no"], "c": ["Ulm", "no", "no"]}
TOWNS = ["Ulm", "Bonn", "Köln"]


@pytest.fixture
def run(tmp_path):
    rows = [
        {"question": f"Where is {town}?", "answer": answer, "reference": town, "model": model}
        for model, answers in ANSWERS.items()
        for town, answer in zip(TOWNS, answers, strict=True)
    ]
    evaluate(rows, metrics="exact_match", out=tmp_path / "run")
    return tmp_path / "run"


def test_the_systems_of_one_run_are_told_apart_by_a_label(command, run):
    outcome = command("study items", run, "--by model --metric exact_match --format csv --table items")
    rows = [line.split(",") for line in outcome.out.splitlines()]
    assert outcome.code == 0
    shares = {row[0]: row[1] for row in rows[1:]}
    assert shares["Where is Ulm?"] == "1.0"
    assert float(shares["Where is Köln?"]) == pytest.approx(1 / 3)


def test_one_system_is_refused_with_the_option_to_use(command, run):
    outcome = command("study items", run, "--metric exact_match")
    assert (outcome.code, "name with --by the label" in outcome.err) == (2, True)


def test_the_cells_need_to_know_whether_contexts_suffice(command, run):
    outcome = command("study abstention", run)
    assert (outcome.code, "--metrics sufficiency,abstention" in outcome.err) == (2, True)
