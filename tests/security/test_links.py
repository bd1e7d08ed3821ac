"""A received folder with planted links: nothing outside it is overwritten or deleted."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics[cli]'")

from typer.testing import CliRunner

from ragmetrics_core import evaluate
from ragmetrics_core.cli.app import app
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.runs.writing import replacing, write_whole
from ragmetrics_core.testing import RandomJudge

ROWS = [
    {"id": f"s{number}", "question": "Who?", "answer": "Ann did. Bob, too.", "contexts": ["Ann did."]}
    for number in range(3)
]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original") / "run"
    evaluate(ROWS, metrics="faithfulness", judge=RandomJudge(1, complete=True), out=folder)
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A received run, in which the user stands."""
    received = Path(shutil.copytree(original, tmp_path / "run"))
    monkeypatch.chdir(received)
    return received


def command(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


WRITING = [
    ("report.html", ["report", "."]),
    ("verdicts.csv", ["verdicts", ".", "--out", "verdicts.csv"]),
    ("sheet.html", ["study", "annotate", ".", "--out", "sheet.html"]),
    ("sheets/sheet.html", ["study", "annotate", ".", "--out", "sheets/sheet.html"]),
]


@pytest.mark.parametrize(("name", "words"), WRITING)
@pytest.mark.parametrize("kind", ["symlink", "scratch"])
def test_a_planted_link_is_not_written_through(
    folder: Path, tmp_path: Path, name: str, words: list[str], kind: str
):
    pytest.importorskip("scipy", reason="needs the extra report")
    mine = tmp_path / "mine.txt"
    mine.write_text("mine\n", encoding="utf-8")
    planted = folder / name
    planted.parent.mkdir(exist_ok=True)
    if kind == "scratch":
        planted.with_name(f".{planted.name}.new").symlink_to(mine)
        planted.with_name(f"{planted.name}.new").symlink_to(mine)
    else:
        planted.symlink_to(mine)

    assert command(*words).exit_code == 0

    assert mine.read_text(encoding="utf-8") == "mine\n"
    assert not planted.is_symlink()
    assert planted.stat().st_size > 10


def test_a_planted_folder_of_pages_is_refused_and_nothing_is_deleted_in_it(folder: Path, tmp_path: Path):
    pytest.importorskip("scipy", reason="needs the extra report")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "0007.html").write_text("mine", encoding="utf-8")
    (folder / "report-samples").symlink_to(outside)

    told = command("report", ".", "--all")

    assert told.exit_code == 2
    assert "is a link" in told.output
    assert (outside / "0007.html").read_text(encoding="utf-8") == "mine"


def test_a_journal_that_is_a_link_is_refused_where_a_run_goes_on(folder: Path, tmp_path: Path):
    other = tmp_path / "shared.sqlite"
    os.replace(folder / "journal.sqlite", other)
    before = other.read_bytes()
    (folder / "journal.sqlite").symlink_to(other)

    with pytest.raises(ConfigError, match="is a link"):
        evaluate(ROWS, metrics="faithfulness", judge=RandomJudge(1, complete=True), out=folder)
    assert other.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["report.html", "manifest.json.new"])
def test_a_pipe_is_no_wait_for_ever(folder: Path, name: str):
    pytest.importorskip("scipy", reason="needs the extra report")
    os.mkfifo(folder / name)

    command("report", ".")
    told = command("evaluate", "nothing.jsonl", "--out", ".")

    assert told.exit_code == 2


def test_a_file_is_replaced_whole_or_kept(tmp_path: Path):
    file = tmp_path / "a.txt"
    write_whole(file, "first\r\n")

    with pytest.raises(UnicodeEncodeError), replacing(file, encoding="ascii") as writing:
        writing.write("half\u20ac")

    assert file.read_bytes() == b"first\r\n"
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"], "nothing is left beside it"


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path):
    with pytest.raises(ConfigError, match="cannot be written"):
        write_whole(tmp_path / "none" / "a.txt", "a")
    with pytest.raises(ConfigError, match="is a folder"):
        write_whole(tmp_path, "a")
