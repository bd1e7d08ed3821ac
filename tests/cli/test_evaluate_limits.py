"""`ragmetrics evaluate --min`: the same rule as the gate of two runs, and attempts to get past it."""

import json

import pytest

ROW = {"question": "Where is it?", "contexts": ["It is in Paris."]}
GOOD, WRONG = "It is in Paris.", "It was sold to Peru."


@pytest.fixture
def measure(command, tmp_path):
    """Evaluate answers; rows that are no mappings are written as they are."""

    def run(answers, *words, name="data", metrics="faithfulness"):
        rows = [
            {**ROW, "id": f"q{number}", "question": f"Where is {number}?", "answer": each}
            if isinstance(each, str)
            else each
            for number, each in enumerate(answers)
        ]
        file = tmp_path / f"{name}.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return command("evaluate --judge embedded", file, "--metrics", metrics, *words)

    return run


def test_a_mean_at_its_minimum_passes(measure):
    # 30 equal scores of 1: Wilson's interval of 30 of 30 begins at 0.886
    outcome = measure([GOOD] * 30, "--min", "faithfulness=0.88", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.json["gate"] == {"verdict": "passed", "failed": [], "cannot_tell": [], "notes": []}


def test_a_limit_names_a_metric_with_settings_as_metrics_does(measure):
    metric = "faithfulness(granularity=sentence, verify=verdicts.v4)"
    outcome = measure([GOOD, WRONG], "--min", f"{metric}=0.75", metrics=metric)
    assert outcome.code == 1
    assert "faithfulness/strict.1(granularity=sentence,verify=verdicts.v4@2bfb1b8f) is 0.500" in outcome.err


def test_a_mean_below_its_minimum_exits_with_1_and_says_why(measure):
    outcome = measure([GOOD, WRONG], "--min", "faithfulness=0.75")
    assert outcome.code == 1
    assert outcome.err == "failed: the mean of faithfulness/strict.1 is 0.500 over 2 samples, below 0.75\n"


def test_what_cannot_be_told_is_said_and_exits_with_3_when_asked(measure):
    answers = [GOOD] * 9 + [WRONG]
    outcome = measure(answers, "--min", "faithfulness=0.85")
    # Wilson's interval of 9 in 10
    told = "the mean of faithfulness/strict.1 is 0.900 (0.596, 0.982) over 10 samples: on others it may be"
    assert (outcome.code, outcome.err) == (0, f"cannot tell: {told} below 0.85\n")
    asked = measure(answers, "--min", "faithfulness=0.85", "--fail-if", "cannot-tell", "--json")
    assert (asked.code, asked.json["gate"]["verdict"]) == (3, "cannot tell")


def test_a_few_perfect_answers_show_little(measure):
    # Wilson's interval of 3 of 3 begins at 3 / (3 + 1.96^2) = 0.439
    outcome = measure([GOOD] * 3, "--min", "faithfulness=0.8", "--fail-if", "cannot-tell")
    assert outcome.code == 3
    assert "1.000 (0.439, 1.000) over 3 samples" in outcome.err


BARE = {"id": "bare", "question": "Where is it?", "answer": GOOD}


@pytest.mark.parametrize(
    "broken", [{"answer": 3}, {"question": "?"}, {}, 7, {"id": "q0", "answer": "A."}, "", "   ", BARE]
)
def test_a_bad_answer_that_is_no_sample_or_cannot_be_measured_counts_as_the_worst(measure, broken):
    outcome = measure([GOOD, GOOD, GOOD, broken], "--min faithfulness=0.8")
    assert outcome.code == 1
    assert "0.750 over 4 samples, 1 of them without a score and counted as the worst" in outcome.err


def test_a_budget_that_ends_early_does_not_pass(measure):
    outcome = measure([GOOD] * 10, "--min", "faithfulness=0.8", "--max-calls", 4)
    assert outcome.code == 1
    assert "counted as the worst, below 0.8" in outcome.err


def test_the_samples_of_an_earlier_day_do_not_hide_those_of_today(measure, tmp_path):
    out = ("--out", tmp_path / "run")
    assert measure([GOOD] * 20, *out, "--min", "faithfulness=0.8").code == 0
    today = [{**ROW, "id": "new", "answer": WRONG}]
    outcome = measure(today, *out, "--min", "faithfulness=0.8", name="today")
    assert outcome.code == 1
    assert "0.000 over 1 samples, below 0.8" in outcome.err
    assert measure(today, *out, "--add", "--min", "faithfulness=0.8", name="today").code == 1


def test_answers_that_changed_under_their_ids_do_not_pass_by_their_old_scores(measure, tmp_path):
    out = ("--out", tmp_path / "run")
    assert measure([GOOD] * 20, *out, "--min", "faithfulness=0.8").code == 0
    outcome = measure([WRONG] * 20, *out, "--min", "faithfulness=0.3", name="today")
    assert outcome.code == 1
    assert "0.000 over 20 samples, below 0.3" in outcome.err
    assert measure([WRONG] * 20, *out, "--overwrite", "--min", "faithfulness=0.3", name="today").code == 1


def test_a_run_that_goes_on_passes_as_one_at_once_and_a_row_that_was_mended_counts_no_longer(
    measure, tmp_path
):
    words = ("--out", tmp_path / "run", "--min faithfulness=0.8")
    assert measure([GOOD] * 8, *words).code == 0
    assert measure([GOOD] * 20, *words).code == 0
    words = ("--out", tmp_path / "mended", "--min faithfulness=0.9")
    assert measure([GOOD, GOOD, {}], *words).code == 1
    assert measure([GOOD, GOOD, GOOD], *words).code == 0


def test_a_run_that_scored_nothing_does_not_pass(measure):
    outcome = measure([{"question": "Where?", "answer": GOOD}], "--min", "faithfulness=0")
    assert outcome.code == 1
    assert outcome.err == "failed: faithfulness/strict.1 has no value in run\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--min", "faithful=0.8"), "no metric 'faithful'"),
        (("--min", "faithfulness"), "--min takes METRIC=0.8"),
        (("--min", "faithfulness=80"), "lie from 0 to 1"),
        (("--max", "hallucination=10"), "no metric 'hallucination'"),
        (("--min", "faithfulness=-0.1"), "lie from 0 to 1"),
        (("--min", "faithfulness=nan"), "--min takes METRIC=0.8"),
        (("--max", "faithfulness=1e999"), "--max takes METRIC=0.8"),
    ],
)
def test_a_limit_that_holds_nothing_is_refused_before_anything_is_asked(measure, tmp_path, words, told):
    outcome = measure([GOOD], *words, "--out", tmp_path / "run")
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([GOOD] * 10, "--max hallucination=0.2 --max-calls 3"),
        # the highest is the bad end of hallucination, and would reach any minimum
        ([WRONG, {}, {}], "--min hallucination=0.5"),
    ],
)
def test_where_lower_is_better_what_failed_counts_as_the_highest_and_reaches_no_minimum(
    measure, answers, words
):
    assert measure(answers, words, metrics="hallucination").code == 1


THREE_WAY = "faithfulness/strict.2"


@pytest.mark.parametrize(("answers", "code"), [([GOOD], 0), ([WRONG], 0), ([GOOD, "It is not in Paris."], 1)])
def test_one_contradiction_fails_and_a_statement_that_is_not_mentioned_does_not(measure, answers, code):
    outcome = measure(answers, "--fail-if", "contradicted", metrics=THREE_WAY)

    assert outcome.code == code
    named = 'faithfulness/strict.2 of sample q1: contradicted: "It is not in Paris."'
    assert (named in outcome.err) == bool(code)


def test_contradictions_need_a_metric_with_verdicts_in_three_ways(measure):
    outcome = measure([GOOD], "--fail-if", "contradicted")

    assert outcome.code == 2
    assert "measure faithfulness/strict.2" in outcome.err


def test_a_comparison_fails_if_the_second_run_has_a_contradiction(measure, command, tmp_path):
    before, after = tmp_path / "before", tmp_path / "after"
    measure([GOOD, WRONG], "--out", before, metrics=THREE_WAY, name="one")
    measure([GOOD, "It is not in Paris."], "--out", after, metrics=THREE_WAY, name="two")

    failed = command("study compare", before, after, "--fail-if contradicted")
    passed = command("study compare", after, before, "--fail-if contradicted")
    tables = command("study compare", before, after, "--format json").json
    (table,) = [each for each in tables if each["name"] == "contradicted"]
    assert (failed.code, passed.code) == (1, 0)
    # two statements each; one of the second run is contradicted, one of the first is not mentioned
    assert [list(row.values())[2:] for row in table["rows"]] == [["2", "0", "1", "0"], ["2", "1", "0", "0"]]
    assert 'of sample q1: contradicted: "It is not in Paris."' in failed.err


def test_a_limit_of_the_expected_mean_exits_with_1_and_says_why(measure):
    # every verdict of embedded is a yes, with a probability below 1
    assert measure([GOOD] * 3, "--min", "faithfulness=0.3@p90").code == 0
    outcome = measure([GOOD] * 3, "--min", "faithfulness=1@p99")
    assert outcome.code == 1
    assert (
        "failed: the lower end (99 % interval) of the expected mean of faithfulness/strict.1" in outcome.err
    )
    outcome = measure([GOOD], "--min", "faithfulness=0.8@90")
    assert outcome.code == 2
    assert "--min takes METRIC=0.8 or METRIC=0.8@p90" in outcome.err


def test_an_invalid_row_may_hide_a_contradiction(measure):
    outcome = measure([GOOD, {}], "--fail-if", "contradicted", metrics=THREE_WAY)
    assert outcome.code == 1
    assert "1 invalid row left out: what they say may be contradicted; correct the data" in outcome.err


CONTRARY = "It is not in Paris."


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        # by group: statements, contradicted, not mentioned, unproven
        (
            "study groups one two --by kind",
            {
                ("one", "a"): "2 1 0 0",
                ("one", "b"): "1 0 1 0",
                ("two", "a"): "1 0 0 0",
                ("two", "b"): "1 1 0 0",
            },
        ),
        ("study groups one", {("one",): "3 1 1 0"}),
        ("study compare one --by kind", {("one", "a"): "2 1 0 0", ("one", "b"): "1 0 1 0"}),
        ("study compare one two", {("one",): "3 1 1 0", ("two",): "2 1 0 0"}),
    ],
)
def test_studies_count_contradictions_by_run_and_group(measure, command, tmp_path, words, rows):
    def labelled(*answers):
        return [
            {**ROW, "id": f"q{n}", "question": f"Where is {n}?", "answer": answer, "kind": kind}
            for n, (answer, kind) in enumerate(answers)
        ]

    answers = {"one": [(GOOD, "a"), (CONTRARY, "a"), (WRONG, "b")], "two": [(GOOD, "a"), (CONTRARY, "b")]}
    for name, of_run in answers.items():
        measure(labelled(*of_run), "--out", tmp_path / name, metrics=THREE_WAY, name=name)
    called = [tmp_path / word if word in answers else word for word in words.split()]
    outcome = command(*called, "--format", "json")
    (table,) = [each for each in outcome.json if each["name"] == "contradicted"]
    found = [list(row.values()) for row in table["rows"]]
    assert {tuple(row[:-5]): " ".join(row[-4:]) for row in found} == rows
