"""Runs whose judge answers by file: export open requests, import replies, repeat.

The file has the format of hosted batch interfaces, but a machine without a network, or a person, can answer
it as well. A wave is a run in which every call that the journal cannot answer is written to the file and
cancelled.

`waiting.jsonl` in the run's folder has the open requests until nothing is open. Until then, scores that
failed for other reasons stay failed, as in one online run; the next run asks again.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol, Unpack, runtime_checkable

from ragmetrics_core.adapting import synchronous
from ragmetrics_core.boundary.keywords import checked, listing_settings, refuse_unknown
from ragmetrics_core.boundary.writing import not_a_link, put_in_place, replacing
from ragmetrics_core.drivers import wired
from ragmetrics_core.errors import BudgetSpent, ConfigError, RecordError
from ragmetrics_core.journal import Journal, call_address, encode_reply
from ragmetrics_core.models import Cascade, Meter, Traffic
from ragmetrics_core.models.identity import WITHOUT_IDENTITY
from ragmetrics_core.models.redactor import Redactor
from ragmetrics_core.models.wrapper import Wrapper, unwrapped
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.runs._evaluate import Evaluation, Progress, from_first_sample, journal_of, refuse_useless
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._loading import AsyncSource
from ragmetrics_core.runs._run import Run
from ragmetrics_core.runs._unfinished_scores import useless_calls
from ragmetrics_core.runs._wave_replies import lines_of, reply_in
from ragmetrics_core.runs.lock import FolderLock
from ragmetrics_core.runs.preparation import PREPARATION_DEFAULTS, PreparationArgs, prepare

__all__ = ["Imported", "Wave", "export_wave", "import_replies"]

URL = "/v1/chat/completions"
WAITING = "waiting.jsonl"


@runtime_checkable
class ByFile(Protocol):
    """A judge that can write its requests as JSON."""

    def body(self, request: Generate[Any]) -> Mapping[str, object]:
        """JSON body for the request's first draw."""
        ...


class Wave(NamedTuple):
    """State after a wave was written.

    Attributes:
        waiting: number of requests in the file; 0 if the run is complete.
        run: the run so far.
    """

    waiting: int
    run: Run


class Imported(NamedTuple):
    """Counts of an imported file of replies.

    Attributes:
        replies: number of imported replies.
        failed: number of failed requests, which stay open.
        reason: reason of the first failure.
        unknown: number of replies that match no open request of this run: another run's, or imported before.
        waiting: number of requests without a reply.
    """

    replies: int
    failed: int
    reason: str | None
    unknown: int
    waiting: int


@dataclass(frozen=True)
class _Awaiting(Wrapper):
    """Judge that writes each request to the file once, instead of answering."""

    requests: Path
    file: IO[str]
    waiting: dict[str, str]

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Write each draw of the request to the file; the cheap judge of a cascade is called.

        Raises:
            BudgetSpent: always; the reply comes with the next wave.
        """
        judge: object = unwrapped(self.inner)
        if isinstance(judge, Cascade):
            if judge.is_first(request):
                return await judge.agenerate(request)
            judge, request = judge.dear, request._replace(passed_on=False)
        for draw in range(request.draw, request.draw + request.draws):
            self._write(judge, request._replace(draw=draw, draws=1))
        raise BudgetSpent("waits for the replies to its wave")

    def _write(self, judge: Any, request: Generate[Any]) -> None:
        address = call_address(judge.identity, request.digest, str(request.draw))
        if address in self.waiting:
            return
        self.waiting[address] = judge.identity
        if isinstance(judge, ByFile):
            body = judge.body(request)
        else:
            messages = [message._asdict() for message in request.messages]
            body = {"model": getattr(judge, "model", judge.identity), "messages": messages}
        line = {"custom_id": address, "method": "POST", "url": URL, "body": body}
        try:
            self.file.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as error:
            raise RecordError(f"{self.requests} cannot be written: {error.strerror or error}") from error


class _Uncounted(Meter):
    """Meter that does not count calls written to the file."""

    def start(self) -> None:
        """Do nothing."""

    def end(self, request: Generate[Any], replies: Sequence[Completion]) -> None:
        """Do nothing."""


@listing_settings(PreparationArgs, PREPARATION_DEFAULTS)
async def aexport_wave(
    samples: AsyncSource,
    requests: str | Path,
    *,
    out: str | Path,
    add: bool = False,
    cache: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    **settings: Unpack[PreparationArgs],
) -> Wave:
    """Write the open requests to the judge into a file, without calling the judge.

    After `import_replies`, repeat the same call until nothing is open and the run is complete. The records
    equal those of a judge that gives the same replies at once. A judge given by name needs no key, package
    or file.
    Embeddings and ratings are not part of waves: their models are called as usual, and without a key their
    scores are `model_error`.

    Args:
        samples: as for `evaluate`.
        requests: the file to write: one line per request in the format of OpenAI's batch interface; empty if
            nothing is open. An existing file is replaced atomically.
        out: the run's folder.
        add: as for `evaluate`.
        cache: as for `evaluate`.
        progress: as for `evaluate`.
        settings: all that `PreparationArgs` lists, as for `evaluate`.

    Raises:
        ConfigError: an argument is wrong, the folder holds another run, or the file cannot be written.
        RecordError: a file cannot be read or written.
    """
    refuse_unknown(settings, *PREPARATION_DEFAULTS)
    prepared = await prepare(samples, **settings, out=out, asked=False)
    for judge in prepared.models.judges:
        if not getattr(judge, "cacheable", True):
            raise ConfigError(
                f"the replies to {judge.identity} could not be found again: it {WITHOUT_IDENTITY}"
            )
        if not getattr(getattr(judge, "dear", judge), "by_file", True):
            raise ConfigError(f"the judge {judge.identity} cannot answer by file: use it with evaluate")
    requests, place = Path(requests), Path(out) / WAITING
    waiting: dict[str, str] = {}
    rows = await from_first_sample(prepared.rows, out)
    folder = Folder.begin(out, prepared.manifest)
    # half a character, which has no UTF-8 form, is written as JSON's own escape
    file = replacing(requests, encoding="utf-8", errors="backslashreplace")
    with closing(folder), file as opened, journal_of(folder, cache) as journal:
        judges = tuple(_Awaiting(judge, requests, opened, waiting) for judge in prepared.models.judges)
        models, traffic = replace(prepared.models, judges=judges), Traffic()
        calls = wired(models, traffic, journal, meter=_Uncounted(), redact=settings.get("redact"))
        waits = place.is_file()
        evaluation = Evaluation(
            prepared.metrics, calls, folder, journal, progress=progress, waits=waits, add=add
        )
        await evaluation.run(rows, concurrency=traffic.concurrency)
        refuse_useless(folder)
        if waiting:
            folder.update_manifest(finished=False)
            _note_waiting(place, waiting)
        else:
            # the run is over: what scores failed on is asked for again when it is started anew
            failed = (key for key, outcome in folder.index.outcomes() if outcome.status == "parse_error")
            for key in failed:
                journal.forget(useless_calls(folder.record(key), prepared.metrics))
            place.unlink(missing_ok=True)
    run = Run(folder, metrics={metric.signature: metric for metric in prepared.metrics})
    return Wave(len(waiting), run)


export_wave = synchronous(aexport_wave)
"""Write the open requests to the judge into a file; takes the arguments of `aexport_wave`."""


@checked
def import_replies(
    out: str | Path,
    replies: str | Path,
    *,
    cache: str | Path | None = None,
    redact: Callable[[str], str] | None = None,
) -> Imported:
    """Import the replies to the last wave into the run's journal.

    Args:
        out: the run's folder.
        replies: a file with one line per reply, as batch interfaces return them:
            `{"custom_id": ..., "response": {"status_code": 200, "body": {"choices": [...]}}}`;
            or, from a person, `{"custom_id": ..., "reply": "..."}`.
        cache: the run's shared journal, if it has one.
        redact: applied to every reply before it is stored; pass the same function to `export_wave`.

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
        _note_waiting(folder / WAITING, waiting)
    return Imported(taken, failed, reason, unknown, len(waiting))


def _read_waiting(folder: Path) -> dict[str, str]:
    """Open requests of the last wave: the judge's identity, by address."""
    file = folder / WAITING
    if not file.is_file():
        raise ConfigError(f"{folder} has no open wave: ragmetrics batch export writes one")
    try:
        return {line["address"]: line["judge"] for _, line in lines_of(file)}
    except (KeyError, TypeError):
        raise ConfigError(f"{file} is damaged: ragmetrics batch export writes it again") from None


def _note_waiting(file: Path, waiting: Mapping[str, str]) -> None:
    """Store the open requests atomically."""
    lines = (json.dumps({"address": key, "judge": name}) + "\n" for key, name in waiting.items())
    put_in_place(file, "".join(lines))
