"""What a server replies, and what somebody else put into a folder: a sentence of ours, or what holds."""

import json
from collections.abc import AsyncIterator
from functools import cache
from importlib.util import find_spec
from typing import Any, cast

from ragmetrics_core.drivers._replay import now
from ragmetrics_core.errors import ModelError, RecordError
from ragmetrics_core.journal._bodies import decode_rating, decode_reply, decode_vector, encode_reply
from ragmetrics_core.models import OpenAIJudge
from ragmetrics_core.models._openai_endpoint import Endpoint
from ragmetrics_core.models.openai_replies import completions_in
from ragmetrics_core.protocol import Completion
from ragmetrics_core.runs._manifest import Manifest, manifest_in
from tests.fuzz.place import run_with, whole_file
from tests.fuzz.target import Target

__all__ = ["TARGETS"]

HAS_CLIENT = find_spec("aiohttp") is not None
STATUSES = (200, 301, 307, 400, 401, 404, 429, 500, 503)


@cache
def server() -> Endpoint:
    """Where the answers come from; nothing is asked there."""
    return OpenAIJudge("m", base_url="http://127.0.0.1:1/v1").endpoint


def reply(data: bytes) -> None:
    """The body of a reply becomes completions that can be stored, or a sentence."""
    for each in completions_in(server()._object(data), where="the server", model="m"):
        held(each)
        each.text.encode()
        assert decode_reply(encode_reply(each)) == each


def held(reply: Completion) -> None:
    """What a server says beside the text is what it can be."""
    assert len(reply.model) <= 300
    assert len(reply.finish_reason or "") <= 300
    assert reply.usage is None or all(0 <= count <= 2**53 for count in reply.usage)
    (reply.model + (reply.finish_reason or "")).encode()


class Stream:
    """The body of an answer, in pieces."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    async def iter_any(self) -> AsyncIterator[bytes]:
        """The pieces."""
        for start in range(0, len(self.data), 100):
            yield self.data[start : start + 100]


class Answer:
    """An answer as the client hands it over: a status, headers and a body, all of the server's making."""

    def __init__(self, data: bytes) -> None:
        self.status = STATUSES[data[0] % len(STATUSES)] if data else 200
        head, _, body = data[1:].partition(b"\n\n")
        lines = (line.partition(":") for line in head.decode("latin-1").split("\n"))
        self.headers = {name.strip().lower(): value.strip() for name, _, value in lines}
        self.content = Stream(body)


def answer(data: bytes) -> None:
    """A whole answer is read, or refused in one short sentence."""
    told = ""
    try:
        now(server()._read(cast("Any", Answer(data))))
    except ModelError as error:
        told = str(error)
    assert len(told) < 1000


def stored(data: bytes) -> None:
    """A row of somebody's journal is a reply that can be used, or none."""
    for decode in (decode_rating, decode_vector):
        try:
            decode(data)
        except RecordError:
            continue
    held(decode_reply(data))


def manifest(data: bytes) -> None:
    """A manifest that reads can be written again, and compared."""
    read = manifest_in(run_with("manifest.json", data))
    again = Manifest.model_validate_json(read.model_dump_json(by_alias=True))
    assert again.differences(read) == []
    for entry in read.metrics:
        assert entry.goodness(entry.best) == 1


def replies() -> list[bytes]:
    choice = {"message": {"content": "yes"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    whole = {"model": "m", "choices": [choice], "usage": usage}
    return [json.dumps(each).encode() for each in (whole, {"error": {"message": "no"}}, {"choices": []})]


def answers() -> list[bytes]:
    heads = (
        b"\x00",
        b"\x01location: http://127.0.0.1/",
        b"\x06retry-after: 7",
        b"\x00content-encoding: gzip",
    )
    return [head + b"\n\n" + body for head in heads for body in replies()]


def rows() -> list[bytes]:
    vector = b"vector <f8 <f4\n" + bytes(8)
    return [encode_reply(Completion("yes", "m", None, "stop")), b'{"kind":"rating","rating":0.5}', vector]


TARGETS = [
    *([Target("server.reply", reply, (ModelError,), replies)] if HAS_CLIENT else []),
    *([Target("server.answer", answer, (ModelError,), answers)] if HAS_CLIENT else []),
    Target("journal.row", stored, (RecordError,), rows),
    Target("manifest", manifest, (RecordError,), lambda: [whole_file("manifest.json")]),
]
