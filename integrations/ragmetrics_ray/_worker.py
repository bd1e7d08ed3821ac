"""The actor: one event loop and one client of each model for all its blocks."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
import ray

from ragmetrics_core import Metric, Run, Sample, aevaluate, as_judge
from ragmetrics_core.errors import ConfigError, RagMetricsError
from ragmetrics_core.models import Line, Traffic, as_embedder, as_scorer, keyless
from ragmetrics_core.runs import BadRow, Manifest, read_samples
from ragmetrics_ray._parts import Finished, Parts
from ragmetrics_ray._rows import key_of, read, rejected_row, row_digest, sample_key, score_row, table_of

__all__ = ["Actor", "WorkerPlan"]

# What the driver hears of a block whose rows go to a folder.
DONE = pa.schema(
    [
        ("part", pa.string()),
        ("rows", pa.int64()),
        ("given", pa.list_(pa.uint64())),
        ("error", pa.string()),
        ("message", pa.string()),
    ]
)

# What makes a model of a factory's result, or of a name.
_MAKERS: Mapping[str, Callable[[Any], Any]] = {
    "judge": as_judge,
    "embedder": as_embedder,
    "scorer": as_scorer,
}

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class WorkerPlan:
    """Settings of all actors; see `evaluate_dataset`.

    Attributes:
        metrics: the metrics with their prompts.
        models: factories of judge, embedder and scorer.
        parts: folder for finished blocks; None to return the rows themselves.
        attempt: name of this evaluation, to distinguish its files from earlier ones.
        earlier: manifest of the results in the folder, if there are any.
        finished: finished samples in the folder, in the object store, so that each machine keeps one copy.
    """

    metrics: tuple[Metric[Any], ...]
    models: Mapping[str, Callable[[], Any] | str | None]
    parts: Parts | None = None
    attempt: str = ""
    earlier: Manifest | None = None
    finished: "ray.ObjectRef[Finished] | None" = None
    cache: str | None = None
    traffic: Traffic = field(default_factory=Traffic)
    repeats: int = 1
    keep_vectors: bool = False
    redact: Callable[[str], str] | None = None
    columns: Mapping[str, str] | None = None


class _Block(NamedTuple):
    """A sorted block: samples by missing metrics, rejected rows, and all keys."""

    digest: str
    lacking: dict[tuple[str, ...], list[Sample]]
    rejected: list[dict[str, Any]]
    given: list[int]


class Actor:
    """Evaluates one block after another; Ray makes one object in each actor process.

    Several threads may pass blocks. The next block starts when the one before has fewer samples left than may
    be measured at once, so that the models stay busy and only a few blocks are open.
    """

    def __init__(self, plan: WorkerPlan) -> None:
        self._plan = plan
        self._finished = ray.get(plan.finished) if plan.finished is not None else Finished()
        # One line to each model, which all blocks of this actor share.
        self._models: dict[str, Line] = {}
        self._manifest = Manifest(metrics=())
        # An actor that fails while it is made is an error of Ray's: the mistake is told at the first block.
        self._problem: RagMetricsError | None = None
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="ragmetrics-actor", daemon=True).start()
        self._gate = asyncio.Lock()
        try:
            for kind, given in plan.models.items():
                if given is not None:
                    self._models[kind] = Line(_MAKERS[kind](_made(kind, given)), plan.traffic)
            self._manifest = self._on_loop(self._checked())
        except RagMetricsError as error:
            self._problem = error

    def __call__(self, block: pa.Table) -> pa.Table:
        """Rows of a block's scores or, if they go to a folder, one row with their counts.

        Reading and writing happen in Ray's thread, so that the loop only makes calls.


        Raises:
            RagMetricsError: the block failed, and its rows do not go to a folder.
        """
        parts = self._plan.parts
        done: dict[str, Any] = dict.fromkeys(DONE.names) | {"rows": 0, "given": []}
        try:
            if self._problem is not None:
                raise self._problem
            sorted_block = self._sorted(read(block))
            done["part"] = f"part-{self._plan.attempt}-{sorted_block.digest}.parquet"
            done["given"] = sorted_block.given
            if parts is None:
                return self._measured(sorted_block)[0]
            # A block that was written and whose end Ray did not hear of is not measured again.
            if (sorted_block.lacking or sorted_block.rejected) and not parts.has(done["part"]):
                rows, tally = self._measured(sorted_block)
                parts.write(done["part"], rows, self._manifest.model_copy(update={"tally": tally}))
                done["rows"] = rows.num_rows
        except RagMetricsError as error:
            if parts is None:
                raise
            # Ray would hand on the traceback and not the error; `evaluate_dataset` raises it again.
            done |= {"error": type(error).__name__, "message": str(error)}
        return pa.Table.from_pylist([done], schema=DONE)

    async def _checked(self) -> Manifest:
        """Manifest of the results, checked against those in the folder.

        Raises:
            ConfigError: they differ, or a metric or model cannot be used.
        """
        run = await self._evaluated([], self._plan.metrics)
        manifest = run.manifest.model_copy(update={"finished": False, "contents": None})
        if self._plan.parts and self._plan.earlier:
            self._plan.parts.check(self._plan.earlier, manifest)
        return manifest

    def _sorted(self, rows: Sequence[Mapping[str, Any]]) -> _Block:
        """Separate samples from invalid rows, and leave out finished ones."""
        digest = sha256("".join(map(row_digest, rows)).encode("ascii")).hexdigest()[:32]
        block = _Block(digest, {}, [], [])
        samples = read_samples(rows, redact=self._plan.redact, columns=self._plan.columns)
        for row, sample in zip(rows, samples, strict=True):
            if isinstance(sample, BadRow):
                unreadable = set(row) == {"unreadable"} and self._plan.redact is None
                self._reject(block, row, row["unreadable"] if unreadable else sample.message)
                continue
            key = sample_key(sample.id, sample.digest)
            block.given.append(key)
            if not self._finished.has(key):
                has = self._finished.some.get(key, frozenset())
                wanted = tuple(each.signature for each in self._plan.metrics if each.signature not in has)
                block.lacking.setdefault(wanted, []).append(sample)
        return block

    def _reject(self, block: _Block, row: Mapping[str, Any], message: str) -> None:
        key = key_of("rejected", row_digest(row))
        block.given.append(key)
        if not self._finished.has(key):
            block.rejected.append(rejected_row(row, message, private=self._plan.redact is not None))

    def _measured(self, block: _Block) -> tuple[pa.Table, dict[str, int]]:
        """Rows of a block, and the tally of its calls."""
        rows: list[dict[str, Any]] = []
        tally: dict[str, int] = {}
        runs = self._on_loop(self._runs(block)) if block.lacking else []
        for run, (wanted, samples) in zip(runs, block.lacking.items(), strict=True):
            rows += (score_row(run.score(sample.id, name)) for sample in samples for name in wanted)
            tally = {name: tally.get(name, 0) + number for name, number in run.tally.items()}
        return table_of(rows + block.rejected), tally

    async def _runs(self, block: _Block) -> list[Run]:
        """Measure the missing scores of a block; samples that lack the same metrics go together.

        The next block starts when fewer samples are left than could be measured at once.
        """
        left = sum(map(len, block.lacking.values()))

        def finished(samples: int) -> None:
            nonlocal left
            left -= samples
            if left < self._plan.traffic.concurrency:
                turn.close()

        await self._gate.acquire()
        with ExitStack() as turn:
            turn.callback(self._gate.release)
            finished(0)
            return [
                await self._evaluated(
                    samples,
                    [metric for metric in self._plan.metrics if metric.signature in wanted],
                    progress=lambda _: finished(1),
                    cache=self._cache(block.digest),
                )
                for wanted, samples in block.lacking.items()
            ]

    async def _evaluated(self, samples: Sequence[Sample], metrics: Sequence[Metric[Any]], **how: Any) -> Run:
        plan = self._plan
        models: dict[str, Any] = {**self._models}
        return await aevaluate(
            samples,
            metrics=metrics,
            **models,
            traffic=plan.traffic,
            repeats=plan.repeats,
            keep_vectors=plan.keep_vectors,
            redact=plan.redact,
            **how,
        )

    def _cache(self, block: str) -> Path | None:
        """Journal of a block's answered calls."""
        if not self._plan.cache:
            return None
        folder = Path(self._plan.cache)
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{block}.sqlite"

    def _on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _made(kind: str, given: Callable[[], Any] | str) -> Any:
    """Make a model with its factory, or return its name.

    An error of a factory would end the actor, which Ray would restart repeatedly, and its text would be in
    Ray's logs.


    Raises:
        ConfigError: the factory raised an error; visible keys are removed from its message.
    """
    if isinstance(given, str):
        return given
    try:
        return given()
    except RagMetricsError:
        raise
    except Exception as error:  # the boundary to the user's code, which may raise anything
        problem = f"the {kind} could not be made in an actor: {type(error).__name__}: {keyless(error, given)}"
    # outside the handler: the error must not carry the one that may hold the key
    raise ConfigError(problem)
