"""Servers on the loopback that keep scores as the tools do: by the key that each of them knows a score by."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PROJECT = "00000000-0000-0000-0000-00000000cafe"


@dataclass
class Tool:
    """What a server keeps.

    Attributes:
        url: its address.
        kept: the scores, by what the tool knows them by.
        requests: path, headers and body of each request, in order.
        failures: statuses of the next answers; the server acts normally when they are used up.
        missing: ids of spans and traces that the tool does not have.
    """

    url: str = ""
    kept: dict[Any, Any] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)

    def answer(self, path: str, body: bytes) -> tuple[int, Any]:
        """The status and the answer to a request."""
        if self.failures and (status := self.failures.pop(0)):
            return status, {"error": "no", "detail": "no"}
        if path.startswith(("/v1/span_annotations", "/v1/document_annotations")):
            return self._annotations(json.loads(body)["data"])
        if path == "/api/public/scores":
            return self._langfuse(json.loads(body))
        if path == "/info":
            return 200, {"version": "0.9.0", "batch_ingest_config": {"use_multipart_endpoint": True}}
        if path.startswith("/sessions"):
            session = {
                "id": PROJECT,
                "name": "books",
                "tenant_id": PROJECT,
                "reference_dataset_id": None,
            }
            return 200, [session]
        if path == "/feedback":
            feedback = json.loads(body)
            if feedback["run_id"] in self.missing:
                return 404, {"detail": "Run not found"}
            self.kept[feedback["id"]] = feedback
            return 200, feedback
        if path in {"/v1/traces", "/v1/logs"}:
            self.kept.setdefault(path, []).append(body)
            return 200, b""
        return 404, {"detail": path}

    def _annotations(self, annotations: list[dict[str, Any]]) -> tuple[int, Any]:
        if self.missing & {each["span_id"] for each in annotations}:
            return 404, {"detail": "Spans do not exist."}
        for each in annotations:
            key = (each["span_id"], each["name"], each.get("identifier"), each.get("document_position"))
            self.kept[key] = each
        return 200, {"data": [{"id": str(number)} for number, _ in enumerate(annotations)]}

    def _langfuse(self, scores: list[dict[str, Any]]) -> tuple[int, Any]:
        taken = [each for each in scores if each["traceId"] not in self.missing]
        for each in taken:
            self.kept[each["id"], each["timestamp"]] = each
        rejected = len(scores) - len(taken)
        if rejected:
            errors = [{"message": "unknown trace"}] * rejected
            return 207, {"accepted": len(taken), "rejected": rejected, "errors": errors}
        return 202, {"message": "Accepted"}


@contextmanager
def tool() -> Iterator[Tool]:
    """A running server."""
    kept = Tool()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            kept.requests.append((self.path, dict(self.headers), body))
            status, answer = kept.answer(self.path, body)
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = _answer  # noqa: N815 - names that the class looks for

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    kept.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
