"""Answers of the local server: good replies, and failures as often as its settings say.

A reply depends on the request alone, so a run with faults can be compared with one without. Which request
fails, and how, depends on the seed, the request and how often it was asked before, not on the order in which
requests come in.
"""

import base64
import json
import struct
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, get_args

from benchmarks.replies import judge_reply, vector

__all__ = ["FAULTS", "MALFORMED", "Answer", "Counts", "Fault", "Model", "Settings"]

# "cut" sends half of the body, "bad_json" a body that ends in the middle of a value, "html" a web page with
# status 200, "malformed" a reply that no judge should give.
Fault = Literal["429", "500", "503", "reset", "hang", "cut", "bad_json", "html", "malformed"]
FAULTS: tuple[Fault, ...] = get_args(Fault)

MALFORMED = ("", "I am sorry, I cannot judge this.", '{"verdicts": [{"number": 1, "reas', "42", "{}")
_HTML = b"<html><body><h1>Bad gateway</h1></body></html>"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of the server.

    Attributes:
        latency: seconds from a request to its answer.
        jitter: up to so many seconds more, drawn for each request.
        faults: the share of requests that fails, by kind; together at most 1.
        capacity: requests beyond so many in flight are answered with 429 at once; None for any number.
        retry_after: seconds that an answer with 429 or 503 asks to wait; None asks for nothing.
        seed: another seed lets other requests fail.
        prompt_tokens, completion_tokens: what every usage says; None counts four characters as one token.
        dimensions: the length of embeddings.
        holds_after: once it has seen so many different requests, new ones wait until it is told to behave
            otherwise; None lets none wait.
    """

    latency: float = 0.0
    jitter: float = 0.0
    faults: Mapping[Fault, float] = field(default_factory=dict)
    capacity: int | None = None
    retry_after: float | None = 1.0
    seed: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    dimensions: int = 64
    holds_after: int | None = None

    def __post_init__(self) -> None:
        unknown = sorted(set(self.faults) - set(FAULTS))
        if unknown or not 0 <= sum(self.faults.values()) <= 1:
            raise ValueError(f"faults are shares of {', '.join(FAULTS)}, not {dict(self.faults)}")


@dataclass(kw_only=True)
class Counts:
    """Requests that the server has seen.

    Attributes:
        total: requests for a completion or for embeddings.
        chats, embeddings: the same, by kind.
        outcomes: requests by what became of them: "ok", a fault, "400" for a request that makes no sense, or
            "gone" when the client left first.
        prompt_tokens, completion_tokens: of the answers with outcome "ok".
        in_flight, most_in_flight: requests that wait for their answer, now and at most.
        asked: how often each request came, by the digest of its body.
        answered: how often each request was answered well.
        cpu_seconds: CPU time that the server has used since it started.
    """

    total: int = 0
    chats: int = 0
    embeddings: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    cpu_seconds: float = 0.0


class Answer(NamedTuple):
    """Outgoing answer, and its kind in the counts."""

    data: bytes
    outcome: str
    digest: str = ""
    tokens: tuple[int, int] = (0, 0)


class Model:
    """The model behind the server: settings, counts, and the answer to each request."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.counts = Counts()

    def holds(self, body: bytes) -> bool:
        """Whether a request waits."""
        limit, asked = self.settings.holds_after, self.counts.asked
        return limit is not None and len(asked) >= limit and _digest(body) not in asked

    def control(self, path: str, body: bytes) -> bytes:
        """Answer to a request that is not for a model."""
        if path == "/counts":
            self.counts.cpu_seconds = time.process_time()
            return _response(200, json.dumps(vars(self.counts)).encode())
        if path == "/reset":
            self.counts = Counts(in_flight=self.counts.in_flight)
        elif path == "/settings":
            self.settings = replace(self.settings, **json.loads(body))
        else:
            return _error(404, "no such path")
        return _response(200, b"{}")

    def answer(self, path: str, body: bytes) -> tuple[float, Answer]:
        """After how many seconds a request is answered, and with what."""
        settings, counts = self.settings, self.counts
        digest = _digest(body)
        counts.total += 1
        counts.asked[digest] += 1
        times = counts.asked[digest]
        counts.most_in_flight = max(counts.most_in_flight, counts.in_flight)
        if settings.capacity is not None and counts.in_flight > settings.capacity:
            return 0.0, self._failure("429", b"")
        delay, chance = settings.latency, 1.0
        if settings.jitter or settings.faults:
            drawn = blake2b(f"{settings.seed}/{digest}/{times}".encode(), digest_size=8).digest()
            first, second = struct.unpack("<II", drawn)
            chance = first / 2**32
            delay += settings.jitter * second / 2**32
        fault: Fault | None = None
        for kind, rate in settings.faults.items():
            chance -= rate
            if chance < 0:
                fault = kind
                break
        embeddings = path.endswith("/embeddings")
        counts.embeddings += embeddings
        counts.chats += not embeddings
        try:
            asked = json.loads(body)
            if embeddings:
                reply, tokens = self._embeddings(asked, malformed=fault == "malformed")
            else:
                reply, tokens = self._completions(asked, malformed=times if fault == "malformed" else None)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            return 0.0, Answer(_error(400, f"cannot use this request: {error!r}"), "400")
        if fault is None:
            return delay, Answer(_response(200, reply), "ok", digest, tokens)
        return delay, self._failure(fault, reply)

    def _failure(self, fault: Fault, reply: bytes) -> Answer:
        wait = self.settings.retry_after
        header = "" if wait is None else f"retry-after: {wait:g}\r\n"
        match fault:
            case "429":
                data = _error(429, "too many requests", header)
            case "500":
                data = _error(500, "the model fell over")
            case "503":
                data = _error(503, "the model is busy", header)
            case "reset" | "hang":
                data = b""
            case "cut":
                whole = _response(200, reply)
                data = whole[: len(whole) - len(reply) // 2]
            case "bad_json":
                data = _response(200, reply[: len(reply) // 2])
            case "html":
                data = _response(200, _HTML, content_type="text/html")
            case "malformed":
                data = _response(200, reply)
        return Answer(data, fault)

    def _completions(self, asked: Any, *, malformed: int | None) -> tuple[bytes, tuple[int, int]]:
        prompt = "\n\n".join(map(_content, asked["messages"]))
        first = int(asked.get("seed") or 0)
        if malformed is None:
            texts = [judge_reply(prompt, str(first + draw)) for draw in range(asked.get("n") or 1)]
        else:
            texts = [MALFORMED[malformed % len(MALFORMED)]] * (asked.get("n") or 1)
        choices = [
            {"index": n, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            for n, text in enumerate(texts)
        ]
        usage, tokens = self._usage(len(prompt), sum(map(len, texts)))
        body = {"id": "1", "object": "chat.completion", "created": 0, "model": asked.get("model", "")}
        return json.dumps(body | {"choices": choices, "usage": usage}).encode(), tokens

    def _embeddings(self, asked: Any, *, malformed: bool) -> tuple[bytes, tuple[int, int]]:
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        # Clients that count tokens themselves send numbers in place of texts.
        texts = [text if isinstance(text, str) else " ".join(map(str, text)) for text in texts]
        vectors = [vector(text, self.settings.dimensions) for text in texts]
        encoded = asked.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": n,
                "embedding": base64.b64encode(each.tobytes()).decode() if encoded else each.tolist(),
            }
            for n, each in enumerate(vectors[1:] if malformed else vectors)
        ]
        usage, tokens = self._usage(sum(map(len, texts)), 0)
        body = {"object": "list", "model": asked.get("model", ""), "data": data, "usage": usage}
        return json.dumps(body).encode(), tokens

    def _usage(self, prompt: int, completion: int) -> tuple[Mapping[str, int], tuple[int, int]]:
        settings = self.settings
        first = -(-prompt // 4) if settings.prompt_tokens is None else settings.prompt_tokens
        second = -(-completion // 4) if settings.completion_tokens is None else settings.completion_tokens
        usage = {"prompt_tokens": first, "completion_tokens": second, "total_tokens": first + second}
        return usage, (first, second)


def _content(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())


def _response(status: int, body: bytes, headers: str = "", content_type: str = "application/json") -> bytes:
    head = (
        f"HTTP/1.1 {status} -\r\ncontent-type: {content_type}\r\n{headers}content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _error(status: int, message: str, headers: str = "") -> bytes:
    return _response(status, json.dumps({"error": {"message": message}}).encode(), headers)


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=16).hexdigest()
