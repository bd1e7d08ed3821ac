"""Ctrl-C: the calls in flight are cancelled, what was finished stays, and the same command goes on."""

import random
import re
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.server import Counts, ServerProcess, Settings
from ragmetrics_core.runs import Run
from tests.faults import children
from tests.faults.scores import Scores, failed_in, scores_of, undisturbed, written

SAMPLES, IN_FLIGHT, INTERRUPTIONS = 40, 16, 3
PROGRESS = re.compile(r"\d+ of \d+ samples")


@pytest.fixture(scope="module")
def alone() -> Scores:
    return undisturbed(SAMPLES)


def test_ctrl_c_keeps_what_was_finished_and_the_same_command_asks_for_the_rest_alone(
    tmp_path: Path, server: ServerProcess, alone: Scores
):
    data, out = written(tmp_path, SAMPLES), tmp_path / "run"
    records = out / "records.jsonl"
    # With 16 samples at a time the first ones are finished by the 200th of over 320 requests.
    server.set(Settings(latency=0.05, holds_after=200))
    run = evaluated(server, data, out)
    run.wait_for(lambda: records.exists() and records.stat().st_size > 0)
    # from now on nobody is answered: what was answered before is journalled, what comes now is in flight
    server.set(Settings(faults={"hang": 1.0}))
    run.wait_for(lambda: all_hang(server.counts()))
    run.send(signal.SIGINT)
    ended = run.end()

    assert (ended.code, ended.out) == (130, "")
    assert unwrapped(*told(ended)) == unwrapped(
        f"Finished scores and answered calls are kept in {out}: the same command resumes there.",
        "ragmetrics: interrupted",
    )
    # the server saw all calls go
    before = server.counts()
    assert before.in_flight == 0
    stopped = Run.load(out)
    assert not stopped.finished
    assert 0 < len(scores_of(stopped)) < len(alone)
    assert scores_of(stopped).items() <= alone.items()
    # what was not finished has no record, rather than one that says "cancelled"
    assert failed_in(stopped) == {}
    assert list(stopped.audit()) == []

    server.set(Settings())
    assert evaluated(server, data, out).end().code == 0
    assert scores_of(Run.load(out)) == alone
    # Each call was answered once, in the one part of the run or in the other. An embedding request is made
    # of what samples ask for at the same time, so the same texts may come in another request.
    after = server.counts()
    assert max(after.answered.values()) == 1
    # only what nobody answered is asked again, and judge and embedder have so many calls in flight each
    assert sum(after.asked.values()) - len(after.asked) <= before.outcomes["hang"] <= 2 * IN_FLIGHT


def test_ctrl_c_again_and_again_ends_each_time_and_costs_no_score(
    tmp_path: Path, server: ServerProcess, alone: Scores
):
    data, out = written(tmp_path, SAMPLES), tmp_path / "run"
    chance = random.Random(5)
    # about as many answers come until an interruption as calls are in flight, and there are 320 calls
    for number in range(INTERRUPTIONS):
        # however long the interruption takes to come, it finds the run at work
        server.set(Settings(latency=0.05, jitter=0.3, holds_after=100 * (number + 1)))
        run = evaluated(server, data, out)
        asked = server.counts().total
        run.wait_for(lambda asked=asked: server.counts().total > asked)
        run.wait(chance.uniform(0, 0.3))
        run.send(signal.SIGINT)
        ended = run.end()
        assert ended.code == 130
        # two sentences, and nothing about tasks or coroutines that were left alone
        assert unwrapped(*told(ended)).startswith("Finishedscoresandansweredcallsarekeptin")
        assert unwrapped(*told(ended)).endswith("thesamecommandresumesthere.ragmetrics:interrupted")
        assert server.counts().in_flight == 0
    server.set(Settings())
    assert evaluated(server, data, out).end().code == 0
    complete = Run.load(out)
    assert scores_of(complete) == alone
    assert list(complete.audit()) == []
    assert len((out / "records.jsonl").read_bytes().splitlines()) == len(alone)


def evaluated(server: ServerProcess, data: Path, out: Path) -> children.Child:
    """The command that evaluates, in the foreground of a terminal."""
    return children.start(
        heeding_ctrl_c, out.with_name("command"), children.evaluate_words(data, out), server=server.base_url
    )


def heeding_ctrl_c(arguments: Sequence[object], *, server: str) -> None:
    """A command that Ctrl-C reaches; tests that run in the background hand on that it is ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    children.command(arguments, server=server)


def all_hang(counts: Counts) -> bool:
    """Whether as many requests as may be in flight wait, and none of them will be answered."""
    return IN_FLIGHT <= counts.in_flight == counts.outcomes["hang"]


def told(ended: children.Ended) -> list[str]:
    """What a command said, but for its progress, which a busy machine makes it tell."""
    return [line for line in ended.err.splitlines() if not PROGRESS.match(line)]


def unwrapped(*lines: str) -> str:
    """Lines as one, without blanks: a terminal breaks sentences, and paths."""
    return "".join("".join(lines).split())
