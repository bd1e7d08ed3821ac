"""A manifest or a record that somebody forged: one sentence, or a difference in the audit."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")

from typer.testing import CliRunner

from ragmetrics_core import Run, evaluate
from ragmetrics_core.cli._app import app
from ragmetrics_core.testing import RandomJudge
from tests.lines import plain

ROWS = [
    {"id": f"s{number}", "question": "Who?", "answer": "Ann did. Bob, too.", "contexts": ["Ann did."]}
    for number in range(3)
]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original") / "run"
    judge = RandomJudge(1, complete=True)
    evaluate(ROWS, metrics=["faithfulness", "hallucination"], judge=judge, out=folder)
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "run"))


def command(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


def forge(folder: Path, change: Callable[[Any], object]) -> None:
    """Change the manifest."""
    file = folder / "manifest.json"
    fields = json.loads(file.read_bytes())
    change(fields)
    file.write_text(json.dumps(fields), encoding="utf-8")


def forge_records(folder: Path, change: Callable[[Any], object]) -> None:
    """Change each record; a seal that is left is left as it is."""
    file = folder / "records.jsonl"
    lines = [plain(line) for line in file.read_bytes().splitlines()]
    for fields in lines:
        change(fields)
    file.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")


COMMANDS = [
    ["show", "RUN"],
    ["show", "RUN", "s1"],
    ["audit", "RUN"],
    ["cache", "stats", "RUN"],
    ["runs", "."],
]
COMMANDS += [
    ["show", "RUN", "--json"],
    ["diff", "RUN", "RUN"],
    ["verdicts", "RUN"],
    ["study", "compare", "RUN", "RUN"],
]


def in_metric(**values: Any) -> Callable[[Any], None]:
    return lambda fields: fields["metrics"][0].update(values)


HOSTILE: dict[str, Callable[[Any], object]] = {
    "a range of -1..0": in_metric(low=-1, high=0, signature="own/strict.1", name="own"),
    "a huge range": in_metric(low=-1.7e308, high=1.7e308),
    "a range of nothing": in_metric(low=1, high=1),
    "an infinite range": in_metric(low="-inf", high="inf"),
    "a number of 4,000 digits": in_metric(high=int("9" * 4000)),
    "a repetition of -1": in_metric(repetition=-1),
    "a naive time": lambda fields: fields.update(started="2026-01-01T00:00:00"),
    "the year 1": lambda fields: fields.update(started="0001-01-01T00:00:00+14:00"),
    "the year 9999": lambda fields: fields.update(started="9999-12-31T23:59:59-12:00"),
    "a time beyond time": lambda fields: fields.update(started=10**18),
    "half a character in a name": in_metric(name="\ud800"),
    "half a character in a note": lambda fields: fields.update(notes=["\udfff"]),
    "half a character in what is unknown": lambda fields: fields.update(more={"a": "\ud800"}),
    "huge counts": lambda fields: fields.update(tally=dict.fromkeys(fields["tally"], int("9" * 4300))),
    "negative counts": lambda fields: fields.update(tally=dict.fromkeys(fields["tally"], -5)),
    "no metrics": lambda fields: fields.update(metrics=[]),
    "names of a megabyte": in_metric(name="x" * 2**20, signature="y" * 2**20),
    "escapes": in_metric(name="\x1b[2J", signature="\x1b]0;t\x07"),
    "many notes": lambda fields: fields.update(notes=["n"] * 10_000),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_whatever_a_manifest_says_a_command_ends_with_a_page_or_a_sentence(folder: Path, how: str):
    forge(folder, HOSTILE[how])

    for words in COMMANDS:
        told = command(
            *(folder if word == "RUN" else folder.parent if word == "." else word for word in words)
        )
        assert told.exit_code in {0, 1, 2}, (words, told.output)
        assert "\x1b" not in told.output


def test_a_direction_that_the_metric_does_not_have_turns_nothing_round_and_is_a_difference(folder: Path):
    before = command("study", "compare", folder, folder, "--format", "json").stdout
    forge(folder, in_metric(higher_is_better=False, low=-3.0))

    assert command("study", "compare", folder, folder, "--format", "json").stdout == before
    told = command("audit", folder)
    assert told.exit_code == 1
    assert "higher_is_better" in told.output
    assert [entry.higher_is_better for entry in Run.load(folder).metrics] == [True, False]


def test_a_removed_seal_is_a_difference(folder: Path):
    forge_records(folder, lambda fields: fields.pop("digest"))

    assert {difference.field for _, found in Run.load(folder).audit() for difference in found} == {"digest"}
    assert command("audit", folder).exit_code == 1


def test_a_judge_that_was_put_in_place_of_another_is_a_difference(folder: Path):
    def forged(fields: Any) -> None:
        fields["judge"] = "openai:https://api.openai.com/v1/gpt-9"
        del fields["digest"]

    forge_records(folder, forged)

    assert len(list(Run.load(folder).audit())) == 6


def test_a_score_that_was_replaced_by_a_failure_is_a_difference(folder: Path):
    def lost(fields: Any) -> None:
        fields.update(status="model_error", reason="no connection", value=None, bounds=None, counts={})
        fields.update(formula="", verdicts=[], steps=[], segments={}, parts=[], notes=[])

    forge_records(folder, lost)

    assert len(list(Run.load(folder).audit())) == 6
