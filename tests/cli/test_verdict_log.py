"""The flat verdict log: every verdict once, safe to open in a spreadsheet."""

import csv
import io
import json

import pytest

from ragmetrics_core import Run, evaluate
from ragmetrics_core.protocol import Completion
from ragmetrics_core.runs.verdict_log import VerdictRow, verdict_rows, write_csv, write_jsonl
from ragmetrics_core.testing import ScriptedJudge


def row(**changes):
    """A row with some fields set."""
    fields = {**dict.fromkeys(VerdictRow._fields), "sample": "a", "metric": "m", "number": 1, "quotes": 0}
    return VerdictRow(**{**fields, "about": "statement", "text": "It is.", "label": "supported", **changes})


def as_csv(*rows):
    """What the rows look like when they are read back."""
    file = io.StringIO()
    write_csv(rows, file)
    return list(csv.DictReader(io.StringIO(file.getvalue())))


def test_a_row_says_what_was_decided_about_which_text_why_and_where(command, folder):
    rows = [json.loads(line) for line in command("verdicts", folder).out.splitlines()]
    (second,) = (
        each
        for each in rows
        if (each["sample"], each["metric"], each["number"]) == ("q1", "faithfulness/strict.1", 2)
    )

    # "born 14 March 1879" starts after "Albert Einstein (" (17 characters) of the second chunk and has 18
    assert second == {
        "sample": "q1",
        "metric": "faithfulness/strict.1",
        "number": 2,
        "about": "answer statement",
        "text": "Einstein was born on 20 March 1879.",
        "verdict": False,
        "label": "not supported",
        "reason": "another day",
        "evidence": "born 14 march 1879",
        "chunk": 2,
        "start": 17,
        "end": 35,
        "quotes": 1,
        "cosine": None,
        "overruled": None,
    }


def test_a_missing_verdict_is_null_and_a_correction_keeps_the_judges_decision(command, folder):
    command("correct", folder, "q1", "faithfulness", 2, "yes")
    rows = {
        (each.sample, each.metric, each.number): each for each in verdict_rows(Run.load(folder).records())
    }

    assert rows["q6", "faithfulness/strict.1", 2].verdict is None
    corrected = rows["q1", "faithfulness/strict.1", 2]
    assert (corrected.verdict, corrected.overruled) == (True, False)


def test_of_several_quotes_the_first_that_was_found_is_given():
    quotes = ["nowhere to be found", "a real quote"]
    verdict = {"number": 1, "evidence": quotes, "verdict": "yes"}
    judge = ScriptedJudge(
        {
            "statements": {"statements": ["It is."], "declined": False},
            # a judge of this library may quote several times
            "verdicts": Completion(json.dumps({"verdicts": [verdict]}), held_to="graded"),
        }
    )
    sample = {"id": "a", "question": "q?", "answer": "It is.", "contexts": ["Here is a real quote."]}
    (found,) = verdict_rows(evaluate([sample], metrics="faithfulness", judge=judge).records())

    assert (found.evidence, found.chunk, found.start, found.quotes) == ("a real quote", 1, 8, 2)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
def test_a_text_that_a_spreadsheet_would_run_gets_an_apostrophe(start):
    (cells,) = as_csv(row(text=f"{start}HYPERLINK(1)", reason="harmless"))

    assert cells["text"] == f"'{start}HYPERLINK(1)"
    assert cells["reason"] == "harmless"


def test_csv_has_empty_cells_for_what_is_absent_words_for_decisions_and_numbers_as_they_are():
    first, second = as_csv(row(verdict=True, cosine=-0.5), row(verdict=None, overruled=False))

    assert (first["verdict"], first["overruled"], first["chunk"], first["cosine"]) == ("true", "", "", "-0.5")
    assert (second["verdict"], second["overruled"]) == ("", "false")


def test_line_breaks_and_quotes_survive_csv_and_jsonl():
    text = 'one, "two"\nthree ü 居里'
    file = io.StringIO()
    count = write_jsonl([row(text=text)], file)

    assert as_csv(row(text=text))[0]["text"] == text
    assert json.loads(file.getvalue())["text"] == text
    assert (count, file.getvalue().count("\n")) == (1, 1)


def test_the_log_has_a_row_for_each_verdict_in_the_format_of_its_file_or_that_was_named(
    command, folder, tmp_path
):
    count = sum(len(record.verdicts) for record in Run.load(folder).records())
    outcome = command("verdicts", folder, "--out", tmp_path / "log.csv")
    written = (tmp_path / "log.csv").read_text(encoding="utf-8")

    assert len(list(csv.DictReader(io.StringIO(written)))) == count
    assert (outcome.code, outcome.out) == (0, "")
    assert " ".join(outcome.err.split()).startswith(f"{count} verdicts written to")
    assert len(command("verdicts", folder).out.splitlines()) == count
    named = command("verdicts", folder, "--format csv").out
    assert named.startswith("sample,metric,number,about,text,verdict,")


# -- true positives, false positives and false negatives

PARIS = {
    "id": "paris",
    "question": "Where is Paris?",
    "answer": "Paris is in northern France.",
    "reference": "Paris lies in France.",
    "context_ids": ["d1", "d2", "d3"],
    "reference_context_ids": ["d3", "d4", "d2", "d5"],
}
STATEMENTS = {
    # "in the north" alone is not in the reference: TP 1, FP 1; the reference's one statement is covered: FN 0
    "statements": {"statements": ["Paris is in France.", "It is in the north."], "declined": False},
    "reference_statements": {"statements": ["Paris lies in France."]},
    "reference_verdicts": {
        "verdicts": [{"number": 1, "verdict": "yes"}, {"number": 2, "verdict": "no"}],
    },
    "answer_verdicts": {"verdicts": [{"number": 1, "verdict": "yes"}]},
}


@pytest.mark.parametrize(
    ("metric", "part", "expected"),
    [
        ("factual_correctness", None, (1, 1, 0)),
        ("answer_correctness(weights=1:0)", "factual_correctness", (1, 1, 0)),
        # paris, in, france of 5 and of 4 words
        ("token_f1", None, (3, 2, 1)),
        ("rouge(kind=1)", None, (3, 2, 1)),
        # of the first two results d2 is relevant; d3, d4 and d5 are not among them
        ("retrieval_precision@2", None, (1, 1, 3)),
        ("retrieval_recall", None, (2, 1, 2)),
        # three results are fewer than ten
        ("ndcg@10", None, (2, 1, 2)),
    ],
)
def test_counts_have_the_field_names_of_the_source(command, tmp_path, metric, part, expected):
    evaluate([PARIS], metrics=[metric], judge=ScriptedJudge(STATEMENTS), out=tmp_path / "run")
    (row,) = [json.loads(line) for line in command("verdicts", tmp_path / "run", "--counts").out.splitlines()]
    assert (row["sample"], row["part"], row["status"]) == ("paris", part, "ok")
    assert (row["num_tp"], row["num_fp"], row["num_fn"]) == expected


def test_counts_as_csv_have_a_header_and_no_row_for_a_metric_without_all_three(command, tmp_path):
    sample = {**PARIS, "contexts": ["Paris lies in France."]}
    evaluate([sample], metrics=["faithfulness"], judge="embedded", out=tmp_path / "run")
    written = command("verdicts", tmp_path / "run", "--counts", "--out", tmp_path / "counts.csv")
    assert "0 rows written" in written.err
    header = "sample,metric,part,status,value,num_tp,num_fp,num_fn,missing"
    assert (tmp_path / "counts.csv").read_text("utf-8").splitlines() == [header]
