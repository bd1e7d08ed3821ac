"""A finished run on disk, and the command line to look at it with."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")

from typer.testing import CliRunner

from ragmetrics_core import evaluate
from ragmetrics_core.cli._app import app
from ragmetrics_core.errors import ModelRefused
from ragmetrics_core.protocol import Generate
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge

EINSTEIN = "Albert Einstein (born 14 March 1879) was a German-born physicist. He played the violin."
SAMPLES = [
    {
        "id": "q1",
        "question": "Where and when was Einstein born?",
        "contexts": ["The violin has four strings.", EINSTEIN],
        "answer": "Einstein was born in Germany on 20 March 1879.",
        "reference": "Einstein was born in Germany in 1879.",
    },
    {
        "id": "q2",
        "question": "Is this [red]text\x1b[31m harmless?",
        "contexts": ["A chunk with \x1b]0;title\x07 and [bold]brackets[/bold] and \u202eoverrides."],
        "answer": "[link=x]No[/link] :smile:",
        "reference": "Yes.",
    },
    {
        "id": "q3",
        "question": "Who knows?",
        "contexts": ["Nobody."],
        "answer": "I do not know.",
        "reference": "Me.",
    },
    {"id": "q4", "question": "Without contexts?", "answer": "Yes.", "reference": "Yes."},
    {
        "id": "q5",
        "question": "Does it fail?",
        "contexts": ["Yes."],
        "answer": "It fails.",
        "reference": "It does.",
    },
    {
        "id": "q6",
        "question": "Is one missing?",
        "contexts": ["Half."],
        "answer": "Half of it.",
        "reference": "All.",
    },
    {"id": "q1", "question": "Is this a duplicate?", "answer": "Yes."},
]
FIRST = {"number": 1, "reason": "it says so", "evidence": "German-born physicist", "verdict": "yes"}
SECOND = {"number": 2, "reason": "another day", "evidence": "born 14 march 1879", "verdict": "no"}
THIRD = {"number": 3, "reason": "nobody says so", "evidence": "a tall man", "verdict": "no"}


def reply(request: Generate[Any]) -> Any:
    """What the judge says: two of three statements of q1 are right; q5 fails, q6 gets one of two verdicts."""
    asked, prompt = request.variables, request.prompt.name
    if prompt == "statements":
        return _statements(str(asked["answer"]))
    if prompt == "reference_statements":
        return {
            "statements": ["Einstein was born in Germany.", "Einstein was born in 1879."],
        }
    items = request.expected.numbers
    quotes: dict[int, str] = {}
    if prompt == "reference_verdicts":
        quotes = {1: "born in Germany", 2: "in 1879"}
    elif prompt == "answer_verdicts":
        quotes = {1: "Einstein was born", 2: "20 March"}
    elif asked["contexts"] == ("Half.",):
        return {"verdicts": [FIRST]}
    else:
        return {"verdicts": [each for each in (FIRST, SECOND, THIRD) if each["number"] in items]}
    verdicts = [
        {"number": n, "reason": "", "evidence": quotes.get(n, ""), "verdict": "no" if n == 2 else "yes"}
        for n in items
    ]
    return {"verdicts": verdicts}


def _statements(answer: str) -> Any:
    if answer == "It fails.":
        return ModelRefused("401: the key is not valid")
    if answer == "I do not know.":
        return {"statements": [], "declined": True, "reason": "it says that it does not know"}
    if "Einstein" in answer:
        return {
            "statements": [
                "Einstein was born in Germany.",
                "Einstein was born on 20 March 1879.",
                "Einstein was tall.",
            ],
            "declined": False,
        }
    return {"statements": ["A \x1b[31m[red]statement.", "Another statement."], "declined": False}


def judged_by(
    is_right: Callable[[str], bool],
    statements: Callable[[str], list[str]] = lambda answer: [answer],
    **more: str,
) -> ScriptedJudge:
    """A judge that finds these statements in an answer, and supports those that are right."""

    def reply(request: Generate[Any]) -> Any:
        if request.prompt.name == "statements":
            return {"statements": statements(str(request.variables["answer"])), "declined": False}
        items: Any = request.variables["items"]
        words = {True: "yes", False: "no"}
        return {
            "verdicts": [
                {"number": item.number, "reason": "so", "verdict": words[is_right(item.text)], **more}
                for item in items
            ]
        }

    return ScriptedJudge(reply)


class Outcome:
    """What a command printed, and its exit code."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err
        self.words = " ".join(out.split())

    @property
    def json(self) -> Any:
        """The output as JSON."""
        return json.loads(self.out)


Command = Callable[..., Outcome]


@pytest.fixture
def command() -> Command:
    """Run a command in this process: `command("show", folder, "q1", "--width 80 --replies")`."""

    def run(words: object = "", *arguments: object, columns: int = 100, **environment: str) -> Outcome:
        env = {"COLUMNS": str(columns), "NO_COLOR": None, "FORCE_COLOR": None, **environment}
        line = str(words).split()
        for argument in arguments:
            line += str(argument).split() if str(argument).startswith("--") else [str(argument)]
        result = CliRunner().invoke(app, line, env=env)
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three metrics on six samples, with a score of every kind; nobody writes to it."""
    out = tmp_path_factory.mktemp("evaluated") / "run"
    metrics = ["faithfulness", "factual_correctness", "context_precision"]
    evaluate(SAMPLES, metrics=metrics, judge=ScriptedJudge(reply), embedder=HashEmbedder(), out=out)
    return out


@pytest.fixture
def folder(evaluated: Path, tmp_path: Path) -> Path:
    """A copy of that run, to write to."""
    return Path(copytree(evaluated, tmp_path / "run"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file of three samples and a line that is none."""
    lines = [json.dumps(sample) for sample in SAMPLES[:3]]
    file = tmp_path / "data.jsonl"
    file.write_text("\n".join([*lines[:1], "{broken", *lines[1:]]) + "\n", encoding="utf-8")
    return file
