"""`evaluate_dataset`: the driver's side."""

import inspect
import os
import uuid
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import ray
from numpy.typing import NDArray
from ray.data import ActorPoolStrategy, Dataset

from ragmetrics_core import Metric, errors, evaluate
from ragmetrics_core.boundary import listing_settings
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import resolve
from ragmetrics_core.models import Traffic, TrafficArgs
from ragmetrics_core.prompts import PromptText, read_folder
from ragmetrics_core.protocol import Scorer
from ragmetrics_core.runs import with_prompts
from ragmetrics_core.texts import number_of
from ragmetrics_ray._parts import Parts
from ragmetrics_ray._rows import SCHEMA
from ragmetrics_ray._worker import Actor, WorkerPlan

__all__ = ["evaluate_dataset"]

# Blocks that an actor works on at a time: one that runs dry, the next one, and one whose last call is slow.
_OPEN_BLOCKS = 3


@listing_settings(TrafficArgs, Traffic().keywords)
def evaluate_dataset(
    dataset: Dataset,
    metrics: str | Metric[Any] | Iterable[str | Metric[Any]],
    *,
    judge: Callable[[], Any] | str | None = None,
    embedder: Callable[[], Any] | str | None = None,
    scorer: Callable[[], Scorer] | None = None,
    out: str | Path | None = None,
    cache: str | Path | None = None,
    actors: int | tuple[int, int] = 2,
    traffic: Traffic | None = None,
    batch_size: int = 512,
    repeats: int = 1,
    prompts: str | Path | Mapping[str, PromptText] | None = None,
    keep_vectors: bool = False,
    redact: Callable[[str], str] | None = None,
    columns: Mapping[str, str] | None = None,
    num_cpus: float = 0.5,
    num_gpus: float | None = None,
    **settings: Unpack[TrafficArgs],
) -> Dataset:
    """Measure metrics on a Ray Dataset, in a pool of actors.

    Each actor has one event loop and one client of each model. It writes the records that `evaluate` writes
    for the same samples and replies. A result is one row for each sample and metric: `sample_id`,
    `sample_digest`, `signature`, `metric`, `status`, `value`, `reason`, `low` and `high` (the bounds, if
    verdicts are missing), `record` (the whole record as one line of JSON), `sample` and `prompts` (JSON that
    proves it). An invalid row of the dataset becomes a row with the status "rejected" and the reason.

    With `out` the evaluation runs at once. Each finished block is written there, and the same call resumes:
    finished samples are skipped and failed scores are measured again. The folder holds the results of the
    newest call: a changed sample is measured again under its id, and results of removed samples are moved to
    its subfolder `_earlier`. Without `out` the result is computed while it is read, and not stored.

    Ids must be unique in the dataset: a second sample with the same id is rejected within a block; across
    blocks only `to_run` notices it. Equal rows without an id are kept apart within a block; across blocks
    they count once, with a warning.

    Args:
        dataset: rows with any supported library's column names; see `Sample.from_mapping`.
        metrics: names or objects; "recommended" for faithfulness and factual correctness, which needs
            references.
        judge: a function without arguments that makes the judge in each actor, or a name such as "embedded".
        embedder: the same for the embedder.
        scorer: the same for the scorer.
        out: a folder for Parquet files that all machines can reach, or an address such as
            `s3://bucket/folder`. Only one evaluation may write to it at a time.
        cache: a folder on the machine's own disk for each block's answered calls, which a repeated block
            reuses.
        actors: number of actors, or minimum and maximum.
        traffic: limits on calls of each actor, such as `Traffic(concurrency=64)`. Divide the server's limits
            per minute by the number of actors.
        batch_size: number of samples in a block, the most that is lost if an actor is killed. It should be
            much larger than the number of calls in flight.
        repeats: number of draws of each verdict; the majority decides.
        prompts: a folder of prompt files, which replace the prompts of the same name.
        keep_vectors: store the vectors in the records.
        redact: function that removes private parts of texts: of samples when they are read, of replies and
            errors when they arrive; see `evaluate`. Rejected rows keep only the reason.
        columns: columns of fields, for names that are not recognized: `{"answer": "Bot Answer"}`.
        num_cpus: processors that Ray reserves for each actor; leave one for reading the dataset.
        num_gpus: the same for graphics processors.
        settings: single settings of `traffic`: `concurrency`, `timeout`, `attempts`,
            `requests_per_minute` and `tokens_per_minute`; see `TrafficArgs`.

    Raises:
        ConfigError: before any call, if an argument is wrong or `out` holds other results.
        RecordError: a file in `out` cannot be read.
    """
    traffic = (traffic or Traffic()).replacing(**settings)
    if batch_size < 1:
        raise ConfigError(f"batch_size must be at least 1, not {batch_size}")
    fewest, most = (actors, actors) if isinstance(actors, int) else actors
    if not 1 <= fewest <= most:
        raise ConfigError(f"actors must be at least 1, or (minimum, maximum), not {actors}")
    _check_room(fewest * num_cpus)
    models: dict[str, Any] = {"judge": judge, "embedder": embedder, "scorer": scorer}
    for kind, given in models.items():
        _check_factory(kind, given)
    texts = read_folder(prompts) if isinstance(prompts, str | Path) else prompts
    absent: dict[str, Any] = {kind: _AbsentModel() for kind, given in models.items() if given is not None}
    run = evaluate(
        [], metrics=metrics, **absent, prompts=texts, repeats=repeats, redact=redact, columns=columns
    )
    parts = Parts.at(out) if out is not None else None
    earlier = parts.manifest() if parts else None
    if parts and earlier:
        # the models are known to the actors alone, which compare them
        same_models = {name: getattr(earlier, name) for name in models}
        parts.check(earlier, run.manifest.model_copy(update=same_models))
    chosen = with_prompts(resolve(metrics), texts) if texts else resolve(metrics)
    plan = WorkerPlan(
        metrics=chosen,
        models=models,
        parts=parts,
        attempt=uuid.uuid4().hex[:12],
        earlier=earlier,
        finished=ray.put(parts.take_up(frozenset(each.signature for each in chosen))) if parts else None,
        cache=os.path.abspath(cache) if cache is not None else None,
        traffic=traffic,
        repeats=repeats,
        keep_vectors=keep_vectors,
        redact=redact,
        columns=columns,
    )
    results = dataset.repartition(target_num_rows_per_block=batch_size).map_batches(
        Actor,
        fn_constructor_args=(plan,),
        batch_size=None,
        batch_format="pyarrow",
        compute=ActorPoolStrategy(
            min_size=fewest,
            max_size=most,
            max_concurrent_calls_per_actor=_OPEN_BLOCKS,
            max_tasks_in_flight_per_actor=_OPEN_BLOCKS + 1,
            enable_true_multi_threading=True,
        ),
        num_cpus=num_cpus,
        num_gpus=num_gpus,
    )
    if parts is None:
        return results
    keys: list[NDArray[np.uint64]] = [np.empty(0, dtype=np.uint64)]
    for done in results.iter_rows():  # the actors do all blocks; the first that could not be done ends it
        if done["error"] is not None:
            raise getattr(errors, done["error"])(done["message"])
        keys.append(np.array(done["given"], dtype=np.uint64))
    everything = np.concatenate(keys)
    distinct = np.unique(everything)
    if again := len(everything) - len(distinct):
        told = number_of(again, "row equals a row", "rows equal rows")
        warnings.warn(f"{told} of another block and counts once: give each row an id", stacklevel=3)
    parts.keep(distinct)
    return ray.data.read_parquet(parts.out) if parts.names() else ray.data.from_arrow(SCHEMA.empty_table())


class _AbsentModel:
    """Placeholder for a model that only the actors make; it is never called."""

    identity = "made in the actors"

    async def agenerate(self, asked: object) -> Any:
        raise NotImplementedError

    aembed = arate = agenerate


def _check_room(reserved: float) -> None:
    """Refuse actors that reserve all processors, because nothing could read the dataset."""
    resources: Mapping[str, float] = ray.cluster_resources()
    there = resources.get("CPU", 0.0)
    if there - reserved < 1:
        raise ConfigError(
            f"the actors reserve {reserved:g} of the {there:g} processors, which leaves less than one for "
            "reading the dataset: take fewer actors or a smaller num_cpus, or on a cluster that grows "
            "actors=(1, MOST)"
        )


def _check_factory(kind: str, given: object) -> None:
    if given is None or (isinstance(given, str) and kind != "scorer"):
        return
    named = f"{kind}= takes a function without arguments that makes the {kind} in each actor"
    if not callable(given):
        raise ConfigError(f"{named}, not a {type(given).__name__}: pass lambda: ...")
    try:
        inspect.signature(given).bind()
    except TypeError:
        raise ConfigError(f"{named}; this one has arguments") from None
    except ValueError:  # a function of another language says nothing about its arguments
        return
