"""What several commands take: a run, a sample, data and how it is to be evaluated."""

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

import typer

from ragmetrics_core.cli._grouped import BUDGET, MEASURED, MODELS, OUTPUT, TRAFFIC
from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import RECOMMENDED, Metric, get, resolve
from ragmetrics_core.metrics._catalogue import models_needed, with_settings
from ragmetrics_core.metrics._metric import is_metric, is_metric_class
from ragmetrics_core.models import Traffic, as_embedder, as_scorer, missing_model
from ragmetrics_core.models._judge_options import TIMEOUT, read_options
from ragmetrics_core.models._names import judges_by_name
from ragmetrics_core.probe import chosen_by_cards
from ragmetrics_core.protocol import Embedder, Judge, Scorer
from ragmetrics_core.runs import Run

__all__ = [
    "OWN",
    "AsJson",
    "Cache",
    "CardFile",
    "Chosen",
    "Data",
    "EmbedderName",
    "FullRepeats",
    "JudgeNames",
    "JudgeOptions",
    "Limit",
    "MetricName",
    "MetricNames",
    "OwnMetrics",
    "PriceTable",
    "PromptFolder",
    "Repeats",
    "RunFolder",
    "SampleId",
    "ScorerName",
    "VariantName",
    "choose",
    "metrics_named",
    "open_run",
    "own",
    "seconds_of",
]

JUDGE_NAMES = (
    "embedded, openai:MODEL, openai:MODEL@URL, llama, llama:PATH, entailment:MODEL, "
    "grounded:MODEL or cascade:CHEAP,DEAR"
)
OWN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
"""Something of the user's own: MODULE:NAME."""

_OWN_METRIC = re.compile(rf"(?P<own>{OWN.pattern})(?:\((?P<settings>.*)\))?", re.DOTALL)
# a comma between brackets is one of a metric's settings: ndcg(k=10,gain=exponential)
_COMMA = re.compile(r",(?![^()]*\))")

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.", show_default=False)]
SampleId = Annotated[str, typer.Argument(metavar="SAMPLE", help="A sample's id.", show_default=False)]
MetricName = Annotated[
    str, typer.Argument(metavar="METRIC", help="A metric's name or signature.", show_default=False)
]
OwnMetrics = Annotated[
    str | None,
    typer.Option("--metrics", help="Metrics of your own that the run has: MODULE:NAME, separated by commas."),
]
Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A .jsonl, .json, .csv, .tsv or .parquet file; text also as .gz.",
        show_default=False,
    ),
]

MetricNames = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        help="Names: faithfulness,context_recall/ragas-0.4,ndcg@10,rouge(kind=2); MODULE:NAME for one of "
        "your own. Without it: the recommended two.",
        rich_help_panel=MEASURED,
    ),
]
VariantName = Annotated[
    str | None,
    typer.Option(
        "--variant",
        help="Variant of all metrics named without one: strict, paper, ragas-0.4.",
        rich_help_panel=MEASURED,
    ),
]
CardFile = Annotated[
    Path | None,
    typer.Option(
        "--cards",
        metavar="CARDS",
        help="Cards of `ragmetrics probe --on`: a metric named without settings takes those with which this "
        "judge ranks better beyond doubt.",
        rich_help_panel=MEASURED,
    ),
]
PromptFolder = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        help="Folder of prompt files that replace those of the same name.",
        rich_help_panel=MEASURED,
    ),
]
Repeats = Annotated[
    int,
    typer.Option(
        "--repeats",
        min=1,
        help="Ask for each verdict N times; the majority decides.",
        rich_help_panel=MEASURED,
    ),
]
FullRepeats = Annotated[
    int,
    typer.Option(
        "--full-repeats",
        min=1,
        help="Measure each metric N times from the start.",
        rich_help_panel=MEASURED,
    ),
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="Only the first N rows.", rich_help_panel=MEASURED)
]

JudgeNames = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        help=f"{JUDGE_NAMES}. Several times: a panel, whose majority decides.",
        rich_help_panel=MODELS,
    ),
]
JudgeName = Annotated[str | None, typer.Option("--judge", help=f"{JUDGE_NAMES}.", rich_help_panel=MODELS)]
JudgeOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--judge-option",
        metavar="NAME=VALUE",
        help="A setting of the judge: temperature, seed, max_tokens, response_format or timeout; NAME=none "
        "does not send it. Several times.",
        rich_help_panel=MODELS,
    ),
]
EmbedderName = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        help="embedded, openai:MODEL or openai:MODEL@URL.",
        rich_help_panel=MODELS,
    ),
]
ScorerName = Annotated[
    str | None,
    typer.Option(
        "--scorer",
        help="cross-encoder:MODEL or token-match:MODEL, a folder or a name on the hub.",
        rich_help_panel=MODELS,
    ),
]

Concurrency = Annotated[
    int, typer.Option(help="How many model calls may be in flight.", rich_help_panel=TRAFFIC)
]
Timeout = Annotated[
    float, typer.Option(help="Seconds for one call; 0 for no limit.", rich_help_panel=TRAFFIC)
]
FormAttempts = Annotated[
    int,
    typer.Option(
        min=1,
        help="How often a reply is asked for at most, until it is in the form that was asked for.",
        rich_help_panel=TRAFFIC,
    ),
]
Attempts = Annotated[
    int,
    typer.Option(
        help="How often a call is made at most when it fails for reasons that may pass.",
        rich_help_panel=TRAFFIC,
    ),
]
RequestsPerMinute = Annotated[
    float | None,
    typer.Option(help="Requests that the server allows in a minute.", rich_help_panel=TRAFFIC),
]
TokensPerMinute = Annotated[
    float | None, typer.Option(help="Tokens that the server allows in a minute.", rich_help_panel=TRAFFIC)
]
DEFAULTS = Traffic()
"""How models are asked when nothing is said."""
SECONDS = DEFAULTS.timeout or 0.0

MaxCalls = Annotated[
    int | None,
    typer.Option(help="Stop asking after so many calls; the rest is cancelled.", rich_help_panel=BUDGET),
]
MaxTokens = Annotated[
    int | None, typer.Option(help="Stop asking after so many tokens.", rich_help_panel=BUDGET)
]
MaxCost = Annotated[
    float | None,
    typer.Option(help="Stop asking at this cost, in the currency of --prices.", rich_help_panel=BUDGET),
]
PriceTable = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        help='JSON file with prices for a million tokens: {"MODEL": {"prompt": 0.4, "completion": 1.6}}.',
        rich_help_panel=BUDGET,
    ),
]

Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        help="File with answered calls that runs share, in place of the run's own.",
        rich_help_panel=OUTPUT,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for other programs.")]


class Chosen(NamedTuple):
    """The metrics and models that a command line names; no metrics means the recommended ones."""

    metrics: tuple[Metric[Any], ...] | None
    judges: tuple[Judge, ...]
    embedder: Embedder | None
    scorer: Scorer | None = None

    @property
    def keywords(self) -> "MeasuringArgs":
        """What `evaluate`, `plan` and `export_wave` are given of it."""
        return {
            "metrics": self.metrics,
            "panel": self.judges,
            "embedder": self.embedder,
            "scorer": self.scorer,
        }


class MeasuringArgs(TypedDict):
    """What is measured, and by which models, as the keywords of the doors that measure."""

    metrics: tuple[Metric[Any], ...] | None
    panel: tuple[Judge, ...]
    embedder: Embedder | None
    scorer: Scorer | None


def choose(
    metrics: str | None,
    variant: str | None,
    judges: Sequence[str] | None,
    embedder: str | None,
    scorer: str | None = None,
    *,
    options: Sequence[str] | None = None,
    cards: Path | None = None,
    prompts: Path | None = None,
    asked: bool = True,
) -> Chosen:
    """The metrics and models of these names; those that nothing needs are left out.

    With `cards` the settings of metrics are chosen by what was measured of the judge, and it is said which;
    other `prompts` would make them cards of something else. With `asked=False` no model is going to be asked,
    and none needs its key, package or file.

    Raises:
        ConfigError: there is none of a name, no model for metrics that need one, no such option of the
            judges, or nothing to choose by cards.
        RecordError: a file holds no cards.
    """
    if cards is not None and prompts is not None:
        raise ConfigError("--cards cannot stand beside --prompts: a card speaks of the prompts it was asked")
    named = _named(metrics, variant)
    chosen = None if named is None else resolve(named)
    given = {"judge": judges, "embedder": embedder, "scorer": scorer}
    for metric in chosen or resolve("recommended"):
        for kind in sorted(models_needed(metric)):
            if not given[kind]:
                raise missing_model(kind, metric.name, f"--{kind} NAME")
    made = Chosen(
        chosen,
        judges_by_name(judges or (), options=read_options(options or ()), asked=asked),
        as_embedder(embedder, asked=asked) if embedder else None,
        as_scorer(scorer, asked=asked) if scorer else None,
    )
    return made if cards is None else _by_cards(made, named, cards)


def _by_cards(made: Chosen, named: Sequence[str | Metric[Any]] | None, cards: Path) -> Chosen:
    """The same with the settings that the cards choose; what they choose and why goes to standard error."""
    if named is None:
        raise ConfigError(
            "--cards chooses settings of what --metrics names: add --metrics recommended, or names"
        )
    if len(made.judges) != 1:
        raise ConfigError("--cards needs one --judge: a card speaks of one")
    found = chosen_by_cards(named, judge=made.judges[0], cards=cards, embedder=made.embedder)
    for remark in found.remarks:
        remarks().print(f"cards: {' '.join(remark.split())}", soft_wrap=True)
    return made._replace(metrics=found.metrics)


def seconds_of(timeout: float, options: Sequence[str] | None) -> float | None:
    """How long one call may take: what the judge's options say, else `--timeout`; None without a limit."""
    given = read_options(options or ())
    return given.get(TIMEOUT, timeout or None)


def metrics_named(names: str | None) -> tuple[Metric[Any], ...] | None:
    """The metrics that a command line names; None where it names none.

    Raises:
        ConfigError: there is none of a name, or one is named twice.
    """
    named = _named(names, None)
    return None if named is None else resolve(named)


def _named(names: str | None, variant: str | None) -> Sequence[str | Metric[Any]] | None:
    """The metrics that were named, by name alone where that is all; None leaves it to the samples."""
    if names is None and variant is None:
        return None
    listed = _COMMA.split("recommended" if names is None else names)
    named = [name.strip() for name in listed if name.strip()]
    if not named:
        raise ConfigError("--metrics names no metric; ragmetrics metrics lists them all")
    spread = [each for name in named for each in (RECOMMENDED if name == "recommended" else (name,))]
    return [name if name.isidentifier() and not variant else _metric(name, variant) for name in spread]


def _metric(name: str, variant: str | None) -> Metric[Any]:
    """A metric of the catalogue, or of the user's own module: `my_metrics:Politeness`."""
    if _OWN_METRIC.fullmatch(name):
        return own_metric(name)
    return get(name) if "/" in name else get(name, variant=variant)


def open_run(folder: Path, metrics: str | None = None) -> Run:
    """The run of a folder, with the user's metrics that `metrics` names.

    Raises:
        ConfigError: there is no run, or no such metric.
    """
    return Run.load(
        folder, metrics=[own_metric(name.strip()) for name in _COMMA.split(metrics or "") if name.strip()]
    )


def own(name: str) -> object:
    """What a module of the user has, by `module:name`; the working folder is looked in too.

    Raises:
        ModuleNotFoundError: there is no such module.
        AttributeError: it has nothing of that name.
    """
    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    found: object = getattr(import_module(module), attribute)
    return found


def own_metric(name: str) -> Metric[Any]:
    """The metric that a module of the user has: `module:name`, or `module:Class(setting=value)`.

    Raises:
        ConfigError: there is no such module, what it has there is no metric, or takes no such settings.
    """
    written = _OWN_METRIC.fullmatch(name)
    if written is None:
        raise ConfigError(
            f"{name!r} is no metric of your own: write MODULE:NAME or MODULE:CLASS(setting=value)"
        )
    try:
        found = own(written["own"])
    except (ModuleNotFoundError, AttributeError) as error:
        raise ConfigError(f"there is no metric {name!r}: {error}") from error
    if is_metric_class(found):
        try:
            return with_settings(found, written["settings"]) if written["settings"] else found()
        except TypeError as error:  # a setting without a default
            raise ConfigError(
                f"{name!r} cannot be made, for every setting needs a default: {error}"
            ) from error
    if not is_metric(found):
        raise ConfigError(f"{name!r} is no metric, but a {type(found).__name__}")
    if written["settings"]:
        raise ConfigError(f"{name!r} is a metric with its settings already: name its class to choose others")
    return found
