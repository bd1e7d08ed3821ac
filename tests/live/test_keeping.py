"""A process that is told to stop, or killed, loses nothing that was captured, and nothing is scored twice."""

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from ragmetrics_core import Run
from ragmetrics_core.live import LiveScorer
from ragmetrics_core.live._kept_captures import KeptCaptures
from ragmetrics_core.live.places import Places
from ragmetrics_core.runs.lock import FolderLock
from tests.lines import plain
from tests.live.captures import capture_of
from tests.live.suite import ROOT

SIGNATURE = "faithfulness/strict.1"

# The judge never answers: what is captured waits until the process is stopped.
CAPTURES = """
import sys, threading
from pathlib import Path
from ragmetrics_core.live import LiveScorer
from tests.live.captures import capture_of

def judge(text):
    threading.Event().wait()

scorer = LiveScorer(
    "faithfulness", judge=judge, timeout=None, out=sys.argv[1], concurrency=2,
    redact=lambda text: text.replace("secret", "[...]"),
)
for number in range(20):
    scorer.submit(capture_of(f"secret question {number}"))
kept = Path(sys.argv[1], "captures")
while sum(len(file.read_text().splitlines()) for file in kept.glob("*/captures.jsonl")) < 20:
    threading.Event().wait(0.01)
print("captured", flush=True)
threading.Event().wait()
"""


def stopped(folder: Path, how: signal.Signals) -> None:
    """A process that captured 20 questions and was stopped before one was scored."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", CAPTURES, str(folder)], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "captured\n"
        process.send_signal(how)


def questions(folder: Path) -> list[str]:
    """The questions that were scored, each as often as it was."""
    lines = [plain(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    run = Run.load(folder)
    return sorted(str(run.sample(each["sample_id"]).question) for each in lines)


def left_in(folder: Path) -> list[str | None]:
    """The questions that another process would take over."""
    kept = KeptCaptures(Places(folder))
    left = [each.sample.question for each in kept.take_over(frozenset({SIGNATURE}))]
    kept.close()
    return left


def kept_in(folder: Path) -> list[str]:
    return [str(path) for path in folder.glob("captures/*")]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_what_a_stopped_process_had_captured_is_scored_by_the_next_one_with_the_folder(tmp_path: Path, how):
    folder = tmp_path / "run"
    stopped(folder, how)
    written = "".join(file.read_text() for file in folder.glob("captures/*/captures.jsonl"))

    with LiveScorer("faithfulness", judge="embedded", out=folder) as live:
        live.submit(capture_of("the next process's own"))

    assert "secret" not in written
    assert live.stats.scored == 21
    assert questions(folder) == sorted(
        ["the next process's own", *(f"[...] question {number}" for number in range(20))]
    )
    assert kept_in(folder) == []


def test_what_was_scored_and_what_was_not_is_told_apart_at_every_step_of_a_kill(tmp_path: Path):
    folder = tmp_path / "run"
    with LiveScorer("faithfulness", judge="embedded", out=folder) as live:
        live.submit(capture_of("scored, and not noted as done", id="a"))
        live.flush()
        sample = live.results[0].sample
    killed = KeptCaptures(Places(folder))
    killed.keep(sample)  # its record is there, the note is not
    killed.keep(sample.model_copy(update={"id": "b", "question": "captured"}))
    killed.keep(sample.model_copy(update={"id": "c", "question": "done"}))
    killed.done("c")
    (place,) = folder.glob("captures/*")
    killed.close()
    with (place / "captures.jsonl").open("a") as file:
        file.write('{"sample":{"id":"d","question":"cut in the mid')
    # taken over by a process that was killed before it removed the earlier one's file
    shutil.copytree(place, place.with_name("1-copy"))

    with LiveScorer("faithfulness", judge="embedded", out=folder) as live:
        assert live.catch_up() == 1
        live.flush()

    assert questions(folder) == ["captured", "scored, and not noted as done"]
    assert kept_in(folder) == []


def test_only_the_metrics_without_a_record_are_measured_afterwards(tmp_path: Path):
    folder = tmp_path / "run"
    metrics = ["faithfulness", "context_relevance"]
    with LiveScorer(metrics, judge="embedded", out=folder) as live:
        live.submit(capture_of("killed between two records", id="a"))
        live.flush()
        sample = live.results[0].sample
    records = folder / "records.jsonl"
    lines = [line for line in records.read_text().splitlines() if "faithfulness" in plain(line)["metric"]]
    records.write_text("".join(line + "\n" for line in lines))
    killed = KeptCaptures(Places(folder))
    killed.keep(sample)
    killed.close()

    with LiveScorer(metrics, judge="embedded", out=folder) as live:
        live.catch_up()
        live.flush()

    found = Counter(plain(line)["metric"] for line in records.read_text().splitlines())
    assert found == {"faithfulness": 1, "context_relevance": 1}


def test_what_a_living_process_captured_is_its_own(tmp_path: Path):
    folder = tmp_path / "run"
    living = KeptCaptures(Places(folder))
    with LiveScorer("faithfulness", judge="embedded") as live:
        sample = live.score(capture_of("mine")).sample
    living.keep(sample)

    assert left_in(folder) == []
    living.close()
    assert left_in(folder) == ["mine"]


def test_when_everything_is_scored_nothing_is_kept(tmp_path: Path):
    folder = tmp_path / "run"
    with LiveScorer("faithfulness", judge="embedded", out=folder) as live:
        for number in range(5):
            live.submit(capture_of(f"{number}"))

    assert kept_in(folder) == []
    assert len(questions(folder)) == 5


def test_what_had_to_go_because_too_much_came_is_not_kept_for_ever(tmp_path: Path):
    folder = tmp_path / "run"
    kept = KeptCaptures(Places(folder), limit=2)
    with LiveScorer("faithfulness", judge="embedded") as live:
        for number in range(4):
            kept.keep(live.score(capture_of(f"{number}")).sample)
    kept.close()

    assert left_in(folder) == ["2", "3"]


def test_without_a_folder_there_is_nothing_to_catch_up_with():
    with LiveScorer("faithfulness", judge="embedded") as live:
        assert live.catch_up() == 0


def test_a_lock_that_is_held_is_left_alone(tmp_path: Path):
    place = tmp_path / "run" / "captures" / "1-other"
    place.mkdir(parents=True)
    (place / "captures.jsonl").write_text("")
    with FolderLock(place):
        assert KeptCaptures(Places(tmp_path / "run")).take_over(frozenset({SIGNATURE})) == []
    assert place.exists()
