"""Evaluating samples: `evaluate` for everybody, `aevaluate` for asynchronous callers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Unpack, get_args

from ragmetrics_core.adapting import synchronous
from ragmetrics_core.boundary.keywords import listing_settings
from ragmetrics_core.drivers import Calls, measure_sample, wired
from ragmetrics_core.errors import AccessRefused, ConfigError, RunStopped, SampleError
from ragmetrics_core.journal import Journal
from ragmetrics_core.metrics import Metric
from ragmetrics_core.models import Budget, Traffic
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.records import FAILED, Record
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._loading import AsyncSource, BadRow, none_usable
from ragmetrics_core.runs._run import Run
from ragmetrics_core.runs._settings import RUN_DEFAULTS, RunArgs, merged_settings
from ragmetrics_core.runs._stored_lines import Key
from ragmetrics_core.runs._unfinished_scores import left_open, may_replace, useless_calls
from ragmetrics_core.runs.preparation import prepare
from ragmetrics_core.runs.prices import price_of
from ragmetrics_core.runs.progress_bar import Progress, Report, shown_progress
from ragmetrics_core.runs.removal import holds_run
from ragmetrics_core.samples import Sample

__all__ = ["OnError", "Progress", "aevaluate", "evaluate"]

OnError = Literal["record", "raise"]
"""Effect of a failure: it becomes its score's status, or it stops the run."""

# A run is no failure that stops at a limit of its own, or that hands its requests out in waves.
_BROKEN = FAILED - {"cancelled"}
# Rows that are read before a run begins, in search of the first sample.
_MOST_READ_AHEAD = 10_000
# Rows that may be passed over before anything else has its turn.
_PASSED = 100


@listing_settings(RunArgs, RUN_DEFAULTS)
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
    progress: Callable[[Progress], None] | bool | None = None,
    **settings: Unpack[RunArgs],
) -> Run:
    """Measure metrics on samples.

    `evaluate` works in a script, in a thread and inside a running event loop, because the run has its own
    loop. `aevaluate` takes the same arguments and is awaited.

    With `out`, the same call resumes an earlier one, however that ended: finished scores are kept, failed and
    cancelled ones are measured again, and calls whose replies are in the run's journal are not repeated. The
    run shows the samples of its newest call: unchanged samples keep their scores, a changed one is measured
    again under its id, and a removed one does not count. Earlier scores stay in the folder as history.

    Args:
        samples: samples, mappings with the column names of any supported library, an iterable or asynchronous
            iterable of them (streamed), a data frame, or the path of a JSONL, JSON or CSV file. An empty file
            is an error. An empty iterable gives a run without scores, and its notes say so.
        metrics: names or objects. Default: faithfulness and factual correctness, or only the first if no
            sample has a reference; the run's notes say so.
        judge: the judge model, a callable from prompt to reply, or a name such as "embedded".
        panel: several judges instead of one. The majority of their verdicts decides; a tie is a "no". All
            other questions go to the first judge.
        embedder: the embedding model, or a name such as "embedded".
        scorer: the model that rates pairs of texts, or a name such as "cross-encoder:MODEL".
        out: the run's folder. Default: the run is kept in memory.
        overwrite: replace a run in this folder.
        add: keep the samples of earlier calls, too.
        cache: path of a journal that several runs share, instead of the folder's own.
        traffic: limits on calls to the models, such as `Traffic(concurrency=64, timeout=30)`.
        budget: limits on what the run spends on its judge, such as `Budget(calls=1000)`.
        repeats: number of draws of each verdict; the majority decides.
        full_repeats: number of complete measurements of each metric; each has its own score.
        on_error: "record" stores a failure as the score's status; "raise" stops the run at the first failure.
        prompts: a folder of prompt files, which replace the prompts of the same name.
        keep_vectors: store the vectors in the records.
        redact: function that removes private parts of a text. It runs on every text of a sample when it is
            read, and on replies and errors of the models when they arrive. Neither models nor files receive
            the private parts, and the records prove the scores of the redacted sample. It must not change its
            own replacements; see docs/security.md.
        strict_shown: ignore the contexts of a sample if one of them is not in the request that its model
            received. Scores that need contexts then have the status `unverified_contexts`.
        limit: maximum number of rows to read.
        columns: columns of fields, for names that are not recognized: `{"answer": "Bot Answer"}`.
        progress: True for a progress bar, False for none, or a function to call after each sample. Default: a
            bar on a terminal or in a notebook, if the run takes more than a second. The bar is tqdm's if
            tqdm is installed.
        settings: single settings of `traffic` (`concurrency`, `timeout`, `attempts`, `requests_per_minute`
            and `tokens_per_minute`; see `TrafficArgs`) and `budget` (`max_calls`, `max_tokens`, `max_cost`
            and `prices`; see `BudgetArgs`). They override the objects.

    Raises:
        ConfigError: before any call, if an argument is wrong, the folder holds another run or one whose judge
            is a function without an identity, or another process is writing to it.
        RecordError: a file of the run cannot be read or written; its content is kept.
        SampleError: the source cannot be read, or all its rows are invalid.
        RunStopped: a sample failed and `on_error` is "raise", or a model refuses every call (such as for a
            wrong key). Finished scores are kept.
    """
    traffic, budget, made_of = merged_settings(traffic, budget, settings)
    if on_error not in get_args(OnError):
        raise ConfigError(f"on_error must be 'record' or 'raise', not {on_error!r}")
    prepared = await prepare(samples, **made_of, out=out)
    price = price_of(prepared.models.judges, budget.prices)
    rows = await from_first_sample(prepared.rows, out)
    folder = Folder.begin(out, prepared.manifest, overwrite=overwrite)
    with closing(folder), journal_of(folder, cache) as journal:
        calls = wired(prepared.models, traffic, journal, budget, price=price, redact=made_of.get("redact"))
        with shown_progress(progress, samples, at_most=made_of.get("limit")) as report:
            evaluation = Evaluation(prepared.metrics, calls, folder, journal, on_error, report, add=add)
            await evaluation.run(rows, concurrency=traffic.concurrency)
    refuse_useless(folder)
    return Run(folder, metrics={metric.signature: metric for metric in prepared.metrics})


evaluate = synchronous(aevaluate)
"""Measure metrics on samples and wait for the run; takes the arguments of `aevaluate`."""


async def from_first_sample(
    rows: AsyncIterator[Sample | BadRow], out: str | Path | None
) -> AsyncIterator[Sample | BadRow]:
    """The rows, after the first sample was read, so that a source without any leaves a run in `out` as it is.

    Raises:
        SampleError: the source cannot be read; or there is a run in `out`, and all rows are invalid.
    """
    read: list[Sample | BadRow] = []
    async for row in rows:
        read.append(row)
        if isinstance(row, Sample) or len(read) == _MOST_READ_AHEAD:
            break
    else:
        if read and out is not None and holds_run(Path(out)):
            raise none_usable(len(read), read[0])
    return _with_first(read, rows)


async def _with_first(
    read: Sequence[Sample | BadRow], rows: AsyncIterator[Sample | BadRow]
) -> AsyncIterator[Sample | BadRow]:
    for row in read:
        yield row
    async for row in rows:
        yield row


def refuse_useless(folder: Folder) -> None:
    """Raise `SampleError` if there are rows and all are invalid."""
    if not folder.index.sample_ids and (first := next(folder.rejected, None)) is not None:
        count = sum(1 for _ in folder.rejected)
        raise none_usable(count, first)


def journal_of(folder: Folder, cache: str | Path | None) -> Journal:
    """Journal of a run: a shared one or its own."""
    # the folder is locked: nobody else writes to its own journal
    return Journal(cache, alone=False) if cache is not None else Journal(folder.journal_path, alone=True)


@dataclass
class Evaluation:
    """Loop over the samples: workers take a sample, measure it and store the records.

    Attributes:
        metrics: the metrics.
        calls: the models.
        folder: stores the records and knows the scores that an earlier call finished.
        journal: forgets useless replies to failed scores, so that these calls are made again.
        on_error: as for `evaluate`.
        progress: called after each sample.
        waits: the run waits for the replies to a wave. Failed scores are not measured again, and replies are
            not forgotten: a waiting score may need the same reply.
        add: keep the samples of earlier calls, too.
    """

    metrics: Sequence[Metric[Any]]
    calls: Calls
    folder: Folder
    journal: Journal
    on_error: OnError = "record"
    progress: Report | None = None
    waits: bool = False
    add: bool = False

    def __post_init__(self) -> None:
        self._samples = self._kept = self._rejected = self._failed = 0
        self._taking = asyncio.Lock()
        # ids are unique in what is read, so a run that begins need not look for earlier scores
        self._begins = self.folder.index.is_empty

    async def run(self, rows: AsyncIterator[Sample | BadRow], *, concurrency: int) -> None:
        """Measure all samples; as many are open as calls may be in flight, so calls never wait."""
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
        again = "" if self.folder.path is None else "; then the same command resumes the run"
        return f"the run stopped because every call is refused: {error}. Fix that first{again}"

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
        """Samples with missing scores, each with the metrics to measure."""
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
        """Metrics that a sample still lacks for this content; from now on this content counts."""
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
        records = [record for record in measured if may_replace(earlier.get(record.signature), record)]
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
        """Remove useless replies to failed scores from the journal, so that these calls are made again."""
        if useless := [address for record in failed for address in useless_calls(record, self.metrics)]:
            self.journal.forget(useless)

    def _reject(self, row: BadRow) -> None:
        if self.on_error == "raise":
            raise SampleError(str(row))
        self.folder.reject(row)
        self._rejected += 1
