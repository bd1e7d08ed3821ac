"""A run that is killed again and again loses nothing that was paid for, and ends as if nothing had been."""

import asyncio
import json
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.replies import vector
from benchmarks.server import ServerProcess, Settings
from benchmarks.workload import METRICS, LocalEmbedder, LocalJudge
from ragmetrics_core import evaluate
from ragmetrics_core.journal import call_address
from ragmetrics_core.models import OpenAIEmbedder, OpenAIJudge
from ragmetrics_core.runs import Run
from tests.faults import children
from tests.faults.scores import samples, scores_of, written
from tests.servers import Answer, OpenAIServer, Seen, vectors

SAMPLES, KILLS = 200, 50
IN_FLIGHT, LATENCY, COMMIT = 16, 0.04, 0.05
# A server with this latency answers at most 16 / 0.04 s = 400 calls a second, which are 20 in 50 ms.
LOST_AT_MOST = IN_FLIGHT + COMMIT * IN_FLIGHT / LATENCY


class Moment(NamedTuple):
    """What was seen right after a kill, or after the end of the run.

    Attributes:
        journal: the addresses of all journalled calls.
        calls, texts: how often each had come to the judge's and to the embedder's server, by address.
    """

    journal: frozenset[str]
    calls: Counter[str]
    texts: Counter[str]


class Killed(NamedTuple):
    """A run that was killed and went on until it was complete."""

    run: Run
    kills: Sequence[Moment]
    end: Moment


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same run, undisturbed."""
    out = tmp_path_factory.mktemp("alone")
    return evaluate(
        samples(SAMPLES), metrics=METRICS, judge=LocalJudge(), embedder=LocalEmbedder(), out=out / "run"
    )


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, alone: Run) -> Killed:
    place = tmp_path_factory.mktemp("killed")
    data, out = written(place, SAMPLES), place / "run"
    records, kills = out / "records.jsonl", []
    with ServerProcess() as server, OpenAIServer(_embeddings) as embeddings:
        address_of = asyncio.run(_addresses(OpenAIJudge("judge", base_url=server.base_url), server))
        embedder = OpenAIEmbedder("embedder", base_url=embeddings.base_url)
        server.reset()
        # the last calls wait until nothing is killed any more: a machine that is busy may kill late
        server.set(Settings(latency=LATENCY, holds_after=int(0.95 * len(address_of))))

        def moment() -> Moment:
            calls = Counter({address_of[each]: times for each, times in server.counts().asked.items()})
            texts = Counter(_texts(embeddings.seen, embedder))
            return Moment(_journalled(out / "journal.sqlite", place / "copy"), calls, texts)

        def begin() -> children.Child:
            servers = server.base_url, embeddings.base_url
            return children.start(children.evaluation, place / "child", data, out, *servers)

        for size, later in _moments(random.Random(3), alone):
            run = begin()
            run.wait_for(lambda size=size: not size or (records.exists() and records.stat().st_size >= size))
            run.wait(later)
            run.kill()
            kills.append(moment())
        server.set(Settings(latency=LATENCY))
        ended = begin().end()
        assert ended.code == 0, ended.err
        return Killed(Run.load(out), kills, moment())


def test_no_journalled_call_is_asked_again_after_a_kill(killed: Killed):
    for kill in killed.kills:
        # what is journalled was asked, and from then on never again
        assert kill.journal <= kill.calls.keys() | kill.texts.keys()
        for address in kill.journal:
            assert killed.end.calls[address] == kill.calls[address]
            assert killed.end.texts[address] == kill.texts[address]


def test_kills_repeat_at_most_the_calls_in_flight_and_what_came_during_one_commit(killed: Killed):
    calls = killed.end.calls
    assert sum(calls.values()) - len(calls) <= KILLS * LOST_AT_MOST


def test_a_kill_in_the_middle_loses_no_more_than_one_at_the_start(tmp_path: Path, server: ServerProcess):
    records, journal = tmp_path / "run" / "records.jsonl", tmp_path / "run" / "journal.sqlite"
    server.set(Settings(latency=LATENCY))
    run = children.start(
        children.evaluation,
        tmp_path / "child",
        written(tmp_path, SAMPLES),
        tmp_path / "run",
        server.base_url,
        server.base_url,
    )
    run.wait_for(lambda: records.exists() and records.stat().st_size > 900_000)
    run.kill()
    # so many bytes of records are more than 500 calls
    asked = server.counts().chats
    kept = len(_journalled(journal, tmp_path / "copy", bodies_of="reply"))
    assert asked > 500
    # Three times, because a machine that is busy elsewhere may hold up a commit.
    assert asked - kept <= 3 * LOST_AT_MOST


def test_after_fifty_kills_each_score_is_there_exactly_once(killed: Killed, alone: Run):
    lines = (killed.run.path / "records.jsonl").read_bytes().splitlines()
    keys = Counter((fields["sample_id"], fields["signature"]) for fields in map(json.loads, lines))
    assert killed.run.finished
    assert set(keys.values()) == {1}
    assert keys.keys() == set(killed.run.keys) == set(alone.keys)


def test_after_fifty_kills_the_scores_are_those_of_an_undisturbed_run(killed: Killed, alone: Run):
    assert scores_of(killed.run) == scores_of(alone)


def test_after_fifty_kills_every_score_follows_from_its_record(killed: Killed):
    assert list(killed.run.audit()) == []


def _moments(chance: random.Random, alone: Run) -> Iterable[tuple[int, float]]:
    """When to kill: how long the records are by then, and how many seconds later.

    Four kills in five come in the first four fifths of the run, the others while it is opened again.
    """
    assert alone.path is not None
    size = (alone.path / "records.jsonl").stat().st_size
    sizes = sorted(chance.randrange(int(0.8 * size)) for _ in range(4 * KILLS // 5))
    for number, reached in enumerate(sizes):
        if number % 4 == 0:
            yield 0, chance.uniform(0, 0.3)
        yield reached, chance.uniform(0, 0.1)


async def _addresses(judge: OpenAIJudge, server: ServerProcess) -> dict[str, str]:
    """The address of each call of the run, by the digest that the server counts it under."""
    asked = LocalJudge(keep=True)
    evaluate(samples(SAMPLES), metrics=METRICS, judge=asked, embedder=LocalEmbedder())
    for request in asked.asked:
        await judge.agenerate(request)
    addresses = [call_address(judge.identity, request.digest, str(request.draw)) for request in asked.asked]
    return dict(zip(server.counts().asked, addresses, strict=True))


def _journalled(journal: Path, copy: Path, *, bodies_of: str = "") -> frozenset[str]:
    """The calls that a journal holds, read from a copy: opening one may change it."""
    if not journal.exists():
        return frozenset()
    for suffix in ("", "-wal"):
        if (file := journal.with_name(journal.name + suffix)).exists():
            shutil.copyfile(file, copy.with_name(copy.name + suffix))
        else:
            copy.with_name(copy.name + suffix).unlink(missing_ok=True)
    copy.with_name(copy.name + "-shm").unlink(missing_ok=True)
    with closing(sqlite3.connect(copy)) as opened:
        rows = opened.execute("SELECT address, body FROM calls")
        return frozenset(address.hex() for address, body in rows if bodies_of.encode() in body[:20])


def _embeddings(request: Seen) -> Answer:
    return vectors(vector(text, 64).tolist() for text in request.body["input"])


def _texts(seen: Sequence[Seen], embedder: OpenAIEmbedder) -> Iterable[str]:
    return (call_address(embedder.identity, "embed", text) for each in seen for text in each.body["input"])
