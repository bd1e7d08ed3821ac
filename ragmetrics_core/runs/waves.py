"""Runs whose judge answers by file: open requests go out, replies come back, the next wave follows.

The file has the format of the batch interfaces that hosted models offer, and needs none of them: a machine
without a network or a person can answer it as well. Journal and resuming do all the work: a wave is a run in
which every call that the journal cannot answer is written down and cancelled.
"""

import json
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ragmetrics_core.drivers import Spending, Traffic, wired
from ragmetrics_core.errors import BudgetSpent, ConfigError, ModelError
from ragmetrics_core.journal import Journal, call_address, encode_reply
from ragmetrics_core.models import Cached
from ragmetrics_core.models.openai_compatible import completions_in
from ragmetrics_core.models.wrapper import Wrapper, unwrapped
from ragmetrics_core.prompts import PromptText
from ragmetrics_core.protocol import Completion, Embedder, Generate, Scorer
from ragmetrics_core.runs.evaluate import Evaluation, Progress, journal_of, writing
from ragmetrics_core.runs.folder import Folder
from ragmetrics_core.runs.loading import AsyncSource
from ragmetrics_core.runs.lock import FolderLock
from ragmetrics_core.runs.own_loop import on_own_loop
from ragmetrics_core.runs.preparation import AnyJudge, Metrics, Preparation, prepare
from ragmetrics_core.runs.run import Run

__all__ = ["Imported", "Wave", "export_wave", "import_replies"]

URL = "/v1/chat/completions"
WAITING = "waiting.jsonl"


@runtime_checkable
class ByFile(Protocol):
    """A judge that can say how its server wants to be asked."""

    def body(self, request: Generate[Any]) -> Mapping[str, object]:
        """The JSON that asks for the request's first draw."""
        ...


class Wave(NamedTuple):
    """What is open after a wave was written.

    Attributes:
        waiting: how many requests were written down; 0 when the run is complete.
        run: the run as far as it is.
    """

    waiting: int
    run: Run


class Imported(NamedTuple):
    """What a file of replies held.

    Attributes:
        replies: how many replies were taken.
        failed: how many requests failed, with the first reason; they stay open.
        unknown: how many replies are not to requests of this run's last wave.
        waiting: how many requests have no reply yet.
    """

    replies: int
    failed: int
    reason: str | None
    unknown: int
    waiting: int


def export_wave(  # noqa: D417  the others are those of `evaluate`
    samples: AsyncSource,
    requests: str | Path,
    *,
    out: str | Path,
    metrics: Metrics | None = None,
    judge: AnyJudge | None = None,
    panel: Sequence[AnyJudge] = (),
    embedder: Embedder | str | None = None,
    scorer: Scorer | None = None,
    cache: str | Path | None = None,
    repeats: int = 1,
    full_repeats: int = 1,
    prompts: str | Path | Mapping[str, PromptText] | None = None,
    redact: Callable[[str], str] | None = None,
    limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Wave:
    """Write down what a run would ask its judge now; the judge itself is not asked.

    The same call after `import_replies` writes what follows from the replies, until nothing is open and the
    run is complete. Its records are those that the same run would have with a judge that gives the same
    replies at once. Embeddings and ratings are not part of waves: their models are asked as usual.

    Args:
        samples: as for `evaluate`, as are all arguments that are not named here.
        requests: the file to write: a line for each request, in the format of OpenAI's batch interface.
        out: the run's folder.

    Raises:
        ConfigError: a mistake in the arguments, or the folder holds another run.
        RecordError: a file cannot be read or written.
    """
    return on_own_loop(
        _export(
            Path(requests),
            out=out,
            cache=cache,
            progress=progress,
            preparing=prepare(
                samples,
                metrics=metrics,
                judge=judge,
                panel=panel,
                embedder=embedder,
                scorer=scorer,
                prompts=prompts,
                repeats=repeats,
                full_repeats=full_repeats,
                redact=redact,
                limit=limit,
            ),
        )
    )


def import_replies(out: str | Path, replies: str | Path, *, cache: str | Path | None = None) -> Imported:
    """Take the replies to the requests of the last wave into the run's journal.

    Args:
        out: the run's folder.
        replies: a file with a line for each reply, as batch interfaces give them back:
            `{"custom_id": ..., "response": {"status_code": 200, "body": {"choices": [...]}}}`;
            or, from a person, `{"custom_id": ..., "reply": "..."}`.
        cache: the journal that the run shares, if it does.

    Raises:
        ConfigError: the run has no open wave, or the file cannot be read; the message names the line.
    """
    folder = Path(out)
    waiting = _read_waiting(folder)
    taken = failed = unknown = 0
    reason: str | None = None
    with FolderLock(folder), Journal(cache or folder / "journal.sqlite") as journal:
        for number, line in _lines_of(Path(replies)):
            where = f"{replies}, line {number}"
            address, body = _reply_in(line, where)
            if address not in waiting:
                unknown += 1
            elif isinstance(body, Completion):
                journal.put(address, encode_reply(body), identity=waiting.pop(address))
                taken += 1
            else:
                failed += 1
                reason = reason or body
        _write_waiting(folder, waiting)
    return Imported(taken, failed, reason, unknown, len(waiting))


@dataclass(frozen=True)
class _Awaiting(Wrapper):
    """Writes down what the judge is asked instead of asking it."""

    sink: "_Sink" = field(kw_only=True)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Write the request down, each draw as one of its own.

        Raises:
            BudgetSpent: always; the reply comes with the next wave.
        """
        for draw in range(request.draw, request.draw + request.draws):
            self.sink.write(unwrapped(self.inner), replace(request, draw=draw, draws=1))
        raise BudgetSpent("waits for the replies to its wave")


class _Sink:
    """The file of a wave: each request once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._scratch = path.with_name(path.name + ".new")
        self.waiting: dict[str, str] = {}
        try:
            self._file = self._scratch.open("w", encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error

    def write(self, judge: Any, request: Generate[Any]) -> None:
        address = call_address(judge.identity, request.digest, str(request.draw))
        if address in self.waiting:
            return
        self.waiting[address] = judge.identity
        body = judge.body(request) if isinstance(judge, ByFile) else _plain_body(judge, request)
        line = {"custom_id": address, "method": "POST", "url": URL, "body": body}
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def finish(self) -> None:
        """Put the file in its place, whole."""
        self._file.close()
        os.replace(self._scratch, self._path)

    def drop(self) -> None:
        self._file.close()
        self._scratch.unlink(missing_ok=True)


async def _export(
    requests: Path,
    *,
    out: str | Path,
    cache: str | Path | None,
    progress: Callable[[Progress], None] | None,
    preparing: Coroutine[Any, Any, Preparation],
) -> Wave:
    prepared = await preparing
    folder = Folder.begin(out, prepared.manifest)
    sink = _Sink(requests)
    traffic = Traffic()
    try:
        with writing(folder), journal_of(folder, cache) as journal:
            calls = wired(prepared.models, traffic, journal, Spending())
            judges = tuple(Cached(_Awaiting(judge, sink=sink), journal) for judge in prepared.models.judges)
            calls.models = replace(calls.models, judges=judges)
            evaluation = Evaluation(prepared.metrics, calls, folder, journal, progress=progress)
            await evaluation.run(prepared.rows, workers=traffic.concurrency)
            _write_waiting(Path(out), sink.waiting)
        sink.finish()
    except BaseException:
        sink.drop()
        raise
    run = Run(folder, metrics={metric.signature: metric for metric in prepared.metrics})
    return Wave(len(sink.waiting), run)


def _plain_body(judge: Any, request: Generate[Any]) -> Mapping[str, object]:
    messages = [message._asdict() for message in request.messages]
    return {"model": getattr(judge, "model", judge.identity), "messages": messages}


def _reply_in(line: Any, where: str) -> tuple[str, Completion | str]:
    """The address of a reply, and the reply or why there is none."""
    address = line.get("custom_id") if isinstance(line, dict) else None
    if not isinstance(address, str):
        raise ConfigError(f"{where} has no custom_id: it is no reply to a wave")
    if isinstance(line.get("reply"), str):
        return address, Completion(text=line["reply"])
    response = line.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    status = response.get("status_code", 200) if isinstance(response, dict) else None
    if status != 200 or not isinstance(body, dict):
        return address, f"{where}: {json.dumps(line.get('error') or body or line)[:300]}"
    try:
        return address, completions_in(body, where=where, model="")[0]
    except ModelError as error:
        return address, str(error)


def _lines_of(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if not line.isspace():
                    yield number, json.loads(line)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise ConfigError(f"{path} is no file of JSON lines: {error}") from error


def _read_waiting(folder: Path) -> dict[str, str]:
    """The open requests of the last wave: the judge's identity, by address."""
    file = folder / WAITING
    if not file.is_file():
        raise ConfigError(f"{folder} has no open wave: ragmetrics batch export writes one")
    return {line["address"]: line["judge"] for _, line in _lines_of(file)}


def _write_waiting(folder: Path, waiting: Mapping[str, str]) -> None:
    file = folder / WAITING
    scratch = folder / (WAITING + ".new")
    scratch.write_text(
        "".join(json.dumps({"address": key, "judge": name}) + "\n" for key, name in waiting.items()),
        encoding="utf-8",
    )
    os.replace(scratch, file)
