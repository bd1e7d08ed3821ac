"""Measuring a judge on texts that people labelled."""

from collections.abc import Callable, Collection, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, Unpack

from ragmetrics_core.adapting import synchronous
from ragmetrics_core.boundary.keywords import listing_settings, names_in, refuse_unknown
from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.metrics import Faithfulness, Metric, get, resolve
from ragmetrics_core.metrics.catalogue import models_needed
from ragmetrics_core.metrics.metric import is_metric
from ragmetrics_core.models import (
    Cascade,
    Price,
    Prices,
    Tally,
    Traffic,
    TrafficArgs,
    as_embedder,
    as_judge,
    missing_model,
)
from ragmetrics_core.models.wrapper import unwrapped
from ragmetrics_core.probe._people_card import PeopleCard, keep_card
from ragmetrics_core.probe._people_figures import card_of
from ragmetrics_core.probe._probing import check_beside
from ragmetrics_core.probe._same_judge import model_of
from ragmetrics_core.protocol import Embedder, Judge
from ragmetrics_core.records import FAILED, Record
from ragmetrics_core.runs import Progress, Source, aevaluate
from ragmetrics_core.runs.preparation import Metrics
from ragmetrics_core.runs.prices import price_of
from ragmetrics_core.study import LabelledSet, Question, limited, read_labelled

__all__ = ["LabelledArgs", "acompare_on", "aprobe_on", "compare_on", "probe_on"]


class LabelledArgs(TrafficArgs, total=False):
    """Keywords of `probe_on` and `compare_on`, in addition to the settings of `Traffic`."""

    question: Question | None
    """Subject of the labels.

    "faithful" takes faithfulness (of a claim the verdict on the claim itself), "correct" factual correctness,
    "relevant" answer relevance, or without answers context relevance.
    """

    label: str | None
    """The column of the labels."""

    source: str | None
    """The column of an item's source; items of one source are not independent."""

    by: str | None
    """The column of the groups that get rows of their own."""

    good: Collection[str]
    """The values that count as good."""

    name: str | None
    """The name of the set."""

    limit: int | None
    """Largest number of items, always the same ones and from as many sources as possible."""

    embedder: Embedder | str | None
    """The embedder of metrics that compare texts, such as answer relevance."""

    out: str | Path | None
    """Folder for the run and the cards, `people.json`; the same call again resumes there."""

    beside: str | Path | None
    """Folder of a run by the same judge, which gets the cards so that its report shows them."""

    cache: str | Path | None
    """Cache of answered calls to share between runs."""

    traffic: Traffic | None
    """Traffic settings: `Traffic(concurrency=64)`."""

    prices: Prices | None
    """Prices of the judge, as for `evaluate`; without them, cards have no cost."""

    date: str | None
    """Date to write on the cards."""

    progress: Callable[[Progress], None] | None
    """Called after each sample."""


_DEFAULTS: Mapping[str, Any] = {
    **Traffic().keywords,
    **dict.fromkeys(names_in(LabelledArgs)[len(names_in(TrafficArgs)) :]),
    "good": (),
}


@listing_settings(LabelledArgs, _DEFAULTS)
async def aprobe_on(
    judge: Judge | Callable[[str], Any] | str,
    data: Source,
    *,
    metric: str | Metric[Any] | None = None,
    **settings: Unpack[LabelledArgs],
) -> PeopleCard:
    """Measure a judge on texts that people labelled: what its scores say about what people said.

    `probe_on` waits for the card; `aprobe_on` takes the same and is awaited.

    Args:
        judge: a judge, any callable from prompt to reply, or a name such as "embedded".
        data: the labelled file, rows or data frame; how its columns are found, `read_labelled` says.
        metric: by name or object; without it the one of the question that people were asked.
        settings: see `LabelledArgs`: what people were asked, the columns, where the card is kept, how the
            judge is asked.

    Raises:
        ConfigError: a mistake in the arguments or in the labels, before any call.
        SampleError: the file cannot be read, or none of its rows is a labelled sample.
        ModelError: the judge gave no item a score.
    """
    one = metric if metric is None or is_metric(metric) else get(metric)
    (card,) = await acompare_on(judge, data, one, **settings)
    return card


@listing_settings(LabelledArgs, _DEFAULTS)
async def acompare_on(
    judge: Judge | Callable[[str], Any] | str,
    data: Source,
    metrics: Metrics | None,
    **settings: Unpack[LabelledArgs],
) -> tuple[PeopleCard, ...]:
    """Measure a judge in several ways to ask on the same labelled texts: a card for each way.

    A card's `gains` say what its metric has more than each other setting of it, paired by item:
    `chosen_by_cards` chooses by them. `compare_on` waits for the cards; `acompare_on` is awaited.

    Args:
        judge: a judge, any callable from prompt to reply, or a name such as "embedded".
        data: the labelled file, rows or data frame; how its columns are found, `read_labelled` says.
        metrics: names or objects, such as "faithfulness" and "faithfulness(verify=verdicts.v4)".
        settings: see `LabelledArgs`.

    Raises:
        ConfigError: a mistake in the arguments or in the labels, before any call.
        SampleError: the file cannot be read, or none of its rows is a labelled sample.
        ModelError: the judge gave no item a score. Where only some of the metrics have no score, their
            cards have no items.
    """
    refuse_unknown(settings, *names_in(LabelledArgs))
    options: dict[str, Any] = {**_DEFAULTS, **settings}
    limit, out, beside, progress = (options[name] for name in ("limit", "out", "beside", "progress"))
    if find_spec("scipy") is None:
        raise ConfigError("the intervals of a card need scipy: pip install 'ragmetrics-core[study]'")
    if limit is not None and limit < 1:
        raise ConfigError(f"limit must be at least 1, or None, not {limit}")
    asked = as_judge(judge)
    columns = ("question", "label", "source", "by", "good", "name")
    labelled = read_labelled(data, **{name: options[name] for name in columns})
    if limit is not None:
        labelled = limited(labelled, limit)
    chosen = (_metric(labelled),) if metrics is None else resolve(metrics)
    vectors = _embedder(chosen, options["embedder"])
    if beside is not None:
        check_beside(Path(beside), asked)
    price, latest = price_of([asked], options["prices"]), [Progress(0, 0, 0, Tally())]

    def tell(now: Progress) -> None:
        latest[0] = now
        if progress is not None:
            progress(now)

    started = perf_counter()
    traffic = {name: options[name] for name in names_in(TrafficArgs) if name in settings}
    run = await aevaluate(
        [row.sample for row in labelled.rows],
        metrics=chosen,
        judge=asked,
        embedder=vectors,
        out=Path(out) / "run" if out is not None else None,
        cache=options["cache"],
        traffic=(options["traffic"] or Traffic()).replacing(**traffic),
        progress=tell,
    )
    measured = len(labelled.rows) - latest[0].kept
    seconds = (perf_counter() - started) / measured if measured and len(chosen) == 1 else None
    ids = [row.sample.id for row in labelled.rows]
    by_metric = [
        (metric, {sample_id: run.score(sample_id, metric) for sample_id in ids}) for metric in chosen
    ]
    every = [record for _, records in by_metric for record in records.values()]
    if all(record.status in FAILED for record in every):
        raise ModelError(f"the judge gave none of the {len(labelled.rows)} items a score: {every[0].reason}")
    inner = unwrapped(asked)
    more: dict[str, Any] = {
        "cascade": inner if isinstance(inner, Cascade) else None,
        "date": options["date"],
        "model": model_of(asked),
        "seconds": None if seconds is None else float(f"{seconds:.2g}"),
    }
    cards = tuple(
        card_of(labelled, by_metric, place, run, **_spent(records, price), **more)
        for place, (_, records) in enumerate(by_metric)
    )
    for folder in filter(None, (out, beside)):
        for card in cards:
            keep_card(folder, card)
    return cards


probe_on = synchronous(aprobe_on)
"""Measure a judge on texts that people labelled, and wait for it; it takes what `aprobe_on` takes."""

compare_on = synchronous(acompare_on)
"""Measure a judge in several ways to ask, and wait for it; it takes what `acompare_on` takes."""


def _spent(records: Mapping[str, Record], price: Price | None) -> dict[str, Any]:
    """Calls, tokens and cost for one item, from the replies that the records hold."""
    steps, n = [step for record in records.values() for step in record.generate_steps], len(records)
    prompt = sum(step.prompt_tokens or 0 for step in steps)
    completion = sum(step.completion_tokens or 0 for step in steps)
    return {
        "calls": round(len(steps) / n, 3),
        "tokens": round((prompt + completion) / n, 1) if prompt or completion else None,
        "cost": None if price is None else (prompt * price.prompt + completion * price.completion) / 1e6 / n,
    }


def _embedder(metrics: Iterable[Metric[Any]], embedder: Embedder | str | None) -> Embedder | None:
    """The embedder, where a metric needs one."""
    needy = next((metric.name for metric in metrics if "embedder" in models_needed(metric)), None)
    if needy is not None and embedder is None:
        raise missing_model("embedder", needy, "embedder=..., on the command line --embedder NAME,")
    return None if needy is None or embedder is None else as_embedder(embedder)


def _metric(labelled: LabelledSet) -> Metric[Any]:
    """The metric of what people were asked about."""
    if labelled.question == "faithful":
        return Faithfulness(granularity="answer" if labelled.claims else "statement")
    answered = any(row.sample.answer for row in labelled.rows)
    relevance = "answer_relevance" if answered else "context_relevance"
    return get("factual_correctness" if labelled.question == "correct" else relevance)
