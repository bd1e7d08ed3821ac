"""`ragmetrics study`: commands over finished runs, their files and their exit codes."""

import csv
import io
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from ragmetrics_core import Run, evaluate
from ragmetrics_core.testing import HashEmbedder
from tests.cli.conftest import judged_by

DATA = Path(__file__).resolve().parents[2] / "examples" / "data"
WIDE = 200


def judge(missing):
    """A judge that finds the last `missing` of four statements unsupported, sometimes one or two more."""

    def is_right(text):
        number, place = map(int, text.split()[1:])
        return place <= 4 - min(4, missing + number % 2 + (0 if number % 3 else 1))

    return judged_by(is_right, lambda answer: [f"{answer} {number}" for number in range(1, 5)])


SAMPLES = [
    {
        "id": f"s{number}",
        "question": f"What is {number}?",
        "contexts": ["A context."],
        "answer": f"Answer {number}",
        "reference": f"Reference {number}",
        "context_ids": ["x", "r"] if number % 4 else ["r", "x"],
        "reference_context_ids": ["r"],
        "retrieval_correct": number % 3 != 0,
        "correct": number % 2 == 0,
    }
    for number in range(1, 25)
]


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "before"
    metrics = ["faithfulness", "answer_similarity"]
    evaluate(SAMPLES, metrics=metrics, judge=judge(0), embedder=HashEmbedder(), out=out)
    return out


@pytest.fixture(scope="module")
def after(before):
    out = before.parent / "after"
    metrics = ["faithfulness", "answer_similarity"]
    evaluate(SAMPLES, metrics=metrics, judge=judge(1), embedder=HashEmbedder(), out=out)
    return out


@pytest.fixture
def labels(tmp_path):
    lines = ["sample_id,annotator,value"]
    lines += [
        f"s{n},{who},{'yes' if n % 2 == 0 or (n == 5 and who == 'bob') else 'no'}"
        for n in range(1, 13)
        for who in ("ann", "bob")
    ]
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    return tmp_path / "labels.csv"


def test_groups_are_shown_with_tests_and_intervals(command, before):
    outcome = command("study groups", before, "--by retrieval_correct --one-sided", columns=WIDE)
    assert (outcome.code, outcome.err) == (0, "")
    assert "Means by retrieval_correct" in outcome.out
    assert "true > false" in outcome.words
    assert "nan" not in outcome.out.lower()


def test_a_baseline_is_compared_with_every_other_run(command, before, after):
    outcome = command("study groups", after, "--baseline", before, "--format json")
    tests = next(table for table in outcome.json if table["name"] == "tests")
    assert {(row["within"], row["claim"]) for row in tests["rows"]} == {("all samples", "after ≠ before")}


def test_files_hold_all_digits_and_no_table_in_short(command, before, tmp_path):
    out = tmp_path / "means.csv"
    assert command("study groups", before, "--by correct --table means --out", out).code == 0
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    values = [Run.load(before).score(f"s{n}", "faithfulness").value for n in range(2, 25, 2)]
    row = next(row for row in rows if (row["metric"], row["correct"]) == ("faithfulness", "true"))
    assert float(row["mean"]) == pytest.approx(sum(values) / 12, abs=1e-15)


def test_markdown_is_a_table(command, before):
    outcome = command("study groups", before, "--by correct --format markdown")
    assert "| run | correct | faithfulness | answer_similarity |" in outcome.out


def test_a_folder_gets_every_table(command, before, tmp_path):
    outcome = command("study groups", before, "--by correct --out", tmp_path / "tables")
    assert outcome.code == 0
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {"groups.csv", "means.csv", "tests.csv"}


def test_csv_of_several_tables_says_which_others_there_are(command, before):
    outcome = command("study groups", before, "--by correct --format csv")
    assert outcome.out.startswith("run,correct,faithfulness_mean")
    assert "--table takes also means, tests" in " ".join(outcome.err.split())


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_plots_are_drawn_and_the_same_data_give_the_same_file(command, before, tmp_path, suffix):
    first, second = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    for path in (first, second):
        assert command("study groups", before, "--by correct --plot", path).code == 0
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")


def test_a_plot_of_another_kind_is_a_mistake(command, before, tmp_path):
    outcome = command("study groups", before, "--by correct --plot", tmp_path / "a.gif")
    assert outcome.code == 2
    assert "ends in .svg or .png" in " ".join(outcome.err.split())


def test_a_worse_run_fails_only_when_asked_and_the_other_way_round_it_is_better(command, before, after):
    assert command("study compare", before, after).code == 0
    worse = command("study compare", before, after, "--fail-if worse", columns=WIDE)
    better = command("study compare", after, before, "--fail-if worse --format json")
    assert (worse.code, "failed: faithfulness/strict.1 is worse by" in worse.err) == (1, True)
    verdicts = {row["metric"]: row["verdict"] for row in better.json[0]["rows"]}
    assert (better.code, verdicts["faithfulness"]) == (0, "better")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("--min faithfulness=0.1", 0, ""),
        ("--max faithfulness=0.99", 0, ""),
        ("--max faithfulness=0.1", 1, "above 0.1"),
        ("--min faithfulness=0.99", 1, "over 24 samples, below 0.99"),
        ("--fail-if inferior --margin 0.9", 0, ""),
        ("--fail-if inferior --margin 0.01", 1, "failed: "),
    ],
)
def test_a_limit_that_is_missed_or_a_loss_beyond_the_margin_fails(command, before, after, words, code, said):
    outcome = command("study compare", before, after, words, columns=WIDE)
    assert (outcome.code, said in outcome.err) == (code, True)


def test_a_comparison_follows_the_move_into_the_statements(command, before, after):
    outcome = command("study compare", before, after, "--trace 2", columns=WIDE)
    assert "What moved faithfulness/strict.1" in outcome.words
    assert "the mean moved by -" in outcome.words
    assert "~ supported → not supported: Answer" in outcome.words


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--fail-if inferior", "--fail-if inferior needs --margin"),
        ("--min faithfulness", "--min takes METRIC=0.8"),
        ("--max faithfulness", "--max takes METRIC=0.8"),
        ("--min recall=0.8", "has no metric 'recall'"),
        ("--metrics context_recall", "has no metric 'context_recall'"),
    ],
)
def test_wrong_use_of_compare_exits_with_2(command, before, after, words, told):
    outcome = command("study compare", before, after, words, columns=WIDE)
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err


def test_agreement_of_people_alone_needs_no_run(command, labels):
    outcome = command("study agreement", labels, columns=WIDE)
    assert outcome.code == 0
    assert "alpha (ordinal)" in outcome.words
    assert "For discussion: no majority" in outcome.out


def test_agreement_with_a_run_draws_what_it_found(command, before, labels, tmp_path):
    files = {name: tmp_path / f"{name}.svg" for name in ("plot", "roc", "calibration")}
    options = [part for name, path in files.items() for part in (f"--{name}", path)]
    outcome = command("study agreement", labels, before, *options, columns=WIDE)
    assert outcome.code == 0
    assert "Metrics as detectors of wrong answers" in outcome.out
    assert all(path.stat().st_size > 1000 for path in files.values())


def test_corrections_say_how_often_the_judge_is_right(command, labels, tmp_path):
    out = tmp_path / "run"
    evaluate(SAMPLES, metrics="faithfulness", judge=judge(0), out=out)
    run = Run.load(out)
    for number, verdict in ((1, True), (2, False)):
        run.correct("s1", "faithfulness", number, verdict, by="ann")
    outcome = command("study agreement", labels, out, "--format json --table verdicts")
    (row,) = outcome.json[0]["rows"]
    # the judge said yes to both; ann confirms the first and overrules the second
    assert (row["right"], row["n"]) == (0.5, 2)


def test_labels_of_statements_say_how_often_the_judge_is_right(command, before, tmp_path):
    lines = ["sample_id,annotator,label,value,metric,statement"]
    lines += [
        f"s2,ann,right,{value},FaiFul,{number}" for number, value in enumerate(("yes", "yes", "no", "no"), 1)
    ]
    (tmp_path / "l.csv").write_text("\n".join(lines))
    verdicts = [verdict.supported for verdict in Run.load(before).score("s2", "faithfulness").verdicts]
    same = sum(one == other for one, other in zip(verdicts, (True, True, False, False), strict=True))
    outcome = command("study agreement", tmp_path / "l.csv", before, "--format json --table verdicts")
    (row,) = outcome.json[0]["rows"]
    assert (row["right"], row["n"]) == (same / 4, 4)


def test_estimate_gives_three_means(command, before, labels):
    outcome = command("study estimate", before, labels, "--metric faithfulness --format json")
    rows = {row["estimate"]: row for row in outcome.json[0]["rows"]}
    # 12 samples are labelled, one of them without majority
    assert (rows["classical"]["labelled"], rows["prediction-powered"]["scored_only"]) == (11, 13)
    assert rows["classical"]["mean"] == pytest.approx(6 / 11)


def test_retrievers_are_compared_from_files_and_runs(command, before, tmp_path):
    better = [{**sample, "context_ids": ["r", "x"]} for sample in SAMPLES]
    (tmp_path / "better.jsonl").write_text("\n".join(map(json.dumps, better)))
    outcome = command("study retriever", before, tmp_path / "better.jsonl", "-k", "1,2", "--format json")
    accuracies, tests = outcome.json
    assert [(row["retriever"], row["k=1"], row["k=2"]) for row in accuracies["rows"]] == [
        ("before", 0.25, 1.0),
        ("better.jsonl", 1.0, 1.0),
    ]
    assert tests["rows"][0]["verdict"] == "better"


def test_retrievers_may_stand_in_one_file(command, tmp_path):
    rows = [
        {**sample, "id": f"{name}-{sample['id']}", "model": name, "context_ids": ids}
        for name, ids in (("bge", ["x", "r"]), ("llm", ["r", "x"]))
        for sample in SAMPLES
    ]
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, rows)))
    outcome = command("study retriever", tmp_path / "all.jsonl", "--by model -k 1 --format json")
    assert [(row["retriever"], row["k=1"], row["n"]) for row in outcome.json[0]["rows"]] == [
        ("bge", 0.0, 24),
        ("llm", 1.0, 24),
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("groups RUN --by colour", "labels are: correct, retrieval_correct"),
        ("groups RUN --table none", "there is no table 'none'"),
        ("groups RUN --format terminal --out x.md", "cannot be written to a file"),
        ("groups RUN --out x.docx", "say the format with --format"),
        ("groups RUN RUN", "a run is given twice"),
        ("estimate RUN none.csv", "none.csv' does not exist"),
        ("retriever RUN -k 0", "-k takes numbers above 0 such as 1,3,5, not '0'"),
        ("groups nowhere", "there is no run in nowhere"),
    ],
)
def test_wrong_use_exits_with_2_and_one_sentence(command, before, words, told):
    given = [before if word == "RUN" else word for word in words.split()]
    outcome = command("study", *given, columns=WIDE)
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err
    assert outcome.err.count("\n") == 1


def test_without_scipy_the_study_says_what_to_install(command, before, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    outcome = command("study groups", before, "--by correct", columns=WIDE)
    assert outcome.code == 2
    assert "pip install 'ragmetrics-core[study]'" in outcome.err


def test_control_characters_in_names_do_not_reach_the_terminal(command, tmp_path):
    evil = [{**sample, "topic": "\x1b[31m[red]evil" if n % 2 else "calm"} for n, sample in enumerate(SAMPLES)]
    evaluate(evil, metrics="faithfulness", judge=judge(0), out=tmp_path / "run")
    outcome = command("study groups", tmp_path / "run", "--by topic", columns=WIDE)
    assert outcome.code == 0
    assert "\x1b[31m" not in outcome.out
    assert "[red]evil" in outcome.out


@pytest.mark.parametrize("words", ["compare BEFORE AFTER", "groups BEFORE --by retrieval_correct"])
def test_nothing_is_cut_off_in_a_terminal_of_80_columns(command, before, after, words):
    paths = {"BEFORE": str(before), "AFTER": str(after)}
    given = [paths.get(word, word) for word in words.split()]
    narrow, wide = (command("study", *given, columns=columns).out for columns in (80, WIDE))

    assert max(map(len, narrow.splitlines())) <= 80
    # each character of the wide tables but lines and spaces, however they are broken; sentences may be
    # notes below their table
    of_wide, of_narrow = (Counter("".join(out.replace("─", "").split())) for out in (wide, narrow))
    assert of_wide <= of_narrow
    assert all(f"\n{metric} " in narrow for metric in ("faithfulness", "answer_similarity"))


def test_two_versions_of_a_prompt_in_one_run_are_compared(command, tmp_path):
    short = "faithfulness(granularity=sentence, verify=verdicts.v4)"
    samples = [{**each, "contexts": ["Everything."]} for each in SAMPLES]
    evaluate(samples, metrics=["faithfulness", short], judge="embedded", out=tmp_path / "run")
    between = f"faithfulness,{short}"

    outcome = command("study compare", tmp_path / "run", "--between", between, "--json", columns=WIDE)

    assert outcome.code == 0
    tables = json.loads(outcome.out)
    first, second = (each.signature for each in Run.load(tmp_path / "run").metrics)
    assert tables[0]["title"] == f"{second} against {first}"
    assert command("study compare", tmp_path / "run").code == 2
    assert command("study compare", tmp_path / "run", "--between faithfulness").code == 2
    assert command("study compare", tmp_path / "run", "--between", between, "--trace 2").code == 2
