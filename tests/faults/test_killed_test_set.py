"""A test set whose generation is killed loses nothing that was paid for, and is the same in the end."""

import json
import shutil
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from ragmetrics_core.journal import call_address
from ragmetrics_core.models import OpenAIJudge
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.questions import QuestionSet
from tests.faults import children
from tests.questions.towers import Towers, documents
from tests.servers import Answer, OpenAIServer, Seen

# Calls that the server has seen when the process is killed: while questions are written, and in each check.
KILLS = (2, 7, 13, 20, 28, 36, 45, 54)
LATENCY = 0.06


def test_a_generation_that_is_killed_repeats_no_journalled_call_and_ends_as_if_undisturbed(tmp_path: Path):
    corpus = tmp_path / "towers.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in documents()))
    kills: list[tuple[frozenset[str], Counter[str]]] = []

    def answer(request: Seen) -> Answer:
        time.sleep(LATENCY)
        return Towers(Oslo="unclear").answer(request)

    with OpenAIServer(answer) as server:

        def begin(out: str) -> children.Child:
            folder = tmp_path / f"{out}-set"
            return children.start(children.generation, tmp_path / out, corpus, folder, server.base_url)

        assert begin("whole").end().code == 0
        needed = _asked(server).keys()
        server.seen.clear()
        for calls in KILLS:
            run = begin("killed")
            run.wait_for(lambda calls=calls: len(server.seen) >= calls)
            run.kill()
            kills.append((_journalled(tmp_path), _asked(server)))
        assert begin("killed").end().code == 0
        asked = _asked(server)

    assert asked.keys() == needed
    for journalled, asked_before in kills:
        assert {each: asked[each] for each in journalled} == {each: asked_before[each] for each in journalled}
    assert len(kills[-1][0]) > 15
    whole, killed = (QuestionSet.read(tmp_path / f"{name}-set") for name in ("whole", "killed"))
    for name in ("questions.jsonl", "dropped.jsonl", "test_set.json"):
        assert (killed.path / name).read_text() == (whole.path / name).read_text()
    assert killed.audit() == []


def _asked(server: OpenAIServer) -> Counter[str]:
    """How often each call came in, by its address."""
    identity = OpenAIJudge("judge", base_url=server.base_url, response_format="text").identity
    messages = ([message["content"] for message in seen.body["messages"]] for seen in server.seen)
    return Counter(call_address(identity, digest_of(*each), "0") for each in messages)


def _journalled(place: Path) -> frozenset[str]:
    """Addresses in the journal, read from a copy: opening one may change it."""
    if not (place / "killed-set" / "journal.sqlite").exists():
        return frozenset()
    for suffix in ("", "-wal"):
        copy = place / f"journal.sqlite{suffix}"
        copy.unlink(missing_ok=True)
        if (file := place / "killed-set" / copy.name).exists():
            shutil.copyfile(file, copy)
    with closing(sqlite3.connect(place / "journal.sqlite")) as journal:
        return frozenset(address.hex() for (address,) in journal.execute("SELECT address FROM calls"))
