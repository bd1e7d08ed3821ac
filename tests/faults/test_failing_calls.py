"""Calls that fail: each score ends with a status, and its value is the one of a run without failures."""

from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

import pytest

from benchmarks.answers import MALFORMED
from benchmarks.replies import judge_reply
from benchmarks.server import Fault, ServerProcess, Settings
from benchmarks.workload import METRICS, LocalEmbedder
from ragmetrics_core import evaluate
from ragmetrics_core.models import OpenAIEmbedder, OpenAIJudge
from ragmetrics_core.runs import Run
from tests.faults import children
from tests.faults.scores import Scores, failed_in, samples, scores_of, undisturbed, written
from tests.servers import Answer, OpenAIServer, Seen, chat

SAMPLES, ATTEMPTS = 25, 3
# Seconds: only a server that hangs takes so long, also on a busy machine.
TIMEOUT = 2.5
# The 25 samples make over 200 requests. With four samples at a time the first ones are finished by the 100th.
HELD, SLOWLY = Settings(holds_after=100), ("--concurrency", 4)
# Together 30 %. A page of HTML is the only one that asking again cannot mend.
FAULTS: Mapping[Fault, float] = {
    "429": 0.05,
    "500": 0.05,
    "503": 0.03,
    "reset": 0.05,
    "hang": 0.02,
    "cut": 0.04,
    "bad_json": 0.04,
    "html": 0.02,
}


@pytest.fixture(scope="module")
def alone() -> Scores:
    return undisturbed(SAMPLES)


@pytest.mark.parametrize("seed", [1, 2])
def test_when_a_third_of_the_calls_fails_the_scores_are_as_if_none_did(
    tmp_path: Path, server: ServerProcess, alone: Scores, seed: int
):
    server.set(Settings(latency=0.01, jitter=0.02, faults=FAULTS, retry_after=0.05, seed=seed))
    run = measured(server, tmp_path)

    counts = server.counts()
    # all kinds of failure at once, and of each request no more attempts than are allowed
    assert set(FAULTS) <= set(counts.outcomes)
    assert max(counts.asked.values()) <= ATTEMPTS + 1  # after a 500 once without a schema
    # every planned score has a status; those with a value have the value, verdicts and replies of a calm run
    assert set(run.keys) == alone.keys()
    assert set(failed_in(run).values()) <= {"model_error", "timeout"}
    found = scores_of(run)
    assert len(found) > len(alone) / 2
    assert found.items() <= alone.items()
    assert list(run.audit()) == []

    # when the server has recovered, the same again asks for what is missing, and for nothing else
    server.set(Settings())
    again = measured(server, tmp_path)
    assert scores_of(again) == alone
    assert max(server.counts().answered.values()) == 1


def test_what_fails_every_time_is_asked_as_often_as_allowed_and_fails_alone(tmp_path: Path, alone: Scores):
    with OpenAIServer(failing_for_good) as server:
        run = evaluate(
            samples(SAMPLES),
            metrics=METRICS,
            judge=OpenAIJudge("judge", base_url=server.base_url),
            embedder=LocalEmbedder(),
            out=tmp_path / "run",
            timeout=TIMEOUT,
            attempts=ATTEMPTS,
        )
        asked = Counter(prompt_of(request) for request in server.seen)

    for prompt, times in asked.items():
        failure = FOR_GOOD.get(share_of(prompt))
        # the request without a schema after a 500 is one of the attempts
        assert times == {None: 1, "html": 1}.get(failure, ATTEMPTS), failure
    assert {share_of(prompt) for prompt in asked} > FOR_GOOD.keys()
    assert set(run.keys) == alone.keys()
    assert set(failed_in(run).values()) == {"model_error", "timeout"}
    assert scores_of(run).items() <= alone.items()


def test_replies_that_cannot_be_read_have_a_status_and_are_not_served_again(
    tmp_path: Path, server: ServerProcess, alone: Scores
):
    server.set(Settings(faults={"malformed": 0.3}))
    run = measured(server, tmp_path)
    assert set(run.keys) == alone.keys()
    assert "parse_error" in failed_in(run).values()
    found = scores_of(run)
    # a reply that cannot be read may be asked for again, in other words; what needed none of that is as ever
    assert 0 < len(unmended(found)) < len(found)
    assert unmended(found).items() <= alone.items()
    assert list(run.audit()) == []

    server.set(Settings())
    again = scores_of(measured(server, tmp_path))
    assert again.keys() == alone.keys()
    assert unmended(again).items() <= alone.items()
    # the scores that there were stay as they are
    assert found.items() <= again.items()


def test_a_server_that_dies_and_comes_back_costs_no_score(tmp_path: Path, alone: Scores):
    data, out = written(tmp_path, SAMPLES), tmp_path / "run"
    records = out / "records.jsonl"
    with ServerProcess(HELD) as server:
        run = children.evaluated(server, data, out, "--attempts", 10, *SLOWLY)
        run.wait_for(lambda: records.exists() and records.stat().st_size > 0)
    with ServerProcess(port=server.port) as server:
        ended = run.end()
        assert ended.code == 0, ended.err
        assert server.counts().chats > 0
    run = Run.load(out)
    assert run.tally["retried"] > 0
    assert scores_of(run) == alone


def test_a_server_that_stays_away_fails_what_is_left_until_the_same_command_comes_again(
    tmp_path: Path, alone: Scores
):
    data, out = written(tmp_path, SAMPLES), tmp_path / "run"
    records = out / "records.jsonl"
    with ServerProcess(HELD) as server:
        run = children.evaluated(server, data, out, "--attempts", 2, *SLOWLY)
        run.wait_for(lambda: records.exists() and records.stat().st_size > 0)
        before = server.counts()
    ended = run.end()
    assert ended.code == 0, ended.err
    run = Run.load(out)
    assert set(run.keys) == alone.keys()
    assert set(failed_in(run).values()) == {"model_error"}
    finished = scores_of(run)
    assert finished
    assert finished.items() <= alone.items()

    with ServerProcess(port=server.port) as server:
        assert children.evaluated(server, data, out).end().code == 0
        after = server.counts()
    assert scores_of(Run.load(out)) == alone
    # what was answered a while before the server died is in the journal
    assert not before.answered.keys() & after.asked.keys()


def unmended(scores: Scores) -> Scores:
    """The scores that rest on no reply that could not be read."""
    return {key: found for key, found in scores.items() if not {*MALFORMED} & {*found.replies}}


def measured(server: ServerProcess, folder: Path) -> Run:
    """The run in the folder, gone on with."""
    return evaluate(
        samples(SAMPLES),
        metrics=METRICS,
        judge=OpenAIJudge("judge", base_url=server.base_url),
        embedder=OpenAIEmbedder("embedder", base_url=server.base_url),
        out=folder / "run",
        timeout=TIMEOUT,
        attempts=ATTEMPTS,
    )


# Requests that always fail, by the last digit of a digest of their prompt.
FOR_GOOD: Mapping[int, Fault] = {
    0: "429",
    1: "500",
    2: "cut",
    3: "reset",
    4: "bad_json",
    5: "html",
    6: "hang",
}


def failing_for_good(request: Seen) -> Answer:
    prompt = prompt_of(request)
    good = chat(judge_reply(prompt, "0"))
    match FOR_GOOD.get(share_of(prompt)):
        case "429":
            return Answer(status=429, body={}, headers={"retry-after": "0.05"})
        case "500":
            return Answer(status=500, body={})
        case "cut":
            return Answer(body=good.body, cut=40)
        case "reset":
            return Answer(cut=0)
        case "bad_json":
            return Answer(body=b'{"choices": [{"mess')
        case "html":
            return Answer(body=b"<html>Bad gateway</html>", content_type="text/html")
        case "hang":
            return Answer(silent=True)
        case _:
            return good


def prompt_of(request: Seen) -> str:
    return "\n\n".join(message["content"] for message in request.body["messages"])


def share_of(prompt: str) -> int:
    """A number below 40, the same for the same prompt."""
    return blake2b(prompt.encode(), digest_size=1).digest()[0] % 40
