"""A follower that is killed while a collector writes: each trace is scored once, and paid for once."""

import gzip
import json
import random
import signal
import time
from collections import Counter
from pathlib import Path

from benchmarks.server import ServerProcess, Settings
from ragmetrics_core.runs import Run
from ragmetrics_core.traces import read_traces
from tests.faults import children
from tests.traces.made import line_of, run_of, samples_in

TRACES, IN_FLIGHT, LATENCY = 60, 4, 0.01
# Seconds after which an answer is in the journal, also on a busy machine.
COMMITTED = 0.5


def collector(folder: str, seconds: float) -> None:
    """Write shuffled spans, some twice, in pieces that end within lines; rotate files meanwhile."""
    chance = random.Random(5)
    spans = [span for number in range(1, TRACES + 1) for span in run_of(number)]
    spans += chance.sample(spans, 20)
    chance.shuffle(spans)
    current, number = Path(folder) / "traces.jsonl", 0
    for start in range(0, len(spans), 5):
        data = b"".join(line_of([span]).encode() + b"\n" for span in spans[start : start + 5])
        middle = chance.randrange(len(data))
        for piece in (data[:middle], data[middle:]):
            with current.open("ab") as file:
                file.write(piece)
            time.sleep(seconds)
        if current.stat().st_size > 50_000:
            number += 1
            old = current.with_name(f"traces-{number}.jsonl")
            if number % 3 == 0:  # as `copytruncate` of logrotate
                old.write_bytes(current.read_bytes())
                current.write_bytes(b"")
            else:
                current.rename(old)
            if number % 3 == 1:
                old.with_name(f"{old.name}.gz").write_bytes(gzip.compress(old.read_bytes()))
                old.unlink()


def following(logs: Path, out: Path, server: ServerProcess, *more: object) -> children.Child:
    """The command in a process of its own."""
    words = ["live", "follow", logs, "--out", out, "--metrics", "faithfulness", "--judge", "openai:judge"]
    words += ["--concurrency", IN_FLIGHT, "--settle", 2, *more]
    return children.start(children.command, out.with_name("follower"), words, server=server.base_url)


def scored(out: Path) -> Counter[str]:
    """The number of records of each sample."""
    records = out / "records.jsonl"
    lines = records.read_bytes().splitlines() if records.exists() else []
    return Counter(json.loads(line)["sample_id"] for line in lines)


def all_once() -> Counter[str]:
    """One record for each trace."""
    return Counter(f"{number:032x}" for number in range(1, TRACES + 1))


def test_killed_while_calls_wait_no_answer_is_paid_for_twice(tmp_path: Path, server: ServerProcess):
    logs, out = tmp_path / "logs", tmp_path / "run"
    logs.mkdir()
    collector(str(logs), 0.0)
    for number in (1, 30, 31, 75, 110):
        # so many calls are answered, and the next ones wait until the follower is gone
        server.set(Settings(holds_after=number))
        follower = following(logs, out, server)
        follower.wait_for(lambda: sum(server.counts().answered.values()) >= number)  # noqa: B023
        follower.wait(COMMITTED)
        follower.kill()
    server.set(Settings())
    ended = following(logs, out, server, "--once").end()

    assert ended.code == 0, ended.err
    assert scored(out) == all_once()
    assert set(server.counts().answered.values()) == {1}
    run = Run.load(out)
    assert list(run.audit()) == []
    assert {sample.id: sample.contexts for sample in run.samples()} == {
        sample.id: sample.contexts for sample in samples_in(read_traces(logs))
    }


def test_killed_at_any_moment_while_the_collector_writes_nothing_is_lost_and_nothing_scored_twice(
    tmp_path: Path, server: ServerProcess
):
    logs, out, chance, kills = tmp_path / "logs", tmp_path / "run", random.Random(2), 8
    logs.mkdir()
    server.set(Settings(latency=LATENCY))
    writer = children.start(collector, tmp_path / "writer", str(logs), 0.05)
    for _ in range(kills):
        follower = following(logs, out, server)
        follower.wait(chance.uniform(0.3, 2.5))
        follower.kill()
    assert writer.end().code == 0
    ended = following(logs, out, server, "--once").end()

    assert ended.code == 0, ended.err
    assert scored(out) == all_once()
    assert list(Run.load(out).audit()) == []
    asked = server.counts().asked
    # those in flight, and those whose answers came during the commit of 50 ms
    assert sum(asked.values()) - len(asked) <= kills * IN_FLIGHT * (1 + 0.05 / LATENCY)


def test_a_signal_ends_following_after_what_has_begun(tmp_path: Path, server: ServerProcess):
    logs, out = tmp_path / "logs", tmp_path / "run"
    logs.mkdir()
    collector(str(logs), 0.0)
    for number in (signal.SIGINT, signal.SIGTERM):
        server.set(Settings(latency=0.05))
        before = len(scored(out))
        follower = following(logs, out, server)
        follower.wait_for(lambda: len(scored(out)) > before)  # noqa: B023
        follower.send(number)
        ended = follower.end()
        assert ended.code == 0, ended.err
        assert "scored, 0 failed" in ended.out
    assert set(server.counts().answered.values()) == {1}
    assert before < len(scored(out)) < TRACES
