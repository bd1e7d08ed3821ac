"""Annotation: blinded sheets of runs, and the accuracy of the judge from their annotations."""

import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Verdict
from ragmetrics_core.runs import Run
from ragmetrics_core.study._consensus import majority
from ragmetrics_core.study._estimates import Estimate, wilson_interval
from ragmetrics_core.study._human_labels import HumanLabel, LabelledUnit
from ragmetrics_core.study._tables import StudyTable, table_of
from ragmetrics_core.texts.wording import number_of

__all__ = [
    "Annotations",
    "JudgeAccuracy",
    "Sheet",
    "SheetItem",
    "annotation_tables",
    "items_of",
    "judge_accuracy",
    "ratings_of",
    "read_annotations",
    "verdict_changes",
]

RATING = "rating"


class SheetStatement(NamedTuple):
    """A statement as the judge extracted it, and its verdict."""

    number: int
    about: str
    text: str
    verdict: bool | None
    label: str


class SheetItem(NamedTuple):
    """One answer to annotate; the name `item` does not reveal the run."""

    item: str
    question: str | None
    contexts: tuple[str, ...]
    references: tuple[str, ...]
    answer: str | None
    metrics: tuple[tuple[str, tuple[SheetStatement, ...]], ...]


class Sheet(NamedTuple):
    """All items in display order: by question, with shuffled answers."""

    items: tuple[SheetItem, ...]
    seed: int


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StatementAnswer(_Read):
    """A person's annotation of a statement: whether the text says it, and the verdict."""

    number: int
    extracted: bool | None = None
    verdict: bool | None = None


class MetricAnswer(_Read):
    """A person's annotations of the statements of one score, with statements that the judge missed."""

    metric: str
    statements: tuple[StatementAnswer, ...] = ()
    added: tuple[str, ...] = ()


class ItemAnswer(_Read):
    """A person's annotations of one answer."""

    item: str
    rating: int | None = Field(default=None, ge=1, le=5)
    note: str = ""
    metrics: tuple[MetricAnswer, ...] = ()


class Annotations(_Read):
    """Annotations exported from the sheet."""

    format: Literal["ragmetrics-annotations"]
    version: Literal[1]
    annotator: str = Field(min_length=1)
    seed: int
    items: tuple[ItemAnswer, ...]


class JudgeAccuracy(NamedTuple):
    """Accuracy of a judge's statements and verdicts for one metric, by people's annotations.

    Attributes:
        metric: signature of the metric.
        extraction: share of extracted statements that the text says.
        found: share of statements that the judge found: confirmed / (confirmed + added by people).
        verdicts: share of verdicts that people confirm, on statements that the text says.
        statements: number of annotated statements.
        judged: number of annotated verdicts.
        added: number of statements that the judge missed.
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
    """Items for a sheet: samples in random order, each with the shuffled answers of all runs.

    Args:
        runs: runs by name; the sheet does not show the names.
        metrics: names or signatures of metrics whose statements to show. Default: all with statements.
        limit: number of questions, drawn at random.
        seed: seed of the order; the sheet stores it for reading annotations back.

    Raises:
        ConfigError: there is no sample, or a run lacks a metric.
    """
    order = random.Random(seed)
    ids = list(dict.fromkeys(sample_id for run in runs.values() for sample_id in run.sample_ids))
    if not ids:
        raise ConfigError("there is no sample to annotate")
    order.shuffle(ids)
    items: list[SheetItem] = []
    for sample_id in ids[:limit]:
        names = [name for name, run in runs.items() if sample_id in run.sample_ids]
        order.shuffle(names)
        items += (_item(name, runs[name], sample_id, metrics, seed) for name in names)
    return Sheet(tuple(items), seed)


def read_annotations(path: Path) -> Annotations:
    """Read a file that the sheet exported.

    Raises:
        ConfigError: the file is not an export of a sheet.
    """
    try:
        return Annotations.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        (first, *_) = error.errors()
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(
            f"{path} is not an export of an annotation sheet: {place}: {first['msg']}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not JSON: {error}") from error


def _located(
    runs: Mapping[str, Run], annotations: Iterable[Annotations]
) -> Iterator[tuple[str, str, str, ItemAnswer]]:
    """Each annotation of these runs: the annotator, the run, the sample and the annotation."""
    for sheet in annotations:
        places = {
            item_name(name, sample_id, sheet.seed): (name, sample_id)
            for name, run in runs.items()
            for sample_id in run.sample_ids
        }
        for answer in sheet.items:
            if answer.item in places:
                yield sheet.annotator, *places[answer.item], answer


def ratings_of(
    runs: Mapping[str, Run], annotations: Iterable[Annotations]
) -> Iterator[tuple[str, HumanLabel]]:
    """The ratings with their runs, as labels for `agreement` and `estimate`."""
    for who, name, sample_id, answer in _located(runs, annotations):
        if answer.rating is not None:
            yield name, HumanLabel(LabelledUnit(sample_id), who, RATING, float(answer.rating))


def judge_accuracy(runs: Mapping[str, Run], annotations: Sequence[Annotations]) -> list[JudgeAccuracy]:
    """Share of the judge's statements and verdicts that people confirm, by metric.

    A statement counts once, with the majority of its annotators (more than half); without a majority it is
    left out. The number of added statements is the largest on which more than half of the annotators of a
    score agree.
    """
    added = Counter[str]()
    confirmed, shared = defaultdict[str, list[bool]](list), defaultdict[str, list[bool]](list)
    for (_, _, metric), of_score in _answers(runs, annotations).items():
        counts = sorted((len(each.added) for each in of_score.values()), reverse=True)
        added[metric] += counts[len(of_score) // 2]
    for _, unit, verdict, answers in _looked_at(runs, annotations):
        votes = {who: each.extracted for who, each in answers.items() if each.extracted is not None}
        extracted = majority(votes)
        if extracted is not None:
            confirmed[unit.metric or ""].append(extracted)
        decision = majority(
            {
                who: each.verdict
                for who, each in answers.items()
                if each.verdict is not None and each.extracted is not False
            }
        )
        own = verdict.supported if verdict.overruled is None else verdict.overruled
        if own is not None and decision is not None and (extracted or not votes):
            shared[unit.metric or ""].append(own == decision)
    return [
        JudgeAccuracy(
            metric,
            wilson_interval(sum(right), len(right)),
            wilson_interval(sum(right), sum(right) + more),
            wilson_interval(sum(alike), len(alike)),
            len(right),
            len(alike),
            more,
        )
        for metric, more in added.items()
        for right, alike in [(confirmed[metric], shared[metric])]
    ]


def verdict_changes(
    runs: Mapping[str, Run], annotations: Sequence[Annotations]
) -> Iterator[tuple[str, LabelledUnit, bool, str]]:
    """The verdicts that people would change: run, statement, decision and annotators.

    If several people annotated a statement, more than half must agree on the verdict, even if the judge gave
    none.
    """
    for name, unit, verdict, answers in _looked_at(runs, annotations):
        votes = {who: each.verdict for who, each in answers.items() if each.verdict is not None}
        decision = majority(votes)
        if decision is not None and decision != verdict.supported:
            who = ", ".join(sorted(who for who, vote in votes.items() if vote == decision))
            yield name, unit, decision, who


def _looked_at(
    runs: Mapping[str, Run], annotations: Iterable[Annotations]
) -> Iterator[tuple[str, LabelledUnit, Verdict, dict[str, StatementAnswer]]]:
    """Each statement of annotated scores: its run, its verdict, and each person's annotation."""
    for (name, sample_id, metric), said in _answers(runs, annotations).items():
        for verdict in runs[name].score(sample_id, metric).verdicts:
            answers = {
                who: statement
                for who, each in said.items()
                for statement in each.statements
                if statement.number == verdict.number
            }
            yield name, LabelledUnit(sample_id, metric, verdict.number), verdict, answers


def annotation_tables(
    accuracies: Sequence[JudgeAccuracy], changes: int, ratings: int
) -> Iterator[StudyTable]:
    """Tables of the judge's accuracy at its two tasks."""
    yield table_of(
        "judge",
        "The judge's two tasks, by people",
        JudgeAccuracy,
        accuracies,
        "metric extraction found verdicts statements judged added",
        (
            "extraction: extracted statements that the text says; found: statements of the text that were "
            "extracted; verdicts: right ones among the confirmed statements",
            "a statement counts once: what more than half of those who looked at it say, and not at all "
            "without such a majority",
            f"{number_of(ratings, 'rating')}, {number_of(changes, 'verdict')} that people would change",
        ),
    )


def item_name(run: str, sample_id: str, seed: int) -> str:
    """Name of an answer in a sheet, which reveals neither the run nor the sample."""
    return hashlib.sha256(json.dumps([seed, run, sample_id]).encode()).hexdigest()[:16]


def _answers(
    runs: Mapping[str, Run], annotations: Iterable[Annotations]
) -> dict[tuple[str, str, str], dict[str, MetricAnswer]]:
    """Annotations by run, sample, metric and person; the latest file of a person counts."""
    said: dict[tuple[str, str, str], dict[str, MetricAnswer]] = {}
    for who, name, sample_id, answer in _located(runs, annotations):
        for metric in answer.metrics:
            said.setdefault((name, sample_id, metric.metric), {})[who] = metric
    return said


def _item(name: str, run: Run, sample_id: str, metrics: Sequence[str] | None, seed: int) -> SheetItem:
    sample, wanted = run.sample(sample_id), run.scores(sample_id)
    if metrics is not None:
        wanted = {score.signature: score for score in (run.score(sample_id, each) for each in metrics)}
    shown = tuple(
        (
            signature,
            tuple(
                SheetStatement(verdict.number, verdict.about, verdict.text, verdict.supported, verdict.label)
                for verdict in score.verdicts
            ),
        )
        for signature, score in wanted.items()
        if score.verdicts
    )
    contexts, item = sample.contexts or (), item_name(name, sample_id, seed)
    return SheetItem(item, sample.question, contexts, sample.expected, sample.answer, shown)
