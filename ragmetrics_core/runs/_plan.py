"""Calls and cost of a run before it is started."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from ragmetrics_core.adapting import synchronous
from ragmetrics_core.boundary.keywords import listing_settings
from ragmetrics_core.drivers import MetricEstimate, plan_sample
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.journal import Journal, call_address, decode_reply
from ragmetrics_core.models import Budget, Price, PromptChecker, Traffic, rule_judge
from ragmetrics_core.models.wrapper import decider
from ragmetrics_core.protocol import Completion, Generate, Judge
from ragmetrics_core.records import FAILED
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._loading import AsyncSource, BadRow, none_usable
from ragmetrics_core.runs._manifest import Manifest
from ragmetrics_core.runs._settings import RUN_DEFAULTS, RunArgs, merged_settings
from ragmetrics_core.runs.preparation import prepare
from ragmetrics_core.runs.prices import price_of

__all__ = ["Plan", "aplan", "plan"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Calls and cost of a run.

    Calls that follow from the samples alone are counted exactly. The others are estimated with replies of the
    embedded judge's rules or, for a custom prompt, any reply of its answer type. A token is counted as four
    characters, which is about right for English.

    Attributes:
        samples: number of samples to measure.
        kept: number of scores that the run's folder has already.
        rejected: number of rows that would be left out.
        metrics: calls of each metric, by signature; a shared call counts for the first metric that makes it.
        price: price of the judge, if known.
        form_attempts: maximum number of attempts to get a reply in the right form.
    """

    samples: int
    kept: int
    rejected: int
    metrics: Mapping[str, MetricEstimate]
    price: Price | None
    form_attempts: int = 1

    @property
    def asked_again(self) -> int:
        """Maximum number of further calls, if every reply needs all its attempts."""
        return self.total.calls * (self.form_attempts - 1)

    @property
    def total(self) -> MetricEstimate:
        """All metrics together."""
        return sum(self.metrics.values(), start=MetricEstimate())

    def cost(self, estimate: MetricEstimate) -> float | None:
        """Cost of the calls, in the currency of the price; None if there is no price."""
        if self.price is None:
            return None
        prompt, completion = estimate.prompt_tokens, estimate.completion_tokens
        return (prompt * self.price.prompt + completion * self.price.completion) / 1e6


@dataclass(frozen=True)
class _StandIn:
    """Stand-in replies for the judge: by rules, else by answer type alone.

    Attributes:
        rules: the judge of rules.
    """

    rules: Judge
    identity: str = "stand-in"

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """One reply for each draw."""
        try:
            if isinstance(self.rules, PromptChecker):
                self.rules.check_prompts([request.prompt.name])
        except ConfigError:
            return [Completion(text=request.prompt.answer.filled(request.expected))] * request.draws
        return await self.rules.agenerate(request)


@listing_settings(RunArgs, RUN_DEFAULTS)
async def aplan(
    samples: AsyncSource,
    *,
    out: str | Path | None = None,
    cache: str | Path | None = None,
    traffic: Traffic | None = None,
    budget: Budget | None = None,
    **settings: Unpack[RunArgs],
) -> Plan:
    """Count the calls that `evaluate` with the same arguments would make, without a call.

    Models given by name need no key, package or file. With `out` or `cache`, finished scores and calls in the
    journal are left out. `traffic` and `budget` are checked, but the budget does not limit the counts. `plan`
    waits for the result, `aplan` is awaited.

    Raises:
        ConfigError: an argument is wrong, or the folder holds another run.
    """
    traffic, budget, made_of = merged_settings(traffic, budget, settings)
    stand_in = _StandIn(rule_judge())
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
"""Count the calls that `evaluate` would make, and wait; takes the arguments of `aplan`."""


def _folder_in(out: str | Path | None, manifest: Manifest) -> Folder | None:
    """The run that would be resumed, if it exists."""
    if out is None or not (Path(out) / "manifest.json").is_file():
        return None
    folder = Folder.open(out)
    folder.manifest.check_goes_on(Path(out), manifest)
    return folder


def _journal_in(out: str | Path | None, cache: str | Path | None) -> Journal:
    """The journal that the run would use, if it exists; a plan creates no file."""
    path = Path(cache) if cache is not None else Path(out) / "journal.sqlite" if out is not None else None
    return Journal(path if path is not None and path.is_file() else None)
