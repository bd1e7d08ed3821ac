"""What several commands take: a run, a sample, data and how it is to be evaluated."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import RECOMMENDED, Metric, get, resolve
from ragmetrics_core.models import as_embedder, as_judge
from ragmetrics_core.protocol import Embedder, Judge

__all__ = [
    "Cache",
    "Chosen",
    "Data",
    "EmbedderName",
    "FullRepeats",
    "JudgeNames",
    "Limit",
    "MetricName",
    "MetricNames",
    "PriceTable",
    "PromptFolder",
    "Repeats",
    "RunFolder",
    "SampleId",
    "VariantName",
    "choose",
]

DEFAULT = "embedded"

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.", show_default=False)]
SampleId = Annotated[str, typer.Argument(metavar="SAMPLE", help="A sample's id.", show_default=False)]
MetricName = Annotated[
    str, typer.Argument(metavar="METRIC", help="A metric's name or signature.", show_default=False)
]
Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="A .jsonl, .json or .csv file.", show_default=False)
]
MetricNames = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        help="Names: faithfulness,context_recall/ragas-0.4. Without it: the recommended two.",
    ),
]
JudgeNames = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        help="embedded, openai:MODEL, llama or llama:PATH. Without it: embedded. Several times: a panel, "
        "whose majority decides.",
    ),
]
EmbedderName = Annotated[
    str | None, typer.Option("--embedder", help="embedded or openai:MODEL. Without it: embedded, if needed.")
]
VariantName = Annotated[
    str | None,
    typer.Option("--variant", help="Variant of all metrics named without one: strict, paper, ragas-0.4."),
]
PromptFolder = Annotated[
    Path | None,
    typer.Option("--prompts", help="Folder of prompt files that replace those of the same name."),
]
Cache = Annotated[
    Path | None,
    typer.Option("--cache", help="File with answered calls that runs share, in place of the run's own."),
]
Repeats = Annotated[
    int, typer.Option("--repeats", min=1, help="Ask for each verdict N times; the majority decides.")
]
FullRepeats = Annotated[
    int, typer.Option("--full-repeats", min=1, help="Measure each metric N times from the start.")
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N rows.")]
PriceTable = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        help='JSON file with prices for a million tokens: {"MODEL": {"prompt": 0.4, "completion": 1.6}}.',
    ),
]


class Chosen(NamedTuple):
    """The metrics and models that a command line names; no metrics means the recommended ones."""

    metrics: tuple[Metric[Any], ...] | None
    judges: tuple[Judge, ...]
    embedder: Embedder | None


def choose(
    metrics: str | None, variant: str | None, judges: Sequence[str] | None, embedder: str | None
) -> Chosen:
    """The metrics and models of these names; those that nothing needs are left out.

    Raises:
        ConfigError: there is none of a name.
    """
    chosen = _metrics(metrics, variant)
    needs = frozenset().union(*(metric.needs for metric in chosen)) if chosen else frozenset({"judge"})
    names = judges or ([DEFAULT] if "judge" in needs else [])
    embedding = as_embedder(embedder or DEFAULT) if embedder or "embedder" in needs else None
    return Chosen(chosen, tuple(map(as_judge, names)), embedding)


def _metrics(names: str | None, variant: str | None) -> tuple[Metric[Any], ...] | None:
    """The metrics that were named; None for the recommended ones, which the samples decide."""
    if names is None and variant is None:
        return None
    named = [name.strip() for name in (names or "recommended").split(",") if name.strip()]
    if not named:
        raise ConfigError("--metrics names no metric; ragmetrics metrics lists them all")
    if variant is None:
        return resolve(named)
    spread = [each for name in named for each in (RECOMMENDED if name == "recommended" else (name,))]
    return resolve([get(name) if "/" in name else get(name, variant=variant) for name in spread])
