"""Runs whose judge answers by file: open requests go out, replies come back, the next wave follows.

The file has the format of the batch interfaces that hosted models offer, and needs none of them: a machine
without a network or a person can answer it as well. Journal and resuming do all the work: a wave is a run in
which every call that the journal cannot answer is written down and cancelled.

From the first wave until nothing is open, `waiting.jsonl` in the run's folder has the open requests. So long,
what failed for another reason than waiting stays as it is, as it would in one run online; it is asked again
when the run is started anew.
"""

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol, runtime_checkable

from ragmetrics_core.drivers import wired
from ragmetrics_core.errors import BudgetSpent, ConfigError, RecordError
from ragmetrics_core.journal import Journal, call_address, encode_reply
from ragmetrics_core.metrics import Metric
from ragmetrics_core.models import Meter, Traffic
from ragmetrics_core.models._cascade import Cascade
from ragmetrics_core.models._redactor import Redactor
from ragmetrics_core.models._wrapper import Wrapper, unwrapped
from ragmetrics_core.prompts import PromptText
from ragmetrics_core.protocol import Completion, Embedder, Generate, Scorer
from ragmetrics_core.records import Record
from ragmetrics_core.runs._evaluate import Evaluation, Progress, journal_of, refuse_useless
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._loading import AsyncSource
from ragmetrics_core.runs._lock import FolderLock
from ragmetrics_core.runs._own_loop import on_own_loop
from ragmetrics_core.runs._preparation import AnyJudge, Metrics, Preparation, prepare
from ragmetrics_core.runs._run import Run
from ragmetrics_core.runs._useless import useless_calls
from ragmetrics_core.runs._wave_replies import lines_of, reply_in
from ragmetrics_core.runs._writing import not_a_link, put_in_place, replacing

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
        failed: how many requests failed; they stay open.
        reason: why the first of them did.
        unknown: how many replies are not to open requests of this run: to another run's, or taken before.
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
    scorer: Scorer | str | None = None,
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
    replies at once. A judge of a name needs no key, no package and no file here. Embeddings and ratings are
    not part of waves: their models are asked as usual, and a score whose model has no key is a `model_error`.

    Args:
        samples: as for `evaluate`, as are all arguments that are not named here.
        requests: the file to write: a line for each request, in the format of OpenAI's batch interface; it
            is empty when nothing is open. A file that is there is replaced when the new one is whole.
        out: the run's folder.

    Raises:
        ConfigError: a mistake in the arguments, the folder holds another run, or the file cannot be written.
        RecordError: a file cannot be read or written.
    """
    return on_own_loop(
        _export(
            Path(requests),
            out=out,
            cache=cache,
            redact=redact,
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
                asked=False,
            ),
        )
    )


def import_replies(
    out: str | Path,
    replies: str | Path,
    *,
    cache: str | Path | None = None,
    redact: Callable[[str], str] | None = None,
) -> Imported:
    """Take the replies to the requests of the last wave into the run's journal.

    Args:
        out: the run's folder.
        replies: a file with a line for each reply, as batch interfaces give them back:
            `{"custom_id": ..., "response": {"status_code": 200, "body": {"choices": [...]}}}`;
            or, from a person, `{"custom_id": ..., "reply": "..."}`.
        cache: the journal that the run shares, if it does.
        redact: applied to every reply before it is stored; give the same to `export_wave`.

    Raises:
        ConfigError: the run has no open wave, or the file cannot be read; the message names the line.
    """
    folder = Path(out)
    waiting = _read_waiting(folder)
    taken = failed = unknown = 0
    reason: str | None = None
    with FolderLock(folder), Journal(cache or not_a_link(folder / "journal.sqlite")) as journal:
        for number, line in lines_of(Path(replies)):
            where = f"{replies}, line {number}"
            address, found = reply_in(line, where)
            if address not in waiting:
                unknown += 1
            elif isinstance(found, Completion):
                if redact is not None:
                    found = Redactor(redact=redact).reply(found)
                journal.put(address, encode_reply(found), identity=waiting.pop(address))
                taken += 1
            else:
                failed += 1
                reason = reason or f"{where}: {Redactor(redact=redact).words(found)}"
        # also when nothing is left: the run is not over before the replies are in its records
        _put_in_place(folder / WAITING, waiting)
    return Imported(taken, failed, reason, unknown, len(waiting))


@dataclass(frozen=True)
class _Awaiting(Wrapper):
    """Writes down what the judge is asked instead of asking it."""

    sink: "_Sink" = field(kw_only=True)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Write the request down, each draw as one of its own; the cheap judge of a cascade is asked.

        Raises:
            BudgetSpent: it was written down; the reply comes with the next wave.
        """
        judge: object = unwrapped(self.inner)
        if isinstance(judge, Cascade):
            if judge.is_first(request):
                return await judge.agenerate(request)
            judge, request = judge.dear, request._replace(passed_on=False)
        for draw in range(request.draw, request.draw + request.draws):
            self.sink.write(judge, request._replace(draw=draw, draws=1))
        raise BudgetSpent("waits for the replies to its wave")


class _Uncounted(Meter):
    """Counts no call that is written down instead of made."""

    def start(self) -> None:
        """Nothing is asked."""

    def end(self, request: Generate[Any], replies: Sequence[Completion]) -> None:
        """Nothing was."""


class _Sink:
    """The file of a wave: each request once."""

    def __init__(self, path: Path, file: IO[str]) -> None:
        self._path = path
        self._file = file
        self.waiting: dict[str, str] = {}

    def write(self, judge: Any, request: Generate[Any]) -> None:
        address = call_address(judge.identity, request.digest, str(request.draw))
        if address in self.waiting:
            return
        self.waiting[address] = judge.identity
        body = judge.body(request) if isinstance(judge, ByFile) else _plain_body(judge, request)
        line = {"custom_id": address, "method": "POST", "url": URL, "body": body}
        try:
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as error:
            raise RecordError(_unwritable(self._path, error)) from error


class _Wave(Evaluation):
    """A run between its first wave and its last: what failed there is not asked again before it is over."""

    def _still_wanted(self, sample_id: str, statuses: Mapping[str, str]) -> Sequence[Metric[Any]]:
        return self._lacking(sample_id, statuses, {"cancelled"})

    def _forget_useless(self, failed: Sequence[Record]) -> None:
        """Nothing yet: another score may still wait, and would ask anew for a reply that both share."""


async def _export(
    requests: Path,
    *,
    out: str | Path,
    cache: str | Path | None,
    redact: Callable[[str], str] | None,
    progress: Callable[[Progress], None] | None,
    preparing: Coroutine[Any, Any, Preparation],
) -> Wave:
    prepared = await preparing
    for judge in prepared.models.judges:
        if not getattr(judge, "cacheable", True):
            raise ConfigError(
                f"the replies to {judge.identity} could not be found again, for its name may be another "
                "function's by then: pass the name of a model, or CallableJudge(function=..., identity=...)"
            )
    folder = Folder.begin(out, prepared.manifest)
    # half a character, which has no UTF-8 form, is written as JSON's own escape
    file = replacing(requests, encoding="utf-8", errors="backslashreplace")
    with closing(folder), file as opened, journal_of(folder, cache) as journal:
        sink, traffic = _Sink(requests, opened), Traffic()
        judges = tuple(_Awaiting(judge, sink=sink) for judge in prepared.models.judges)
        models = replace(prepared.models, judges=judges)
        calls = wired(models, traffic, journal, meter=_Uncounted(), redact=redact)
        kind = _Wave if (Path(out) / WAITING).is_file() else Evaluation
        evaluation = kind(prepared.metrics, calls, folder, journal, progress=progress)
        await evaluation.run(prepared.rows, concurrency=traffic.concurrency)
        refuse_useless(folder)
        if sink.waiting:
            folder.save_manifest(folder.manifest.model_copy(update={"finished": False}))
            _put_in_place(Path(out) / WAITING, sink.waiting)
        else:
            _forget_useless(folder, journal, prepared.metrics)
            (Path(out) / WAITING).unlink(missing_ok=True)
    run = Run(folder, metrics={metric.signature: metric for metric in prepared.metrics})
    return Wave(len(sink.waiting), run)


def _forget_useless(folder: Folder, journal: Journal, metrics: Sequence[Metric[Any]]) -> None:
    """Take the replies that scores failed on out of the journal: the run is over."""
    for key, outcome in folder.index.outcomes():
        if outcome.status == "parse_error":
            journal.forget(useless_calls(folder.record(key), metrics))


def _plain_body(judge: Any, request: Generate[Any]) -> Mapping[str, object]:
    messages = [message._asdict() for message in request.messages]
    return {"model": getattr(judge, "model", judge.identity), "messages": messages}


def _unwritable(path: Path, error: OSError) -> str:
    return f"{path} cannot be written: {error.strerror or error}"


def _read_waiting(folder: Path) -> dict[str, str]:
    """The open requests of the last wave: the judge's identity, by address."""
    file = folder / WAITING
    if not file.is_file():
        raise ConfigError(f"{folder} has no open wave: ragmetrics batch export writes one")
    try:
        return {line["address"]: line["judge"] for _, line in lines_of(file)}
    except (KeyError, TypeError):
        raise ConfigError(f"{file} is damaged: ragmetrics batch export writes it again") from None


def _put_in_place(file: Path, waiting: Mapping[str, str]) -> None:
    """Note what is open, whole or not at all."""
    lines = (json.dumps({"address": key, "judge": name}) + "\n" for key, name in waiting.items())
    try:
        put_in_place(file, "".join(lines))
    except OSError as error:
        raise RecordError(_unwritable(file, error)) from error
