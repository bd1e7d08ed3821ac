"""The proof of one score: the question, the formula, every verdict with its evidence, and the sources."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ragmetrics_core.records import Record
from ragmetrics_core.report._marks import Mark, reference_name
from ragmetrics_core.report._proof_page import ProofPage, SamplePage, StepPage, TurnPage, VerdictPage
from ragmetrics_core.report._text import one_line as cut_line
from ragmetrics_core.report.terminal._text import (
    LABEL,
    OPEN,
    STYLES,
    SYMBOLS,
    WEAK,
    bullets,
    facts,
    heading,
    one_line,
    outcome,
    part,
    plain,
)
from ragmetrics_core.runs import MetricEntry
from ragmetrics_core.texts.wording import number_of, visible

__all__ = ["asked", "proof"]

LONG_TURN = 300
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def proof(
    record: Record,
    entry: MetricEntry,
    *,
    prompts: bool = False,
    replies: bool = False,
    measured: Iterable[str] = (),
) -> Iterator[RenderableType]:
    """A record with its sample as a page.

    Args:
        record: a hydrated record; a self-contained one for prompts.
        entry: its metric in the run.
        prompts: show the exact prompts.
        replies: show the raw replies, each with the parser's rule.
        measured: lines on the judge's accuracy against people's labels.
    """
    page = ProofPage.of_record(record, measured=measured)
    value = outcome(page, entry)
    value.stylize("bold")
    yield Text.assemble(value, "  ", plain(page.signature, "bold"), (" of ", LABEL), plain(page.sample_id))
    yield Text()
    yield facts(_how(page))
    yield Text()
    yield facts(asked(page.sample, page))
    for group in page.groups:
        yield Text()
        yield heading(group.title)
        if group.unsure:
            yield _indented(one_line(group.unsure, STYLES["unsure"]), 2)
        yield _columns((False, True, False), (_verdict(each) for each in group.verdicts))
    if page.legend:
        yield Text.assemble((SYMBOLS["unsure"], STYLES["unsure"]), f" {page.legend}")
    if page.ratings:
        yield Text()
        yield heading("Ratings")
        yield bullets(
            Text.assemble((f"{rating:g}  ", "bold"), one_line(reason, LABEL))
            for rating, reason in page.ratings
        )
    if page.sample.contexts:
        yield Text()
        yield heading(f"Contexts, in rank order{page.sample.found_by}")
        yield _columns((False, True), _contexts(page))
    if page.sample.stages:
        yield Text()
        yield heading("Retrieval, stage by stage")
        yield facts(stage_facts(page.sample))
    if page.remarks:
        yield part("Asked again, or not counted", map(one_line, page.remarks))
    if page.declined:
        yield Text()
        yield Text.assemble(("The answer declines to answer: ", OPEN), one_line(page.declined))
    if prompts or replies:
        yield from _steps(page.steps, prompts=prompts, replies=replies)
    yield Text()
    yield facts((name, plain(text, LABEL)) for name, text in page.origin)


def asked(sample: SamplePage, page: ProofPage | None = None) -> Iterator[tuple[str, Text]]:
    """Earlier turns, question, answer and references; for a score also its marks and standings."""
    if sample.history:
        yield "earlier", Text("\n").join(map(_turn, sample.history))
    texts = {"question": sample.question}
    if sample.standalone is not None:
        texts["stand-alone question"] = sample.standalone
    texts["answer"] = sample.answer
    before = len(texts)
    texts |= {
        reference_name(number): text for number, text in enumerate(sample.references or [None], start=1)
    }
    for place, (name, text) in enumerate(texts.items()):
        if not text:
            yield name, Text("(absent)" if text is None else "(empty)", LABEL)
            continue
        told = marked(text, page.marks.get(name, ()) if page else ())
        if page and page.standings and place >= before:
            standing = page.standings[place - before]
            told.append(f"  {standing}", "bold" if standing == "counts" else LABEL)
        yield "reference 1" if name == "reference" and len(sample.references) > 1 else name, told


def _turn(turn: TurnPage) -> Text:
    """A message of the conversation in a line, with its calls of tools and the number of its chunks."""
    text = Text.assemble((f"{turn.role}: ", LABEL), plain(cut_line(turn.content, LONG_TURN)))
    for call in turn.calls:
        text.append(f"  calls {cut_line(call, LONG_TURN)}", LABEL)
    if turn.contexts:
        text.append(f"  {number_of(len(turn.contexts), 'chunk')}", LABEL)
    return text


def stage_facts(page: SamplePage) -> Iterator[tuple[str, RenderableType]]:
    """The stages of the retrieval, and the texts in the request of unknown origin."""
    for stage in page.stages:
        yield f"  {stage.name}", one_line(stage.what, LABEL)
        for text in stage.unaccounted:
            yield "  unknown", one_line(text, OPEN)


def marked(text: str, marks: Iterable[Mark]) -> Text:
    """The text with evidence underlined, followed by the verdicts' numbers."""
    result = Text(visible(text))
    within = sorted(
        (mark for mark in marks if mark.kind == "evidence" and mark.start < mark.end <= len(text)),
        key=lambda mark: (mark.end, mark.number),
    )
    for mark in within:
        result.stylize(f"underline {STYLES[mark.look]}", mark.start, mark.end)
    ends = [(end, list(group)) for end, group in groupby(within, key=lambda mark: mark.end)]
    first, *rest = result.divide([end for end, _ in ends])
    for (_, group), piece in zip(ends, rest, strict=True):
        numbers = " ".join(dict.fromkeys(str(mark.number).translate(_RAISED) for mark in group))
        first.append(f"⁽{numbers}⁾", STYLES[group[0].look]).append_text(piece)
    return first


def _how(page: ProofPage) -> Iterator[tuple[str, Text]]:
    if page.status == "ok":
        yield "formula", one_line(page.headline)
    else:
        yield "status", one_line(page.headline, OPEN if page.bounds else WEAK)
    if page.numbers:
        yield "numbers", one_line(page.numbers, LABEL)
    for line in page.coverage:
        yield "covered", one_line(line, LABEL)
    for line in page.judge_notes:
        yield "judge", one_line(line, LABEL)
    for depth, metric, told, is_formula in page.parts:
        indent = "  " * depth
        yield (
            f"{indent}{plain(metric).plain}",
            Text(indent).append_text(one_line(told, "" if is_formula else WEAK)),
        )


def _columns(is_number: Sequence[bool], rows: Iterable[Sequence[RenderableType]]) -> Padding:
    """Narrow columns, numbers right-aligned, followed by a wide one."""
    table = Table.grid(padding=(0, 1))
    for each in is_number:
        table.add_column(justify="right" if each else "left", style=LABEL if each else "", no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*row)
    return Padding(table, (0, 0, 0, 2))


def _verdict(verdict: VerdictPage) -> tuple[RenderableType, ...]:
    style = STYLES[verdict.look]
    text = one_line(verdict.text)
    if verdict.cosine is not None:
        text.append(f"  cosine {verdict.cosine:.3f}", LABEL)
    if verdict.probability:
        text.append(f"  {verdict.probability}", LABEL)
    lines = [text]
    if verdict.unsure:
        lines.append(Text(verdict.unsure, STYLES["unsure"]))
    if verdict.tally:
        lines.append(Text(verdict.tally, OPEN if verdict.tally.endswith("tie") else LABEL))
    if verdict.reason:
        lines.append(one_line(verdict.reason, LABEL))
    for quote in verdict.quotes:
        where = (f"  {quote.where}", LABEL if quote.is_found else WEAK)
        lines.append(Text.assemble(one_line(quote.text, "italic"), where))
    if verdict.decision:
        lines.append(Text(verdict.decision, OPEN))
    symbol = Text(SYMBOLS[verdict.look], f"bold {style}")
    return symbol, Text(str(verdict.number)), plain(verdict.label, style), Group(*lines)


def _contexts(page: ProofPage) -> Iterator[tuple[Text, ...]]:
    ranked = page.ranked
    for number, context in enumerate(page.sample.contexts or (), start=1):
        symbol = Text(" ")
        if number <= len(ranked):
            look = ranked[number - 1].look
            symbol = Text(SYMBOLS[look], f"bold {STYLES[look]}")
        text = marked(context.text, page.marks.get(f"chunk {number}", ()))
        if context.standing:
            text.append(f"  {context.standing}", LABEL if context.is_shown else WEAK)
        yield symbol, Text(str(number)), text


def _steps(steps: Iterable[StepPage], *, prompts: bool, replies: bool) -> Iterator[RenderableType]:
    """Every step in order; a prompt that was sampled several times is shown once."""
    shown: list[object] = []
    for step in steps:
        yield Text()
        if not step.rule:
            yield heading(f"Step {plain(step.path)}: {step.title}")
            if replies:
                yield _indented(plain(step.numbers))
            continue
        yield Text.assemble(
            heading(f"Step {plain(step.path)}: "),
            plain(step.title, "bold"),
            plain("".join(f" · {each}" for each in step.details), LABEL),
        )
        if prompts and (step.path, step.messages) not in shown:
            shown.append((step.path, step.messages))
            for role, content in step.messages:
                yield _indented(Text(role, LABEL), 2)
                yield _indented(plain(content))
        if replies:
            rule = plain(step.rule, WEAK if step.rule == "unread" else "bold")
            yield _indented(Text.assemble(("reply, read as ", LABEL), rule), 2)
            yield _indented(plain(step.reply) if step.reply else Text("(empty)", LABEL))
            if step.remarks:
                yield _indented(Text("problems", LABEL), 2)
                yield bullets(map(one_line, step.remarks))


def _indented(content: RenderableType, by: int = 4) -> Padding:
    return Padding(content, (0, 0, 0, by))
