"""Annotation: what people are shown of runs, blinded, and what their answers say about the judge."""

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.runs import Run
from ragmetrics_core.study.intervals import Estimate, wilson_interval
from ragmetrics_core.study.labels import HumanLabel, Unit
from ragmetrics_core.study.tables import Column, Table

__all__ = [
    "Annotations",
    "Item",
    "JudgeAccuracy",
    "Sheet",
    "annotation_tables",
    "items_of",
    "judge_accuracy",
    "ratings_of",
    "read_annotations",
    "verdict_changes",
]

RATING = "rating"


class Statement(NamedTuple):
    """A statement as the judge extracted it, and its verdict."""

    number: int
    about: str
    text: str
    verdict: bool | None
    label: str


class Item(NamedTuple):
    """One answer to annotate; `item` names it without saying which run it is of."""

    item: str
    question: str | None
    contexts: tuple[str, ...]
    reference: str | None
    answer: str | None
    metrics: tuple[tuple[str, tuple[Statement, ...]], ...]


class Sheet(NamedTuple):
    """All items in the order in which they are shown: question by question, its answers shuffled."""

    items: tuple[Item, ...]
    seed: int


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StatementAnswer(_Read):
    """What a person says of a statement: whether the text says it, and whether it is right."""

    number: int
    extracted: bool | None = None
    verdict: bool | None = None


class MetricAnswer(_Read):
    """What a person says of the statements of one score, with those that the judge overlooked."""

    metric: str
    statements: tuple[StatementAnswer, ...] = ()
    added: tuple[str, ...] = ()


class ItemAnswer(_Read):
    """What a person says of one answer."""

    item: str
    rating: int | None = Field(default=None, ge=1, le=5)
    note: str = ""
    metrics: tuple[MetricAnswer, ...] = ()


class Annotations(_Read):
    """A file that the sheet exported."""

    format: Literal["ragmetrics-annotations"]
    version: Literal[1]
    annotator: str = Field(min_length=1)
    seed: int
    items: tuple[ItemAnswer, ...]


@dataclass(frozen=True, kw_only=True)
class JudgeAccuracy:
    """How well a judge does its two tasks, by what people say of one metric.

    Attributes:
        metric: its signature.
        extraction: the share of extracted statements that the text says.
        found: the share of statements that the judge found: confirmed / (confirmed + added by people).
        verdicts: the share of verdicts that people share, on statements that the text says.
        statements: how many statements people looked at.
        judged: how many verdicts.
        added: how many statements the judge overlooked.
    """

    metric: str
    extraction: Estimate
    found: Estimate
    verdicts: Estimate
    statements: int
    judged: int
    added: int


def items_of(
    runs: Mapping[str, Run], *, metrics: Sequence[str] | None = None, limit: int | None = None, seed: int = 0
) -> Sheet:
    """What people are shown: the samples in random order, for each one the answers of all runs, shuffled.

    Args:
        runs: by name; the name is not shown.
        metrics: names or signatures whose statements are shown; without it all that have some.
        limit: how many questions, drawn at random.
        seed: of the order; reading answers back needs the same one, which the sheet keeps.

    Raises:
        ConfigError: there is no sample, or a run lacks a metric.
    """
    order = random.Random(seed)
    ids = list(dict.fromkeys(sample_id for run in runs.values() for sample_id in run.sample_ids))
    if not ids:
        raise ConfigError("there is no sample to annotate")
    order.shuffle(ids)
    items: list[Item] = []
    for sample_id in ids[:limit]:
        names = [name for name, run in runs.items() if sample_id in run.sample_ids]
        order.shuffle(names)
        items += (_item(name, runs[name], sample_id, metrics, seed) for name in names)
    return Sheet(tuple(items), seed)


def read_annotations(path: Path) -> Annotations:
    """Read a file that the sheet exported.

    Raises:
        ConfigError: it is none.
    """
    try:
        return Annotations.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        (first, *_) = error.errors()
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{path} is no export of an annotation sheet: {place}: {first['msg']}") from error
    except ValueError as error:
        raise ConfigError(f"{path} is no JSON: {error}") from error


def located(runs: Mapping[str, Run], annotations: Annotations) -> dict[str, tuple[str, str]]:
    """Which run and sample each item is; items of other runs are left out."""
    wanted = {answer.item for answer in annotations.items}
    known = {
        item_name(name, sample_id, annotations.seed): (name, sample_id)
        for name, run in runs.items()
        for sample_id in run.sample_ids
    }
    return {item: place for item, place in known.items() if item in wanted}


def ratings_of(
    runs: Mapping[str, Run], annotations: Iterable[Annotations]
) -> Iterator[tuple[str, HumanLabel]]:
    """The ratings, each with the run that it is of, as labels for `agreement` and `estimate`."""
    for each in annotations:
        places = located(runs, each)
        for answer in each.items:
            if answer.rating is not None and answer.item in places:
                name, sample_id = places[answer.item]
                yield name, HumanLabel(Unit(sample_id), each.annotator, RATING, float(answer.rating))


def judge_accuracy(runs: Mapping[str, Run], annotations: Sequence[Annotations]) -> list[JudgeAccuracy]:
    """How often people confirm what the judge extracted and decided, metric by metric."""
    found: dict[str, dict[str, int]] = {}
    for each in annotations:
        places = located(runs, each)
        for answer in each.items:
            if answer.item in places:
                name, sample_id = places[answer.item]
                for metric in answer.metrics:
                    judged = {
                        verdict.number: verdict
                        for verdict in runs[name].record(sample_id, metric.metric).verdicts
                    }
                    counts = found.setdefault(metric.metric, dict.fromkeys(_COUNTS, 0))
                    counts["added"] += len(metric.added)
                    for statement in metric.statements:
                        verdict = judged.get(statement.number)
                        if verdict is None:
                            continue
                        if statement.extracted is not None:
                            counts["looked"] += 1
                            counts["confirmed"] += statement.extracted
                        own = verdict.supported if verdict.overruled is None else verdict.overruled
                        if (
                            statement.verdict is not None
                            and statement.extracted is not False
                            and own is not None
                        ):
                            counts["judged"] += 1
                            counts["shared"] += own == statement.verdict
    return [
        JudgeAccuracy(
            metric=metric,
            extraction=wilson_interval(counts["confirmed"], counts["looked"]),
            found=wilson_interval(counts["confirmed"], counts["confirmed"] + counts["added"]),
            verdicts=wilson_interval(counts["shared"], counts["judged"]),
            statements=counts["looked"],
            judged=counts["judged"],
            added=counts["added"],
        )
        for metric, counts in found.items()
    ]


def verdict_changes(
    runs: Mapping[str, Run], annotations: Sequence[Annotations]
) -> Iterator[tuple[str, Unit, bool, str]]:
    """The verdicts that people would change: run, statement, their decision, and who.

    Where several people looked at one statement, more than half must want the change.
    """
    votes: dict[tuple[str, Unit], dict[str, bool]] = {}
    for each in annotations:
        places = located(runs, each)
        for answer in each.items:
            if answer.item in places:
                name, sample_id = places[answer.item]
                for metric in answer.metrics:
                    for statement in metric.statements:
                        if statement.verdict is not None:
                            unit = Unit(sample_id, metric.metric, statement.number)
                            votes.setdefault((name, unit), {})[each.annotator] = statement.verdict
    for (name, unit), said in votes.items():
        record = runs[name].record(unit.sample_id, unit.metric or "")
        verdict = next((each for each in record.verdicts if each.number == unit.statement), None)
        if verdict is None:
            continue
        against = [who for who, decision in said.items() if decision != verdict.supported]
        if 2 * len(against) > len(said):
            yield name, unit, said[against[0]], ", ".join(sorted(against))


def annotation_tables(found: Sequence[JudgeAccuracy], changes: int, ratings: int) -> Iterator[Table]:
    """What people say of the judge's two tasks."""
    yield Table(
        name="judge",
        title="The judge's two tasks, by people",
        columns=(
            Column("metric"),
            Column("extraction", "estimate"),
            Column("found", "estimate"),
            Column("verdicts", "estimate"),
            Column("statements", "count"),
            Column("judged", "count"),
            Column("added", "count"),
        ),
        rows=tuple(
            (
                each.metric,
                each.extraction,
                each.found,
                each.verdicts,
                each.statements,
                each.judged,
                each.added,
            )
            for each in found
        ),
        notes=(
            "extraction: extracted statements that the text says; found: statements of the text that were "
            "extracted; "
            "verdicts: right ones among the confirmed statements",
            f"{ratings} ratings, {changes} verdicts that people would change",
        ),
    )


def item_name(run: str, sample_id: str, seed: int) -> str:
    """What an answer is called in a sheet: it tells neither the run nor the sample."""
    return hashlib.sha256(json.dumps([seed, run, sample_id]).encode()).hexdigest()[:16]


_COUNTS = ("looked", "confirmed", "added", "judged", "shared")


def _item(name: str, run: Run, sample_id: str, metrics: Sequence[str] | None, seed: int) -> Item:
    sample = run.sample(sample_id)
    scores = run.scores(sample_id)
    wanted = (
        scores
        if metrics is None
        else {
            run.score(sample_id, metric).record.signature: run.score(sample_id, metric) for metric in metrics
        }
    )
    shown = tuple(
        (
            signature,
            tuple(
                Statement(verdict.number, verdict.about, verdict.text, verdict.supported, verdict.label)
                for verdict in score.record.verdicts
            ),
        )
        for signature, score in wanted.items()
        if score.record.verdicts
    )
    return Item(
        item_name(name, sample_id, seed),
        sample.question,
        sample.contexts or (),
        sample.reference,
        sample.answer,
        shown,
    )
