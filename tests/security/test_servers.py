"""A judge's server that lies, points elsewhere, floods or bombs: calls fail in a sentence, runs open."""

import asyncio
import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")

from ragmetrics_core import Run, evaluate, prompts
from ragmetrics_core.errors import ModelError
from ragmetrics_core.models import OpenAIEmbedder, OpenAIJudge
from ragmetrics_core.protocol import Completion, Generate
from tests.servers import Answer, OpenAIServer, chat

ROW = {"id": "1", "question": "Where?", "answer": "In Ulm.", "contexts": ["In Ulm."]}
KEY = "sk-very-secret-4711"
DIGITS = int("9" * 4300)
GZIP = {"content-encoding": "gzip"}


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


def asked(server: OpenAIServer, **settings: Any) -> Completion:
    """The reply of the server to one question, or the error."""
    judge = OpenAIJudge("m", base_url=server.base_url, api_key=KEY, **settings)
    prompt, variables = prompts.PAPER_QUESTION, {"answer": "In France."}
    request = Generate(prompt=prompt, variables=variables, messages=prompt.render(variables))
    (reply,) = asyncio.run(judge.agenerate(request))
    return reply


def failure(answer: Answer, **settings: Any) -> ModelError:
    """The error that an answer leads to."""
    with OpenAIServer(answer) as server, pytest.raises(ModelError) as raised:
        asked(server, **settings)
    return raised.value


def body(**fields: Any) -> dict[str, Any]:
    """A reply with other fields."""
    return chat('{"statements": ["In Ulm."]}').body | fields


# What it counts and names


@pytest.mark.parametrize("count", [DIGITS, 10**400, 2**53 + 1, -1, -(10**400), 1.5, True, "7", None, [1]])
def test_a_count_that_is_none_is_unknown(count: Any):
    with OpenAIServer(Answer(body=body(usage={"prompt_tokens": count, "completion_tokens": 1}))) as server:
        assert asked(server).usage is None


@pytest.mark.parametrize("name", ["x" * 100_000, "\x1b[2J" * 999, "\ud800" * 999, 7, ["m"], {"a": 1}, True])
def test_names_and_reasons_have_a_bounded_length_and_can_be_written(name: Any):
    reply = body(model=name)
    reply["choices"][0]["finish_reason"] = name
    with OpenAIServer(Answer(body=reply)) as server:
        found = asked(server)

    assert len(found.model.encode()) <= 3 * 300
    assert len((found.finish_reason or "").encode()) <= 3 * 300


@pytest.mark.parametrize("count", [DIGITS, 10**400, -5, 2**53])
def test_no_count_of_a_server_makes_a_run_unreadable(count: int, tmp_path: Path):
    usage = {"prompt_tokens": count, "completion_tokens": count}
    with OpenAIServer(Answer(body=body(usage=usage))) as server:
        judge = OpenAIJudge("m", base_url=server.base_url)
        evaluate([ROW], metrics="faithfulness", judge=judge, out=tmp_path / "run")

    run = Run.load(tmp_path / "run")
    assert len(run) == 1
    assert all(0 <= value < 2**63 for value in run.tally.values())
    assert list(run.audit()) == []


def test_a_negative_count_does_not_get_past_a_limit_of_tokens():
    usage = {"prompt_tokens": -(10**6), "completion_tokens": -1}
    rows = [ROW | {"id": str(number)} for number in range(40)]
    with OpenAIServer(Answer(body=body(usage=usage))) as server:
        judge = OpenAIJudge("m", base_url=server.base_url)
        run = evaluate(rows, metrics="faithfulness", judge=judge, max_tokens=2000, concurrency=1)
        assert len(server.seen) < 40

    assert "the run may use no more than 2,000 tokens" in {record.reason for record in run.records()}


# Where it points


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_and_the_error_names_where_it_pointed(status: int):
    with OpenAIServer(chat("I am another one.")) as other:
        place = other.base_url.replace("//", f"//me:{KEY}@") + "/chat/completions?api_key=abc12345"
        error = failure(Answer(status=status, headers={"location": place}))

        assert other.seen == [], "no other host sees a prompt"
    assert type(error) is ModelError
    assert f"redirects elsewhere ({status})" in str(error)
    assert f"{other.base_url}/chat/completions" in str(error)
    assert KEY not in str(error)
    assert "abc12345" not in str(error)


@pytest.mark.parametrize(
    "place", ["", "//[", "http://[::1", "\x1b]0;title\x07", "javascript:alert(1)", "x" * 9000]
)
def test_a_redirect_to_nowhere_is_one_short_sentence(place: str):
    error = str(failure(Answer(status=307, headers={"location": place})))

    assert len(error) < 600


def test_a_redirect_costs_one_call_and_gives_a_status(tmp_path: Path):
    with OpenAIServer(Answer(status=307, headers={"location": "http://127.0.0.1:1/v1"})) as server:
        run = evaluate([ROW], metrics="faithfulness", judge=OpenAIJudge("m", base_url=server.base_url))

        assert len(server.seen) == 1
    assert [record.status for record in run.records()] == ["model_error"]


# How much it sends


@pytest.mark.parametrize(
    ("status", "told"), [(200, "sent a compressed answer"), (500, r"failed \(500\) \(the same")]
)
@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "GZIP", "x-gzip", "other"])
def test_nothing_that_a_server_packed_is_unpacked(coding: str, status: int, told: str):
    bomb = gzip.compress(json.dumps(body()).encode() + b" " * 2**20)
    packed = Answer(status=status, body=bomb, headers={"content-encoding": coding})

    with OpenAIServer(packed) as server, pytest.raises(ModelError, match=told):
        asked(server)
    assert server.seen[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("status", "told"), [(200, "more than 100,000 bytes"), (404, "(404)"), (503, "failed (503)")]
)
def test_an_answer_without_end_is_not_read_to_its_end(
    status: int, told: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ragmetrics_core.models._openai_compatible._LARGEST_REPLY", 100_000)
    flood = Answer(status=status, body=b" " * 10_000_000)

    assert told in str(failure(flood))


def test_chunks_are_counted_as_they_come(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragmetrics_core.models._openai_compatible._LARGEST_REPLY", 50_000)
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    chunks = b"".join(b"%x\r\n%b\r\n" % (1000, b" " * 1000) for _ in range(200))

    assert "more than 50,000 bytes" in str(failure(Answer(raw=head + chunks)))


# How it speaks


def http(head: str, content: bytes) -> Answer:
    """An answer byte by byte."""
    return Answer(raw=head.replace("\n", "\r\n").encode("latin-1") + b"\r\n" + content)


def chunked(*parts: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in parts) + end


GOOD = json.dumps(body()).encode()
ODD = {
    "HTTP/1.0": http("HTTP/1.0 200 OK\n", GOOD),
    "HTTP/1.0 with a length": http(f"HTTP/1.0 200 OK\ncontent-length: {len(GOOD)}\n", GOOD),
    "chunks": http("HTTP/1.1 200 OK\ntransfer-encoding: chunked\n", chunked(GOOD[:9], GOOD[9:])),
    "another charset": http(
        f"HTTP/1.1 200 OK\ncontent-type: application/json; charset=utf-16\ncontent-length: {len(GOOD)}\n",
        GOOD,
    ),
    "no content type": http(f"HTTP/1.1 200 OK\ncontent-length: {len(GOOD)}\n", GOOD),
    "UTF-16": Answer(body=json.dumps(body()).encode("utf-16"), content_type="application/json"),
}
BROKEN = {
    "no HTTP": Answer(raw=b"220 smtp.example.org ESMTP\r\n"),
    "a status of letters": http("HTTP/1.1 abc OK\n", GOOD),
    "a status of 999": http("HTTP/1.1 999 Odd\ncontent-length: 0\n", b""),
    "no chunk size": http("HTTP/1.1 200 OK\ntransfer-encoding: chunked\n", b"zz\r\nabc\r\n"),
    "a chunk of -1": http("HTTP/1.1 200 OK\ntransfer-encoding: chunked\n", b"-1\r\nabc\r\n"),
    "a huge chunk": http("HTTP/1.1 200 OK\ntransfer-encoding: chunked\n", b"f" * 40 + b"\r\nabc\r\n"),
    "chunks without end": http("HTTP/1.1 200 OK\ntransfer-encoding: chunked\n", chunked(GOOD[:9], end=b"")),
    "two lengths": http("HTTP/1.1 200 OK\ncontent-length: 5\ncontent-length: 9\n", GOOD),
    "a length of -1": http("HTTP/1.1 200 OK\ncontent-length: -1\n", GOOD),
    "a length of 30 digits": http(f"HTTP/1.1 200 OK\ncontent-length: {'9' * 30}\n", GOOD),
    "a header of a megabyte": http(f"HTTP/1.1 200 OK\nx: {'y' * 2**20}\n", GOOD),
    "headers of a megabyte": http(
        "HTTP/1.1 200 OK\n" + "".join(f"x-{number}: {'y' * 100}\n" for number in range(10_000)), GOOD
    ),
    "NUL in a header": http("HTTP/1.1 200 OK\nx: a\x00b\n", GOOD),
    "half a body": Answer(body=body(), cut=20),
    "UTF-8 that is none": Answer(body=b'{"choices": "\xff\xfe"}'),
    "JSON of a million brackets": Answer(body=b"[" * 1_000_000),
    "an object of a million": Answer(body=b'{"a":' * 200_000),
    "a number of 5,000 digits": Answer(body=b'{"choices": ' + b"9" * 5000 + b"}"),
    "NaN": Answer(body=b'{"choices": NaN}'),
    "an error that goes deep": Answer(status=400, body=b'{"error":' * 100_000 + b"1" + b"}" * 100_000),
    "an error in rot13": Answer(status=400, body=b"abc", content_type="text/plain; charset=rot13"),
    "an error in zlib": Answer(
        status=400, body=zlib.compress(b" " * 2**20), content_type="text/plain; charset=zlib"
    ),
    "an error in punycode": Answer(
        status=400, body=b"a-" + b"b" * 200_000, content_type="text/plain; charset=punycode"
    ),
    "an error of one word": Answer(status=500, body=b"a://" * 1_000_000, content_type="text/plain"),
    "an error of parameters": Answer(status=500, body=b"&key=" * 400_000, content_type="text/plain"),
    "an error that is a number": Answer(status=400, body=b"9" * 4300),
    "an error of lists": Answer(status=400, body={"error": [{"message": ["x"]}], "code": [1], "param": {}}),
    "a wait without end": Answer(status=400, body=b"", headers={"retry-after": "1" + "0" * 4000}),
}


@pytest.mark.parametrize("how", ODD)
def test_a_reply_is_read_however_it_is_spoken(how: str):
    with OpenAIServer(ODD[how]) as server:
        assert asked(server).text == '{"statements": ["In Ulm."]}'


@pytest.mark.parametrize("how", BROKEN)
def test_what_is_no_reply_is_one_short_sentence(how: str):
    error = failure(BROKEN[how])

    assert len(str(error)) < 600
    assert KEY not in str(error)
    assert error.__cause__ is None


def test_a_few_thousand_headers_are_read_or_refused_in_a_sentence():
    many = "".join(f"x-{number}: y\n" for number in range(5000))
    answer = http(f"HTTP/1.1 200 OK\n{many}content-length: {len(GOOD)}\n", GOOD)
    with OpenAIServer(answer) as server:
        try:
            told = asked(server).text
        except ModelError as error:
            told = str(error)

    assert told
    assert len(told) < 600


def test_a_server_that_falls_silent_in_the_middle_meets_the_time_limit():
    quiet = Answer(body=GOOD, cut=5, silent=True)
    with OpenAIServer(quiet) as server:
        judge = OpenAIJudge("m", base_url=server.base_url)
        run = evaluate([ROW], metrics="faithfulness", judge=judge, timeout=0.2, attempts=1)

    assert [record.status for record in run.records()] == ["timeout"]


def test_a_server_that_sends_a_byte_a_minute_meets_the_time_limit():
    slow = Answer(body=GOOD, trickle=60.0)
    with OpenAIServer(slow) as server:
        judge = OpenAIJudge("m", base_url=server.base_url)
        run = evaluate([ROW], metrics="faithfulness", judge=judge, timeout=2, attempts=1)
        assert len(server.seen) == 1

    assert [record.status for record in run.records()] == ["timeout"]


@pytest.mark.parametrize("charset", ["utf-16", "latin-1", "rot13", "none-such", "x" * 2000])
def test_a_charset_that_the_server_only_claims_changes_no_reply(charset: str):
    content = json.dumps(body(), ensure_ascii=False).encode()
    claimed = f"application/json; charset={charset}"
    with OpenAIServer(Answer(body=content, content_type=claimed)) as server:
        assert asked(server).text == '{"statements": ["In Ulm."]}'


# Vectors


@pytest.mark.parametrize(
    "data",
    [
        [{"index": 0, "embedding": [10**400]}],
        [{"index": 0, "embedding": ["x"]}],
        [{"index": 0, "embedding": "not base64!"}],
        [{"index": 0, "embedding": "AAAAAAA="}],
        [{"index": 0, "embedding": [[1.0]]}],
        [{"index": 0, "embedding": "AACAfw=="}],
        [{"index": 0}],
        [{"index": {}, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}],
        [7],
        "text",
        {"a": 1},
        None,
        [],
    ],
)
def test_what_is_no_vector_is_one_sentence(data: Any):
    with OpenAIServer(Answer(body={"data": data})) as server, pytest.raises(ModelError) as raised:
        asyncio.run(OpenAIEmbedder("m", base_url=server.base_url).aembed(["a"]))
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_numbers_that_are_not_finite_are_no_vector(number: bytes):
    answer = Answer(body=b'{"data": [{"index": 0, "embedding": [%b]}]}' % number)
    with OpenAIServer(answer) as server, pytest.raises(ModelError, match="not finite"):
        asyncio.run(OpenAIEmbedder("m", base_url=server.base_url).aembed(["a"]))
