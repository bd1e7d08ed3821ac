"""What several commands take: a run, a sample, data, and what is measured by which models."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ragmetrics_core.cli._own import OWN_METRIC, own_metric, redact_of
from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import RECOMMENDED, Metric, get, resolve
from ragmetrics_core.metrics._catalogue import models_needed, split_names
from ragmetrics_core.models import TrafficArgs, as_embedder, as_scorer, missing_model
from ragmetrics_core.models._names import TIMEOUT, judges_by_name, read_options
from ragmetrics_core.probe import chosen_by_cards

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

RunFolder = Annotated[Path, typer.Argument(help="The run's folder.")]
SampleId = Annotated[str, typer.Argument(help="A sample's id.")]
MetricName = Annotated[str, typer.Argument(help="A metric's name or signature.")]
Data = Annotated[
    Path, typer.Argument(help="A .jsonl, .json, .csv, .tsv, .xlsx or .parquet file; text also as .gz.")
]
OwnMetrics = Annotated[
    str | None, typer.Option(help="Metrics of your own that the run has: MODULE:NAME, separated by commas.")
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for other programs.")]
Positive = Annotated[int, typer.Option(min=1)]
Settings = dict[str, Any]
Named = Sequence[str | Metric[Any]]


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Which metrics are measured, and by which models.

    Attributes:
        metrics: Names: faithfulness,context_recall/ragas-0.4,ndcg@10,rouge(kind=2); MODULE:NAME for one of
            your own. Without it: the recommended two.
        redact: Put [redacted] in place of what this regular expression finds, before anything is asked or
            written; or MODULE:FUNCTION, from text to text. May be given several times.
        judge: embedded, openai:MODEL, openai:MODEL@URL, entailment:MODEL,
            grounded:MODEL or cascade:CHEAP,DEAR. Several times: a panel, whose majority decides.
        judge_option: A setting of the judge: temperature, seed, max_tokens, response_format or timeout;
            NAME=none does not send it. Several times.
        embedder: embedded, openai:MODEL or openai:MODEL@URL.
        scorer: cross-encoder:MODEL or token-match:MODEL, a folder or a name on the hub.
    """

    metrics: str | None = None
    redact: Annotated[list[str] | None, typer.Option(metavar="PATTERN")] = None
    judge: list[str] | None = None
    judge_option: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None
    embedder: str | None = None
    scorer: str | None = None

    def keywords(self, *, asked: bool = True) -> Settings:
        """What the doors that measure are given of it; without `metrics` they take the recommended ones.

        With `asked=False` no model is going to be asked, and none needs its key, package or file.

        Raises:
            ConfigError: there is none of a name, no model for metrics that need one, or no such option of the
                judges.
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
    """How samples are measured.

    Attributes:
        variant: Variant of all metrics named without one: strict, paper, ragas-0.4.
        prompts: Folder of prompt files that replace those of the same name.
        cards: Cards of `ragmetrics probe --on`: a metric named without settings takes those with which this
            judge ranks better beyond doubt.
        repeats: Ask for each verdict N times; the majority decides.
        full_repeats: Measure each metric N times from the start.
        limit: Only the first N rows.
        columns: Column of a field whose name does not say so: answer="Bot Answer". Several times.
        cache: File with answered calls that runs share, in place of the run's own.
    """

    variant: str | None = None
    prompts: Path | None = None
    cards: Annotated[Path | None, typer.Option(metavar="CARDS")] = None
    repeats: Positive = 1
    full_repeats: Positive = 1
    limit: Annotated[int | None, typer.Option(min=1)] = None
    columns: Annotated[list[str] | None, typer.Option(metavar="FIELD=COLUMN")] = None
    cache: Path | None = None

    def keywords(self, *, asked: bool = True) -> Settings:
        """The same with how often, of how much, and with the settings of metrics that the cards choose.

        Raises:
            ConfigError: nothing can be chosen by the cards.
            RecordError: a file holds no cards.
        """
        if self.cards is not None and self.prompts is not None:
            raise ConfigError(
                "--cards cannot stand beside --prompts: a card speaks of the prompts it was asked"
            )
        named = _named(self.metrics, self.variant)
        made = self._made(named, asked=asked)
        if self.cards is not None:
            made["metrics"] = _by_cards(made, named, self.cards)
        kept = ("prompts", "repeats", "full_repeats", "limit", "cache")
        return made | {name: getattr(self, name) for name in kept} | {"columns": _columns(self.columns)}


def _columns(given: Sequence[str] | None) -> dict[str, str] | None:
    """The columns of fields that a command line names."""
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
            "--cards chooses settings of what --metrics names: add --metrics recommended, or names"
        )
    if len(made["panel"]) != 1:
        raise ConfigError("--cards needs one --judge: a card speaks of one")
    found = chosen_by_cards(named, judge=made["panel"][0], cards=cards, embedder=made["embedder"])
    for remark in found.remarks:
        remarks().print(f"cards: {' '.join(remark.split())}", soft_wrap=True)
    return found.metrics


def traffic_of(settings: TrafficArgs, judge_option: Sequence[str] | None) -> Settings:
    """The settings with the time for a call that the judge's options say, if they do; 0 is no limit."""
    return {
        **settings,
        "timeout": read_options(judge_option or ()).get(TIMEOUT, settings.get("timeout") or None),
    }


def metrics_named(text: str | None) -> tuple[Metric[Any], ...] | None:
    """The metrics that a command line names; None where it names none.

    Raises:
        ConfigError: there is none of a name, or one is named twice.
    """
    named = _named(text, None)
    return None if named is None else resolve(named)


def _named(text: str | None, variant: str | None) -> Named | None:
    """The metrics that were named, by name alone where that is all; None leaves it to the samples."""
    if text is None and variant is None:
        return None
    named = split_names("recommended" if text is None else text)
    if not named:
        raise ConfigError("--metrics names no metric; ragmetrics metrics lists them all")
    spread = [metric for name in named for metric in (RECOMMENDED if name == "recommended" else (name,))]
    return [name if name.isidentifier() and not variant else _metric(name, variant) for name in spread]


def _metric(name: str, variant: str | None) -> Metric[Any]:
    """A metric of the catalogue, or of the user's own module: `my_metrics:Politeness`."""
    if OWN_METRIC.fullmatch(name):
        return own_metric(name)
    return get(name) if "/" in name else get(name, variant=variant)
