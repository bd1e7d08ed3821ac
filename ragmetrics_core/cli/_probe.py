"""`ragmetrics probe`: measure how reliable a judge is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Unpack, cast

import typer
from rich.console import RenderableType
from rich.text import Text

from ragmetrics_core.cli._arguments import metrics_named, traffic_of
from ragmetrics_core.cli._progress import progress_of
from ragmetrics_core.cli._screen import page, remarks, show, write
from ragmetrics_core.cli._study_labels import good_values_in
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import TrafficArgs, missing_model
from ragmetrics_core.models.judges import judge_by_name
from ragmetrics_core.models.names import read_options
from ragmetrics_core.probe import (
    CARD,
    PEOPLE,
    FitnessCard,
    PeopleCard,
    Probe,
    ShareOf,
    card_tables,
    cards_json,
    carried_cards,
    compare_on,
    compared_tables,
    count_samples,
    people_lines,
    people_tables,
)
from ragmetrics_core.probe import probe as run_probe
from ragmetrics_core.report import terminal
from ragmetrics_core.report.judge_lines import judge_notes

__all__ = ["probe"]

Column = Annotated[str | None, typer.Option(metavar="COLUMN")]
Share = Annotated[float | None, typer.Option(min=0.0, max=1.0)]


@dataclass(frozen=True, kw_only=True)
class OfLabels:
    """Settings for reading and measuring a labelled file.

    Attributes:
        question: With --on: what the labels are about. Default: from the label's name.
        label: With --on: column of the labels. Default: from the columns' names.
        source: With --on: column of the source of an item; items of one source are not independent.
            Default: equal contexts, or equal questions.
        by: With --on: column of the groups that get rows of their own.
        embedder: With --on: the embedder: embedded, openai:MODEL or openai:MODEL@URL.
        prices: With --on: JSON file with prices per model. Adds the cost.
        good: With --on: label values that count as good: a,b.
        metrics: With --on: metrics to measure instead of the question's own; several settings of one are
            compared: faithfulness,faithfulness(per_call=1).
    """

    question: Literal["faithful", "correct", "relevant"] | None = None
    label: Column = None
    source: Column = None
    by: Column = None
    embedder: str | None = None
    prices: Path | None = None

    good: Annotated[str | None, typer.Option(metavar="VALUES")] = None
    metrics: str | None = None


@dataclass(frozen=True, kw_only=True)
class Fitness:
    """Limits that a judge must meet.

    Attributes:
        min_accuracy: Exit with 1 if the accuracy is below this, or undefined.
        max_steered: Exit with 1 if the share of verdicts changed by attacks (steered rate, strict) is above
            this, or undefined.
    """

    min_accuracy: Share = None
    max_steered: Share = None

    def failures(self, card: FitnessCard) -> Iterator[str]:
        """The limits that the judge does not meet; an undefined figure meets none."""
        accuracy, steered = card.known_answers.accuracy, card.steered()
        if self.min_accuracy is not None and (accuracy.value is None or accuracy.value < self.min_accuracy):
            yield f"accuracy is {_figure(accuracy)}, but --min-accuracy is {self.min_accuracy:g}"
        if self.max_steered is None:
            return
        if steered is None:
            yield "the steered rate was not measured: leave out --only, or add injection to it"
        elif steered.value is None or steered.value > self.max_steered:
            yield f"steered rate is {_figure(steered)}, but --max-steered is {self.max_steered:g}"


def probe(
    of_labels: OfLabels,
    fitness: Fitness,
    *,
    judge: str | None = None,
    judge_option: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    only: str | None = None,
    on: Annotated[Path | None, typer.Option(metavar="LABELLED")] = None,
    limit: Annotated[int | None, typer.Option(min=1)] = None,
    repeats: Annotated[int, typer.Option(min=2)] = 3,
    out: Path | None = None,
    beside: Annotated[Path | None, typer.Option(metavar="RUN")] = None,
    cache: Path | None = None,
    date: str | None = None,
    format_: Literal["terminal", "json"] = "terminal",
    **settings: Unpack[TrafficArgs],
) -> None:
    """Probe a judge: accuracy, and resistance to attacks.

    Asks questions with known answers, then again with attacks, changed order, padding, and unchanged. Without
    --limit it makes about 300 calls, all through the prompts and parsers of an evaluation. With --on FILE it
    measures the judge on texts that people labelled instead.

    Exit codes: 0 success, 1 a limit of --min-accuracy or --max-steered is not met, 2 usage error.

    Args:
        judge_option: Setting of the judge: temperature, seed, max_tokens, response_format or timeout;
            NAME=none does not send it. Can be repeated.
        judge: The judge: embedded, embedded:FILE.json, openai:MODEL, openai:MODEL@URL,
            entailment:MODEL, grounded:MODEL, decisions:MODEL, calibrated:CARD.json,JUDGE,
            cascade:CHEAP,EXPENSIVE, or a judge of an
            installed package.
        only: Probes to run, separated by commas: known-answers, injection, position, verbosity or
            consistency. Default: all.
        on: File of texts that people labelled, to measure the judge on.
        limit: Use at most N passages and N attacks, or with --on N items, for a quick probe.
        repeats: Number of times the consistency probe asks each question.
        out: Folder for the card and all records; the same command resumes there.
        beside: Folder of a run by the same judge, to put the card into.
        cache: Cache of answered calls to share between runs. Default: none.
        date: Date to write on the card. Default: none.
        format_: Output format; json prints the content of the card's file.
    """
    if judge is None:
        raise missing_model("judge", "a probe", "--judge NAME")
    traffic = traffic_of(settings, judge_option)
    asked = judge_by_name(judge, options=read_options(judge_option or ()))
    kept: dict[str, Any] = {"limit": limit, "out": out, "beside": beside, "cache": cache, "date": date}
    if on is not None:
        _refuse({"only": only, **vars(fitness)}, "cannot be combined with")
        columns: dict[str, Any] = {**vars(of_labels), "good": good_values_in(of_labels.good)}
        chosen = metrics_named(columns.pop("metrics"))
        with progress_of(remarks(), None) as report:
            cards = compare_on(asked, on, chosen, progress=report, **columns, **kept, **traffic)
        if format_ == "json":
            write(cards_json(cards), as_json=True)
        else:
            tables = people_tables(cards[0]) if len(cards) == 1 else compared_tables(cards)
            show(page(), [*terminal.study_page(tables), Text(), _written(PEOPLE, out, beside)])
        return
    _refuse(vars(of_labels), "needs")
    # the names are checked by the first who uses them
    wanted = cast("list[Probe] | None", _listed(only))
    with progress_of(remarks(), count_samples(wanted, limit=limit, repeats=repeats)) as progress:
        card = run_probe(asked, only=wanted, repeats=repeats, progress=progress, **kept, **traffic)
    if format_ == "json":
        write(card.model_dump_json(indent=2) + "\n", as_json=True)
    else:
        show(page(), _closing(card, beside or out))
    failures = list(fitness.failures(card))
    for why in failures:
        remarks().print(f"not fit: {why}", soft_wrap=True)
    if failures:
        raise typer.Exit(1)


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _closing(card: FitnessCard, folder: Path | None) -> Iterator[RenderableType]:
    yield from terminal.study_page(card_tables(card))
    yield Text()
    for note in judge_notes(card.judge):
        yield Text(f"{card.judge}: {note}")
    cards: dict[str, list[PeopleCard]] = {}
    for each in carried_cards():
        if each.judge == card.judge:
            cards.setdefault(each.metric, []).append(each)
    for line in people_lines(cards or {card.judge: ()}):
        yield Text(line)
    yield _written(CARD, folder)


def _written(name: str, *folders: Path | None) -> Text:
    places = [str(folder / name) for folder in folders if folder is not None]
    kept = "The card was not kept. To keep it, give --out FOLDER or --beside RUN."
    return Text(f"written to {' and '.join(places)}" if places else kept)


def _refuse(given: Mapping[str, object], how: str) -> None:
    """Refuse options of the other kind of probe."""
    for name, value in given.items():
        if value is not None:
            raise ConfigError(f"--{name.replace('_', '-')} {how} --on FILE")


def _figure(rate: ShareOf) -> str:
    return str(rate.estimate) if rate.undefined is None else f"undefined ({rate.undefined})"
