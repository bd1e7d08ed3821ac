"""`ragmetrics probe`: how fit a judge is."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

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
from ragmetrics_core.models._names import judge_by_name, read_options
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


def _measured(name: str, told: str, **how: Any) -> Any:
    """An option that says what is measured."""
    return typer.Option(name, help=told, rich_help_panel=MEASURED, **how)


def _kept(name: str, told: str, **how: Any) -> Any:
    """An option that says what comes out."""
    return typer.Option(name, help=told, rich_help_panel=OUTPUT, **how)


def _on(name: str, told: str, metavar: str | None = "COLUMN") -> Any:
    """An option of a labelled file."""
    return _measured(name, f"With --on: {told}", metavar=metavar)


Only = Annotated[str | None, _measured("--only", f"Some of the probes: {','.join(PROBES)}. Without it: all.")]
On = Annotated[
    Path | None,
    _measured("--on", "Measure on this file, whose labels say what people thought.", metavar="LABELLED"),
]
Asked = Annotated[
    Literal["faithful", "correct", "relevant"] | None,
    _on("--question", "what people were asked about. Without it: by the label's name.", None),
]
LabelColumn = Annotated[str | None, _on("--label", "the column of the labels.")]
SourceColumn = Annotated[
    str | None, _on("--source", "what an item was made from. Without it: equal contexts, or equal questions.")
]
GroupColumn = Annotated[str | None, _on("--by", "groups that are shown apart.")]
Good = Annotated[str | None, _on("--good", "the labels that are good: a,b.", "VALUES")]
OtherMetrics = Annotated[
    str | None,
    _on(
        "--metrics",
        "other metrics than the question's own, or several settings of one, which are compared: "
        "faithfulness,faithfulness(per_call=1).",
        None,
    ),
]
Limit = Annotated[
    int | None,
    _measured("--limit", "A quick probe: at most N passages and N attacks; with --on N items.", min=1),
]
Repeats = Annotated[int, _measured("--repeats", "How often consistency asks each question.", min=2)]
Out = Annotated[
    Path | None, _kept("--out", "Folder for the card and all records; the same command goes on there.")
]
Beside = Annotated[
    Path | None, _kept("--beside", "Put the card beside this run of the same judge.", metavar="RUN")
]
Date = Annotated[
    str | None, _kept("--date", "Written on the card; without it the card says nothing of the day.")
]
Format = Annotated[
    Literal["terminal", "json"],
    _kept("--format", "json: the card, or with --on the cards, as its file has it."),
]
LeastAccuracy = Annotated[
    float | None,
    typer.Option(min=0.0, max=1.0, help="Exit with 1 when the accuracy is below this, or undefined."),
]
MostSteered = Annotated[
    float | None,
    typer.Option(
        min=0.0, max=1.0, help="Exit with 1 when the steered rate (strict) is above this, or undefined."
    ),
]


def probe(
    judge: JudgeName = None,
    judge_option: JudgeOptions = None,
    only: Only = None,
    on: On = None,
    question: Asked = None,
    label: LabelColumn = None,
    source: SourceColumn = None,
    by: GroupColumn = None,
    good: Good = None,
    metrics: OtherMetrics = None,
    embedder: EmbedderName = None,
    prices: PriceTable = None,
    limit: Limit = None,
    repeats: Repeats = 3,
    out: Out = None,
    beside: Beside = None,
    cache: Cache = None,
    concurrency: Concurrency = DEFAULTS.concurrency,
    timeout: Timeout = SECONDS,
    attempts: Attempts = DEFAULTS.attempts,
    form_attempts: FormAttempts = DEFAULTS.form_attempts,
    requests_per_minute: RequestsPerMinute = None,
    tokens_per_minute: TokensPerMinute = None,
    date: Date = None,
    as_format: Format = "terminal",
    min_accuracy: LeastAccuracy = None,
    max_steered: MostSteered = None,
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
    kept: dict[str, Any] = {"limit": limit, "out": out, "beside": beside, "cache": cache, "traffic": traffic}
    kept["date"] = date
    of_labels: dict[str, Any] = {"question": question, "label": label, "source": source, "by": by}
    of_labels |= {"embedder": embedder, "prices": prices}
    if on is not None:
        others = {"--only": only, "--min-accuracy": min_accuracy, "--max-steered": max_steered}
        _refuse(others, "cannot stand beside")
        values = [value for value in (good or "").split(",") if value.strip()]
        with progress_of(remarks(), None) as report:
            chosen = metrics_named(metrics)
            people = compare_on(asked, on, chosen, good=values, progress=report, **of_labels, **kept)
        if as_format == "json":
            write(cards_json(people), as_json=True)
        else:
            show(page(), _people(people, out, beside))
        return
    only_on = {f"--{name}": value for name, value in of_labels.items()}
    _refuse({**only_on, "--good": good, "--metrics": metrics}, "needs")
    # the names are checked by the first who uses them
    names = None if only is None else [name.strip() for name in only.split(",") if name.strip()]
    wanted = cast("list[Probe] | None", names)
    with progress_of(remarks(), count_samples(wanted, limit=limit, repeats=repeats)) as progress:
        card = run_probe(asked, only=wanted, repeats=repeats, progress=progress, **kept)
    if as_format == "json":
        write(card.model_dump_json(indent=2) + "\n", as_json=True)
    else:
        folder = beside if beside is not None else out
        show(page(), _closing(card, folder, note=getattr(asked, "note", None)))
    failed = list(_failed(card, min_accuracy=min_accuracy, max_steered=max_steered))
    for why in failed:
        remarks().print(f"not fit: {why}", soft_wrap=True)
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
