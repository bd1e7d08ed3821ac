"""Evaluating samples: `evaluate` for everybody, `aevaluate` for asynchronous callers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Unpack, get_args

from ragmetrics_core.drivers import Calls, measure_sample, wired
from ragmetrics_core.errors import AccessRefused, ConfigError, RunStopped, SampleError
from ragmetrics_core.journal import Journal
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.metrics import Metric
from ragmetrics_core.models import Budget, Tally, Traffic
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.records import FAILED, Record
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._loading import AsyncSource, BadRow, none_usable
from ragmetrics_core.runs._own_loop import synchronous
from ragmetrics_core.runs._preparation import prepare
from ragmetrics_core.runs._prices import price_of
from ragmetrics_core.runs._resuming import goes_on, left_open, useless_calls
from ragmetrics_core.runs._run import Run
from ragmetrics_core.runs._settings import RUN_DEFAULTS, RunArgs, settled
from ragmetrics_core.runs._stored import Key
from ragmetrics_core.samples import Sample

__all__ = ["OnError", "Progress", "aevaluate", "evaluate"]

OnError = Literal["record", "raise"]
"""What becomes of a failure: the status of its score, or the end of the run."""

# A run is no failure that stops at a limit of its own, or that hands its requests out in waves.
_BROKEN = FAILED - {"cancelled"}
# Rows that may be passed over before anything else has its turn.
_PASSED = 100


class Progress(NamedTuple):
    """How far a run is.

    Attributes:
        samples: how many samples have all their scores.
        rejected: how many rows were left out: no samples, or other content under a known id.
        failed: how many scores failed.
        tally: what the models were asked.
        kept: how many of the samples an earlier part of the run had finished.
    """

    samples: int
    rejected: int
    failed: int
    tally: Tally
    kept: int = 0


@unfolded(RunArgs, RUN_DEFAULTS)
async def aevaluate(
    samples: AsyncSource,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    add: bool = False,
    cache: str | Path | None = None,
    traffic: Traffic | None = None,
    budget: Budget | None = None,
    on_error: OnError = "record",
    progress: Callable[[Progress], None] | None = None,
    **settings: Unpack[RunArgs],
) -> Run:
    """Measure metrics on samples.

    `evaluate` works in a script, in a thread and inside a running event loop: the run has a loop of its own.
    `aevaluate` takes the same and is awaited.

    With `out`, the same call again resumes where an earlier one ended, however it ended: finished scores are
    kept, failed and cancelled ones are measured again, and no call is repeated whose reply is in the run's
    journal. The run shows the samples of its newest call: those that did not change are not measured again, a
    changed one is measured again under its id, and one that is no longer given does not count. Its earlier
    scores stay in the folder as history.

    Args:
        samples: samples, mappings with any ecosystem's column names, an iterable or asynchronous iterable
            of them (streamed), a data frame, or the path of a JSONL, JSON or CSV file. A file without samples
            is an error. No samples from memory are a run without scores, and its notes say so: a program
            may well have none left to measure.
        metrics: names or objects; by default the recommended pair, faithfulness and factual correctness
            (only the first where the samples have no reference; the run's notes say so).
        judge: the model that judges; any callable from prompt to reply, or a name such as "embedded".
        panel: several judges in its place. Each gives its verdicts and the majority decides, a tie being a
            "no"; all other questions go to the first.
        embedder: the model that makes vectors, or a name such as "embedded".
        scorer: the model that rates pairs, for metrics that need one, or a name: "cross-encoder:MODEL".
        out: the run's folder; without one the run is kept in memory.
        overwrite: replace a run that the folder holds.
        add: keep the samples of earlier calls and add these.
        cache: a journal that runs share: the path of a file in place of the folder's own journal.
        traffic: how the models are asked: `Traffic(concurrency=64, timeout=30)`.
        budget: what the run may spend on its judge: `Budget(calls=1000)`.
        repeats: how often each verdict is asked for, as further draws; the majority decides.
        full_repeats: how often each metric is measured from the start, as scores of their own.
        on_error: "record" makes a failure the score's status; "raise" stops the run at the first one.
        prompts: a folder of prompt files that replace those of the same name.
        keep_vectors: put the vectors into the records.
        redact: takes what is private out of a text. It is applied to every text of a sample when it is read,
            and to replies and errors of the models when they come: neither a model nor a file sees what it
            takes out, and the records prove the scores of the redacted sample. It must leave alone what it
            has put there; see docs/security.md.
        strict_shown: a sample of which a context is not in what the model was sent has no contexts: scores
            that need them have the status `unverified_contexts`.
        limit: read only so many rows.
        columns: the column of a field, where its name does not say so: `{"answer": "Bot Answer"}`.
        progress: called after each sample.
        settings: the settings of `traffic` and `budget` one by one, in place of the objects or beside them:
            `concurrency`, `timeout`, `attempts`, `requests_per_minute` and `tokens_per_minute`, which
            `TrafficArgs` describes; `max_calls`, `max_tokens`, `max_cost` and `prices`, which `BudgetArgs`
            describes.

    Raises:
        ConfigError: a mistake in the arguments, before any call; the folder holds another run, or one of a
            function without an identity; another process writes to it.
        RecordError: a file of the run cannot be read or written; what it holds is kept.
        SampleError: the source cannot be read at all, or none of its rows is a sample.
        RunStopped: a sample failed and `on_error` is "raise"; or a model refuses every call, as with
            a wrong key: after the first answers. What was measured is kept.
    """
    traffic, budget, made_of = settled(traffic, budget, settings)
    if on_error not in get_args(OnError):
        raise ConfigError(f"on_error must be 'record' or 'raise', not {on_error!r}")
    prepared = await prepare(samples, **made_of, out=out)
    price = price_of(prepared.models.judges, budget.prices)
    folder = Folder.begin(out, prepared.manifest, overwrite=overwrite)
    with closing(folder), journal_of(folder, cache) as journal:
        calls = wired(prepared.models, traffic, journal, budget, price=price, redact=made_of.get("redact"))
        evaluation = Evaluation(prepared.metrics, calls, folder, journal, on_error, progress, add=add)
        await evaluation.run(prepared.rows, concurrency=traffic.concurrency)
    refuse_useless(folder)
    return Run(folder, metrics={metric.signature: metric for metric in prepared.metrics})


evaluate = synchronous(aevaluate)
"""Measure metrics on samples and wait for the run; it takes what `aevaluate` takes."""


def refuse_useless(folder: Folder) -> None:
    """Raise `SampleError` when rows were given, and none is a sample."""
    if not folder.index.sample_ids and (first := next(folder.rejected, None)) is not None:
        count = sum(1 for _ in folder.rejected)
        raise none_usable(count, first)


def journal_of(folder: Folder, cache: str | Path | None) -> Journal:
    """The journal of a run: the one it shares, or its own."""
    # the folder is locked: nobody else writes to its own journal
    return Journal(cache, alone=False) if cache is not None else Journal(folder.journal_path, alone=True)


@dataclass
class Evaluation:
    """The loop over the samples: workers that take a sample, measure it and write it down.

    Attributes:
        metrics: what is measured.
        calls: the models.
        folder: takes the records; it says which scores an earlier part of the run has finished.
        journal: forgets replies that scores failed on, so that they are asked for again.
        on_error, progress: as for `evaluate`.
        waits: the run waits for the replies to a wave. What failed is not asked again, and no reply is
            forgotten: another score may still wait, and would ask anew for one that both share.
        add: the samples of earlier calls count as well.
    """

    metrics: Sequence[Metric[Any]]
    calls: Calls
    folder: Folder
    journal: Journal
    on_error: OnError = "record"
    progress: Callable[[Progress], None] | None = None
    waits: bool = False
    add: bool = False

    def __post_init__(self) -> None:
        self._samples = self._kept = self._rejected = self._failed = 0
        self._taking = asyncio.Lock()
        # ids are unique in what is read, so a run that begins need not look for earlier scores
        self._begins = self.folder.index.is_empty

    async def run(self, rows: AsyncIterator[Sample | BadRow], *, concurrency: int) -> None:
        """Measure all samples, as many at a time as calls may be in flight: no call waits for a sample."""
        earlier = self.folder.manifest.tally
        finished = False
        # Only now, when the journal has been opened: a run that cannot go on stays as it is.
        self.folder.unfinish()
        self.folder.begin_data_set(add=self.add)
        try:
            async with asyncio.TaskGroup() as group:
                samples = self._open(rows)
                for _ in range(concurrency):
                    group.create_task(self._work(samples))
            finished = True
        except BaseExceptionGroup as errors:
            refused, _ = errors.split(AccessRefused)
            if refused is not None:
                raise RunStopped(self._refusal(refused.exceptions[0])) from None
            raise errors.exceptions[0] from None
        finally:
            tally = {name: count + earlier.get(name, 0) for name, count in asdict(self.calls.tally).items()}
            self.journal.flush()
            self.folder.update_manifest(finished=finished, tally=tally)

    def _refusal(self, error: BaseException) -> str:
        again = "" if self.folder.path is None else "; then the same command goes on where this one ended"
        return f"the run stopped, for every call is refused: {error}. Mend that first{again}"

    async def _work(self, samples: AsyncIterator[tuple[Sample, Sequence[Metric[Any]]]]) -> None:
        while True:
            async with self._taking:
                await self.calls.room()
                found = await anext(samples, None)
            if found is None:
                return
            await self._measure(*found)
            self._tell()

    async def _open(
        self, rows: AsyncIterator[Sample | BadRow]
    ) -> AsyncIterator[tuple[Sample, Sequence[Metric[Any]]]]:
        """The samples that lack scores, each with the metrics of these."""
        number = 0
        async for row in rows:
            number += 1
            if number % _PASSED == 0:
                await asyncio.sleep(0)
            if isinstance(row, BadRow):
                self._reject(row)
            elif wanted := self._wanted(row):
                yield row, wanted
                continue
            self._tell()

    def _wanted(self, sample: Sample) -> Sequence[Metric[Any]]:
        """The metrics that a sample lacks with this content, which counts from here on."""
        self.folder.give(sample)
        statuses = {} if self._begins else self.folder.statuses(sample)
        if not self.waits:
            # it may have been killed before the journal forgot what these failed on
            again = [signature for signature, status in statuses.items() if status == "parse_error"]
            self._forget_useless([self.folder.record(Key(sample.id, signature)) for signature in again])
        opened = left_open(self.folder, sample) if "incomplete" in statuses.values() else ()
        open_statuses = {"cancelled"} if self.waits else FAILED
        wanted = [
            metric
            for metric in self.metrics
            if metric.signature in opened or statuses.get(metric.signature, "cancelled") in open_statuses
        ]
        if not wanted:
            self.folder.add_sample(sample)  # its labels may have changed
            self._samples += 1
            self._kept += 1
        return wanted

    def _tell(self) -> None:
        if self.progress:
            counts = self._samples, self._rejected, self._failed
            self.progress(Progress(*counts, self.calls.tally, self._kept))

    async def _measure(self, sample: Sample, wanted: Sequence[Metric[Any]]) -> None:
        earlier = {} if self._begins else left_open(self.folder, sample)
        asked: dict[str, Prompt[Any]] = {}
        corrections = {signature: record.corrections for signature, record in earlier.items()}
        measured = await measure_sample(sample, wanted, self.calls, prompts=asked, corrections=corrections)
        records = [record for record in measured if goes_on(earlier.get(record.signature), record)]
        self.folder.add_sample(sample, is_new=self._begins)
        self.folder.add_prompts(asked)
        self.folder.add_records(records)
        broken = (record for record in records if record.status in _BROKEN)
        failed = [record.hydrated(sample, self.folder.prompt_texts) for record in broken]
        if not self.waits:
            self._forget_useless(failed)
        self._failed += len(failed)
        self._samples += 1
        if failed and self.on_error == "raise":
            first = failed[0]
            raise RunStopped(
                f"{first.signature} of sample {first.sample_id}: {first.status} ({first.reason})"
            )

    def _forget_useless(self, failed: Sequence[Record]) -> None:
        """Take the replies that scores failed on out of the journal, so that they are asked for again."""
        if useless := [address for record in failed for address in useless_calls(record, self.metrics)]:
            self.journal.forget(useless)

    def _reject(self, row: BadRow) -> None:
        if self.on_error == "raise":
            raise SampleError(str(row))
        self.folder.reject(row)
        self._rejected += 1
