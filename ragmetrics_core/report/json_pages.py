"""Output of commands with `--json`, for other programs; see docs/runs.md.

Fields are never renamed or removed and keep their types; new ones may be added. Numbers are finite; missing
values are null.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import Field, fields
from textwrap import dedent
from typing import Any, Literal, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.boundary.shapes import is_tuple
from ragmetrics_core.metrics import ALIASES, Metric
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Part
from ragmetrics_core.questions import CellCount, QuestionSet
from ragmetrics_core.records import Status
from ragmetrics_core.runs import ListedRun, Plan, Run
from ragmetrics_core.runs.shown_contexts import ShownContexts
from ragmetrics_core.study import GateVerdict

__all__ = [
    "AuditPage",
    "CataloguePage",
    "EvaluationPage",
    "JsonPage",
    "MetricRow",
    "PlanPage",
    "QuestionSetPage",
    "RunsPage",
    "audit_json",
    "catalogue_json",
    "described",
    "evaluation_json",
    "plan_json",
    "question_set_json",
    "runs_json",
]


class JsonPage(BaseModel):
    """JSON output of a command, or a part of it."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True, from_attributes=True
    )

    @classmethod
    def of(cls, *sources: object, **own: Any) -> Self:
        """Build the page from objects with fields of the same names; a field that none has is null."""
        for name in cls.model_fields.keys() - own.keys():
            own[name] = next((getattr(each, name) for each in sources if hasattr(each, name)), None)
        return cls(**own)


class MeanRow(JsonPage):
    """The mean of a metric over a run, see `Mean`; `lower_is_better` says which end of the range is good."""

    metric: str
    name: str
    value: float | None
    sd: float | None
    n: int
    total: int
    statuses: dict[Status, int]
    worst: float | None
    best: float | None
    abstained: int
    separated: int
    low: float
    high: float
    lower_is_better: bool


class LeftOutRow(JsonPage):
    """An invalid row: its place and its problem."""

    where: str
    message: str


class GateReason(JsonPage):
    """Reason why a run does not pass: a metric ("" for the whole run) and a sentence."""

    metric: str
    why: str


class GatePage(JsonPage):
    """Verdict on the limits of `--min` and `--max`; `cannot_tell` has no limit that failed.

    `notes` say how many sessions the intervals rest on.
    """

    verdict: Literal["passed", "failed", "cannot tell"]
    failed: list[GateReason]
    cannot_tell: list[GateReason]
    notes: list[str]


class EvaluationPage(JsonPage):
    """Output of `evaluate`, with the counts of `Declines`; `gate` is null without `--min` and `--max`."""

    run: str | None
    finished: bool
    samples: int
    metrics: list[MeanRow]
    declines: dict[str, int]
    left_out: list[LeftOutRow]
    judge: str | None
    embedder: str | None
    scorer: str | None
    notes: list[str]
    tally: dict[str, int]
    gate: GatePage | None


class RunRow(JsonPage):
    """A run in a folder; `problem` says why it cannot be read."""

    path: str
    state: Literal["finished", "running", "waiting", "interrupted", "unreadable"]
    samples: int
    started: str | None
    metrics: list[str]
    means: dict[str, float | None]
    judge: str | None
    embedder: str | None
    scorer: str | None
    problem: str | None


class RunsPage(JsonPage):
    """Output of `runs`: the runs, by path."""

    runs: list[RunRow]


class PlanRow(JsonPage):
    """Calls of one metric (`MetricEstimate`); `metric` is null for all, `cost` without prices.

    If `in_turn` is above 0, the counts are upper bounds.
    """

    metric: str | None
    calls: int
    estimated: int
    shared: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    embedded: int
    rated: int
    in_turn: int
    cost: float | None


class PricePage(JsonPage):
    """Price of a million tokens."""

    prompt: float
    completion: float


class PlanPage(JsonPage):
    """Output of `plan`; the folder has `kept` scores, and at most `asked_again` calls may be added."""

    samples: int
    kept: int
    left_out: int
    metrics: list[PlanRow]
    total: PlanRow
    asked_again: int
    price: PricePage | None


class SettingRow(JsonPage):
    """A setting of a metric with its default and its choices; "" if its type has none."""

    name: str
    meaning: str
    default: str
    choices: str


class MetricRow(JsonPage):
    """A metric of the catalogue; the first of its variants is the default."""

    name: str
    aliases: list[str]
    description: str
    models: list[str]
    inputs: list[str]
    low: float
    high: float
    lower_is_better: bool
    settings: list[SettingRow]
    variants: dict[str, dict[str, str]]


class CataloguePage(JsonPage):
    """Output of `metrics`: all metrics, or the named one."""

    metrics: list[MetricRow]


class DifferenceRow(JsonPage):
    """A difference in a record (`sample`) or in a file of the run (`file`)."""

    sample: str | None
    file: str | None
    metric: str | None
    field: str
    stored: str
    derived: str


class AuditPage(JsonPage):
    """Output of `audit`; `passed` only if nothing differs and the run is finished or still being written.

    `shown` counts the contexts by whether the models received them; `contradicted` has the numbers of the
    contexts that they did not receive, by sample. `words` are those of the requests, `accounted` those that
    come from a known text, and `unaccounted` has the samples with longer texts of unknown origin.
    """

    passed: bool
    records: int
    finished: bool
    still_written: bool
    differences: list[DifferenceRow]
    shown: dict[str, int]
    contradicted: dict[str, list[int]]
    words: int
    accounted: int
    unaccounted: list[str]


def evaluation_json(run: Run, gate: GateVerdict | None = None) -> EvaluationPage:
    """Output of a finished evaluation."""
    return EvaluationPage.of(
        run,
        run.manifest,
        run=None if run.path is None else str(run.path),
        samples=len(run),
        metrics=[
            MeanRow.of(mean, entry, lower_is_better=not entry.higher_is_better)
            for mean, entry in zip(run.means(), run.metrics, strict=True)
        ],
        declines=run.declines._asdict(),
        left_out=run.rejected,
        gate=gate
        and GatePage(
            verdict=gate.word,
            failed=_reasons(gate.failed),
            cannot_tell=_reasons(gate.untold),
            notes=list(gate.notes),
        ),
    )


def runs_json(runs: Iterable[ListedRun]) -> RunsPage:
    """The runs in a folder."""
    return RunsPage(
        runs=[
            RunRow.of(
                run,
                run.manifest,
                path=str(run.path),
                started=run.started and run.started.isoformat(),
                metrics=[entry.signature for entry in run.manifest.metrics] if run.manifest else [],
                means=run.means(),
            )
            for run in runs
        ]
    )


def plan_json(plan: Plan) -> PlanPage:
    """Output of a plan."""
    *rows, total = (
        PlanRow.of(estimate, metric=metric, cost=plan.cost(estimate))
        for metric, estimate in (*plan.metrics.items(), (None, plan.total))
    )
    return PlanPage.of(plan, left_out=plan.rejected, metrics=rows, total=total)


def catalogue_json(metrics: Iterable[type[Metric[Any]]]) -> CataloguePage:
    """The catalogue of metrics."""
    return CataloguePage(metrics=[described(each) for each in metrics])


def audit_json(run: Run, *, processes: int | None = None) -> AuditPage:
    """Audit a run; see `Run.audit` for the processes."""
    rows = [
        DifferenceRow(
            sample=key.sample_id if key in run.keys else None,
            file=None if key in run.keys else key.sample_id,
            metric=key.signature or None,
            field=each.field,
            stored=repr(each.stored),
            derived=repr(each.derived),
        )
        for key, differences in run.audit(processes=processes)
        for each in differences
    ]
    shown = ShownContexts.of(run.samples())
    return AuditPage(
        passed=not rows and (run.finished or run.is_written),
        records=len(run.keys),
        finished=run.finished,
        still_written=run.is_written,
        differences=rows,
        shown=shown.states,
        contradicted=shown.contradicted,
        words=shown.words,
        accounted=shown.accounted,
        unaccounted=shown.unaccounted,
    )


def _reasons(pairs: Iterable[tuple[str, str]]) -> list[GateReason]:
    return [GateReason(metric=metric, why=why) for metric, why in pairs]


def described(metric: type[Metric[Any]]) -> MetricRow:
    """A metric as its class describes it."""
    paragraphs: list[str] = []
    meanings: dict[str, str] = {}
    for block in inspect.cleandoc(metric.__doc__ or "").split("\n\n"):
        title, _, listed = block.partition("\n")
        if title != "Attributes:":
            paragraphs.append(" ".join(block.split()))
            continue
        for entry in re.split(r"\n(?=\S)", dedent(listed)):
            names, _, meaning = entry.partition(":")
            meanings.update((name.strip(), " ".join(meaning.split())) for name in names.split(","))
    return MetricRow.of(
        metric,
        aliases=[alias for alias, name in ALIASES.items() if name == metric.name],
        description="\n\n".join(paragraphs),
        models=sorted(metric.needs, key=("judge", "embedder", "scorer").index),
        inputs=list(metric.inputs.required()),
        lower_is_better=not metric.higher_is_better,
        settings=list(_settings(metric, meanings)),
        variants={
            variant: {name: _shown(value) for name, value in values.items()}
            for variant, values in metric.variants.items()
        },
    )


def _settings(metric: type[Metric[Any]], meanings: dict[str, str]) -> Iterator[SettingRow]:
    own: tuple[Field[Any], ...] = fields(metric)
    for each in own:
        if each.init and each.name != "variant":
            yield SettingRow(
                name=each.name,
                meaning=meanings.get(each.name, ""),
                default=_shown(each.default),
                choices=_choices(each.type),
            )


def _shown(value: object) -> str:
    """A setting's value as a user would write it."""
    match value:
        case Prompt():
            return f"prompt {value.id}"
        case Part():
            return value.metric + (f"/{value.variant}" if value.variant else "")
        case _ if is_tuple(value):
            return ", ".join(map(_shown, value))
        case bool() | None:
            return {True: "yes", False: "no", None: "none"}[value]
        case float():
            return f"{value:g}"
        case _:
            return str(value)


def _choices(kind: object) -> str:
    """The choices of a setting, from its type."""
    if get_origin(kind) is Literal:
        return " | ".join(map(str, get_args(kind)))
    names = {bool: "yes | no", int: "a whole number", float: "a number"}
    members = [each for each in get_args(kind) if each is not type(None)] or [kind]
    told = [names[each] for each in members if each in names]
    if told and type(None) in get_args(kind):
        told.append("none")
    return " | ".join(told)


class QuestionSetPage(JsonPage):
    """Output of `ragmetrics questions`; `waiting` counts the open requests of a wave."""

    folder: str
    asked: int
    kept: int
    is_complete: bool
    stopped: str
    waiting: int
    by_first_hit: int
    cells: tuple[CellCount, ...]
    reasons: dict[str, int]


def question_set_json(made: QuestionSet) -> QuestionSetPage:
    """The output of `ragmetrics questions`."""
    return QuestionSetPage.of(made, made.summary, folder=str(made.path))
