"""The steps of a record: the exact prompts, and the raw replies with the rule that read them."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from ragmetrics_core.drivers import rendered
from ragmetrics_core.records import CompareStep, CountStep, GenerateStep, RateStep, Record, Step
from ragmetrics_core.report._terminal.text import LABEL, WEAK, bullets, heading, one_line, plain
from ragmetrics_core.wording import number_of

__all__ = ["steps_page"]


def steps_page(record: Record, *, prompts: bool, replies: bool) -> Iterator[RenderableType]:
    """Every step in order; a prompt that was drawn several times is shown once.

    Raises:
        RecordError: the record lacks what rendering its prompts needs.
    """
    shown: set[tuple[str, str]] = set()
    for step in record.steps:
        yield Text()
        yield _title(step)
        if not isinstance(step, GenerateStep):
            if replies:
                yield _indented(plain(_numbers(step)))
            continue
        if prompts and (step.path, step.rendered_digest) not in shown:
            shown.add((step.path, step.rendered_digest))
            for message in rendered(record, step):
                yield _indented(Text(message.role, LABEL), 2)
                yield _indented(plain(message.content))
        if replies:
            yield _indented(Text.assemble(("reply, read as ", LABEL), _rule(step)), 2)
            yield _indented(plain(step.reply) if step.reply else Text("(empty)", LABEL))
            if step.remarks:
                yield _indented(Text("what is wrong with it", LABEL), 2)
                yield bullets(map(one_line, step.remarks))


def _title(step: Step) -> Text:
    if not isinstance(step, GenerateStep):
        kinds = {"compare": "comparison", "rate": "rating", "count": "count"}
        return heading(f"Step {plain(step.path)}: {kinds[step.kind]}")
    title = Text.assemble(heading(f"Step {plain(step.path)}: "), plain(step.prompt, "bold"))
    details = [f"draw {step.draw}"] if step.draw and not step.again else []
    details += ["asked again"] if step.again else []
    details += [step.model] if step.model else []
    if step.prompt_tokens is not None and step.completion_tokens is not None:
        details.append(f"{number_of(step.prompt_tokens, 'token')} read, {step.completion_tokens:,} written")
    if step.finish_reason and step.finish_reason != "stop":
        details.append(f"ended by {step.finish_reason}")
    return title.append_text(plain("".join(f" · {each}" for each in details), LABEL))


def _rule(step: GenerateStep) -> Text:
    return plain(step.rule, WEAK if step.rule == "unread" else "bold")


def _numbers(step: CompareStep | RateStep | CountStep) -> str:
    if isinstance(step, CountStep):
        counts = (f"{name} {' '.join(map(str, numbers))}" for name, numbers in step.counts.items())
        return "\n".join([f"{step.procedure} by {step.made_by}", *counts])
    values: Sequence[float | None] = step.cosines if isinstance(step, CompareStep) else step.ratings
    return ", ".join("none" if value is None else f"{value:.6f}" for value in values)


def _indented(content: RenderableType, by: int = 4) -> Padding:
    return Padding(content, (0, 0, 0, by))
