"""A run, a sample and a proof on the terminal: complete, readable without colours, safe with any text."""

import io
import json
import os
import subprocess
import sys

import pytest
from rich.console import Console

from ragmetrics_core import Record, Run, evaluate, recompute
from ragmetrics_core.errors import ModelRefused
from ragmetrics_core.report import terminal
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge


def lines_of(out: str) -> list[str]:
    return [" ".join(line.split()) for line in out.splitlines()]


def test_the_run_page_shows_mean_n_and_how_far_failures_reach(command, folder):
    # faithfulness: q1 1/3, q2 1/2; q6 is between 1/2 and 1, q5 between 0 and 1; q3 and q4 leave n.
    # mean (1/3 + 1/2) / 2 = 0.417, worst (1/3 + 1/2 + 1/2 + 0) / 4 = 0.333,
    # best (1/3 + 1/2 + 1 + 1) / 4 = 0.708; q3 declines
    out = lines_of(command("show", folder).out)

    assert "faithfulness/strict.1 0.417 2 of 6 0.333–0.708 1" in out


# The page of these words has all of these texts. Of factual correctness verdicts 1 to 3 are on
# the answer's statements, with quotes of the reference; 4 and 5 are the reverse. The answer of q3 declines.
PAGES = {
    "the run page counts every status": ("", "1 undefined", "1 skipped", "1 model error", "1 incomplete"),
    "the reason why a score is undefined stands beside the means": (
        "",
        "faithfulness/strict.1 undefined for 1 of 6: no statements",
    ),
    "a sample page shows its scores with their formulas and the diagnosis": (
        "q1",
        "faithfulness/strict.1 0.333 1 / 3 = 0.333",
        "context_precision/strict.1",
        "unsupported statement the answer says what the contexts do not support",
        "“Einstein was tall.”",
    ),
    "a proof shows texts, formula, verdicts with symbols that need no colour, reasons and quotes": (
        "q1 faithfulness",
        "0.333 faithfulness/strict.1 of q1",
        "formula 1 / 3 = 0.333",
        "question Where and when was Einstein born?",
        "answer Einstein was born in Germany on 20 March 1879.",
        "✓ 1 supported Einstein was born in Germany.",
        "✗ 2 not supported",
        "it says so",
        "“German-born physicist” chunk 2",
    ),
    "a verdict that is missing has a symbol too": ("q6 faithfulness", "? 2 missing Another statement."),
    "a quote says where it stands or that it stands nowhere": (
        "q1 faithfulness",
        "“born 14 march 1879” chunk 2, not letter for letter",
        "“a tall man” found nowhere",
    ),
    "the chunks stand in rank order with the evidence marked": (
        "q1 faithfulness",
        "1 The violin has four strings. 2 Albert Einstein (born 14 March 1879⁽²⁾) was a",
        "German-born physicist⁽¹⁾. He played",
    ),
    "evidence of factual correctness is marked in reference and answer": (
        "q1 factual_correctness",
        "answer Einstein was born⁽⁴⁾ in Germany on 20 March⁽⁵⁾ 1879.",
        "reference Einstein was born in Germany⁽¹⁾ in 1879⁽²⁾.",
        "“born in Germany” reference",
        "“20 March” answer",
        "2 Albert Einstein (born 14 March 1879) was a German-born physicist. He",
    ),
    "a declining answer is shown with the reason": (
        "q3 faithfulness",
        "status undefined (no_statements)",
        "The answer declines to answer: it says that it does not know",
    ),
    "a failure is shown with its reason": (
        "q5 faithfulness",
        "status model_error (statements.v5: 401: the key is not valid)",
    ),
    "control characters are shown in place, markup and emoji codes stay text": (
        "q2 faithfulness",
        "question Is this [red]text␛[31m harmless?",
        "A ␛[31m[red]statement.",
        "A chunk with ␛]0;title␇ and [bold]brackets[/bold] and �overrides.",
        "answer [link=x]No[/link] :smile:",
    ),
}


@pytest.mark.parametrize("promise", PAGES)
def test_a_page_says_what_it_is_for(command, folder, promise):
    arguments, *texts = PAGES[promise]
    page = command("show", folder, *arguments.split()).words

    assert [text for text in texts if text not in page] == []


def test_the_samples_are_listed_the_worst_first_with_their_diagnosis(command, folder):
    # faithfulness, factual correctness and context precision of each, missing verdicts taken as negative:
    # q3 -, 0, 1; q4 -, 1/2, -; q1 1/3, F1 of 2/3 and 1/2 = 4/7, 1; q2 1/2, 1/2, 1; q6 the same; q5 -, -, 1
    # with the means 0.5, 0.5, 0.635, 0.667, 0.667 and 1
    rows = [line for line in lines_of(command("show", folder, columns=140).out) if line[:1] == "q"]

    assert [row[:2] for row in rows] == ["q3", "q4", "q1", "q2", "q6", "q5"]
    assert rows[0].endswith("abstained")


def test_the_list_of_samples_can_be_cut_and_says_so(command, folder):
    assert "4 better samples are not listed; --limit 0 lists all." in command("show", folder, "--limit 2").out
    assert "not listed" not in command("show", folder, "--limit 0").out


def test_the_proof_shows_each_reference_beside_what_was_decided_on_it(command, tmp_path):
    # "Bonn" is not what the answer says, "Ulm" is; "Rome" is left out of the asking
    def judge(prompt):
        if "<items>" not in prompt:
            statements = ["It is Bonn." if "Bonn" in prompt else "It is Ulm."]
            declined = {"declined": False} if '"declined"' in prompt else {}
            return json.dumps({"statements": statements, **declined})
        verdict = "no" if "Bonn" in prompt else "yes"
        return json.dumps({"verdicts": [{"number": 1, "verdict": verdict}]})

    sample = {"id": "q", "question": "Where?", "answer": "It is Ulm.", "references": ["Bonn", "Ulm", "Rome"]}
    evaluate([sample], metrics=["factual_correctness"], judge=judge, out=tmp_path / "run")
    page = command("show", tmp_path / "run", "q", "factual_correctness").out
    lines = lines_of(page)

    assert [line for line in lines if line.startswith("reference ") and "·" not in line] == [
        "reference 1 Bonn does not count",
        "reference 2 Ulm counts",
        "reference 3 Rome not asked",
    ]
    assert [
        line for line in lines if line.endswith(("statements (reference 1)", "statements (reference 2)"))
    ] == [
        "Answer statements (reference 1)",
        "Reference statements (reference 1)",
        "Answer statements (reference 2)",
        "Reference statements (reference 2)",
    ]


def test_a_score_that_is_not_about_references_shows_all_of_them_without_a_word_on_which_counts(
    command, tmp_path
):
    sample = {"id": "q", "question": "Where?", "answer": "It is Ulm.", "contexts": ["It is Ulm."]}
    evaluate(
        [{**sample, "references": ["Bonn", "Ulm"]}],
        metrics=["faithfulness", "token_f1"],
        judge="embedded",
        out=tmp_path / "run",
    )

    def told(*names):
        lines = lines_of(command("show", tmp_path / "run", "q", *names).out)
        return [line for line in lines if line.startswith("reference")]

    assert told() == told("faithfulness") == ["reference 1 Bonn", "reference 2 Ulm"]
    # "It is Ulm" shares a word with the second alone
    assert told("token_f1") == ["reference 1 Bonn does not count", "reference 2 Ulm counts"]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal_or_the_width_that_is_wanted(command, folder, columns):
    for words in ([], ["q1"], ["q1", "faithfulness", "--prompts --replies"]):
        for how in ({"columns": columns}, {"columns": 200}):
            width = [] if how["columns"] == columns else ["--width", columns]
            out = command("show", folder, *words, *width, **how).out
            assert max(map(len, out.splitlines())) <= columns


def test_a_narrow_terminal_still_has_every_metric_and_every_digit(command, folder):
    table = command("show", folder, columns=40).out.split("\n\n")[0]
    first_column = "".join(line.split("  ")[0] for line in table.splitlines())

    assert "…" not in table
    assert "0.417" in table
    assert "faithfulness/strict.1" in first_column


def test_evidence_is_marked_in_colour_where_there_are_colours(folder):
    run = Run.load(folder)
    record = run.score("q1", "faithfulness")
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=100)
    for part in terminal.proof(record, run.metrics[0]):
        console.print(part)
    page = console.file.getvalue()

    # 4 underlines, 32 is green, 31 is red
    assert "\x1b[4;32mGerman-born physicist\x1b[0m" in page
    assert "\x1b[4;31mborn 14 March 1879\x1b[0m" in page


def test_parts_of_a_composite_metric_are_shown(command, tmp_path):
    sample = {"id": "a", "question": "q?", "answer": "Yes.", "reference": "Yes."}
    texts = {"statements": ["It is so."]}
    judge = ScriptedJudge(
        {
            "statements": {**texts, "declined": False},
            "reference_statements": texts,
            "reference_verdicts": {"verdicts": [{"number": 1, "evidence": "Yes.", "verdict": "yes"}]},
            "answer_verdicts": {"verdicts": [{"number": 1, "evidence": "Yes.", "verdict": "no"}]},
        }
    )
    evaluate(
        [sample], metrics="answer_correctness", judge=judge, embedder=HashEmbedder(), out=tmp_path / "run"
    )
    page = command("show", tmp_path / "run", "a", "answer_correctness").words

    # P = 1/1 and R = 0/1 give 0; the same text twice has a cosine of 1; 0.75 x 0 + 0.25 x 1
    assert "formula 0.75 × 0 + 0.25 × 1 = 0.25" in page
    assert "factual_correctness F1 of P 1 / 1 and R 0 / 1 = 0" in page
    assert "“Yes.” reference" in page
    assert "“Yes.” answer" in page


def test_relevant_context_sentences_are_marked_in_their_chunks(command, tmp_path):
    sample = {"id": "a", "question": "q?", "contexts": ["First one. Second one.", "Third one."]}
    judge = ScriptedJudge({"relevant_sentences": {"relevant": [2, 3]}})
    evaluate([sample], metrics="context_relevance", judge=judge, out=tmp_path / "run")
    page = command("show", tmp_path / "run", "a", "context_relevance").words

    assert "1 First one. Second one.⁽²⁾ 2 Third one.⁽³⁾" in page


@pytest.mark.parametrize(
    ("decision", "by", "texts"),
    [
        (
            "yes",
            "Ada [red]",
            ("✓ 2 supported Einstein was born on 20 March", "Ada [red] overruled the judge's no"),
        ),
        ("no", "Ada", ("✗ 2 not supported Einstein was born on 20 March", "Ada confirmed the judge's no")),
    ],
)
def test_a_persons_decision_is_shown_with_the_judges(command, folder, decision, by, texts):
    command("correct", folder, "q1", "faithfulness", 2, decision, "--by", by)
    page = command("show", folder, "q1", "faithfulness").words

    assert [text for text in texts if text not in page] == []
    assert ("overruled" in page) == (decision == "yes")


def test_a_run_that_did_not_finish_says_so_beside_its_means(command, folder):
    told = "The run is not finished: the numbers cover only its samples so far."
    assert told not in command("show", folder).words

    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "finished": False}))
    assert told in command("show", folder).words


@pytest.mark.parametrize(
    ("judge", "shown"), [("embedded", "0.000"), (ScriptedJudge(lambda _: ModelRefused("401")), "model error")]
)
def test_a_sample_without_a_finding_is_not_called_free_of_findings(command, tmp_path, judge, shown):
    row = {"id": "q", "question": "Which colour?", "answer": "Blue.", "reference": "Green."}
    evaluate([row], metrics="factual_correctness", judge=judge, out=tmp_path / "run")
    words = command("show", tmp_path / "run", "q").words
    assert shown in words
    assert "diagnosis" not in words.lower()


def test_prompts_and_replies_are_shown_only_on_request_and_of_one_score(command, folder):
    short = command("show", folder, "q1", "faithfulness").words
    prompts = command("show", folder, "q1", "faithfulness", "--prompts").words
    replies = command("show", folder, "q1", "faithfulness", "--replies").words
    refused = command("show", folder, "q1", "--prompts")

    assert "Split the answer into statements, sentence by sentence." in prompts
    assert "Split the answer into statements, sentence by sentence." not in short + replies
    assert 'reply, read as json {"statements": ["Einstein was born in Germany."' in replies
    assert "read as" not in short + prompts
    said = "--prompts and --replies show the steps of one score: name a sample and a metric too"
    assert (refused.code, refused.err) == (2, f"ragmetrics: {said}\n")


def test_a_reply_that_was_asked_again_is_shown_with_what_was_wrong_and_the_one_that_followed(
    command, tmp_path
):
    sample = {"id": "a", "question": "q?", "answer": "Yes.", "contexts": ["Yes."]}
    statements = {"statements": ["It is so."], "declined": False}
    verdicts = ["Surely yes.", {"verdicts": [{"number": 1, "verdict": "yes"}]}]
    judge = ScriptedJudge({"statements": statements, "verdicts": verdicts})
    evaluate([sample], metrics="faithfulness", judge=judge, out=tmp_path / "run")
    page = command("show", tmp_path / "run", "a", "faithfulness", "--replies").words

    assert "reply, read as unread Surely yes. problems" in page
    assert "it holds no JSON object" in page
    assert 'verdicts.v5 · asked again reply, read as json {"verdicts"' in page


def test_the_json_of_a_proof_is_a_record_that_recomputes_by_itself(command, folder):
    record = Record.from_json(command("show", folder, "q1", "faithfulness", "--json").out)

    assert recompute(record).value == 1 / 3
    assert record.rendered_prompts


def test_the_json_of_a_run_has_means_and_samples_and_that_of_a_sample_scores_and_diagnosis(command, folder):
    run, sample = command("show", folder, "--json").json, command("show", folder, "q1", "--json").json

    assert [mean["metric"] for mean in run["metrics"]] == [
        entry.signature for entry in Run.load(folder).metrics
    ]
    assert {row["sample"] for row in run["samples"]} == {"q1", "q2", "q3", "q4", "q5", "q6"}
    assert sample["scores"]["faithfulness/strict.1"]["formula"] == "1 / 3 = 0.333"
    assert sample["diagnosis"][0]["code"] == "unsupported_statement"


@pytest.mark.parametrize("arguments", [[], ["q2"], ["q2", "faithfulness", "--prompts", "--replies"]])
def test_control_characters_of_the_data_never_reach_the_terminal(command, folder, arguments):
    out = command("show", folder, *arguments, columns=140).out

    assert not any(char in out for char in "\x1b\x07\u202e")


def test_colours_appear_on_a_terminal_unless_they_are_unwanted(command, folder):
    coloured = command("show", folder, "q1", "faithfulness", FORCE_COLOR="1", TERM="xterm")
    plain = command("show", folder, "q1", "faithfulness", "--no-color", FORCE_COLOR="1", TERM="xterm")

    assert "\x1b[32m" in coloured.out
    assert "\x1b[32m" not in plain.out


def test_a_terminal_that_lacks_a_character_gets_a_question_mark(folder):
    command = [sys.executable, "-m", "ragmetrics_core.cli", "show", str(folder), "q1", "faithfulness"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0
    assert "? 1 supported" in done.stdout


def test_how_an_adapter_found_the_contexts_stands_beside_them(command, tmp_path):
    rule = "system message of the model, with its instructions"
    row = {"id": "q1", "question": "Who?", "answer": "Ann did it.", "contexts": ["Ann did it."]}
    evaluate(
        [{**row, "found_contexts": rule}], metrics="faithfulness", judge="embedded", out=tmp_path / "run"
    )

    assert f"1 chunk (found by: {rule})" in command("show", tmp_path / "run", "q1").words
    proof = command("show", tmp_path / "run", "q1", "faithfulness").words
    assert f"Contexts, in rank order (found by: {rule})" in proof
