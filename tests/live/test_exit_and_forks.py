"""The end of a process, and its beginning: the interpreter's exit, and forks."""

import os
import subprocess
from pathlib import Path

import pytest

from ragmetrics_core import Run
from tests.live.captures import python
from tests.live.suite import scored_in

SETUP = """
import asyncio, os, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from ragmetrics_core.live import LiveScorer
from tests.live.captures import capture_of, supports
"""


def script(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    # from Python 3.12 on `os.fork` warns every process that has threads
    warnings = ("-W", "always::ResourceWarning", "-W", "ignore:This process:DeprecationWarning")
    return python(SETUP + code, *arguments, options=warnings)


# The interpreter's exit


def test_judges_that_use_threads_and_executors_finish_after_the_last_line():
    done = script(
        """
def tell(result):
    os.write(1, b"%s " % result.records[0].status.encode())

def slow(text):
    time.sleep(0.02)
    return '{"statements": [], "declined": true}'

async def with_executor(text):
    return await asyncio.get_running_loop().run_in_executor(None, slow, text)

def with_own_executor(text):
    return pool.submit(slow, text).result()

pool = ThreadPoolExecutor(1)
pool.submit(int).result()  # from Python 3.12 on no thread starts any more once the last line is done
for judge in (slow, with_executor, with_own_executor):
    scorer = LiveScorer("faithfulness", judge=judge, on_result=tell)
    for _ in range(20):
        scorer.submit(capture_of())
"""
    )

    assert done.stdout.split() == ["undefined"] * 60
    assert done.stderr == ""


def test_a_script_that_fails_still_gets_its_scores(tmp_path: Path):
    with pytest.raises(AssertionError, match="the application failed"):
        script(
            """
scorer = LiveScorer("faithfulness", judge="embedded", out=sys.argv[1])
scorer.submit(capture_of())
raise RuntimeError("the application failed")
""",
            tmp_path / "run",
        )

    assert len(Run.load(tmp_path / "run")) == 1


def test_what_other_threads_capture_after_the_last_line_is_scored_too(tmp_path: Path):
    # the interpreter waits for threads that are no daemons; its first exit hooks have run by then
    script(
        """
scorer = LiveScorer("faithfulness", judge=supports, out=sys.argv[1])
scorer.score(capture_of("first"))

def serve():
    threading.main_thread().join()
    scorer.submit(capture_of("late"))

threading.Thread(target=serve).start()
""",
        tmp_path / "run",
    )

    run = Run.load(tmp_path / "run")
    assert scored_in(run) == {"first", "late"}
    assert run.finished


def test_a_judge_that_hangs_in_a_thread_does_not_keep_the_process_alive():
    done = script(
        """
scorer = LiveScorer("faithfulness", judge=lambda text: threading.Event().wait(), timeout=0.05, attempts=1)
scorer.submit(capture_of())
"""
    )

    assert "timeout" in done.stderr


def test_a_judge_that_blocks_the_scorers_loop_does_not_keep_the_process_alive():
    # the worst that a judge can do: nothing on the loop moves, so there is no end to wait for
    done = script(
        """
import ragmetrics_core.live._scorer as module
module._PATIENCE = 0.2
async def judge(text):
    threading.Event().wait()
scorer = LiveScorer("faithfulness", judge=judge, timeout=0.1)
scorer.submit(capture_of())
assert not scorer.flush(timeout=0.05)
"""
    )

    assert "1 captures are not scored, because the judge is stuck" in done.stderr


# Forks

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@needs_fork
def test_what_is_pending_when_a_process_forks_is_scored_once_by_the_parent(tmp_path: Path):
    done = script(
        """
release = threading.Event()
def judge(text):
    if os.getpid() == parent:
        release.wait()
    return supports(text)

parent = os.getpid()
scorer = LiveScorer("faithfulness", judge=judge, out=sys.argv[1])
for number in range(10):
    scorer.submit(capture_of(f"parent {number}"))
child = os.fork()
if child == 0:
    assert scorer.stats == (0, 0, 0, 0, {}, [], {}, {}, {}), scorer.stats
    assert scorer.flush(timeout=0)
    scorer.submit(capture_of("child"))
    assert scorer.close(timeout=60)
    assert [r.sample.question for r in scorer.results] == ["child"], scorer.results
    sys.exit()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
release.set()
""",
        tmp_path / "run",
    )

    assert "not scored" not in done.stderr  # by the child, which would wait for what the parent does
    assert "destroyed" not in done.stderr  # tasks of the parent's, of which the child has copies
    runs = [Run.load(each) for each in sorted(tmp_path.iterdir())]
    asked = [run.sample(each).question for run in runs for each in run.sample_ids]
    assert sorted(map(str, asked)) == ["child", *(f"parent {number}" for number in range(10))]


@needs_fork
def test_a_child_that_ends_by_itself_disturbs_nothing_of_the_parents(tmp_path: Path):
    # it has copies of the parent's loop, files and lock, all of which share their descriptors
    done = script(
        """
scorer = LiveScorer("faithfulness", judge="embedded", out=sys.argv[1])
scorer.score(capture_of("first"))
scorer.flush()
for _ in range(3):
    if os.fork() == 0:
        assert scorer.results == [] and scorer.means["faithfulness"].n == 0
        scorer.submit(capture_of("child"))
        sys.exit()
for _ in range(3):
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
assert scorer.score(capture_of("second")).scores == {"faithfulness": 1.0}
""",
        tmp_path / "run",
    )

    # the parent's files are the parent's to close
    expected = ("live records go to", "unclosed file")
    assert [line for line in done.stderr.splitlines() if not any(map(line.__contains__, expected))] == []
    assert scored_in(Run.load(tmp_path / "run")) == {"first", "second"}
    # as many folders as there were children at a time
    children = [Run.load(each) for each in tmp_path.glob("run-worker-*")]
    asked = [run.sample(each).question for run in children for each in run.sample_ids]
    assert asked == ["child"] * 3
    # a statement and its verdict are asked for: two calls for each sample
    assert sum(run.tally["calls"] for run in children) == 2 * 3


@needs_fork
def test_workers_that_were_forked_before_the_first_capture_each_have_a_folder(tmp_path: Path):
    script(
        """
scorer = LiveScorer("faithfulness", judge="embedded", out=sys.argv[1])
together, go = os.pipe()
children = []
for number in range(3):
    children.append(os.fork())
    if children[-1] == 0:
        scorer.score(capture_of(f"worker {number}"))
        os.close(go)
        os.read(together, 1)
        scorer.close()
        os._exit(0)
os.close(go)
for child in children:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
""",
        tmp_path / "run",
    )

    runs = [Run.load(each) for each in tmp_path.iterdir()]
    assert sorted(question for run in runs for question in scored_in(run)) == [
        f"worker {number}" for number in range(3)
    ]
    assert len(runs) == 3
