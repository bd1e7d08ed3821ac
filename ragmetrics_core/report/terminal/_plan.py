"""The page of a plan: calls, tokens and cost of a run."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from ragmetrics_core.drivers import MetricEstimate
from ragmetrics_core.report.terminal._text import LABEL, facts, plain, table
from ragmetrics_core.runs import Plan
from ragmetrics_core.texts.wording import number_of

__all__ = ["plan_page"]

_COLUMNS = {
    **{name: name for name in ("calls", "estimated", "shared", "cached")},
    "prompt_tokens": "prompt\ntokens",
    "completion_tokens": "reply\ntokens",
}


def plan_page(plan: Plan) -> Iterator[RenderableType]:
    """A row for each metric, and how the figures were estimated."""
    rows = table("metric")
    for name in (*_COLUMNS.values(), *(["cost"] if plan.price else [])):
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
    counts: list[int] = [getattr(estimate, name) for name in _COLUMNS]
    cells = [Text(f"{count:,}", "" if count else LABEL) for count in counts]
    cost = plan.cost(estimate)
    return cells if cost is None else [*cells, Text(f"{cost:,.4g}")]


def _said(plan: Plan) -> Iterator[tuple[str, Text]]:
    total = plan.total
    again = number_of(plan.asked_again, "call")
    again += " beside these, where no reply is in the form asked for at first"
    kept = number_of(plan.kept, "score that the run has", "scores that the run has")
    in_turn = number_of(total.in_turn, "score asks", "scores ask")
    lines = (
        ("samples", 1, f"{plan.samples:,}"),
        ("kept", plan.kept, f"{kept} already"),
        ("left out", plan.rejected, number_of(plan.rejected, "row")),
        ("embedded", total.embedded, f"{total.embedded:,} texts"),
        ("rated", total.rated, number_of(total.rated, "pair of texts", "pairs of texts")),
        (
            "at most",
            total.in_turn,
            f"{in_turn} about several references in turn; a run stops at the first with the full score",
        ),
        ("at most", plan.asked_again, again),
    )
    yield from ((name, Text(text)) for name, count, text in lines if count)
    if plan.price:
        prompt, completion = plan.price
        yield "price", Text(f"{prompt:g} for a million prompt tokens, {completion:g} for completion tokens")
