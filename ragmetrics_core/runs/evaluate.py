"""Evaluating samples: `evaluate` for everybody, `aevaluate` for asynchronous callers."""

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from ragmetrics_core.drivers import Calls, Models, Tally, measure_sample
from ragmetrics_core.errors import ConfigError, RunStopped, SampleError
from ragmetrics_core.metrics import RECOMMENDED, Metric, resolve
from ragmetrics_core.metrics.catalogue import of_part
from ragmetrics_core.models import PromptChecker, as_embedder, as_judge
from ragmetrics_core.prompts import Prompt, PromptText, read_folder
from ragmetrics_core.protocol import Embedder, Judge, Scorer
from ragmetrics_core.record import Record
from ragmetrics_core.runs.folder import Folder, Manifest, MetricEntry
from ragmetrics_core.runs.loading import AsyncSource, BadRow, aread_samples
from ragmetrics_core.runs.run import Run
from ragmetrics_core.sample import Sample

__all__ = ["Progress", "aevaluate", "evaluate"]

T = TypeVar("T")
Metrics = str | Metric[Any] | Iterable[str | Metric[Any]]
FAILED = frozenset({"parse_error", "model_error", "timeout"})


class Progress(NamedTuple):
    """How far a run is: samples done, scores that failed, and what the models were asked."""

    samples: int
    rejected: int
    failed: int
    tally: Tally


def evaluate(
    samples: AsyncSource,
    *,
    metrics: Metrics | None = None,
    judge: Judge | Callable[[str], Any] | str | None = None,
    embedder: Embedder | str | None = None,
    scorer: Scorer | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    concurrency: int = 16,
    timeout: float | None = 120.0,
    on_error: Literal["record", "raise"] = "record",
    prompts: str | Path | Mapping[str, PromptText] | None = None,
    keep_vectors: bool = False,
    redact: Callable[[str], str] | None = None,
    limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Measure metrics on samples.

    It works in a script, in a thread and inside a running event loop: the run has a loop of its own.

    Args:
        samples: samples, mappings with any ecosystem's column names, an iterable or asynchronous iterable
            of them (streamed), a data frame, or the path of a JSONL, JSON or CSV file.
        metrics: names or objects; by default the recommended pair, faithfulness and factual correctness
            (only the first where the samples have no reference; the run's notes say so).
        judge: the model that judges; any callable from prompt to reply, or a name such as "embedded".
        embedder: the model that makes vectors, or a name such as "embedded".
        scorer: the model that rates pairs, for metrics that need one.
        out: the run's folder; without one the run is kept in memory.
        overwrite: replace a run that the folder holds.
        concurrency: how many model calls may be in flight.
        timeout: seconds for one call, not counting the time that it waits for its turn; None for no limit.
        on_error: "record" makes a failure the score's status; "raise" stops the run at the first one.
        prompts: a folder of prompt files that replace those of the same name.
        keep_vectors: put the vectors into the records.
        redact: applied to every text of a sample when it is read: neither a model nor a file sees what it
            takes out, and the records prove the scores of the redacted sample.
        limit: read only so many rows.
        progress: called after each sample.

    Raises:
        ConfigError: a mistake in the arguments, before any call.
        SampleError: the source cannot be read at all.
        RunStopped: a sample failed and `on_error` is "raise".
    """
    return _on_own_loop(
        aevaluate(
            samples,
            metrics=metrics,
            judge=judge,
            embedder=embedder,
            scorer=scorer,
            out=out,
            overwrite=overwrite,
            concurrency=concurrency,
            timeout=timeout,
            on_error=on_error,
            prompts=prompts,
            keep_vectors=keep_vectors,
            redact=redact,
            limit=limit,
            progress=progress,
        )
    )


async def aevaluate(
    samples: AsyncSource,
    *,
    metrics: Metrics | None = None,
    judge: Judge | Callable[[str], Any] | str | None = None,
    embedder: Embedder | str | None = None,
    scorer: Scorer | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    concurrency: int = 16,
    timeout: float | None = 120.0,
    on_error: Literal["record", "raise"] = "record",
    prompts: str | Path | Mapping[str, PromptText] | None = None,
    keep_vectors: bool = False,
    redact: Callable[[str], str] | None = None,
    limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Measure metrics on samples; the asynchronous form of `evaluate`, with the same arguments."""
    if concurrency < 1:
        raise ConfigError(f"concurrency must be at least 1, not {concurrency}")
    if limit is not None and limit < 1:
        raise ConfigError(f"limit must be at least 1, or None, not {limit}")
    if timeout is not None and timeout <= 0:
        raise ConfigError(f"timeout must be above 0 seconds, or None, not {timeout:g}")
    rows = aread_samples(samples)
    first = await anext(rows, None)
    notes: list[str] = []
    chosen = _recommended(first, notes) if metrics is None else resolve(metrics)
    if prompts is not None:
        texts = read_folder(prompts) if isinstance(prompts, str | Path) else prompts
        chosen = _with_prompts(chosen, texts)
    models = Models(
        judge=as_judge(judge) if judge is not None else None,
        embedder=as_embedder(embedder) if embedder is not None else None,
        scorer=scorer,
        concurrency=concurrency,
        timeout=timeout,
        keep_vectors=keep_vectors,
    )
    _check_models(chosen, models)
    folder = Folder.create(out, _manifest(chosen, models, notes), overwrite=overwrite)
    evaluation = _Evaluation(
        chosen, Calls(models), folder, on_error=on_error, redact=redact, progress=progress
    )
    await evaluation.run(_from(first, rows, limit=limit))
    return Run(folder, metrics={metric.signature: metric for metric in chosen})


class _Evaluation:
    """The loop over the samples: workers that take a sample, measure it and write it down."""

    def __init__(
        self,
        metrics: tuple[Metric[Any], ...],
        calls: Calls,
        folder: Folder,
        *,
        on_error: Literal["record", "raise"],
        redact: Callable[[str], str] | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._metrics = metrics
        self._calls = calls
        self._folder = folder
        self._stop_at_errors = on_error == "raise"
        self._redact = redact
        self._progress = progress
        self._samples = self._rejected = self._failed = 0
        self._taking = asyncio.Lock()

    async def run(self, rows: AsyncIterator[Sample | BadRow]) -> None:
        """Measure all samples, as many at a time as calls may be in flight: no call waits for a sample."""
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(self._calls.models.concurrency):
                    workers.create_task(self._work(rows))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            self._folder.close()
        manifest = self._folder.manifest
        self._folder.save_manifest(
            manifest.model_copy(update={"finished": True, "tally": asdict(self._calls.tally)})
        )

    async def _work(self, rows: AsyncIterator[Sample | BadRow]) -> None:
        while True:
            async with self._taking:
                row = await anext(rows, None)
            if row is None:
                return
            if isinstance(row, BadRow):
                self._reject(row)
            else:
                await self._measure(row)
            if self._progress:
                self._progress(Progress(self._samples, self._rejected, self._failed, self._calls.tally))

    async def _measure(self, sample: Sample) -> None:
        if self._redact:
            sample = sample.redacted(self._redact)
        asked: dict[str, Prompt[Any]] = {}
        records = await measure_sample(sample, self._metrics, self._calls, prompts=asked)
        self._folder.write(sample, records, asked)
        self._samples += 1
        failed = [record for record in records if record.status in FAILED]
        self._failed += len(failed)
        if failed and self._stop_at_errors:
            raise RunStopped(_sentence(failed[0]))

    def _reject(self, row: BadRow) -> None:
        if self._stop_at_errors:
            raise SampleError(str(row))
        self._folder.reject(row)
        self._rejected += 1


def _recommended(first: Sample | BadRow | None, notes: list[str]) -> tuple[Metric[Any], ...]:
    if isinstance(first, Sample) and first.reference is None:
        notes.append(
            "the samples have no reference, so only faithfulness is measured, without factual_correctness"
        )
        return resolve(RECOMMENDED[0])
    return resolve("recommended")


def _with_prompts(
    metrics: tuple[Metric[Any], ...], texts: Mapping[str, PromptText]
) -> tuple[Metric[Any], ...]:
    asked = {name for metric in metrics for name in _prompt_names(metric)}
    unused = sorted(set(texts) - asked)
    if unused:
        raise ConfigError(
            f"no metric of this run asks the prompt {unused[0]!r}; they ask {', '.join(sorted(asked))}"
        )
    return tuple(metric.with_prompts(texts) for metric in metrics)


def _check_models(metrics: tuple[Metric[Any], ...], models: Models) -> None:
    """Say what is missing before anything is asked."""
    for metric in metrics:
        for name in sorted(_needs(metric)):
            if getattr(models, name) is None:
                raise ConfigError(
                    f"{metric.name} needs {'an' if name == 'embedder' else 'a'} {name}: pass {name}=..."
                )
        if isinstance(models.judge, PromptChecker) and "judge" in _needs(metric):
            models.judge.check_prompts(_prompt_names(metric))


def _needs(metric: Metric[Any]) -> frozenset[str]:
    """The models that a metric with these settings uses: those of its parts, or its own."""
    parts = list(metric.parts_used)
    return frozenset().union(*(_needs(of_part(each)) for each in parts)) if parts else metric.needs


def _prompt_names(metric: Metric[Any]) -> frozenset[str]:
    """The prompts that a metric asks, with those of its parts."""
    return metric.prompt_names.union(*(_prompt_names(of_part(each)) for each in metric.parts_used))


def _manifest(metrics: tuple[Metric[Any], ...], models: Models, notes: list[str]) -> Manifest:
    entries = (
        MetricEntry(signature=metric.signature, name=metric.name, low=metric.low, high=metric.high)
        for metric in metrics
    )
    return Manifest(
        metrics=tuple(entries),
        judge=models.judge.identity if models.judge else None,
        embedder=models.embedder.identity if models.embedder else None,
        scorer=models.scorer.identity if models.scorer else None,
        versions={"ragmetrics": version("ragmetrics")},
        notes=tuple(notes),
    )


def _sentence(record: Record) -> str:
    return f"{record.signature} of sample {record.sample_id}: {record.status} ({record.reason})"


async def _from(first: T | None, rest: AsyncIterator[T], *, limit: int | None) -> AsyncIterator[T]:
    """The rows, with the one that was looked at already put back in front."""
    if first is None:
        return
    yield first
    left = limit - 1 if limit is not None else -1
    while left and (row := await anext(rest, None)) is not None:
        yield row
        left -= 1


def _on_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a loop of its own, in a thread of its own; Ctrl-C cancels it."""
    result: Future[T] = Future()
    started = threading.Event()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def main() -> T:
        task = asyncio.current_task()
        assert task is not None
        running.append((asyncio.get_running_loop(), task))
        started.set()
        return await work

    def run() -> None:
        try:
            result.set_result(asyncio.run(main()))
        except BaseException as error:  # everything is the caller's: it is raised again by `result()` below
            result.set_exception(error)

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), name="ragmetrics-evaluate")
    thread.start()
    try:
        return result.result()
    except KeyboardInterrupt:
        started.wait()
        loop, task = running[0]
        with suppress(RuntimeError):  # the loop may have ended by itself just now
            loop.call_soon_threadsafe(task.cancel)
        raise
    finally:
        thread.join()
