"""The proof of a score and its sample as pages, which the terminal and the HTML report show.

Pages hold whole texts. Dumps for HTML cut each text to its type's length and make misleading characters
visible.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Annotated, Any, Self

from pydantic import Field, PlainSerializer, SerializationInfo, WrapSerializer

from ragmetrics_core.measurement import UNSURE, Verdict
from ragmetrics_core.records import (
    COVERAGE,
    CompareStep,
    CountStep,
    GenerateStep,
    PartResult,
    Record,
    Status,
    Step,
)
from ragmetrics_core.records.comparison import Change, RecordDiff
from ragmetrics_core.report._marks import (
    LONG_TEXT,
    MOST_VERDICTS,
    Look,
    Mark,
    about_reference,
    look_of,
    marks_of,
    place_of,
    standings_of,
)
from ragmetrics_core.report._text import cut, flat, one_line, words
from ragmetrics_core.report.json_pages import JsonPage
from ragmetrics_core.report.judge_lines import judge_notes
from ragmetrics_core.samples import Sample, Stage, Turn, UnaccountedText, grouping_labels
from ragmetrics_core.texts.wording import number_of, quoted

__all__ = [
    "LEGEND",
    "ProofPage",
    "SamplePage",
    "StepPage",
    "TurnPage",
    "VerdictGroup",
    "VerdictPage",
    "changes_by_kind",
    "verdict_groups",
]

LONG_STEP, MOST_CHUNKS, MOST_REFERENCES = 30_000, 200, 100
LEGEND = (
    f"unsure: a near miss, with a probability between {UNSURE[0]:g} and {UNSURE[1]:g}. "
    "The score counts the verdict as it stands."
)


def _at_most(limit: int) -> WrapSerializer:
    """The first items of a long list, and the number of the others."""

    def first(items: Sequence[Any], handler: Callable[[Sequence[Any]], Any]) -> dict[str, Any]:
        return {"items": handler(items[:limit]), "more": max(0, len(items) - limit)}

    return WrapSerializer(first)


def _numbered(text: str, info: SerializationInfo) -> int:
    """The number of a text in the context, which holds each text once because steps share most texts."""
    assert info.context is not None, "who dumps the page keeps the texts"
    texts: dict[str, int] = info.context
    return texts.setdefault(text, len(texts))


Line = Annotated[str, PlainSerializer(lambda text: one_line(text, 300))]
Words = Annotated[str, PlainSerializer(words)]
SampleText = Annotated[str, PlainSerializer(lambda text: cut(text, LONG_TEXT))]
StepText = Annotated[str, PlainSerializer(lambda text: cut(text, LONG_STEP))]


class QuotePage(JsonPage):
    """A judge's quote and its place."""

    text: Words
    where: str
    is_found: bool


class VerdictPage(JsonPage):
    """A verdict; `decision` describes a person's correction or confirmation."""

    number: int
    text: Words
    supported: bool | None
    look: Look
    label: Line
    unsure: str
    probability: str
    cosine: float | None
    tally: str
    reason: Words
    quotes: list[QuotePage]
    decision: Line


class VerdictGroup(JsonPage):
    """The verdicts about texts of a kind.

    `standing` says whether those of one reference count, `unsure` how many of a label are unsure, if any are.
    """

    about: str
    title: Line
    standing: str
    unsure: Line
    verdicts: Annotated[list[VerdictPage], _at_most(MOST_VERDICTS)]


class StepPage(JsonPage):
    """One request to a model and its result: a reply and how it was parsed, or numbers."""

    path: Line
    title: Line
    rule: Line = ""
    details: tuple[Line, ...] = ()
    judge: Line = ""
    messages: tuple[tuple[str, Annotated[str, PlainSerializer(_numbered)]], ...] = ()
    reply: StepText = ""
    remarks: tuple[Words, ...] = ()
    value: StepText = ""
    numbers: StepText = ""


class ContextPage(JsonPage):
    """A chunk; `standing` says whether and where the model received it."""

    text: SampleText
    id: Line
    standing: str
    is_shown: bool


class StagePage(JsonPage):
    """A stage of the retrieval in words, its chunks by name, and texts in the request of unknown origin."""

    name: str
    what: Words
    chunks: Annotated[list[Line], _at_most(MOST_CHUNKS)]
    unaccounted: Annotated[list[Words], _at_most(MOST_CHUNKS)]


class TurnPage(JsonPage):
    """An earlier message of the conversation, the chunks that its model received, and its calls of tools."""

    role: Line
    content: Words
    contexts: Annotated[list[Words], _at_most(MOST_CHUNKS)]
    calls: list[Words]

    @classmethod
    def of_turn(cls, turn: Turn) -> Self:
        """The page of a turn."""
        return cls.of(
            turn,
            contexts=list(turn.contexts or ()),
            calls=[f"{call.name} {call.arguments}".strip() for call in turn.tool_calls or ()],
        )


class SamplePage(JsonPage):
    """The texts of a sample, and its other data; `standalone` only if it differs from the question."""

    question: SampleText | None
    standalone: SampleText | None
    answer: SampleText | None
    references: Annotated[list[SampleText], _at_most(MOST_REFERENCES)]
    contexts: Annotated[list[ContextPage], _at_most(MOST_CHUNKS)] | None
    found_by: Line
    stages: list[StagePage]
    history: list[TurnPage]
    labels: list[tuple[Line, Line]]

    @classmethod
    def of_sample(cls, sample: Sample, records: Iterable[Record] = ()) -> Self:
        """The page of a sample.

        Args:
            sample: the sample.
            records: its scores, one of whose steps may have written the stand-alone question.
        """
        stage = sample.shown_stage
        written = next(filter(None, (record.standalone for record in records)), sample.rewritten)
        ids = [*(sample.context_ids or ()), *[""] * len(sample.contexts or ())]
        contexts = [
            ContextPage(
                text=chunk,
                id=id,
                standing=stage.chunks[place].standing if stage else "",
                is_shown=stage is None or stage.chunks[place].shown in ("verified", "partial"),
            )
            for place, (chunk, id) in enumerate(zip(sample.contexts or (), ids, strict=False))
        ]
        rule = sample.labels.get("found_contexts")
        return cls.of(
            sample,
            standalone=None if written == sample.question else written,
            references=list(sample.expected),
            contexts=None if sample.contexts is None else contexts,
            # a score says little about retrieval where the contexts are, say, the model's system message
            found_by=f" (found by: {flat(rule)})" if rule else "",
            stages=[_stage(each, sample) for each in sample.stages or ()],
            history=[TurnPage.of_turn(turn) for turn in sample.history or ()],
            labels=[(name, str(value)) for name, value in grouping_labels(sample).items()],
        )


class ProofPage(JsonPage):
    """The proof of one score.

    Attributes:
        signature, exact: the metric as it is shown, and as files name it.
        headline: the formula, or the status with its reason.
        numbers: the numbers in the formula, by name.
        parts: the metrics that the score combines: depth, name, formula or reason, and which of these.
        standings: whether each of several references counts and was used; else empty.
        marks: pieces that belong to verdicts, by text ("answer", "reference 2", "chunk 1").
        coverage: how many sentences the statements come from.
        judge_notes: the judge's limits.
        legend: what an unsure verdict is, if there is one.
        declined: why the answer declines, if it does.
        problem: why the prompts cannot be shown.
        origin: models, parsed forms, seal and versions.
    """

    sample_id: Line
    signature: Line
    exact: str
    status: Status
    value: float | None
    bounds: tuple[float, float] | None
    headline: Words
    numbers: Words
    parts: list[tuple[int, Line, Words, bool]]
    groups: list[VerdictGroup]
    ratings: list[tuple[float, Words]]
    standings: list[str]
    marks: dict[str, list[Mark]]
    remarks: Annotated[list[Words], _at_most(50)]
    coverage: list[Words]
    judge_notes: list[Words]
    legend: str
    declined: Words | None
    steps: list[StepPage]
    problem: Line
    settings: Words
    origin: list[tuple[str, Words]]
    sample: SamplePage = Field(exclude=True)

    @classmethod
    def of_record(cls, record: Record, *, measured: Iterable[str] = (), problem: str = "") -> Self:
        """The page of a record with its sample, and with the messages of its steps if it contains them.

        Args:
            record: a hydrated or self-contained record.
            measured: lines on the judge's accuracy against people's labels.
            problem: why the record does not contain the messages.
        """
        sample = record.sample
        assert sample is not None, "the record is hydrated"
        standings = standings_of(record, sample)
        groups = verdict_groups(record, standings)
        abstained = record.abstained
        return cls.of(
            record,
            exact=record.signature,
            numbers=" · ".join(
                f"{name} {number:.6g}"
                for name, number in record.counts.items()
                if name.removeprefix("reference_") not in COVERAGE
            ),
            parts=list(chain.from_iterable(_parts(part, 0) for part in record.parts)),
            groups=groups,
            judge_notes=list(judge_notes(record.judge)),
            legend=LEGEND if any(group.unsure for group in groups) else "",
            ratings=[(rating, reason or "no reason given") for rating, reason in record.ratings],
            standings=standings,
            marks=marks_of(record, sample),
            declined=(abstained.reason or "it gives no reason") if abstained and abstained.declined else None,
            steps=[_step(step, record) for step in record.steps],
            problem=problem,
            settings=json.dumps(record.settings) if record.settings else "",
            origin=list(_origin(record, measured)),
            sample=SamplePage.of_sample(sample, [record]),
        )

    @property
    def ranked(self) -> list[VerdictPage]:
        """The verdicts on the contexts, in their order."""
        return [each for group in self.groups if group.about == "chunk" for each in group.verdicts]


def verdict_groups(record: Record, standings: Sequence[str] = ()) -> list[VerdictGroup]:
    """The verdicts of a record in groups, by the kind of their texts."""
    return [
        _group(record, about, list(verdicts), standings)
        for about, verdicts in groupby(record.verdicts, key=lambda verdict: verdict.about)
    ]


def changes_by_kind(diff: RecordDiff) -> dict[str, tuple[Change, ...]]:
    """Changes between two records by kind, the most important first."""
    kinds = {
        "Verdict changed": diff.flipped,
        "Only before": diff.removed,
        "Only after": diff.added,
        "Worded differently, same verdict": diff.reworded,
    }
    return {kind: changes for kind, changes in kinds.items() if changes}


def _stage(stage: Stage, sample: Sample) -> StagePage:
    component = f" by {flat(stage.component)}" if stage.component else ""
    query = f" for {flat(stage.query)!r}" if stage.query and stage.query != sample.question else ""
    what = number_of(len(stage.chunks), "chunk") + component + query
    if stage.name == "derived":
        texts = " ".join(quoted(chunk.text) for chunk in stage.chunks)
        what = f"{texts}, written{component} from what it was shown"
    if stage.name == "shown" and stage.chunks and all(chunk.shown == "unseen" for chunk in stage.chunks):
        what += (
            "; no request was seen, so it is unknown which were shown: strict_shown=True withholds the score"
        )
    if stage.words is not None:
        what += f"; {stage.accounted} of {stage.words} words of the request are accounted for"
    return StagePage(
        name=stage.name,
        what=what,
        chunks=[chunk.id or chunk.text for chunk in stage.chunks],
        unaccounted=[_unaccounted(each) for each in stage.unaccounted or ()],
    )


def _unaccounted(stretch: UnaccountedText) -> str:
    """A text of unknown origin, and what decides whether it is evidence."""
    name = flat(stretch.component)
    by = f" by {name}" if name else ""
    ways = f"evidence=[{name!r}] or not_evidence=[{name!r}]" if name else "note_contexts(..., add=True)"
    return f"{quoted(stretch.text)}{by}, message {stretch.message}; {ways} decides whether it is evidence"


def _parts(part: PartResult, depth: int) -> Iterator[tuple[int, str, str, bool]]:
    yield depth, part.metric, part.formula or part.reason or "undefined", bool(part.formula)
    for inner in part.parts:
        yield from _parts(inner, depth + 1)


def _group(record: Record, about: str, verdicts: Sequence[Verdict], standings: Sequence[str]) -> VerdictGroup:
    kind, space, which = about.partition(" (")
    reference = about_reference(verdicts[0])
    return VerdictGroup(
        about=about,
        title=(f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s").capitalize() + space + which,
        standing=standings[reference - 1] if reference and reference <= len(standings) else "",
        unsure=_unsure(verdicts),
        verdicts=[_verdict(record, verdict) for verdict in verdicts],
    )


def _unsure(verdicts: Sequence[Verdict]) -> str:
    """The number of unsure verdicts by label: "2 of 3 supported, 1 of these unsure"; "" without any."""
    total = Counter(verdict.label for verdict in verdicts)
    unsure = Counter(verdict.label for verdict in verdicts if verdict.unsure)
    return "; ".join(
        f"{total[label]} of {len(verdicts)} {label}, {count} of these unsure"
        for label, count in unsure.items()
    )


def _verdict(record: Record, verdict: Verdict) -> VerdictPage:
    quotes: list[QuotePage] = []
    for evidence in verdict.evidence:
        if evidence.quote:
            where, span = evidence.place, evidence.span
            if span is not None:
                where = place_of(evidence.source, span.chunk) + ", not letter for letter" * (not span.exact)
            quotes.append(QuotePage(text=quoted(evidence.quote), where=where, is_found=evidence.is_found))
    return VerdictPage.of(
        verdict,
        look=look_of(verdict),
        label=verdict.label or "missing",
        reason=verdict.reason or "",
        quotes=quotes,
        decision=_decision(record, verdict),
    )


def _decision(record: Record, verdict: Verdict) -> str:
    """A person's decision on the judge's verdict, and who decided; "" if no person did."""
    if not record.corrections and verdict.overruled is None:
        return ""
    # a correction names the verdict's place, and which of the verdicts there it is about
    beside = [each.number for each in record.verdicts if each.path == verdict.path]
    item = beside.index(verdict.number) + 1
    corrections = (each for each in record.corrections if (each.path, each.item) == (verdict.path, item))
    correction = next(corrections, None)
    if correction is None and verdict.overruled is None:
        return ""
    who = flat(correction.by) if correction and correction.by else "a person"
    if verdict.overruled is None:
        return f"{who} overruled the judge's missing verdict"
    did = "confirmed" if verdict.overruled == verdict.supported else "overruled"
    return f"{who} {did} the judge's {'yes' if verdict.overruled else 'no'}"


def _step(step: Step, record: Record) -> StepPage:
    if isinstance(step, CountStep):
        counts = (f"{name} {' '.join(map(str, numbers))}" for name, numbers in step.counts.items())
        numbers = "\n".join([f"{step.procedure} by {step.made_by}", *counts])
        return StepPage(path=step.path, title="count", numbers=numbers)
    if not isinstance(step, GenerateStep):
        values: Sequence[float | None] = step.cosines if isinstance(step, CompareStep) else step.ratings
        return StepPage(
            path=step.path,
            title={"compare": "comparison", "rate": "rating"}[step.kind],
            numbers=", ".join("none" if value is None else f"{value:.6f}" for value in values),
        )
    details = ["asked again"] if step.again else [f"draw {step.draw}"] if step.draw else []
    details += [step.model] if step.model else []
    if step.prompt_tokens is not None and step.completion_tokens is not None:
        details.append(f"{number_of(step.prompt_tokens, 'token')} read, {step.completion_tokens:,} written")
    if step.finish_reason and step.finish_reason != "stop":
        details.append(f"ended by {step.finish_reason}")
    messages = (record.rendered_prompts or {}).get(step.rendered_digest, ())
    return StepPage.of(
        step,
        title=step.prompt,
        details=tuple(details),
        judge=step.judge or "",
        messages=tuple((message.role, message.content) for message in messages),
        numbers="",
        value="" if step.value is None else json.dumps(step.value, ensure_ascii=False, indent=1),
    )


def _origin(record: Record, measured: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in ("judge", "embedder", "scorer"):
        if identity := getattr(record, name):
            yield name, identity
            if name == "judge":
                yield from (("", flat(line)) for line in measured)
    if rules := dict.fromkeys(f"{step.prompt} by {step.rule}" for step in record.generate_steps):
        yield "read", ", ".join(rules)
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    yield "record", " · ".join(filter(None, (record.digest, versions))) or "unsealed"
