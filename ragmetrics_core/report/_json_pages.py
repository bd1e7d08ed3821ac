"""What commands print with `--json`: one shape each, for other programs; see docs/runs.md.

A field is never renamed, taken away or given another type; new ones may come. Numbers are finite, and what
there is not is null.
"""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.drivers import MetricEstimate
from ragmetrics_core.metrics import Metric
from ragmetrics_core.records import Status
from ragmetrics_core.report._described_metrics import described
from ragmetrics_core.runs import ListedRun, Plan, Run
from ragmetrics_core.runs._shown import ShownContexts
from ragmetrics_core.study import GateVerdict

__all__ = [
    "AuditPage",
    "CataloguePage",
    "EvaluationPage",
    "JsonPage",
    "PlanPage",
    "RunsPage",
    "audit_json",
    "catalogue_json",
    "evaluation_json",
    "plan_json",
    "runs_json",
]


class JsonPage(BaseModel):
    """What a command prints, or a part of it."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


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
    """A row that is no sample: its place, and what is wrong with it."""

    where: str
    message: str


class GateReason(JsonPage):
    """Why a run does not pass: a metric ("" for the run as a whole) and a sentence."""

    metric: str
    why: str


class GatePage(JsonPage):
    """What the limits of `--min` and `--max` came to; nothing is in `cannot_tell` that failed."""

    verdict: Literal["passed", "failed", "cannot tell"]
    failed: list[GateReason]
    cannot_tell: list[GateReason]


class EvaluationPage(JsonPage):
    """What `evaluate` says; `gate` is null without `--min` and `--max`."""

    run: str | None
    finished: bool
    samples: int
    metrics: list[MeanRow]
    left_out: list[LeftOutRow]
    judge: str | None
    embedder: str | None
    scorer: str | None
    notes: list[str]
    tally: dict[str, int]
    gate: GatePage | None


class RunRow(JsonPage):
    """A run of a folder; `problem` says why nothing more is known of it."""

    path: str
    state: Literal["finished", "running", "waiting", "interrupted", "unreadable"]
    samples: int
    started: str | None
    metrics: list[str]
    judge: str | None
    embedder: str | None
    scorer: str | None
    problem: str | None


class RunsPage(JsonPage):
    """What `runs` says: the runs, by path."""

    runs: list[RunRow]


class PlanRow(JsonPage):
    """What one metric would ask (`MetricEstimate`); `metric` is null for all, `cost` without prices.

    Where `in_turn` is above 0, a run asks at most what is counted.
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
    """What a million tokens cost."""

    prompt: float
    completion: float


class PlanPage(JsonPage):
    """What `plan` says; `kept` scores are in the folder already, `asked_again` are calls beside, at most."""

    samples: int
    kept: int
    left_out: int
    metrics: list[PlanRow]
    total: PlanRow
    asked_again: int
    price: PricePage | None


class SettingRow(JsonPage):
    """A setting of a metric, with its default and what it may be, as one would write them."""

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
    """What `metrics` says: all of them, or the one that was named."""

    metrics: list[MetricRow]


class DifferenceRow(JsonPage):
    """What differs, in a record (`sample`) or in a file of the run (`file`)."""

    sample: str | None
    file: str | None
    metric: str | None
    field: str
    stored: str
    derived: str


class AuditPage(JsonPage):
    """What `audit` says; `passed` only if nothing differs and the run is finished or still being written.

    `shown` counts the contexts by whether they stand in what the models were sent; `contradicted` has by
    sample the numbers of those that do not.
    """

    passed: bool
    records: int
    finished: bool
    still_written: bool
    differences: list[DifferenceRow]
    shown: dict[str, int]
    contradicted: dict[str, list[int]]


def evaluation_json(run: Run, gate: GateVerdict | None = None) -> EvaluationPage:
    """What a finished evaluation says."""
    return EvaluationPage(
        run=None if run.path is None else str(run.path),
        finished=run.finished,
        samples=len(run),
        metrics=[
            MeanRow(
                **vars(mean),
                name=entry.name,
                low=entry.low,
                high=entry.high,
                lower_is_better=not entry.higher_is_better,
            )
            for mean, entry in zip(run.means(), run.metrics, strict=True)
        ],
        left_out=[LeftOutRow(where=row.where, message=row.message) for row in run.rejected],
        judge=run.manifest.judge,
        embedder=run.manifest.embedder,
        scorer=run.manifest.scorer,
        notes=list(run.notes),
        tally=run.tally,
        gate=None if gate is None else _gate(gate),
    )


def runs_json(runs: Iterable[ListedRun]) -> RunsPage:
    """The runs of a folder."""
    return RunsPage(runs=[_run(each) for each in runs])


def plan_json(plan: Plan) -> PlanPage:
    """What a run would ask."""
    price = plan.price
    return PlanPage(
        samples=plan.samples,
        kept=plan.kept,
        left_out=plan.rejected,
        metrics=[_planned(plan, estimate, metric) for metric, estimate in plan.metrics.items()],
        total=_planned(plan, plan.total),
        asked_again=plan.asked_again,
        price=None if price is None else PricePage(prompt=price.prompt, completion=price.completion),
    )


def catalogue_json(metrics: Iterable[type[Metric[Any]]]) -> CataloguePage:
    """What can be measured."""
    return CataloguePage(metrics=[_metric(each) for each in metrics])


def audit_json(run: Run, *, processes: int | None = None) -> AuditPage:
    """What the audit of a run finds; see `Run.audit` for the processes."""
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
        shown=dict(shown.states),
        contradicted=shown.contradicted,
    )


def _gate(gate: GateVerdict) -> GatePage:
    return GatePage(
        verdict=gate.word,
        failed=[GateReason(metric=metric, why=why) for metric, why in gate.failed],
        cannot_tell=[GateReason(metric=metric, why=why) for metric, why in gate.untold],
    )


def _run(run: ListedRun) -> RunRow:
    made_of = run.manifest
    return RunRow(
        path=str(run.path),
        state=run.state,
        samples=run.samples,
        started=None if run.started is None else run.started.isoformat(),
        metrics=[] if made_of is None else [entry.signature for entry in made_of.metrics],
        judge=None if made_of is None else made_of.judge,
        embedder=None if made_of is None else made_of.embedder,
        scorer=None if made_of is None else made_of.scorer,
        problem=run.problem,
    )


def _planned(plan: Plan, estimate: MetricEstimate, metric: str | None = None) -> PlanRow:
    return PlanRow(
        metric=metric,
        calls=estimate.calls,
        estimated=estimate.estimated,
        shared=estimate.shared,
        cached=estimate.cached,
        prompt_tokens=estimate.prompt_tokens,
        completion_tokens=estimate.completion_tokens,
        embedded=estimate.embedded,
        rated=estimate.rated,
        in_turn=estimate.in_turn,
        cost=plan.cost(estimate),
    )


def _metric(metric: type[Metric[Any]]) -> MetricRow:
    known = described(metric)
    return MetricRow(
        name=known.name,
        aliases=list(known.aliases),
        description="\n\n".join(known.paragraphs),
        models=list(known.models),
        inputs=list(known.inputs),
        low=known.low,
        high=known.high,
        lower_is_better=not known.higher_is_better,
        settings=[SettingRow(**each._asdict()) for each in known.settings],
        variants=known.variants,
    )
