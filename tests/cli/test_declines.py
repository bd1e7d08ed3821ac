"""Answers that decline, at the command line: counted everywhere, lost in a comparison, held by a limit."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragmetrics_core import Run
from ragmetrics_core.cli._app import app
from tests.servers import OpenAIServer, chat

TELECOM = Path(__file__).parents[2] / "examples" / "data" / "telecom.jsonl"
ROWS = [json.loads(line) for line in TELECOM.read_text(encoding="utf-8").splitlines()]
REFUSAL = "I do not know."


def written(path, declines):
    """The telecom questions with the expected answer as the answer; those that decline say so."""
    rows = [
        {name: row[name] for name in ("id", "question", "contexts", "reference")}
        | {"answer": REFUSAL if declines(number) else row["reference"]}
        for number, row in enumerate(ROWS)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def judged(seen):
    """A chat model that supports everything, and lists a refusal as the one statement of the answer."""
    prompt = seen.body["messages"][-1]["content"]
    if "Split the answer into statements" in prompt:
        sentences = re.findall(r"\[sentence (\d+)\] (.*?)(?=\s*\n|\s*\[sentence )", prompt)
        entries = [
            {"sentence": int(number), "kind": "claim", "statements": [text]} for number, text in sentences
        ]
        declined = [text for _, text in sentences] == [REFUSAL]
        return chat(json.dumps({"sentences": entries, "declined": declined, "reason": "it does not know"}))
    numbers = re.findall(r"^(\d+)\. ", prompt.partition("<items>\n")[2], re.MULTILINE)
    verdicts = [{"number": int(n), "reason": "so", "evidence": "", "verdict": "yes"} for n in numbers]
    return chat(json.dumps({"verdicts": verdicts}))


@pytest.fixture(scope="module", params=["embedded", "chat"])
def runs(request, tmp_path_factory):
    """Three runs: all is answered, every third declines (18 of 52), everything declines."""
    folder = tmp_path_factory.mktemp("declines")
    with OpenAIServer(judged) as server:
        judge = "embedded" if request.param == "embedded" else f"openai:m@{server.base_url}"
        for name, declines in {
            "main": lambda _: False,
            "third": lambda number: number % 3 == 0,
            "all": lambda _: True,
        }.items():
            data = written(folder / f"{name}.jsonl", declines)
            words = ["evaluate", data, "--metrics", "faithfulness", "--judge", judge, "--out", folder / name]
            result = CliRunner().invoke(app, list(map(str, words)), env={"OPENAI_API_KEY": "k"})
            assert result.exit_code == 0, result.output
    return folder


def row_of(tables, name):
    return {row["run"]: row for table in tables if table["name"] == name for row in table["rows"]}


@pytest.mark.parametrize(("name", "declined"), [("third", 18), ("all", 52)])
def test_answers_replaced_by_a_refusal_are_lost_and_never_better(command, runs, name, declined):
    outcome = command("study compare", runs / "main", runs / name, "--format json")
    (row,) = outcome.json[0]["rows"]
    # the bundled judge gives the one German answer no score, which the third run leaves as it is
    open_ids = {each.sample_id for each in Run.load(runs / "main").records() if each.value is None}
    assert open_ids <= {"tc-50"}
    lost = declined - (len(open_ids) if name == "all" else 0)
    assert (row["verdict"], row["lost"], row["n"]) == ("worse", lost, 52 - len(open_ids) - lost)
    counts = row_of(outcome.json, "declines")
    assert counts["main"] == {"run": "main", "answered": 52, "declined": 0, "undecided": 0, "blank": 0}
    assert counts[name] == {
        "run": name,
        "answered": 52 - declined,
        "declined": declined,
        "undecided": 0,
        "blank": 0,
    }


def test_a_pure_refusal_makes_no_statement(runs):
    run = Run.load(runs / "all")
    score = run.score("tc-01", "faithfulness")
    assert (score.status, score.reason, score.value) == ("undefined", "no_statements", None)
    assert score.abstained is not None
    assert score.abstained.declined
    assert list(run.audit()) == []


def test_more_declines_than_before_fail_when_asked(command, runs):
    outcome = command("study compare", runs / "main", runs / "third", "--fail-if declines")
    assert outcome.code == 1
    told = "0 of 52 in main, 18 in third, 0 of them undecided or missing"
    assert outcome.err == f"failed: more answers decline: {told}\n"
    fewer = command("study compare", runs / "third", runs / "main", "--fail-if declines")
    assert (fewer.code, fewer.err) == (0, "")


def test_a_limit_holds_the_share_of_answers_that_decline(command, runs):
    # 18 of 52 are 0.346
    words = "study compare", runs / "main", runs / "third", "--max"
    beyond, within = command(*words, "declined=0.1"), command(*words, "declined=0.35")
    assert (beyond.code, within.code) == (1, 0)
    told = "the share of answers that decline is 0.346 over 52 samples, above 0.1"
    assert beyond.err == f"failed: {told}\n"


def test_every_form_of_a_comparison_has_the_counts(command, runs, tmp_path):
    told = "52 answered, 0 declined, 0 undecided in {}; 34 answered, 18 declined, 0 undecided in {}"
    words = "study compare", runs / "main", runs / "third"
    assert f"Answers: {told.format('main', 'third')}" in command(*words, "--format junit").out
    assert f"::notice title=ragmetrics::Answers: {told.format('main', 'third')}\n" in (
        command(*words, "--format github", "--comment", tmp_path / "comment.md").out
    )
    comment = (tmp_path / "comment.md").read_text(encoding="utf-8")
    assert f"\nAnswers: {told.format('`main`', '`third`')}\n" in comment


def test_a_run_shows_its_counts(command, runs):
    counts = {"answered": 34, "declined": 18, "undecided": 0, "blank": 0}
    assert "Answers: 34 answered, 18 declined, 0 undecided" in command("show", runs / "third").out
    shown = command("show", runs / "third", "--json").json
    assert shown["declines"] == counts
    assert sum(row["declined"] for row in shown["samples"]) == 18
    assert Run.load(runs / "third").declines._asdict() == counts


# -- one run


@pytest.fixture
def measure(command, tmp_path):
    def run(answers, *words, metrics="faithfulness"):
        rows = [
            {"id": f"q{n}", "question": f"Where is {n}?", "contexts": ["It is in Paris."], "answer": each}
            for n, each in enumerate(answers)
        ]
        (tmp_path / "data.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return command(
            "evaluate --judge embedded", tmp_path / "data.jsonl", "--metrics", metrics, "--json", *words
        )

    return run


def test_refusals_leave_the_mean_of_one_run_and_a_limit_of_declines_finds_them(measure):
    answers = ["It is in Paris."] * 28 + [REFUSAL] * 12
    alone = measure(answers, "--min", "faithfulness=0.8")
    assert (alone.code, alone.json["metrics"][0]["n"]) == (0, 28)
    held = measure(answers, "--min", "faithfulness=0.8", "--max", "declined=0.1")
    assert held.code == 1
    assert held.json["declines"] == {"answered": 28, "declined": 12, "undecided": 0, "blank": 0}
    assert "the share of answers that decline is 0.300 over 40 samples, above 0.1" in held.err


def test_blank_answers_decline_and_count_as_the_worst_too(measure):
    # invisible characters are no answer; half of the scores are 1, and 2 of 4 decline
    answers = ["It is in Paris.", "It is in Paris.", " \n", "\u200b"]
    outcome = measure(answers, "--min", "faithfulness=0.6", "--max", "declined=0.4")
    assert outcome.json["declines"] == {"answered": 2, "declined": 2, "undecided": 0, "blank": 2}
    assert [reason["metric"] for reason in outcome.json["gate"]["failed"]] == [
        "faithfulness/strict.1",
        "declined",
    ]
    assert "is 0.500 over 4 samples, 2 of them without a score and counted as the worst" in outcome.err


def test_a_limit_of_declines_fails_where_nothing_asks(measure):
    outcome = measure(["It is in Paris."] * 8, "--max", "declined=0.9", metrics="groundedness_rating")
    assert outcome.code == 1
    assert "nothing in run asks whether an answer declines: measure abstention" in outcome.err


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("declined=2", "'declined=2' is not a possible maximum"),
        ("declined=-0.1", "'declined=-0.1' is not a possible maximum"),
        ("declined=", "--max takes METRIC=0.8 or METRIC=0.8@p90, not 'declined='"),
        ("declined=nan", "--max takes METRIC=0.8 or METRIC=0.8@p90, not 'declined=nan'"),
    ],
)
def test_a_limit_of_declines_is_a_share(measure, limit, told):
    outcome = measure(["It is in Paris."], "--max", limit)
    assert outcome.code == 2
    assert told in outcome.err
