"""Preparation of an evaluation: its arguments, checked before the first call."""

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from ragmetrics_core.boundary.redaction import Redact, redacted
from ragmetrics_core.drivers import Models
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import RECOMMENDED, Metric, resolve
from ragmetrics_core.metrics.catalogue import asks_standalone, models_needed, of_part, reworded
from ragmetrics_core.models import (
    PromptChecker,
    as_embedder,
    as_judge,
    as_scorer,
    holds_secret,
    missing_model,
)
from ragmetrics_core.models.redactor import Redactor
from ragmetrics_core.package.version import VERSION
from ragmetrics_core.parsers import READER
from ragmetrics_core.prompts import STANDALONE, PromptText, library_names, read_folder
from ragmetrics_core.protocol import Embedder, Judge, Scorer, TextFunction
from ragmetrics_core.runs._loading import AsyncSource, BadRow, aread_samples, read_samples, traces_in
from ragmetrics_core.runs._manifest import Manifest, MetricEntry, manifest_in
from ragmetrics_core.samples import Sample
from ragmetrics_core.samples.columns import ColumnNames
from ragmetrics_core.traces import Traces

__all__ = [
    "PREPARATION_DEFAULTS",
    "AnyJudge",
    "Metrics",
    "Preparation",
    "PreparationArgs",
    "Prompts",
    "prepare",
    "prompt_names",
    "with_prompts",
]

T = TypeVar("T")
Metrics = str | Metric[Any] | Iterable[str | Metric[Any]]
AnyJudge = Judge | TextFunction | str
Prompts = str | Path | Mapping[str, PromptText]


class ReadingArgs(TypedDict):
    """Arguments of `read_samples`."""

    redact: Redact | None
    columns: ColumnNames | None


class PreparationArgs(TypedDict, total=False):
    """Arguments shared by `evaluate`, `plan` and `export_wave`; see `evaluate`."""

    metrics: Metrics | None
    judge: AnyJudge | None
    panel: Sequence[AnyJudge]
    embedder: Embedder | str | None
    scorer: Scorer | str | None
    repeats: int
    full_repeats: int
    prompts: Prompts | None
    keep_vectors: bool
    redact: Redact | None
    strict_shown: bool
    limit: int | None
    columns: ColumnNames | None


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """Rows, metrics and models of an evaluation.

    Attributes:
        rows: samples and invalid rows, one at a time; redacted if asked.
        metrics: the metrics.
        models: the models.
        manifest: the run's manifest.
    """

    rows: AsyncIterator[Sample | BadRow]
    metrics: tuple[Metric[Any], ...]
    models: Models
    manifest: Manifest


async def prepare(
    samples: AsyncSource,
    *,
    metrics: Metrics | None = None,
    judge: AnyJudge | None = None,
    panel: Sequence[AnyJudge] = (),
    embedder: Embedder | str | None = None,
    scorer: Scorer | str | None = None,
    prompts: Prompts | None = None,
    repeats: int = 1,
    full_repeats: int = 1,
    keep_vectors: bool = False,
    redact: Redact | None = None,
    strict_shown: bool = False,
    limit: int | None = None,
    columns: ColumnNames | None = None,
    out: str | Path | None = None,
    asked: bool = True,
) -> Preparation:
    """Prepare and check an evaluation; takes the arguments of `evaluate`.

    `out` is the run's folder. With `asked=False` no model will be called, so models given by name need no
    key, package or file.


    Raises:
        ConfigError: an argument is wrong.
        SampleError: the source cannot be read.
    """
    for name, count in (("repeats", repeats), ("full_repeats", full_repeats), ("limit", limit)):
        if count is not None and count < 1:
            raise ConfigError(f"{name} must be at least 1{', or None' * (name == 'limit')}, not {count}")
    if judge is not None and panel:
        raise ConfigError("judge and panel cannot be combined: pass one of the two")
    notes: list[str] = []
    reading: ReadingArgs = {"redact": redact, "columns": columns}
    chosen = resolve(metrics) if metrics is not None else _recommended(samples, limit, out, notes, reading)
    rows = aread_samples(samples, **reading)
    if strict_shown:
        rows = _strict(rows)
    if prompts is not None:
        texts = _texts_of(prompts)
        chosen = with_prompts(chosen, texts)
        if unused := _unused(chosen, texts):
            notes.append(f"prompts that no metric of this run uses: {', '.join(unused)}")
    given = [panel] if isinstance(panel, str) else panel or ([judge] if judge is not None else [])
    judges = _different(tuple(as_judge(each, asked=asked) for each in given))
    models = Models(
        judges=judges,
        embedder=as_embedder(embedder, asked=asked) if embedder is not None else None,
        scorer=as_scorer(scorer, asked=asked) if scorer is not None else None,
        repeats=repeats,
        keep_vectors=keep_vectors,
    )
    _check_models(chosen, models)
    _check_identities(models)
    chosen = tuple(
        replace(metric, repetition=number) if number > 1 else metric
        for metric in chosen
        for number in range(1, full_repeats + 1)
    )
    return Preparation(
        rows=rows if limit is None else _limited(rows, limit),
        metrics=chosen,
        models=models,
        manifest=Manifest(
            metrics=tuple(map(MetricEntry.of, chosen)),
            judge=models.judge_identity,
            embedder=models.identities["embedder"],
            scorer=models.identities["scorer"],
            repeats=models.repeats,
            redacted=redact is not None,
            versions={"ragmetrics": VERSION, "reader": READER},
            notes=tuple(notes),
            source=_source(samples, redact),
        ),
    )


PREPARATION_DEFAULTS: Mapping[str, Any] = {
    name: signature(prepare).parameters[name].default for name in PreparationArgs.__annotations__
}
"""Defaults of these arguments."""


def prompt_names(metric: Metric[Any]) -> frozenset[str]:
    """Names of the prompts of a metric and its parts."""
    return metric.prompt_names.union(*(prompt_names(of_part(each)) for each in metric.parts_used))


def _different(judges: tuple[Judge, ...]) -> tuple[Judge, ...]:
    """The judges, checked to be different: replies of two with one identity could not be kept apart."""
    names = [judge.identity for judge in judges]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(
            f"the panel has two judges {twice!r}: for several draws of one judge pass repeats=..., "
            "and give different functions a name: as_judge(function, identity=...)"
        )
    return judges


def _recommended(
    samples: AsyncSource,
    limit: int | None,
    out: str | Path | None,
    notes: list[str],
    reading: ReadingArgs,
) -> tuple[Metric[Any], ...]:
    """The recommended metrics that can be measured on some row.

    Both are used if rows can be read only once, or if the run measures both already.
    """
    both = resolve("recommended")
    if isinstance(samples, Iterator | AsyncIterable) or _measures(out, both):
        return both
    if traces_in(samples) is None:  # which have no references
        is_empty = True
        with closing(read_samples(samples, **reading)) as rows:
            for row in islice(rows, limit):
                if isinstance(row, Sample):
                    is_empty = False
                    if row.reference is not None:
                        return both
        if is_empty:
            return both
    notes.append("no sample has a reference: faithfulness is measured, and factual_correctness is not")
    return resolve(RECOMMENDED[0])


def _measures(out: str | Path | None, metrics: Iterable[Metric[Any]]) -> bool:
    """Whether a folder holds a run of exactly these metrics."""
    if out is None or not Path(out, "manifest.json").is_file():
        return False
    measured = {entry.signature for entry in manifest_in(Path(out)).metrics}
    return measured == {metric.signature for metric in metrics}


def with_prompts(metrics: tuple[Metric[Any], ...], prompts: Prompts) -> tuple[Metric[Any], ...]:
    """The metrics with the prompts of a folder, or with these texts, instead of the prompts of the same name.

    A prompt of the library that these metrics do not use is left out, so that one folder serves several runs.

    Raises:
        PromptError: the folder cannot be read, or a text has other variables.
        ConfigError: there is no prompt of that name, or these metrics use none of the prompts.
    """
    texts = _texts_of(prompts)
    unused = _unused(metrics, texts)
    wrong = [key for key in unused if key.partition(".")[0] not in library_names()]
    if wrong or (unused and len(unused) == len(texts)):
        raise ConfigError(
            f"no metric of this run uses the prompt {(wrong or unused)[0]!r}; "
            f"they use {', '.join(sorted(_prompts_used(metrics)))}"
        )
    return tuple(reworded(metric, texts) for metric in metrics)


def _texts_of(prompts: Prompts) -> Mapping[str, PromptText]:
    return read_folder(prompts) if isinstance(prompts, str | Path) else prompts


def _unused(metrics: tuple[Metric[Any], ...], texts: Mapping[str, PromptText]) -> list[str]:
    """The keys of the texts whose prompts these metrics do not use."""
    names = _prompts_used(metrics)
    return sorted(key for key in texts if key.partition(".")[0] not in names)


def _prompts_used(metrics: tuple[Metric[Any], ...]) -> set[str]:
    names = {name for metric in metrics for name in prompt_names(metric)}
    return names | {STANDALONE.name} if any(map(asks_standalone, metrics)) else names


def _check_models(metrics: tuple[Metric[Any], ...], models: Models) -> None:
    """Check for missing models and packages before the first call."""
    for metric in metrics:
        for module, extra in metric.packages:
            if find_spec(module) is None:
                raise ConfigError(
                    f"{metric.name} needs the package {module}: pip install 'ragmetrics-core[{extra}]'"
                )
        for name in sorted(models_needed(metric)):
            if getattr(models, name) is None:
                raise missing_model(name, metric.name, f"{name}=...")
        for judge in models.judges:
            if isinstance(judge, PromptChecker) and "judge" in models_needed(metric):
                judge.check_prompts(prompt_names(metric))


def _check_identities(models: Models) -> None:
    """Raise `ConfigError` if a model's identity, which every record stores, holds its key."""
    for kind, model in (
        *(("judge", judge) for judge in models.judges),
        ("embedder", models.embedder),
        ("scorer", models.scorer),
    ):
        if model is not None and holds_secret(model.identity, Redactor(model).secrets):
            raise ConfigError(
                f"the identity of the {kind} holds a key or a password, and identities are stored: "
                "give it an identity without it"
            )


async def _strict(rows: AsyncGenerator[Sample | BadRow]) -> AsyncGenerator[Sample | BadRow]:
    async with aclosing(rows):
        async for row in rows:
            yield row.strict() if isinstance(row, Sample) else row


def _source(samples: AsyncSource, redact: Redact | None) -> str | None:
    """Path of the file of samples, or those of traces; None for other sources."""
    if not isinstance(samples, str | Path | Traces):
        return None
    return str(samples) if redact is None else redacted(redact, str(samples))


async def _limited(rows: AsyncGenerator[T], limit: int) -> AsyncGenerator[T]:
    async with aclosing(rows):
        for _ in range(limit):
            if (row := await anext(rows, None)) is None:
                return
            yield row
