"""A received folder with planted links: nothing outside it is overwritten or deleted."""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")

from typer.testing import CliRunner

from ragmetrics_core import Sample, evaluate
from ragmetrics_core.boundary.writing import replacing, write_whole
from ragmetrics_core.cli._app import app
from ragmetrics_core.errors import ConfigError, RagMetricsError
from ragmetrics_core.live import LiveScorer
from ragmetrics_core.probe import CARD
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
    shutil.copytree(original, tmp_path / "second")
    (received / "wave_data.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), "utf-8")
    monkeypatch.chdir(received)
    return received


def command(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


WRITING = [
    ("report.html", ["report", "."]),
    ("verdicts.csv", ["verdicts", ".", "--out", "verdicts.csv"]),
    ("sheet.html", ["study", "annotate", ".", "--out", "sheet.html"]),
    ("sheets/sheet.html", ["study", "annotate", ".", "--out", "sheets/sheet.html"]),
    ("trend.csv", ["study", "trend", ".", "../second", "--out", "trend.csv"]),
    ("tables/trend.csv", ["study", "trend", ".", "../second", "--out", "tables"]),
    ("plot.svg", ["study", "trend", ".", "../second", "--plot", "plot.svg"]),
    ("plot.png", ["study", "trend", ".", "../second", "--plot", "plot.png"]),
    ("comment.md", ["study", "compare", ".", "../second", "--comment", "comment.md"]),
    (
        "wave.jsonl",
        [
            "batch",
            "export",
            "wave_data.jsonl",
            "--judge",
            "openai:small",
            "--requests",
            "wave.jsonl",
            "--out",
            "wave",
        ],
    ),
]


@pytest.mark.parametrize(("name", "words"), WRITING)
@pytest.mark.parametrize("kind", ["symlink", "hard link", "scratch"])
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
    elif kind == "hard link":
        planted.hardlink_to(mine)
    else:
        planted.symlink_to(mine)

    told = command(*words)
    assert told.exit_code == 0, told.output

    assert mine.read_text(encoding="utf-8") == "mine\n"
    assert not planted.is_symlink()
    assert planted.stat().st_size > 10


RUN_FILES = ["manifest.json", "samples.jsonl", "prompts.jsonl", "records.jsonl", "rejected.jsonl"]
BESIDE = [".lock", ".lock.json", "journal.sqlite-wal", "journal.sqlite-shm", "journal.sqlite-journal"]
SCRATCH = ["manifest.json.new", "waiting.jsonl.new", ".lock.json.new"]


@pytest.mark.parametrize("name", [*RUN_FILES, "journal.sqlite", *BESIDE, *SCRATCH])
@pytest.mark.parametrize("kind", ["symlink", "hard link"])
def test_a_run_that_goes_on_changes_no_file_that_has_another_name(
    folder: Path, tmp_path: Path, name: str, kind: str
):
    mine = tmp_path / "mine.txt"
    planted = folder / name
    if planted.is_file() and planted.stat().st_size:
        os.replace(planted, mine)
    else:
        planted.unlink(missing_ok=True)
        mine.write_text('{"where": "row 1", "message": "mine"}\n', encoding="utf-8")
    before = mine.read_bytes()
    planted.symlink_to(mine) if kind == "symlink" else planted.hardlink_to(mine)
    more = [*ROWS, {"id": "s9", "question": "Who?", "answer": "Eve.", "contexts": ["Eve."]}, {"note": "none"}]

    command("runs", "..")
    with suppress(RagMetricsError):
        evaluate(more, metrics="faithfulness", judge=RandomJudge(1, complete=True), out=folder)
    command("correct", ".", "s1", "faithfulness", "1", "no", "--by", "Ada")

    assert mine.read_bytes() == before


def test_the_sentence_on_a_hard_link_says_what_to_do(folder: Path, tmp_path: Path):
    os.link(folder / "records.jsonl", tmp_path / "other.jsonl")

    with pytest.raises(RagMetricsError, match=r"is a hard link.*replace it with a copy"):
        evaluate(
            [{**ROWS[0], "id": "new"}],
            metrics="faithfulness",
            judge=RandomJudge(1, complete=True),
            out=folder,
        )


def test_captures_that_are_a_link_are_refused_and_nothing_is_deleted_where_it_leads(
    folder: Path, tmp_path: Path
):
    outside = tmp_path / "outside" / "mine"
    outside.mkdir(parents=True)
    waiting = json.dumps({"sample": {**ROWS[0], "id": "left"}}) + "\n"
    (outside / "captures.jsonl").write_text(waiting, encoding="utf-8")
    (outside / "letters.txt").write_text("mine", encoding="utf-8")
    (folder / "captures").symlink_to(outside.parent)

    told = command("catch-up", "--judge", "embedded", ".", "--metrics", "faithfulness")
    with pytest.raises(ConfigError, match="is a link"):
        LiveScorer("faithfulness", judge=RandomJudge(1, complete=True), out=folder)

    assert told.exit_code == 2
    assert "is a link" in told.output
    assert (outside / "letters.txt").read_text(encoding="utf-8") == "mine"


def test_one_place_of_captures_that_is_a_link_is_passed_over(folder: Path, tmp_path: Path):
    outside = tmp_path / "mine"
    outside.mkdir()
    waiting = json.dumps({"sample": {**ROWS[0], "id": "left"}}) + "\n"
    (outside / "captures.jsonl").write_text(waiting, encoding="utf-8")
    (folder / "captures").mkdir()
    (folder / "captures" / "1-abc").symlink_to(outside)

    with LiveScorer("faithfulness", judge=RandomJudge(1, complete=True), out=folder) as scorer:
        assert scorer.catch_up() == 0

    assert [each.name for each in outside.iterdir()] == ["captures.jsonl"]


def test_a_card_beside_a_run_is_not_written_through_a_link(tmp_path: Path):
    run, mine = tmp_path / "run", tmp_path / "mine.txt"
    evaluate(ROWS, metrics="faithfulness", judge="embedded", out=run)
    mine.write_text("mine\n", encoding="utf-8")
    (run / CARD).symlink_to(mine)

    told = command("probe", "--judge", "embedded", "--only", "position", "--limit", "1", "--beside", run)

    assert told.exit_code == 0, told.output
    assert mine.read_text(encoding="utf-8") == "mine\n"
    assert not (run / CARD).is_symlink()


def test_a_test_set_for_llama_index_is_not_written_through_a_link(tmp_path: Path):
    datasets = pytest.importorskip("ragmetrics_llama_index", reason="needs the extra llama-index")
    mine, planted = tmp_path / "mine.txt", tmp_path / "dataset.json"
    mine.write_text("mine\n", encoding="utf-8")
    planted.symlink_to(mine)

    datasets.write_labelled_dataset([Sample(question="Who?", reference="Ann.")], planted)

    assert mine.read_text(encoding="utf-8") == "mine\n"
    assert "Ann." in planted.read_text(encoding="utf-8")


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
    told = command("evaluate", "nothing.jsonl", "--judge", "embedded", "--out", ".")

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
