"""`ragmetrics probe`: a judge's fitness card."""

import json
from html import escape

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.probe import FitnessCard

QUICK = ("--only", "known-answers,injection", "--limit", "4")


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_card_fits_the_terminal(command, columns):
    outcome = command("probe --judge embedded --limit 4", columns=columns)
    assert outcome.code == 0
    assert max(map(len, outcome.out.splitlines())) <= columns
    for figure in ("accuracy", "steered, strict", "steered, paper", "shift of the share", "3 draws agree"):
        assert figure in outcome.words or columns == 60


def test_the_card_says_what_the_judge_is_and_what_was_asked(command):
    outcome = command("probe --judge embedded", *QUICK, "--date 2026-01-31")
    assert "Fitness card of embedded:support.5+vectors" in outcome.out
    assert "at most 4 passages and attacks" in outcome.words
    assert "2026-01-31" in outcome.words
    assert "it compares words and concludes nothing" in outcome.words


def test_json_is_the_card_as_its_file_has_it(command, tmp_path):
    outcome = command("probe --judge embedded", *QUICK, "--format json --out", tmp_path)
    assert outcome.code == 0
    written = (tmp_path / "probe.json").read_text(encoding="utf-8")
    assert outcome.out == written
    assert FitnessCard.model_validate_json(written).judge == "embedded:support.5+vectors"


def test_a_judge_below_the_wanted_accuracy_ends_in_1_and_one_above_in_0(command):
    poor = command("probe --judge embedded", *QUICK, "--min-accuracy 1", columns=200)
    assert poor.code == 1
    assert "not fit: accuracy is 0." in poor.err
    assert command("probe --judge embedded", *QUICK, "--min-accuracy 0.1 --max-steered 0.5").code == 0


def test_a_gate_on_what_was_not_measured_is_never_passed(command):
    outcome = command("probe --judge embedded --only position --limit 2 --max-steered 1", columns=200)
    assert outcome.code == 1
    assert "the steered rate was not measured" in outcome.err


def test_the_card_is_put_beside_a_run(command, tmp_path):
    run = tmp_path / "run"
    sample = {"question": "Q?", "answer": "A tower.", "contexts": ["A tower."]}
    evaluate([sample], metrics=["faithfulness"], judge="embedded", out=run)
    outcome = command("probe --judge embedded", *QUICK, "--beside", run, columns=200)
    assert outcome.code == 0
    assert json.loads((run / "probe.json").read_text())["judge"] == "embedded:support.5+vectors"
    assert command("runs", run).out.count("finished") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--only poison", "there is no probe 'poison'"),
        ("--judge nobody", "there is no judge 'nobody'"),
        ("--beside nowhere", "nowhere"),
        ("--question faithful", "--question needs --on FILE"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(command, words, message):
    outcome = command("probe --judge embedded", words)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_probe_on_prints_and_keeps_the_card_of_a_labelled_file(command, tmp_path):
    pytest.importorskip("scipy", reason="intervals need the extra study")
    rows = [
        {"id": f"a{k}", "question": "When?", "contexts": [f"{k} The mill was built in 1753."],
         "answer": "Pirates burned Rome." if k % 2 else "The mill was built in 1753.", "hallucinated": k % 2}
        for k in range(8)
    ]  # fmt: skip
    path = tmp_path / "labelled.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    outcome = command("probe --judge embedded --on", path, "--out", tmp_path / "card")
    assert outcome.code == 0
    assert "asked whether faithful" in outcome.words
    assert "word overlap" in outcome.words
    (card,) = json.loads((tmp_path / "card" / "people.json").read_text(encoding="utf-8"))
    assert (card["n"], card["rankings"][0]["area"]["value"]) == (8, 1.0)


def test_a_run_its_proofs_and_a_notebook_say_what_the_judge_was_measured_at(command, tmp_path):
    row = {"id": "one", "question": "q", "answer": "a b c.", "contexts": ["a b c."]}
    metrics = ["faithfulness", "context_relevance", "rouge"]
    run = evaluate([row], metrics=metrics, judge="embedded", out=tmp_path / "run")
    measured = "faithfulness/strict.1 measured on people's labels: area"
    never = "never measured on people's labels: context_relevance/strict.1"
    page, proof, other, ranking = (
        command("show", tmp_path / "run", *words).words
        for words in ([], *(["one", name] for name in metrics))
    )

    assert measured in page
    assert never in page
    assert measured in proof
    assert "never measured" not in proof
    assert never in other
    # no judge had a part in it
    assert "people's labels" not in ranking
    assert f"<p>{escape(measured)}" in run._repr_html_()
    assert f"<p>{escape(never)}" in run._repr_html_()
