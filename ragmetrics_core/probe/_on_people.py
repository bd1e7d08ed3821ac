"""Measuring a judge on texts that people labelled."""

from collections.abc import Callable, Collection
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, Unpack

from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.metrics import Faithfulness, Metric, get
from ragmetrics_core.metrics._catalogue import models_needed
from ragmetrics_core.metrics._metric import is_metric
from ragmetrics_core.models import Prices, Traffic, TrafficArgs, as_embedder, as_judge, missing_model
from ragmetrics_core.models._cascade import Cascade
from ragmetrics_core.models._wrapper import unwrapped
from ragmetrics_core.probe._label_words import Question
from ragmetrics_core.probe._labelled import LabelledSet, limited, read_labelled
from ragmetrics_core.probe._people_card import PeopleCard, keep_card
from ragmetrics_core.probe._people_figures import card_of
from ragmetrics_core.protocol import Embedder, Judge
from ragmetrics_core.record import FAILED
from ragmetrics_core.runs import Progress, Run, aevaluate
from ragmetrics_core.runs._loading import Source
from ragmetrics_core.runs._own_loop import synchronous
from ragmetrics_core.runs._prices import price_of

__all__ = ["aprobe_on", "probe_on"]


@unfolded(TrafficArgs, Traffic().keywords)
async def aprobe_on(
    judge: Judge | Callable[[str], Any] | str,
    data: Source,
    *,
    question: Question | None = None,
    metric: str | Metric[Any] | None = None,
    label: str | None = None,
    source: str | None = None,
    by: str | None = None,
    good: Collection[str] = (),
    name: str | None = None,
    limit: int | None = None,
    embedder: Embedder | str | None = None,
    out: str | Path | None = None,
    beside: str | Path | None = None,
    cache: str | Path | None = None,
    traffic: Traffic | None = None,
    prices: Prices | None = None,
    date: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    **settings: Unpack[TrafficArgs],
) -> PeopleCard:
    """Measure a judge on texts that people labelled: what its scores say about what people said.

    `probe_on` waits for the card; `aprobe_on` takes the same and is awaited.

    Args:
        judge: a judge, any callable from prompt to reply, or a name such as "embedded".
        data: the labelled file, rows or data frame; how its columns are found, `read_labelled` says.
        question: what people were asked about: "faithful" takes faithfulness (of a claim the verdict on the
            claim itself), "correct" factual correctness, "relevant" answer relevance, or without answers
            context relevance.
        metric: another metric, by name or object.
        label: the column of the labels.
        source: the column of what an item was made from.
        by: the column of the groups that are shown apart.
        good: the values that are good.
        name: of the set.
        limit: take at most so many items, the same each time and of as many sources as there are.
        embedder: for metrics that compare texts, such as answer relevance.
        out: a folder for the run and the card, `people.json`; the same call again goes on there.
        beside: a run of the same judge: the card is put beside its files, so that its report shows it.
        cache: a journal of answered calls that runs share.
        traffic: how the judge is asked: `Traffic(concurrency=64)`.
        prices: what the judge costs, as for `evaluate`; without it the card says no cost.
        date: goes onto the card as it is.
        progress: called after each sample.
        settings: the settings of `traffic` one by one; see `TrafficArgs`.

    Raises:
        ConfigError: a mistake in the arguments or in the labels, before any call.
        SampleError: the file cannot be read, or none of its rows is a labelled sample.
        ModelError: the judge gave no item a score.
    """
    traffic = (traffic or Traffic()).but(**settings)
    if find_spec("scipy") is None:
        raise ConfigError("the intervals of a card need scipy: pip install 'ragmetrics[study]'")
    if limit is not None and limit < 1:
        raise ConfigError(f"limit must be at least 1, or None, not {limit}")
    asked = as_judge(judge)
    labelled = read_labelled(data, question=question, label=label, source=source, by=by, good=good, name=name)
    if limit is not None:
        labelled = limited(labelled, limit)
    chosen = _metric(labelled, metric)
    needs_vectors = "embedder" in models_needed(chosen)
    if needs_vectors and embedder is None:
        raise missing_model("embedder", chosen.name, "embedder=..., on the command line --embedder NAME,")
    vectors = as_embedder(embedder) if needs_vectors and embedder is not None else None
    if beside is not None:
        _check_beside(Path(beside), asked)
    price = price_of([asked], prices)
    kept = 0

    def told(now: Progress) -> None:
        nonlocal kept
        kept = now.kept
        if progress is not None:
            progress(now)

    started = perf_counter()
    run = await aevaluate(
        [row.sample for row in labelled.rows],
        metrics=[chosen],
        judge=asked,
        embedder=vectors,
        out=Path(out) / "run" if out is not None else None,
        cache=cache,
        traffic=traffic,
        progress=told,
    )
    seconds = perf_counter() - started
    measured = len(labelled.rows) - kept
    records = {row.sample.id: run.score(row.sample.id, chosen) for row in labelled.rows}
    failed = [each for each in records.values() if each.status in FAILED]
    if len(failed) == len(records):
        raise ModelError(f"the judge gave none of the {len(failed)} items a score: {failed[0].reason}")
    inner = unwrapped(asked)
    cascade = inner if isinstance(inner, Cascade) else None
    card = card_of(labelled, chosen, records, run, date=date, cascade=cascade)
    tokens = run.tally.get("prompt_tokens", 0), run.tally.get("completion_tokens", 0)
    spent = None if price is None else (tokens[0] * price.prompt + tokens[1] * price.completion) / 1e6
    n = len(labelled.rows)
    card = card.model_copy(
        update={
            "calls": round(run.tally.get("calls", 0) / n, 3),
            "tokens": round(sum(tokens) / n, 1) if any(tokens) else None,
            "cost": None if spent is None else spent / n,
            "seconds": float(f"{seconds / measured:.2g}") if measured else None,
        }
    )
    for folder in (out, beside):
        if folder is not None:
            keep_card(folder, card)
    return card


probe_on = synchronous(aprobe_on)
"""Measure a judge on texts that people labelled, and wait for it; it takes what `aprobe_on` takes."""


def _metric(labelled: LabelledSet, given: str | Metric[Any] | None) -> Metric[Any]:
    if given is not None:
        return given if is_metric(given) else get(str(given))
    match labelled.question:
        case "faithful":
            return Faithfulness(granularity="answer" if labelled.claims else "statement")
        case "correct":
            return get("factual_correctness")
        case "relevant":
            answered = any(row.sample.answer for row in labelled.rows)
            return get("answer_relevance" if answered else "context_relevance")


def _check_beside(folder: Path, judge: Judge) -> None:
    run = Run.load(folder)
    if run.judge != judge.identity:
        raise ConfigError(
            f"the run in {folder} was judged by {run.judge or 'nobody'}, not by {judge.identity}: "
            "a card beside it would speak of another judge"
        )
