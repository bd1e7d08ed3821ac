"""A run folder that somebody else made: nothing in it leads outside, runs, hangs or is overwritten for it."""

import json
import os
import random
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")

from typer.testing import CliRunner

from ragmetrics_core import Run, evaluate, write_report
from ragmetrics_core.cli._app import app
from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.journal import Journal
from ragmetrics_core.runs import list_runs, merge
from ragmetrics_core.testing import RandomJudge

SAMPLES = [
    {
        "id": f"s{n}",
        "question": "Who?",
        "answer": "Ann did. Bob, too.",
        "contexts": ["Ann did."],
        "group": "a",
    }
    for n in range(3)
]


def judged(out: Path, **options: Any) -> Run:
    judge = RandomJudge(1, complete=True)
    return evaluate(SAMPLES, metrics=["faithfulness", "context_relevance"], judge=judge, out=out, **options)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original") / "run"
    judged(folder)
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "run"))


def command(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


# -- links


def test_overwriting_a_run_removes_the_run_and_follows_no_link(folder: Path, tmp_path: Path):
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.jsonl").write_text("{}\n", encoding="utf-8")
    (folder / "samples.jsonl").unlink()
    (folder / "samples.jsonl").symlink_to(outside / "a.jsonl")

    judged(folder, overwrite=True)

    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert (outside / "a.jsonl").read_text(encoding="utf-8") == "{}\n"
    assert not (folder / "samples.jsonl").is_symlink()
    assert len(Run.load(folder)) == 3


def test_overwriting_a_run_leaves_the_copies_that_somebody_made_of_its_files(folder: Path):
    copies = [folder / name for name in ("manifest.json.bak", "journal.sqlite.old", "records.jsonl.gz")]
    for copy in copies:
        copy.write_text("mine", encoding="utf-8")

    judged(folder, overwrite=True)

    assert [copy.read_text(encoding="utf-8") for copy in copies] == ["mine"] * 3


def test_what_an_overwriting_that_failed_has_left_can_be_overwritten(folder: Path):
    (folder / "journal.sqlite").unlink(missing_ok=True)
    (folder / "journal.sqlite").mkdir()  # cannot be removed as a file
    with pytest.raises(ConfigError, match="cannot be written"):
        judged(folder, overwrite=True)
    (folder / "journal.sqlite").rmdir()

    judged(folder, overwrite=True)

    assert len(Run.load(folder)) == 3


def test_a_folder_of_another_project_is_not_taken_for_a_run_to_overwrite(tmp_path: Path):
    (tmp_path / "manifest.json").write_text('{"name": "an extension", "version": "1"}', encoding="utf-8")

    with pytest.raises(ConfigError, match=r"a manifest\.json, but not of a run"):
        judged(tmp_path, overwrite=True)

    assert [each.name for each in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["manifest.json", "samples.jsonl", "records.jsonl", "prompts.jsonl"])
def test_a_pipe_in_place_of_a_file_is_an_error_and_no_wait_for_ever(folder: Path, name: str):
    (folder / name).unlink()
    os.mkfifo(folder / name)

    with pytest.raises(RecordError):
        Run.load(folder)
    assert list(list_runs(folder.parent)) is not None


def test_a_manifest_of_gigabytes_is_not_read(folder: Path):
    with (folder / "manifest.json").open("r+b") as file:
        file.truncate(2**33)

    with pytest.raises(RecordError, match="it has 8,589,934,592 bytes"):
        Run.load(folder)


# -- names


def test_no_name_in_the_data_becomes_a_path(tmp_path: Path):
    pytest.importorskip("scipy", reason="needs the extra report: pip install 'ragmetrics-core[report]'")
    names = ["../../outside", "/tmp/absolute", "a/b", "..", "nul\0l", "C:\\x", "~", "%2e%2e/", "x" * 5000]
    rows = [{**SAMPLES[0], "id": name, "group": name} for name in names]
    run = evaluate(
        rows, metrics="faithfulness", judge=RandomJudge(1, complete=True), out=tmp_path / "in" / "run"
    )
    write_report(run, tmp_path / "in" / "report.html", everything=True)
    for words in (
        ("verdicts", run.path, "--out", tmp_path / "in" / "verdicts.csv"),
        ("study", "groups", run.path, "--by", "group", "--out", tmp_path / "in" / "study"),
        ("merge", run.path, run.path, "--out", tmp_path / "in" / "merged"),
    ):
        assert command(*words).exit_code in {0, 2}

    assert len(run) == len(names)
    assert [each.name for each in tmp_path.iterdir()] == ["in"]
    assert not [path for path in (tmp_path / "in").rglob("*") if "outside" in path.name or path.name in names]
    assert not Path("/tmp/absolute").exists()


def test_no_name_in_a_record_is_imported(folder: Path):
    text = (folder / "records.jsonl").read_text(encoding="utf-8")
    named = '"signature":"faithfulness/strict.1"'
    evil = text.replace(named, f'"metric":"antigravity:fly","variant":"strict.1",{named}')
    assert evil != text
    (folder / "records.jsonl").write_text(evil, encoding="utf-8")

    assert command("audit", folder).exit_code == 1
    assert command("show", folder, "s0", "faithfulness", "--prompts").exit_code in {0, 2}
    assert "antigravity" not in sys.modules


# -- the journal


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON calls BEGIN DELETE FROM calls; END",
        "CREATE VIEW v AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
    ],
)
def test_a_journal_that_brings_code_along_is_refused(folder: Path, statement: str, tmp_path: Path):
    with sqlite3.connect(folder / "journal.sqlite") as database:
        database.execute(statement)
    database.close()

    with pytest.raises(RecordError, match="views or triggers"):
        Journal(folder / "journal.sqlite")
    with pytest.raises(RecordError, match="views or triggers"):
        merge(folder, folder, out=tmp_path / "merged")
    assert command("cache", "stats", folder).exit_code == 2


# -- any content


VALUES: list[Any] = [
    *(None, 0, -1, 1e308, 2**70, 10**400, "", "x" * 10_000, "../../etc/passwd", "\u202e\x1b[31m", True),
    *([], {}, [[]], {"a": {"b": [1]}}, [None], {"": None}, "__class__", "nan", float("nan"), float("inf")),
]
COMMANDS: list[Callable[[Path], tuple[object, ...]]] = [
    lambda run: ("show", run),
    lambda run: ("show", run, "s1", "faithfulness", "--replies", "--prompts"),
    lambda run: ("audit", run),
    lambda run: ("verdicts", run),
    lambda run: ("runs", run.parent),
    lambda run: ("study", "groups", run, "--by", "group"),
    lambda run: ("correct", run, "s1", "faithfulness", 1, "yes"),
]


def altered(value: Any, chance: random.Random) -> Any:
    """The value with something in it replaced, or left out."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        name = chance.choice(list(value))
        if chance.random() < 0.1:
            return {key: each for key, each in value.items() if key != name}
        return {**value, name: altered(value[name], chance)}
    if isinstance(value, list) and value and chance.random() < 0.85:
        place = chance.randrange(len(value))
        return [*value[:place], altered(value[place], chance), *value[place + 1 :]]
    return chance.choice(VALUES)


@pytest.mark.parametrize("name", ["manifest.json", "samples.jsonl", "records.jsonl", "prompts.jsonl"])
def test_whatever_stands_in_a_file_a_command_ends_with_a_sentence(original: Path, tmp_path: Path, name: str):
    whole = (original / name).read_text(encoding="utf-8")
    lines = whole.splitlines() if name.endswith(".jsonl") else [whole]
    for seed in range(30):
        chance = random.Random(f"{name} {seed}")
        place = chance.randrange(len(lines))
        changed = json.dumps(altered(json.loads(lines[place]), chance))
        text = "\n".join([*lines[:place], changed, *lines[place + 1 :]])
        folder = Path(shutil.copytree(original, tmp_path / str(seed) / "run"))
        (folder / name).write_text(text + "\n", encoding="utf-8")
        words = chance.choice(COMMANDS)(folder)

        done = command(*words)

        assert done.exit_code in {0, 1, 2}, f"{words}: {done.stderr} (seed {seed})"
        assert done.exception is None or isinstance(done.exception, SystemExit)


def replaced(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("words", ["show", "audit", "runs", "verdicts"])
def test_a_score_that_is_too_large_for_a_deviation_ends_no_command(folder: Path, words: str):
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()]
    for line, value in zip(lines, [1.7e308, 1.7e308, -1.7e308, -1.7e308, 1e200, -1e200], strict=True):
        line["value"] = value
    (folder / "records.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    done = command(words, folder.parent if words == "runs" else folder)
    assert done.exit_code == (1 if words == "audit" else 0), done.stderr


def test_no_verdict_on_a_text_that_was_removed_is_corrected(folder: Path):
    replaced(folder, "samples.jsonl", '"answer":"Ann did. Bob, too.",', "")
    before = (folder / "records.jsonl").read_bytes()
    done = command("correct", folder, "s1", "faithfulness", 1, "yes")
    assert done.exit_code == 2
    assert "verdict 1 of faithfulness/strict.1 of s1 does not follow from its replies" in done.stderr
    assert (folder / "records.jsonl").read_bytes() == before


@pytest.mark.parametrize("version", [[1], {"a": 1}, None, "1", True])
def test_a_prompt_of_no_version_is_an_error(folder: Path, version: Any):
    lines = [json.loads(line) for line in (folder / "prompts.jsonl").read_text(encoding="utf-8").splitlines()]
    text = "".join(json.dumps({**line, "version": version}) + "\n" for line in lines)
    (folder / "prompts.jsonl").write_text(text, encoding="utf-8")
    done = command("audit", folder)
    assert done.exit_code == 2
    assert f"the version of a prompt is {version!r}" in done.stderr


# -- permissions


def test_files_have_the_permissions_that_the_user_asks_for(tmp_path: Path):
    pytest.importorskip("scipy", reason="needs the extra report: pip install 'ragmetrics-core[report]'")
    before = os.umask(0o077)
    try:
        write_report(judged(tmp_path / "run"), tmp_path / "report.html")
    finally:
        os.umask(before)

    paths = [tmp_path / "report.html", tmp_path / "run", *(tmp_path / "run").rglob("*")]
    assert len(paths) >= 7
    assert {
        path.name: oct(path.stat().st_mode & 0o077) for path in paths if path.stat().st_mode & 0o077
    } == {}
