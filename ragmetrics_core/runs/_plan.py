"""What a run would ask and cost, before it is started."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ragmetrics_core.drivers import MetricEstimate, plan_sample
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.journal import Journal, call_address, decode_reply
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.models import Budget, Price, Traffic
from ragmetrics_core.models._cascade import decider
from ragmetrics_core.protocol import Completion, Generate, Judge
from ragmetrics_core.records import FAILED
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._loading import AsyncSource, BadRow, none_usable
from ragmetrics_core.runs._manifest import Manifest
from ragmetrics_core.runs._own_loop import synchronous
from ragmetrics_core.runs._preparation import prepare
from ragmetrics_core.runs._prices import price_of
from ragmetrics_core.runs._settings import RUN_DEFAULTS, RunArgs, settled

if TYPE_CHECKING:
    from ragmetrics_core.models._lexical import LexicalJudge

__all__ = ["Plan", "aplan", "plan"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a run would ask.

    Calls that follow from the samples alone are counted exactly; for the others the rules of the embedded
    judge stand in for the judge, or, for a prompt of one's own, any reply of its answer's type: so their
    number and length are estimates. A token is taken to be four
    characters, which is about right for English.

    Attributes:
        samples: how many samples would be measured.
        kept: how many scores the run's folder has already.
        rejected: how many rows would be left out.
        metrics: what each metric would ask, by signature; a call that several make is the first one's.
        price: what the judge costs; None when no prices were given.
        form_attempts: how often a reply is asked for, in all, until it is in the form that was asked for.
    """

    samples: int
    kept: int
    rejected: int
    metrics: Mapping[str, MetricEstimate]
    price: Price | None
    form_attempts: int = 1

    @property
    def asked_again(self) -> int:
        """How many more calls there are at most, where no reply is of the form at first."""
        return self.total.calls * (self.form_attempts - 1)

    @property
    def total(self) -> MetricEstimate:
        """All metrics together."""
        return sum(self.metrics.values(), start=MetricEstimate())

    def cost(self, estimate: MetricEstimate) -> float | None:
        """What the calls would cost, in the currency of the price; None without one."""
        if self.price is None:
            return None
        prompt, completion = estimate.prompt_tokens, estimate.completion_tokens
        return (prompt * self.price.prompt + completion * self.price.completion) / 1e6


@dataclass(frozen=True)
class _StandIn:
    """Answers for a judge that is not asked: by the embedded judge's rules, else by the answer's type alone.

    Attributes:
        rules: the embedded judge.
    """

    rules: "LexicalJudge"
    identity: str = "stand-in"

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """As many replies as there are draws."""
        try:
            self.rules.check_prompts([request.prompt.name])
        except ConfigError:
            return [Completion(text=request.prompt.answer.filled(request.expected))] * request.draws
        return await self.rules.agenerate(request)


@unfolded(RunArgs, RUN_DEFAULTS)
async def aplan(
    samples: AsyncSource,
    *,
    out: str | Path | None = None,
    cache: str | Path | None = None,
    traffic: Traffic | None = None,
    budget: Budget | None = None,
    **settings: Unpack[RunArgs],
) -> Plan:
    """Count what `evaluate` with the same arguments would ask, without one call.

    No model is asked, so that those of a name need no key, no package and no file.
    With `out` or `cache`, what is there already is left out: finished scores, and calls in the journal.
    `traffic` and `budget` are checked; a plan counts what a run would ask that no budget ends. `plan` waits
    for it, `aplan` is awaited.

    Raises:
        ConfigError: a mistake in the arguments, or the folder holds another run.
    """
    traffic, budget, made_of = settled(traffic, budget, settings)
    # Loaded here, because its word lists take longer than all else that evaluating needs.
    from ragmetrics_core.models._lexical import LexicalJudge

    stand_in = _StandIn(LexicalJudge())
    prepared = await prepare(samples, **made_of, out=out, asked=False)
    earlier = _folder_in(out, prepared.manifest)
    estimates = {metric.signature: MetricEstimate() for metric in prepared.metrics}
    counted = kept = rejected = 0
    useless: BadRow | None = None
    asked: set[Hashable] = set()
    with _journal_in(out, cache) as journal:

        def known(judge: Judge, request: Generate[Any]) -> Completion | None:
            identity = decider(judge, request) or judge.identity
            body = journal.get(call_address(identity, request.digest, str(request.draw)))
            return None if body is None else decode_reply(body)

        async for row in prepared.rows:
            if isinstance(row, BadRow):
                rejected += 1
                useless = useless or row
                continue
            statuses = earlier.statuses(row) if earlier else {}
            wanted = [
                metric for metric in prepared.metrics if statuses.get(metric.signature, "cancelled") in FAILED
            ]
            kept += len(prepared.metrics) - len(wanted)
            counted += bool(wanted)
            found = plan_sample(
                row,
                wanted,
                prepared.models,
                form_attempts=traffic.form_attempts,
                stand_in=stand_in,
                known=known,
                asked=asked,
            )
            for metric, estimate in zip(wanted, found, strict=True):
                estimates[metric.signature] += estimate
    if useless is not None and not counted and not kept and earlier is None:
        raise none_usable(rejected, useless)
    return Plan(
        samples=counted,
        kept=kept,
        rejected=rejected,
        metrics=estimates,
        price=price_of(prepared.models.judges, budget.prices),
        form_attempts=traffic.form_attempts,
    )


plan = synchronous(aplan)
"""Count what `evaluate` with the same arguments would ask, and wait for it; it takes what `aplan` takes."""


def _folder_in(out: str | Path | None, manifest: Manifest) -> Folder | None:
    """The run that would go on, if it has begun."""
    if out is None or not (Path(out) / "manifest.json").is_file():
        return None
    folder = Folder.open(out)
    folder.manifest.check_goes_on(Path(out), manifest)
    return folder


def _journal_in(out: str | Path | None, cache: str | Path | None) -> Journal:
    """The journal that the run would use, if it exists; a plan makes no file."""
    path = Path(cache) if cache is not None else Path(out) / "journal.sqlite" if out is not None else None
    return Journal(path if path is not None and path.is_file() else None)
