"""A clock that jumps forth and back by hours: limits hold, nothing waits for ever, scores are equal."""

import time
from collections.abc import Iterator, Mapping, Sequence
from email.utils import formatdate
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.replies import judge_reply, vector
from ragmetrics_core.runs import Run
from tests.faults import children
from tests.faults.scores import Scores, scores_of, undisturbed, written
from tests.servers import Answer, OpenAIServer, Seen, chat, vectors

SAMPLES, ATTEMPTS = 10, 3
PER_MINUTE = 1200
# A second's worth is there at the start; the rest comes in so that no minute has more than is allowed.
AT_START = PER_MINUTE / 60
A_SECOND = (PER_MINUTE - AT_START + 1) / 60


class Asked(NamedTuple):
    """What a judge was asked, when, by a clock that does not jump, and how long it wants to be left alone."""

    prompt: str
    at: float
    wait: float | None


class BusyServer(OpenAIServer):
    """Turns away every eighth prompt when it comes for the first time.

    Args:
        wait: how many seconds it then asks to wait; None answers every prompt.
        as_date: it says so as a date, by its own clock, which does not jump.

    Attributes:
        silent_after: it answers nothing more when it has been asked so often; None answers for ever.
    """

    silent_after: int | None = None

    def __init__(self, *, wait: float | None = None, as_date: bool = False) -> None:
        super().__init__(self._answer)
        self.asked: list[Asked] = []
        self._known: set[str] = set()
        self._wait = wait
        self._as_date = as_date

    def times(self) -> Iterator[Sequence[Asked]]:
        """The requests for each prompt."""
        for prompt in self._known:
            yield [each for each in self.asked if each.prompt == prompt]

    def _answer(self, request: Seen) -> Answer:
        if request.path.endswith("/embeddings"):
            return vectors(vector(text, 64).tolist() for text in request.body["input"])
        prompt = "\n\n".join(message["content"] for message in request.body["messages"])
        is_chosen = prompt not in self._known and blake2b(prompt.encode()).digest()[0] % 8 == 0
        wait = self._wait if is_chosen else None
        self._known.add(prompt)
        self.asked.append(Asked(prompt, time.time(), wait))
        if self.silent_after is not None and len(self.asked) > self.silent_after:
            return Answer(silent=True)
        if wait is None:
            return chat(judge_reply(prompt, "0"))
        return Answer(status=429, body={}, headers=self._headers(wait))

    def _headers(self, wait: float) -> Mapping[str, str]:
        if not self._as_date:
            return {"retry-after": f"{wait:g}"}
        now = time.time()
        until = formatdate(now + wait, usegmt=True)
        return {"date": formatdate(now, usegmt=True), "retry-after": until}


@pytest.fixture(scope="module")
def alone() -> Scores:
    return undisturbed(SAMPLES)


def test_requests_per_minute_hold_while_the_clock_jumps(tmp_path: Path, alone: Scores):
    data, out = written(tmp_path, SAMPLES), tmp_path / "run"
    with BusyServer() as server:
        assert jumping(server, data, out, "--requests-per-minute", PER_MINUTE).end().code == 0
    assert scores_of(Run.load(out)) == alone
    # The run took its lock before it asked anything, and a request comes in after it was sent: the server may
    # see fewer than are allowed by then, but never more. A file's time may be 0.01 s old.
    began = (out / ".lock").stat().st_mtime
    assert len(server.asked) > 3 * AT_START
    for number, asked in enumerate(server.asked, start=1):
        assert number <= AT_START + A_SECOND * (asked.at - began + 0.01)


@pytest.mark.parametrize(("wait", "as_date"), [(0.3, False), (1.0, True)], ids=["seconds", "date"])
def test_who_was_asked_to_wait_waits_as_long_while_the_clock_jumps(
    tmp_path: Path, alone: Scores, wait: float, as_date: bool
):
    data, out = written(tmp_path, SAMPLES), tmp_path / "run"
    with BusyServer(wait=wait, as_date=as_date) as server:
        assert jumping(server, data, out, "--attempts", ATTEMPTS).end().code == 0
    run = Run.load(out)
    assert scores_of(run) == alone
    assert list(run.audit()) == []
    turned_away = 0
    for times in server.times():
        assert len(times) <= ATTEMPTS
        for one, following in pairwise(times):
            assert one.wait is not None, "asked again though it was answered"
            assert following.at - one.at >= one.wait
            turned_away += 1
    assert turned_away == len([each for each in server.asked if each.wait is not None]) > 0


def test_a_run_that_was_killed_goes_on_at_another_time_and_asks_nothing_twice_at_a_third(
    tmp_path: Path, alone: Scores
):
    data, out = written(tmp_path, SAMPLES), tmp_path / "run"
    records = out / "records.jsonl"
    with BusyServer() as server:
        # of 80 prompts: with two samples at a time the first ones are finished by then, and not all
        server.silent_after = 40
        killed = jumping(server, data, out, "--requests-per-minute", PER_MINUTE, "--concurrency", 2)
        killed.wait_for(lambda: records.exists() and records.stat().st_size > 0)
        killed.kill()
        server.silent_after = None
        assert jumping(server, data, out).end().code == 0
        asked = len(server.asked)
        assert jumping(server, data, out).end().code == 0
        assert len(server.asked) == asked
    assert scores_of(Run.load(out)) == alone
    assert len(records.read_bytes().splitlines()) == len(alone)


def jumping(server: OpenAIServer, data: Path, out: Path, *more: object) -> children.Child:
    """The command that evaluates, in a process whose clock jumps all the time."""
    return children.start(
        children.command,
        out.with_name("command"),
        children.evaluate_words(data, out, *more),
        server=server.base_url,
        clock_jumps=True,
    )
