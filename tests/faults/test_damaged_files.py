"""A run folder that is damaged, or of a later version: it is said plainly, and nothing is overwritten."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.server import ServerProcess
from ragmetrics_core.runs import Run
from tests.faults import children
from tests.faults.scores import Scores, scores_of, undisturbed, written

SAMPLES = 5

Damage = Callable[[Path], None]


@pytest.fixture(scope="module")
def alone() -> Scores:
    return undisturbed(SAMPLES)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ServerProcess]:
    """One server for all tests: its address is part of what a run is made of."""
    with ServerProcess() as server:
        yield server


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, endpoint: ServerProcess) -> Path:
    """A finished run."""
    place = tmp_path_factory.mktemp("whole")
    assert children.evaluated(endpoint, written(place, SAMPLES), place / "run").end().code == 0
    return place / "run"


@pytest.fixture
def server(endpoint: ServerProcess, whole: Path) -> ServerProcess:
    """The server; it has seen nothing since the run."""
    endpoint.reset()
    return endpoint


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return shutil.copytree(whole, tmp_path / "run")


def page(number: int) -> Damage:
    def corrupt(run: Path) -> None:
        with (run / "journal.sqlite").open("r+b") as file:
            file.seek((number - 1) * 4096)
            file.write(b"\xa5" * 4096)

    return corrupt


def middle(name: str, number: int) -> Damage:
    """Overwrite a few bytes in a line that is not the last."""

    def corrupt(run: Path) -> None:
        lines = (run / name).read_bytes().splitlines(keepends=True)
        line = lines[number - 1]
        lines[number - 1] = line[: len(line) // 2] + b"\0\0\0\0" + line[len(line) // 2 + 4 :]
        assert number < len(lines)
        (run / name).write_bytes(b"".join(lines))

    return corrupt


def manifest(text: str) -> Damage:
    def replace(run: Path) -> None:
        (run / "manifest.json").write_text(text, encoding="utf-8")

    return replace


def newer(run: Path) -> None:
    fields = json.loads((run / "manifest.json").read_bytes())
    (run / "manifest.json").write_text(json.dumps({**fields, "schema": 3, "of_tomorrow": True}))


def halved(run: Path) -> None:
    os.truncate(run / "manifest.json", (run / "manifest.json").stat().st_size // 2)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (page(2), "the journal {run}/journal.sqlite is damaged"),
        (page(5), "the journal {run}/journal.sqlite is damaged"),
        (middle("records.jsonl", 3), "{run}/records.jsonl, line 3: "),
        (middle("samples.jsonl", 2), "{run}/samples.jsonl, line 2: "),
        (middle("prompts.jsonl", 1), "{run}/prompts.jsonl, line 1: "),
        (newer, "the run in {run} has format 3; this version of ragmetrics reads up to 2: update ragmetrics"),
        (halved, "{run}/manifest.json is not JSON: "),
        (manifest("my notes\n"), "{run}/manifest.json is not JSON: "),
        (manifest(""), "{run}/manifest.json is not JSON: "),
        (manifest("[1, 2]"), "{run}/manifest.json is not a manifest: "),
    ],
    ids=[
        *("page-2", "page-5", "records", "samples", "prompts"),
        *("newer", "halved", "no-json", "empty", "no-manifest"),
    ],
)
def test_a_damaged_run_is_refused_in_one_sentence_and_left_as_it_is(
    run: Path, server: ServerProcess, tmp_path: Path, damage: Damage, sentence: str
):
    damage(run)
    before = contents(run)
    ended = children.evaluated(server, written(tmp_path, SAMPLES + 1), run).end()
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("ragmetrics: " + sentence.format(run=run))
    assert ended.err.count("\n") == 1
    assert server.counts().total == 0
    assert contents(run) == before


@pytest.mark.parametrize("command", ["show", "audit"])
@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (middle("records.jsonl", 3), "{run}/records.jsonl, line 3: "),
        (newer, "the run in {run} has format 3; this version of ragmetrics reads up to 2: update ragmetrics"),
        (halved, "{run}/manifest.json is not JSON: "),
    ],
    ids=["records", "newer", "halved"],
)
def test_looking_at_a_damaged_run_says_so_and_changes_nothing(
    run: Path, tmp_path: Path, command: str, damage: Damage, sentence: str
):
    damage(run)
    before = contents(run)
    ended = children.start(children.command, tmp_path / "command", [command, run]).end()
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("ragmetrics: " + sentence.format(run=run))
    assert ended.err.count("\n") == 1
    assert contents(run) == before


def test_a_damaged_journal_costs_no_score_and_moved_aside_as_it_says_the_run_goes_on(
    run: Path, server: ServerProcess, tmp_path: Path
):
    page(3)(run)
    loaded = Run.load(run)
    assert scores_of(loaded) == undisturbed(SAMPLES)
    assert list(loaded.audit()) == []

    data = written(tmp_path, SAMPLES + 1)
    assert "move it and its -wal file aside" in children.evaluated(server, data, run).end().err
    for each in run.glob("journal.sqlite*"):
        each.rename(tmp_path / each.name)
    assert children.evaluated(server, data, run).end().code == 0
    assert scores_of(Run.load(run)) == undisturbed(SAMPLES + 1)


# the line without its line break is whole; the others are not
@pytest.mark.parametrize("left_off", [1, 2, 40, 1000])
def test_a_last_line_that_was_cut_off_is_measured_again_from_the_journal(
    run: Path, server: ServerProcess, tmp_path: Path, alone: Scores, left_off: int
):
    records = run / "records.jsonl"
    *_, last = records.read_bytes().splitlines()
    os.truncate(records, records.stat().st_size - min(left_off, len(last)))
    before = contents(run)
    # read as it is, it has all other scores
    cut = Run.load(run)
    assert len(scores_of(cut)) == len(alone) - (left_off > 1)
    assert scores_of(cut).items() <= alone.items()
    # each score is proved, and that the last one is missing is told
    lacking = {"records.jsonl"} if left_off > 1 else set()
    assert {key.sample_id for key, _ in cut.audit()} == lacking
    assert contents(run) == before

    assert children.evaluated(server, written(tmp_path, SAMPLES), run).end().code == 0
    again = Run.load(run)
    assert scores_of(again) == alone
    assert list(again.audit()) == []
    assert len(records.read_bytes().splitlines()) == len(alone)
    assert server.counts().total == 0


def test_what_a_kill_before_the_first_manifest_leaves_is_no_other_run(
    server: ServerProcess, tmp_path: Path, alone: Scores
):
    out = tmp_path / "begun"
    out.mkdir()
    for name in (".lock", ".lock.json", ".lock.json.4321", "manifest.json.new"):
        (out / name).write_text('{"sche' if name != ".lock" else "", encoding="utf-8")
    assert children.evaluated(server, written(tmp_path, SAMPLES), out).end().code == 0
    assert scores_of(Run.load(out)) == alone


def contents(run: Path) -> dict[str, bytes]:
    """All files that hold something; SQLite's shared memory is its scratch paper."""
    files = (each for each in run.iterdir() if each.stat().st_size and not each.name.endswith("-shm"))
    return {each.name: each.read_bytes() for each in files}
