"""Records of an earlier version: they still prove themselves, and the same replies still give the same ones.

`golden.tar.gz` holds two runs of all metrics and variants: one with a judge that keeps the form, leaves out
numbers, wraps its JSON in prose, writes it sloppily, says nothing of use or is down; and one with a panel
that votes. Its records are not made anew: who changes a formula writes a variant with another number.
"""

import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Record, Run, evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.errors import ModelError
from ragmetrics_core.metrics import get
from ragmetrics_core.protocol import Completion, Generate, Usage
from ragmetrics_core.testing import HashEmbedder, OverlapScorer
from tests.catalogue import reason_to_skip
from tests.lines import plain

ARCHIVE = Path(__file__).with_name("golden.tar.gz")
RUNS = ("one", "votes")
# what may change with the version of a library, and with it the seal
IGNORED = {"versions", "digest", "made_by"}


@pytest.fixture(scope="module")
def golden(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


class Recalled:
    """Gives the replies that are in records, and is down where there is none."""

    def __init__(self, identity: str, records: Sequence[Record]) -> None:
        self.identity = identity
        self._replies = {
            (step.rendered_digest, step.draw): step
            for record in records
            for step in record.generate_steps
            if (step.judge or record.judge) == identity
        }

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        return [self._reply(request.digest, request.draw + number) for number in range(request.draws)]

    def _reply(self, digest: str, draw: int) -> Completion:
        step = self._replies.get((digest, draw))
        if step is None:
            raise ModelError("the server is down")
        usage = None
        if step.prompt_tokens is not None and step.completion_tokens is not None:
            usage = Usage(step.prompt_tokens, step.completion_tokens)
        return Completion(step.reply, step.model, usage, step.finish_reason)


@pytest.mark.parametrize("name", RUNS)
def test_every_record_of_an_earlier_version_proves_itself(golden, name):
    records = list(Run.load(golden / name).records())

    assert len(records) > 10
    for record in records:
        if not reason_to_skip(record.metric):
            assert audit(record) == [], (record.sample_id, record.signature)


@pytest.mark.parametrize("name", RUNS)
def test_the_same_replies_give_the_same_records(golden, name):
    earlier = Run.load(golden / name)
    lines = (golden / name / "records.jsonl").read_text(encoding="utf-8").splitlines()
    known = [each for each in map(plain, lines) if not reason_to_skip(each["metric"])]
    records = list(earlier.records())
    steps = ((record, step) for record in records for step in record.generate_steps)
    identities = sorted({step.judge or record.judge or "" for record, step in steps})

    run = evaluate(
        [earlier.sample(each) for each in earlier.sample_ids],
        metrics=[get(each) for each in dict.fromkeys(each["signature"] for each in known)],
        panel=[Recalled(identity, records) for identity in identities],
        embedder=HashEmbedder(),
        scorer=OverlapScorer(),
        repeats=2 if name == "votes" else 1,
        keep_vectors=name == "votes",
    )

    derived = {(each.sample_id, each.signature): plain(each.stored()) for each in run.records()}
    assert len(derived) == len(known)
    for fields in known:
        key = (fields["sample_id"], fields["signature"])
        if "references_not_asked" in derived[key]["counts"]:  # they were asked of old, and none was better
            assert derived[key]["value"] == fields["value"], key
            continue
        assert list(_differences("", fields, derived[key])) == [], key


def _differences(place: str, earlier: Any, now: Any) -> Iterator[str]:
    """Where a stored value is not what it is now; a field that was added since is no difference."""
    if isinstance(earlier, dict) and isinstance(now, dict):
        for name in earlier.keys() - IGNORED:
            yield from _differences(f"{place}.{name}", earlier[name], now.get(name))
    elif isinstance(earlier, list) and isinstance(now, list) and len(earlier) == len(now):
        for number, (one, other) in enumerate(zip(earlier, now, strict=True)):
            yield from _differences(f"{place}[{number}]", one, other)
    elif place == ".reason" and isinstance(earlier, str) and str(now).startswith(f"{earlier}: "):
        return  # it is told in more words
    elif earlier != now:
        yield f"{place}: {earlier!r} before, {now!r} now"
