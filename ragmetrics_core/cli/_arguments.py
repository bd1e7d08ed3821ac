"""Arguments and options that commands share: runs, samples, data, metrics and models."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ragmetrics_core.cli._own import OWN_METRIC, own_metric, redact_of
from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import RECOMMENDED, Metric, get, resolve
from ragmetrics_core.metrics.catalogue import models_needed, split_names
from ragmetrics_core.models import TrafficArgs, as_embedder, as_scorer, missing_model
from ragmetrics_core.models.judges import judges_by_name
from ragmetrics_core.models.names import TIMEOUT, read_options
from ragmetrics_core.probe import chosen_by_cards
from ragmetrics_core.questions import read_corpus
from ragmetrics_core.runs import Source
from ragmetrics_core.traces import Traces

__all__ = [
    "AsJson",
    "Data",
    "Evaluating",
    "Judging",
    "MetricName",
    "OwnMetrics",
    "Positive",
    "RunFolder",
    "SampleId",
    "metrics_named",
    "traffic_of",
]

RunFolder = Annotated[Path, typer.Argument(help="Folder of the run.")]
SampleId = Annotated[str, typer.Argument(help="Id of a sample.")]
MetricName = Annotated[str, typer.Argument(help="Name or signature of a metric.")]
Data = Annotated[
    Path,
    typer.Argument(
        help="A .jsonl, .json, .csv, .tsv, .xlsx or .parquet file; text also gzipped (.gz); or traces."
    ),
]
OwnMetrics = Annotated[
    str | None, typer.Option(help="Custom metrics of the run: MODULE:NAME, separated by commas.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Positive = Annotated[int, typer.Option(min=1)]
Settings = dict[str, Any]
Named = Sequence[str | Metric[Any]]


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Metrics to measure and the models that measure them.

    Attributes:
        metrics: Metrics, separated by commas, such as faithfulness,ndcg@10 or context_recall/ragas-0.4;
            MODULE:NAME for a custom metric. Default: the two recommended metrics.
        redact: Replace matches of this regular expression by [redacted] before a model or a file gets the
            text; or apply MODULE:FUNCTION, which takes and returns a text. Can be repeated.
        judge: The judge: embedded, embedded:FILE.json, openai:MODEL, openai:MODEL@URL,
            entailment:MODEL, grounded:MODEL, decisions:MODEL, calibrated:CARD.json,JUDGE,
            cascade:CHEAP,EXPENSIVE, or a judge of an installed package. Can be repeated: the majority of the
            panel decides.
        judge_option: Setting of the judge: temperature, seed, max_tokens, response_format, logprobs=true
            (probabilities of verdicts) or timeout; NAME=none does not send it. Can be repeated.
        embedder: The embedder: embedded, openai:MODEL or openai:MODEL@URL.
        scorer: The scoring model: cross-encoder:MODEL or token-match:MODEL, where MODEL is a folder or a name
            on the hub.
    """

    metrics: str | None = None
    redact: Annotated[list[str] | None, typer.Option(metavar="PATTERN")] = None
    judge: list[str] | None = None
    judge_option: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None
    embedder: str | None = None
    scorer: str | None = None

    def keywords(self, *, asked: bool = True) -> Settings:
        """Keywords for `evaluate` and its relatives; without `metrics`, they use the recommended ones.

        With `asked=False` no model will be called, so none needs its key, package or file.

        Raises:
            ConfigError: unknown metric or judge option, or a metric lacks a model.
        """
        return self._made(_named(self.metrics, None), asked=asked)

    def _made(self, named: Named | None, *, asked: bool) -> Settings:
        metrics = None if named is None else resolve(named)
        for metric in metrics or resolve("recommended"):
            for kind in sorted(models_needed(metric)):
                if not getattr(self, kind):
                    raise missing_model(kind, metric.name, f"--{kind} NAME")
        options = read_options(self.judge_option or ())
        return {
            "metrics": metrics,
            "panel": judges_by_name(self.judge or (), options=options, asked=asked),
            "embedder": as_embedder(self.embedder, asked=asked) if self.embedder else None,
            "scorer": as_scorer(self.scorer, asked=asked) if self.scorer else None,
            "redact": redact_of(self.redact),
        }


@dataclass(frozen=True, kw_only=True)
class Evaluating(Judging):
    """Settings for measuring samples.

    Attributes:
        variant: Variant of all metrics named without one: strict, paper or ragas-0.4.
        prompts: Folder of prompt files that replace those of the same name.
        cards: Cards of `ragmetrics probe --on`: metrics named without settings use those with which this
            judge ranks significantly better.
        repeats: Ask for each verdict N times; the majority decides.
        full_repeats: Measure each metric N times from the start.
        limit: Measure only the first N rows.
        columns: Map a column to a field: answer="Bot Answer". Can be repeated.
        cache: Cache of answered calls to share between runs. Default: the run's own.
        format: Format of traces: otlp, phoenix, langfuse, langsmith or mlflow. Default: found in the first
            lines of the file.
        documents: Folder or file of the documents, for traces that record only their ids.
        system_message: Use the model's system message as the context of a trace in which no contexts are
            found. It also contains the instructions.
    """

    variant: str | None = None
    prompts: Path | None = None
    cards: Annotated[Path | None, typer.Option(metavar="CARDS")] = None
    repeats: Positive = 1
    full_repeats: Positive = 1
    limit: Annotated[int | None, typer.Option(min=1)] = None
    columns: Annotated[list[str] | None, typer.Option(metavar="FIELD=COLUMN")] = None
    cache: Path | None = None
    format: str | None = None
    documents: Annotated[Path | None, typer.Option(metavar="CORPUS")] = None
    system_message: bool = False

    def source(self, data: Path) -> Source:
        """The file, or the traces in it if there are options for traces.

        Raises:
            ConfigError: unknown format.
            SampleError: a file cannot be read.
        """
        if not (self.format or self.documents or self.system_message):
            return data
        corpus = read_corpus(self.documents) if self.documents else None
        texts = {id: each.text for id, each in corpus.documents.items()} if corpus else None
        return Traces(data, format=self.format, documents=texts, system_message=self.system_message)

    def keywords(self, *, asked: bool = True) -> Settings:
        """The same with repeats, limit, columns and cache, and with metric settings from the cards.

        Raises:
            ConfigError: the cards cannot choose settings.
            RecordError: a file holds no cards.
        """
        if self.cards is not None and self.prompts is not None:
            raise ConfigError(
                "--cards and --prompts cannot be combined: a card is valid for its own prompts only"
            )
        named = _named(self.metrics, self.variant)
        made = self._made(named, asked=asked)
        if self.cards is not None:
            made["metrics"] = _by_cards(made, named, self.cards)
        kept = ("prompts", "repeats", "full_repeats", "limit", "cache")
        return made | {name: getattr(self, name) for name in kept} | {"columns": _columns(self.columns)}


def _columns(given: Sequence[str] | None) -> dict[str, str] | None:
    """The columns given on the command line, by field."""
    columns: dict[str, str] = {}
    for text in given or ():
        name, equals, column = text.partition("=")
        name, column = name.strip(), column.strip()
        if not equals or not name or not column:
            raise ConfigError(f'--columns takes FIELD=COLUMN, such as answer="Bot Answer", not {text!r}')
        if columns.setdefault(name, column) != column:
            raise ConfigError(f"--columns gives {name} two columns, {columns[name]!r} and {column!r}")
    return columns or None


def _by_cards(made: Settings, named: Named | None, cards: Path) -> tuple[Metric[Any], ...]:
    """The metrics with the settings that the cards choose; which, and why, goes to standard error."""
    if named is None:
        raise ConfigError(
            "--cards chooses settings of the named metrics: add --metrics recommended, or names of metrics"
        )
    if len(made["panel"]) != 1:
        raise ConfigError("--cards needs exactly one --judge: a card describes one judge")
    found = chosen_by_cards(named, judge=made["panel"][0], cards=cards, embedder=made["embedder"])
    for remark in found.remarks:
        remarks().print(f"cards: {' '.join(remark.split())}", soft_wrap=True)
    return found.metrics


def traffic_of(settings: TrafficArgs, judge_option: Sequence[str] | None) -> Settings:
    """The settings with the timeout from the judge's options, if they have one; 0 means no limit."""
    return {
        **settings,
        "timeout": read_options(judge_option or ()).get(TIMEOUT, settings.get("timeout") or None),
    }


def metrics_named(text: str | None) -> tuple[Metric[Any], ...] | None:
    """The metrics given on the command line; None if there are none.

    Raises:
        ConfigError: a metric is unknown or named twice.
    """
    named = _named(text, None)
    return None if named is None else resolve(named)


def _named(text: str | None, variant: str | None) -> Named | None:
    """The named metrics, plain names as they are; None lets the samples decide."""
    if text is None and variant is None:
        return None
    named = split_names("recommended" if text is None else text)
    if not named:
        raise ConfigError("--metrics is empty: name a metric; ragmetrics metrics lists them")
    spread = [metric for name in named for metric in (RECOMMENDED if name == "recommended" else (name,))]
    return [name if name.isidentifier() and not variant else _metric(name, variant) for name in spread]


def _metric(name: str, variant: str | None) -> Metric[Any]:
    """A metric of the catalogue, or of the user's own module: `my_metrics:Politeness`."""
    if OWN_METRIC.fullmatch(name):
        return own_metric(name)
    return get(name) if "/" in name else get(name, variant=variant)
