"""The page that says what a run would ask."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from ragmetrics_core.drivers import MetricEstimate
from ragmetrics_core.report._terminal.text import LABEL, facts, plain, table
from ragmetrics_core.runs import Plan
from ragmetrics_core.wording import number_of

__all__ = ["plan_page"]


def plan_page(plan: Plan) -> Iterator[RenderableType]:
    """One row for each metric, and what the figures rest on."""
    columns = ["calls", "estimated", "shared", "cached", "prompt\ntokens", "reply\ntokens"]
    rows = table("metric")
    for name in [*columns, "cost"] if plan.price else columns:
        rows.add_column(name, justify="right", no_wrap=True)
    for signature, estimate in plan.metrics.items():
        rows.add_row(plain(signature), *_cells(plan, estimate))
    if len(plan.metrics) > 1:
        rows.add_row(Text("together", "bold"), *_cells(plan, plan.total))
    yield rows
    yield Text()
    yield facts(list(_said(plan)))
    yield Text()
    yield Text(
        "Calls that depend on replies are estimated with the rules of the embedded judge. Tokens are "
        "characters divided by four: right for English to about a quarter, too low for most other languages. "
        "Calls that are shared with a metric above or another sample, or cached, cost nothing.",
        LABEL,
    )


def _cells(plan: Plan, estimate: MetricEstimate) -> list[Text]:
    counts = (
        estimate.calls,
        estimate.estimated,
        estimate.shared,
        estimate.cached,
        estimate.prompt_tokens,
        estimate.completion_tokens,
    )
    cells = [Text(f"{count:,}", "" if count else LABEL) for count in counts]
    cost = plan.cost(estimate)
    return cells if cost is None else [*cells, Text(f"{cost:,.4g}")]


def _said(plan: Plan) -> Iterator[tuple[str, Text]]:
    total = plan.total
    yield "samples", Text(f"{plan.samples:,}")
    if plan.kept:
        yield (
            "kept",
            Text(number_of(plan.kept, "score that the run has", "scores that the run has") + " already"),
        )
    if plan.rejected:
        yield "left out", Text(number_of(plan.rejected, "row"))
    if total.embedded:
        yield "embedded", Text(f"{total.embedded:,} texts")
    if total.rated:
        yield "rated", Text(number_of(total.rated, "pair of texts", "pairs of texts"))
    if total.in_turn:
        yield (
            "at most",
            Text(
                number_of(total.in_turn, "score asks", "scores ask")
                + " about several references in turn; a run stops at the first with the full score"
            ),
        )
    if plan.asked_again:
        more = number_of(plan.asked_again, "call")
        yield "at most", Text(f"{more} beside these, where no reply is in the form asked for at first")
    if plan.price:
        prompt, completion = plan.price
        yield "price", Text(f"{prompt:g} for a million prompt tokens, {completion:g} for completion tokens")
