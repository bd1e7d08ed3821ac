"""An audit on several processes finds what one finds, wherever it is started from, and leaves none behind."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.workload import LocalJudge, samples
from ragmetrics_core import evaluate
from ragmetrics_core.drivers import Difference
from ragmetrics_core.metrics import get
from ragmetrics_core.runs import Key, Run
from tests.lines import plain

COUNT = 130
AUDIT = "from ragmetrics_core import Run; print(list(Run.load({run!r}).audit(processes=2)))"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "run"
    evaluate(samples(COUNT, contexts=1), metrics="faithfulness", judge=LocalJudge(), out=out)
    return out


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    """A copy, to be changed."""
    copy = tmp_path / "run"
    copy.mkdir()
    for file in whole.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    return copy


def changed(run: Path, changes: Mapping[int, Mapping[str, Any]]) -> None:
    """Change fields of records, by the number of their line."""
    file = run / "records.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    for number, fields in changes.items():
        lines[number] = json.dumps({**plain(lines[number]), **fields})
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def found(run: Path, processes: int) -> Sequence[tuple[Key, list[Difference]]]:
    return list(Run.load(run).audit(processes=processes))


def test_several_processes_find_what_one_finds_in_the_same_order(run: Path):
    changed(
        run,
        {
            3: {"value": 0.123},
            50: {"judge": "another"},
            101: {"signature": "unheard/of.1", "metric": "unheard"},
            129: {"steps": []},
        },
    )
    lines = (run / "samples.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (run / "samples.jsonl").write_text("".join(lines[:70] + lines[71:]), encoding="utf-8")

    alone = found(run, 1)
    assert len(alone) >= 6
    assert found(run, 2) == found(run, 3) == alone


def test_records_of_a_metric_that_only_this_process_knows_are_audited_too(tmp_path: Path):
    metric = get("faithfulness")
    own = type("Own", (type(metric),), {"__doc__": "Faithfulness by another name.", "name": "own"})()
    run = evaluate(samples(5, contexts=1), metrics=[own], judge=LocalJudge(), out=tmp_path / "run")
    assert list(run.audit(processes=2)) == []
    # without the metric nothing can be derived
    assert len(found(tmp_path / "run", 2)) == 5


@pytest.mark.parametrize(
    "script",
    [
        "{audit}",
        "import threading; t = threading.Thread(target=lambda: exec({audit!r})); t.start(); t.join()",
    ],
    ids=["without a guard", "in a thread"],
)
def test_a_script_needs_no_guard_and_nothing_of_the_working_folder_is_run(
    whole: Path, tmp_path: Path, script: str
):
    # what stands in a folder that somebody sent must not be taken for a module
    for name in ("json.py", "ragmetrics_core.py", "sitecustomize.py"):
        (tmp_path / name).write_text("open('taken', 'w')\n", encoding="utf-8")
    text = script.format(audit=AUDIT.format(run=str(whole)))
    done = subprocess.run(
        [sys.executable, "-P", "-c", text],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("[]\n", "", 0)
    assert not (tmp_path / "taken").exists()


def test_where_no_process_can_be_started_this_one_does_it_all(run: Path):
    changed(run, {3: {"value": 0.123}})
    text = (
        "import sys; sys.executable = '/nowhere/python'\nfrom ragmetrics_core import Run\n"
        f"print([key.sample_id for key, _ in Run.load({str(run)!r}).audit(processes=2)])"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{[key.sample_id for key, _ in found(run, 1)]}\n", "")


def test_an_iterator_that_is_left_ends_all_processes(run: Path, monkeypatch: pytest.MonkeyPatch):
    changed(run, {3: {"value": 0.123}})
    started: list[subprocess.Popen[str]] = []

    class Noted(subprocess.Popen[str]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    audit = Run.load(run).audit(processes=2)
    next(audit)
    audit.close()
    assert started
    assert all(process.returncode is not None for process in started)


def test_processes_that_die_leave_their_records_to_this_one(run: Path, monkeypatch: pytest.MonkeyPatch):
    changed(run, {3: {"value": 0.123}})
    alone = found(run, 1)

    class Killed(subprocess.Popen[str]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.kill()

    monkeypatch.setattr(subprocess, "Popen", Killed)
    assert found(run, 2) == alone != []
