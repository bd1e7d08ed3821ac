"""What waits is on disk, and hardly more: files of captures are replaced while traffic goes on."""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

from ragmetrics_core import Run
from ragmetrics_core.live import LiveScorer
from tests.live.captures import ANSWER, capture_of, supports
from tests.live.suite import ROOT, scored_in

LONG = ANSWER * 200
"""About 5 kB."""


def on_disk(folder: Path) -> int:
    """Bytes in the places of captures, also of files that are being written."""
    return sum(file.stat().st_size for file in folder.glob("captures/*/*") if file.exists())


def test_with_something_always_waiting_the_captures_are_three_times_what_waits_and_a_megabyte(tmp_path: Path):
    release = threading.Event()

    def judge(text: str) -> str:
        if "the one that waits" in text:
            release.wait()
        return supports(text)

    folder, sizes = tmp_path / "run", list[int]()
    with LiveScorer("faithfulness", judge=judge, out=folder, timeout=None, concurrency=4) as live:
        live.submit(capture_of("the one that waits", contexts=[LONG]))
        for number in range(500):
            live.score(capture_of(f"{number}", contexts=[LONG]))
            sizes.append(on_disk(folder))
        release.set()
        live.flush()

    # 500 of 5 kB came, nearly 2.5 MB; of these two waited at a time, each with its line of less than 6 kB
    assert (folder / "samples.jsonl").stat().st_size > 2_400_000
    assert 500_000 < max(sizes) <= 3 * 2 * 6_000 + 1_000_000
    assert scored_in(Run.load(folder)) == {"the one that waits", *map(str, range(500))}
    assert not list(folder.glob("captures/*"))


# Says what it has kept once it has, and what waits no more before it says so to the file: whatever is between
# the two when it is killed may or may not be there.
KEEPS = """
import itertools, sys
import ragmetrics_core.live._kept_captures as module
from ragmetrics_core import Sample
from ragmetrics_core.live.places import Places
module._SPARE = 2_000  # so that the file is replaced every few captures
kept = module.KeptCaptures(Places(sys.argv[1]))
for number in itertools.count():
    kept.keep(Sample(id=str(number), question="?", contexts=("x" * 300,), answer="!"))
    print("kept", number, flush=True)
    if number >= 20 and number % 10:  # every tenth waits for ever
        print("done", number - 20, flush=True)
        kept.done(str(number - 20))
"""


def test_killed_at_any_moment_of_a_replacement_nothing_is_lost_and_nothing_comes_twice(tmp_path: Path):
    chance = random.Random(3)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for turn in range(6):
        folder = tmp_path / f"{turn}"
        with subprocess.Popen(
            [sys.executable, "-c", KEEPS, str(folder)], env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(100)]
            threading.Timer(chance.uniform(0, 0.2), process.send_signal, [signal.SIGKILL]).start()
            lines += process.stdout.readlines()
        said = [line.split() for line in lines if line.endswith("\n")]
        kept = {number for word, number in said if word == "kept"}
        done = {number for word, number in said if word == "done"}
        with LiveScorer("faithfulness", judge=supports, out=folder) as live:
            live.catch_up()
            live.flush()
            scored = [result.sample.id for result in live.results]

        assert len(scored) == len(set(scored))
        # what was done last may not have been noted, and one more may have been kept than was said
        last = [number for word, number in said if word == "done"][-1:]
        assert kept - done <= set(scored) <= (kept - done) | set(last) | {f"{len(kept)}"}
        assert not list(folder.glob("captures/*"))
