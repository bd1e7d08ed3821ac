"""The proof of one score: what was asked, the formula, every verdict with its evidence, and the sources."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ragmetrics_core.measurement import Verdict
from ragmetrics_core.records import PartResult, Record
from ragmetrics_core.report._evidence import TextPlace, correction_of, decided, expected_texts, marks, place
from ragmetrics_core.report._terminal.evidence import marked, style_of
from ragmetrics_core.report._terminal.samples import found_by
from ragmetrics_core.report._terminal.steps import steps_page
from ragmetrics_core.report._terminal.text import (
    LABEL,
    OPEN,
    WEAK,
    bullets,
    facts,
    heading,
    one_line,
    outcome,
    plain,
)

__all__ = ["SYMBOLS", "proof"]

SYMBOLS = {True: "✓", False: "✗", None: "?"}


def proof(
    record: Record,
    *,
    low: float = 0.0,
    high: float = 1.0,
    prompts: bool = False,
    replies: bool = False,
    measured: Iterable[str] = (),
) -> Iterator[RenderableType]:
    """A record with its sample as a page.

    Args:
        record: a hydrated or self-contained record.
        low: the lowest value of the metric.
        high: its highest value.
        prompts: show the exact prompts too.
        replies: show the raw replies too, and the parser's rule that read each.
        measured: what is known of the judge from people's labels, in lines.
    """
    value = outcome(record.status, record.value, record.bounds, low=low, high=high)
    value.stylize("bold")
    yield Text.assemble(
        value, "  ", plain(record.signature, "bold"), (" of ", LABEL), plain(record.sample_id)
    )
    yield Text()
    yield facts(_how(record))
    yield Text()
    yield facts(_asked(record))
    for about, group in groupby(record.verdicts, key=lambda verdict: verdict.about):
        yield Text()
        yield heading(_plural(about).capitalize())
        yield _verdicts(record, list(group))
    yield from _ratings(record)
    yield from _contexts(record)
    yield from _remarks(record)
    if prompts or replies:
        yield from steps_page(record, prompts=prompts, replies=replies)
    yield Text()
    yield facts(_origin(record, measured))


def _how(record: Record) -> Iterator[tuple[str, RenderableType]]:
    if record.status == "ok":
        yield "formula", one_line(record.formula)
    else:
        yield "status", one_line(record.headline, OPEN if record.bounds else WEAK)
    if record.counts:
        pairs = (f"{name} {number:.6g}" for name, number in record.counts.items())
        yield "numbers", one_line(" · ".join(pairs), LABEL)
    for part in record.parts:
        yield from _part(part, depth=0)


def _part(part: PartResult, depth: int) -> Iterator[tuple[str, RenderableType]]:
    told = Text("  " * depth)
    told.append_text(one_line(part.formula or part.reason or "undefined", "" if part.formula else WEAK))
    yield f"{'  ' * depth}{plain(part.metric).plain}", told
    for inner in part.parts:
        yield from _part(inner, depth + 1)


def _asked(record: Record) -> Iterator[tuple[str, RenderableType]]:
    sample = record.sample
    found = marks(record)
    for name in ("question", "answer", "reference"):
        text = None if sample is None else getattr(sample, name)
        if sample is not None and name == "reference" and len(sample.expected) > 1:
            for each in expected_texts(sample, record):
                told = marked(each.text, found.get(TextPlace(each.source, 1), ()))
                yield f"reference {each.number}", _standing(told, each.standing)
        elif text is None:
            yield name, Text("(absent)", LABEL)
        elif name == "question":
            yield name, plain(text)
        else:
            yield name, marked(text, found.get(TextPlace(name, 1), ())) if text else Text("(empty)", LABEL)


def _standing(text: Text, standing: str) -> Text:
    return text.append(f"  {standing}", "bold" if standing == "counts" else LABEL) if standing else text


def _verdicts(record: Record, verdicts: Sequence[Verdict]) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", style=LABEL, no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for verdict in verdicts:
        style = style_of(verdict)
        lines: list[RenderableType] = [_stated(verdict), *_because(record, verdict)]
        symbol = Text(SYMBOLS[verdict.supported], f"bold {style}")
        label = plain(verdict.label or "missing", style)
        table.add_row(symbol, Text(str(verdict.number)), label, Group(*lines))
    return Padding(table, (0, 0, 0, 2))


def _ratings(record: Record) -> Iterator[RenderableType]:
    given = list(record.ratings)
    if given:
        yield Text()
        yield heading("Ratings")
        yield bullets(
            Text.assemble((f"{rating:g}  ", "bold"), one_line(reason or "no reason given", LABEL))
            for rating, reason in given
        )


def _stated(verdict: Verdict) -> Text:
    text = one_line(verdict.text)
    if verdict.cosine is not None:
        text.append(f"  cosine {verdict.cosine:.3f}", LABEL)
    return text


def _because(record: Record, verdict: Verdict) -> Iterator[Text]:
    if verdict.tally:
        yield Text(verdict.tally, OPEN if verdict.tally.endswith("tie") else LABEL)
    if verdict.reason:
        yield one_line(verdict.reason, LABEL)
    for evidence in verdict.evidence:
        if not evidence.quote:
            continue
        where = place(evidence)
        told = "found nowhere" if where is None else str(where)
        if evidence.span and not evidence.span.exact:
            told += ", not letter for letter"
        quote = one_line(f"“{evidence.quote}”", "italic")
        yield Text.assemble(quote, (f"  {told}", LABEL if where else WEAK))
    correction = correction_of(record, verdict)
    if correction or verdict.overruled is not None:
        who = one_line(correction.by).plain if correction and correction.by else "a person"
        yield Text(f"{who} {decided(verdict)}", OPEN)


def _contexts(record: Record) -> Iterator[RenderableType]:
    sample = record.sample
    if sample is None or not (chunks := sample.contexts):
        return
    stage = sample.shown_stage
    found = marks(record)
    ranked = [verdict for verdict in record.verdicts if verdict.about == "chunk"]
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", style=LABEL, no_wrap=True)
    table.add_column(overflow="fold")
    for number, chunk in enumerate(chunks, start=1):
        verdict = ranked[number - 1] if number <= len(ranked) else None
        symbol = Text(SYMBOLS[verdict.supported], f"bold {style_of(verdict)}") if verdict else Text(" ")
        text = marked(chunk, found.get(TextPlace("contexts", number), ()))
        if stage is not None:
            is_there = stage.chunks[number - 1].shown in ("verified", "partial")
            text.append(f"  {stage.chunks[number - 1].standing}", LABEL if is_there else WEAK)
        table.add_row(symbol, Text(str(number)), text)
    yield Text()
    yield heading(f"Contexts, in rank order{found_by(sample)}")
    yield Padding(table, (0, 0, 0, 2))


def _remarks(record: Record) -> Iterator[RenderableType]:
    if record.remarks:
        yield Text()
        yield heading("Asked again, or not counted")
        yield bullets(map(one_line, record.remarks))
    if record.abstained and record.abstained.declined:
        yield Text()
        reason = one_line(record.abstained.reason or "it gives no reason")
        yield Text.assemble(("The answer declines to answer: ", OPEN), reason)


def _origin(record: Record, measured: Iterable[str]) -> Iterator[tuple[str, RenderableType]]:
    for name in ("judge", "embedder", "scorer"):
        if identity := getattr(record, name):
            yield name, plain(identity, LABEL)
            if name == "judge":
                yield from (("", one_line(line, LABEL)) for line in measured)
    rules = dict.fromkeys(f"{step.prompt} by {step.rule}" for step in record.generate_steps)
    if rules:
        yield "read", plain(", ".join(rules), LABEL)
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    yield "record", plain(" · ".join(filter(None, (record.digest, versions))) or "unsealed", LABEL)


def _plural(about: str) -> str:
    text, space, which = plain(about).plain.partition(" (")
    return f"{text[:-1]}ies{space}{which}" if text.endswith("y") else f"{text}s{space}{which}"
