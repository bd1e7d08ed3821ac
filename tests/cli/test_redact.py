"""`--redact`: what it finds reaches no judge and no file, whichever command asks or writes."""

import json

import pytest

from ragmetrics_core import Run
from tests.secrets.planted import held

ROW = {
    "id": "q1",
    "question": "Who answers ann@example.org, Dr. Quark?",
    "answer": "Support answers ann@example.org. Dr. Quark does not.",
    "contexts": ["Support answers mail.", "Dr. Quark is on leave."],
    "customer": "Dr. Quark",
}
MAIL = r"[\w.+-]+@[\w-]+\.\w+"
PRIVATE = "ann@example.org", "Quark"


@pytest.fixture
def rows(tmp_path):
    path = tmp_path.parent / f"{tmp_path.name}.jsonl"
    path.write_text(json.dumps(ROW) + "\n{'ann@example.org'\n", encoding="utf-8")
    return path


@pytest.fixture
def evaluated(command, rows, tmp_path):
    """`evaluate` with these options behind it."""

    def run(*options):
        named = ("--metrics", "faithfulness", "--out", tmp_path / "run")
        return command("evaluate --judge embedded", rows, *named, *options)

    return run


def test_what_an_expression_finds_is_in_no_file_of_the_run(evaluated, command, tmp_path):
    outcome = evaluated("--redact", MAIL, "--redact", r"Dr\. \w+")

    assert outcome.code == 0
    sample = Run.load(tmp_path / "run").sample("q1")
    assert sample.question == "Who answers [redacted], [redacted]?"
    assert sample.labels == {"customer": "[redacted]"}
    assert held(tmp_path, *PRIVATE) == {}
    assert "1 record checked: each score follows" in command("audit", tmp_path / "run").words


def test_the_same_command_goes_on_with_what_it_has_redacted(evaluated, tmp_path):
    for _ in range(2):
        assert evaluated("--redact", MAIL).code == 0

    run = Run.load(tmp_path / "run")
    assert (list(run.sample_ids), len(run.rejected)) == (["q1"], 1)


def test_a_function_of_ones_own_takes_out_what_it_likes(evaluated, tmp_path, monkeypatch):
    (tmp_path / "privacy.py").write_text(
        "def names(text):\n    return text.replace('Quark', '<name>')\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)

    assert evaluated("--redact", "privacy:names", "--redact", MAIL).code == 0
    assert Run.load(tmp_path / "run").sample("q1").question == "Who answers [redacted], Dr. <name>?"


@pytest.mark.parametrize(
    ("pattern", "answer"),
    [
        # "Support answers" goes first; what is left, "[redacted] ann@example.org", is found in the next round
        (r"\S+ (answers|ann@example\.org)", "[redacted]. Dr. Quark does not."),
        # a place between two letters is nothing to take out
        ("Q?(?=uark)", "Support answers ann@example.org. Dr. [redacted]uark does not."),
    ],
)
def test_a_word_that_is_left_beside_a_mark_is_found_in_turn_so_that_twice_is_once(
    evaluated, tmp_path, pattern, answer
):
    assert evaluated("--redact", pattern).code == 0
    assert Run.load(tmp_path / "run").sample("q1").answer == answer


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("(", "takes a regular expression, not '(': missing )"),
        (r"\w+", "matches its own replacement, [redacted]: make it narrower"),
        ("nowhere:names", "there is no function 'nowhere:names' for --redact: No module named 'nowhere'"),
        ("nowhere:names", "write (?:nowhere:names)"),
        ("json:missing", "has no attribute 'missing'"),
        ("json:__all__", "is a list, not a function"),
    ],
)
def test_a_mistake_is_named_before_anything_is_asked(evaluated, tmp_path, given, said):
    outcome = evaluated("--redact", given)

    assert outcome.code == 2
    assert said in " ".join(outcome.err.split())
    assert not (tmp_path / "run").exists()


def test_a_wave_of_requests_and_the_replies_to_it_are_redacted(command, rows, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")  # nobody listens there
    wave, replies = tmp_path / "wave.jsonl", rows.with_suffix(".replies")
    named = ("--judge", "openai:small", "--metrics", "faithfulness", "--redact", MAIL, "--redact", "Quark")

    def export():
        command("batch export", rows, "--out", tmp_path / "run", "--requests", wave, *named)

    export()
    (request,) = map(json.loads, wave.read_text("utf-8").splitlines())
    reply = json.dumps({"statements": ["Support answers ann@example.org."], "declined": False})
    replies.write_text(json.dumps({"custom_id": request["custom_id"], "reply": reply}), encoding="utf-8")

    outcome = command("batch import", tmp_path / "run", replies, "--redact", MAIL)

    assert "1 reply imported" in outcome.words
    assert held(tmp_path, *PRIVATE) == {}
    export()
    assert "Support answers [redacted]" in wave.read_text("utf-8")
    assert held(tmp_path, *PRIVATE) == {}


def test_a_plan_counts_what_is_the_same_once_it_is_redacted(command, tmp_path):
    file = tmp_path / "two.jsonl"
    rows = ({**ROW, "id": id, "question": f"Who is {name}?"} for id, name in (("1", "Ann"), ("2", "Bob")))
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def shared(*options):
        page = command("plan --judge embedded", file, "--metrics faithfulness", *options).out
        line = next(line for line in page.splitlines() if "faithfulness" in line)
        return line.split()[3]

    # two calls a sample: for statements, where the question is shown, and for verdicts, where it is not
    assert (shared(), shared("--redact", "Ann|Bob")) == ("1", "2")
