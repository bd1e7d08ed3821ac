"""`ragmetrics probe`: how fit a judge is."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, cast

import typer
from rich.console import RenderableType
from rich.text import Text

from ragmetrics_core.cli._arguments import (
    DEFAULTS,
    SECONDS,
    Attempts,
    Cache,
    Concurrency,
    EmbedderName,
    FormAttempts,
    JudgeName,
    JudgeOptions,
    PriceTable,
    RequestsPerMinute,
    Timeout,
    TokensPerMinute,
    metrics_named,
    seconds_of,
)
from ragmetrics_core.cli._grouped import MEASURED, OUTPUT
from ragmetrics_core.cli._progress import progress_of
from ragmetrics_core.cli._screen import page, remarks, show, write
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import Traffic, missing_model
from ragmetrics_core.models._judge_options import read_options
from ragmetrics_core.models._names import judge_by_name
from ragmetrics_core.probe import (
    CARD,
    PEOPLE,
    PROBES,
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
from ragmetrics_core.report import _terminal as terminal

__all__ = ["probe"]


def probe(
    judge: JudgeName = None,
    judge_option: JudgeOptions = None,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            help=f"Some of the probes: {','.join(PROBES)}. Without it: all.",
            rich_help_panel=MEASURED,
        ),
    ] = None,
    on: Annotated[
        Path | None,
        typer.Option(
            "--on",
            metavar="LABELLED",
            help="Measure on this file, whose labels say what people thought.",
            rich_help_panel=MEASURED,
        ),
    ] = None,
    question: Annotated[
        Literal["faithful", "correct", "relevant"] | None,
        typer.Option(
            help="With --on: what people were asked about. Without it: by the label's name.",
            rich_help_panel=MEASURED,
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="With --on: the column of the labels.", rich_help_panel=MEASURED),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --on: what an item was made from. Without it: equal contexts, or equal questions.",
            rich_help_panel=MEASURED,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="With --on: groups that are shown apart.", rich_help_panel=MEASURED
        ),
    ] = None,
    good: Annotated[
        str | None,
        typer.Option(
            metavar="VALUES", help="With --on: the labels that are good: a,b.", rich_help_panel=MEASURED
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            help="With --on: other metrics than the question's own, or several settings of one, which are "
            "compared: faithfulness,faithfulness(per_call=1).",
            rich_help_panel=MEASURED,
        ),
    ] = None,
    embedder: EmbedderName = None,
    prices: PriceTable = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="A quick probe: at most N passages and N attacks; with --on N items.",
            rich_help_panel=MEASURED,
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=2, help="How often consistency asks each question.", rich_help_panel=MEASURED)
    ] = 3,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the card and all records; the same command goes on there.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN", help="Put the card beside this run of the same judge.", rich_help_panel=OUTPUT
        ),
    ] = None,
    cache: Cache = None,
    concurrency: Concurrency = DEFAULTS.concurrency,
    timeout: Timeout = SECONDS,
    attempts: Attempts = DEFAULTS.attempts,
    form_attempts: FormAttempts = DEFAULTS.form_attempts,
    requests_per_minute: RequestsPerMinute = None,
    tokens_per_minute: TokensPerMinute = None,
    date: Annotated[
        str | None,
        typer.Option(
            help="Written on the card; without it the card says nothing of the day.", rich_help_panel=OUTPUT
        ),
    ] = None,
    as_format: Annotated[
        Literal["terminal", "json"],
        typer.Option(
            "--format",
            help="json: the card, or with --on the cards, as its file has it.",
            rich_help_panel=OUTPUT,
        ),
    ] = "terminal",
    min_accuracy: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Exit with 1 when the accuracy is below this, or undefined."),
    ] = None,
    max_steered: Annotated[
        float | None,
        typer.Option(
            min=0.0, max=1.0, help="Exit with 1 when the steered rate (strict) is above this, or undefined."
        ),
    ] = None,
) -> None:
    """Probe a judge with known answers, attacks, another order, padding and the same question again.

    Without --limit it makes some 300 calls, all through the prompts and parsers of an evaluation. With --on
    FILE it measures the judge on texts that people labelled instead.
    """
    if judge is None:
        raise missing_model("judge", "a probe", "--judge NAME")
    traffic = Traffic(
        concurrency=concurrency,
        timeout=seconds_of(timeout, judge_option),
        attempts=attempts,
        form_attempts=form_attempts,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
    )
    asked = judge_by_name(judge, options=read_options(judge_option or ()))
    if on is not None:
        others = {"--only": only, "--min-accuracy": min_accuracy, "--max-steered": max_steered}
        _refuse(others, "cannot stand beside")
        with progress_of(remarks(), None) as report:
            people = compare_on(
                asked,
                on,
                metrics_named(metrics),
                question=question,
                label=label,
                source=source,
                by=by,
                good=[each for each in (good or "").split(",") if each.strip()],
                limit=limit,
                embedder=embedder,
                out=out,
                beside=beside,
                cache=cache,
                traffic=traffic,
                prices=prices,
                date=date,
                progress=report,
            )
        if as_format == "json":
            write(cards_json(people), as_json=True)
        else:
            show(page(), _people(people, out, beside))
        return
    only_on = {"--question": question, "--label": label, "--source": source, "--by": by, "--good": good}
    _refuse({**only_on, "--metrics": metrics, "--embedder": embedder, "--prices": prices}, "needs")
    # the names are checked by the first who uses them
    names = None if only is None else [name.strip() for name in only.split(",") if name.strip()]
    wanted = cast("list[Probe] | None", names)
    with progress_of(remarks(), count_samples(wanted, limit=limit, repeats=repeats)) as progress:
        card = run_probe(
            asked,
            only=wanted,
            limit=limit,
            repeats=repeats,
            out=out,
            beside=beside,
            cache=cache,
            traffic=traffic,
            date=date,
            progress=progress,
        )
    if as_format == "json":
        write(card.model_dump_json(indent=2) + "\n", as_json=True)
    else:
        folder = beside if beside is not None else out
        show(page(), _closing(card, folder, note=getattr(asked, "note", None)))
    failed = list(_failed(card, min_accuracy=min_accuracy, max_steered=max_steered))
    for told in failed:
        remarks().print(f"not fit: {told}", soft_wrap=True)
    if failed:
        raise typer.Exit(1)


def _closing(card: FitnessCard, folder: Path | None, *, note: str | None) -> Iterator[RenderableType]:
    yield from terminal.study_page(card_tables(card))
    yield Text()
    if note:
        yield Text(f"{card.judge}: {note}")
    cards: dict[str, list[PeopleCard]] = {}
    for each in carried_cards():
        if each.judge == card.judge:
            cards.setdefault(each.metric, []).append(each)
    for line in people_lines(cards or {card.judge: ()}):
        yield Text(line)
    yield Text(
        f"written to {folder / CARD}" if folder else "Nothing was kept: give --out FOLDER or --beside RUN."
    )


def _people(cards: Sequence[PeopleCard], out: Path | None, beside: Path | None) -> Iterator[RenderableType]:
    tables = people_tables(cards[0]) if len(cards) == 1 else compared_tables(cards)
    yield from terminal.study_page(tables)
    yield Text()
    places = [str(folder / PEOPLE) for folder in (out, beside) if folder is not None]
    kept = "Nothing was kept: give --out FOLDER or --beside RUN."
    yield Text(f"written to {' and '.join(places)}" if places else kept)


def _refuse(given: Mapping[str, object], how: str) -> None:
    """Say which option belongs to the other kind of probe."""
    wrong = next((name for name, value in given.items() if value is not None), None)
    if wrong is not None:
        raise ConfigError(f"{wrong} {how} --on FILE")


def _failed(card: FitnessCard, *, min_accuracy: float | None, max_steered: float | None) -> Iterator[str]:
    """What keeps the judge from being fit, as the caller defines it; what is undefined is never fit."""
    if min_accuracy is not None:
        value = card.known_answers.accuracy.value
        if value is None or value < min_accuracy:
            yield f"accuracy {_told(card.known_answers.accuracy)}, wanted at least {min_accuracy:g}"
    if max_steered is not None:
        steered = card.steered()
        if steered is None:
            yield "the steered rate was not measured: leave out --only, or add --only injection"
        elif steered.value is None or steered.value > max_steered:
            yield f"steered rate {_told(steered)}, wanted at most {max_steered:g}"


def _told(rate: ShareOf) -> str:
    return str(rate.estimate) if rate.undefined is None else f"undefined ({rate.undefined})"
