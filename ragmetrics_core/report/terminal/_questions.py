"""Terminal pages of a test set: its numbers, the reasons of dropped candidates, and the plan."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from ragmetrics_core.questions import CODES, CheckSettings, QuestionPlan, QuestionSet, TrafficSettings
from ragmetrics_core.report._text import one_line
from ragmetrics_core.report.terminal._text import LABEL, facts, plain, table
from ragmetrics_core.texts.wording import number_of

__all__ = ["question_plan_page", "question_set_page"]


def question_set_page(made: QuestionSet) -> Iterator[RenderableType]:
    """Kept questions by label and kind, and dropped candidates by reason."""
    summary = made.summary
    rows = table("for", "kind")
    for name in ("kept", "asked for"):
        rows.add_column(name, justify="right", no_wrap=True)
    rows.add_column("missing because", overflow="fold")
    for cell in summary.cells:
        place = "all documents"
        if cell.label is not None:
            place = cell.label if cell.value is None else f"{cell.label} {cell.value}"
        numbers = [f"{cell.kept:,}", f"{cell.asked:,}"]
        rows.add_row(plain(one_line(place)), cell.kind or "any", *numbers, plain(one_line(cell.why_short)))
    yield rows
    if made.dropped:
        yield Text()
        yield Text(f"{number_of(len(made.dropped), 'candidate was', 'candidates were')} dropped:")
        reasons = table()
        reasons.add_column("reason")
        reasons.add_column("candidates", justify="right")
        reasons.add_column("", overflow="fold")
        for code, count in made.counts.items():
            reasons.add_row(code, f"{count:,}", Text(CODES.get(code, ""), LABEL))  # type: ignore[call-overload]
        yield reasons
        if sum(made.counts.values()) > len(made.dropped):
            yield Text("A candidate can have several reasons.", LABEL)
    kept = len(made.checked)
    if kept and not isinstance(summary.settings, TrafficSettings):
        share = summary.by_first_hit / kept
        first_hit = f"BM25's first hit alone answers {summary.by_first_hit:,} of {kept:,} ({share:.0%})"
        limit = summary.settings.first_hit_share
        if share > limit:
            first_hit += f", more than {limit:.0%}"
            if not isinstance(summary.settings, CheckSettings):
                first_hit += ", because questions are missing"
        yield Text()
        yield Text(f"{first_hit}.")
    if isinstance(summary.settings, CheckSettings) and summary.settings.left_out:
        yield Text(f"Not measured: {', '.join(summary.settings.left_out)}.")


def question_plan_page(plan: QuestionPlan) -> Iterator[RenderableType]:
    """Calls of the first round, by stage and metric."""
    rows = table("stage", "metric")
    for name in ("samples", "calls", "prompt tokens", "reply tokens"):
        rows.add_column(name, justify="right", no_wrap=True)
    for stage, part in plan.stages.items():
        for signature, estimate in part.metrics.items():
            numbers = part.samples, estimate.calls, estimate.prompt_tokens, estimate.completion_tokens
            rows.add_row(stage, plain(signature), *[f"{number:,}" for number in numbers])
    yield rows
    yield Text()
    lines = [
        ("asked for", Text(number_of(plan.asked, "question"))),
        ("first round", Text(f"{number_of(plan.candidates, 'candidate')}, {plan.calls:,} calls")),
        ("at most", Text(f"{plan.most_calls:,} calls, if every question needs all {plan.tries} tries")),
    ]
    if plan.cost is not None:
        lines.append(("cost", Text(f"{plan.cost:,.4g} for the first round")))
    yield facts(lines)
