"""The proof of a score and its sample as pages: terminal and HTML tell what stands here.

Texts are whole in here. Dumped for HTML each is cut to its type's length, and what could mislead is shown.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, PlainSerializer, SerializationInfo, WrapSerializer

from ragmetrics_core.measurement import Verdict
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.records import CompareStep, CountStep, GenerateStep, PartResult, Record, Status, Step
from ragmetrics_core.records._comparison import Change, RecordDiff
from ragmetrics_core.report._json_pages import JsonPage
from ragmetrics_core.report._locating import Sought
from ragmetrics_core.report._text import cut, flat, one_line, words
from ragmetrics_core.samples import Sample, Stage
from ragmetrics_core.wording import number_of

__all__ = ["Mark", "ProofPage", "SamplePage", "StepPage", "VerdictPage", "changes_by_kind"]

LONG_TEXT, LONG_STEP, MOST_CHUNKS, MOST_VERDICTS, MOST_REFERENCES = 100_000, 30_000, 200, 500, 100
# How a verdict says which of several references it is about.
_ABOUT_REFERENCE = re.compile(r" \(reference (\d{1,6})\)$")
# Where the metrics that compare words with all references at once say which of them was the best.
_COUNTED = {
    **dict.fromkeys(
        ("token_f1", "meteor", "bert_score", "answer_equivalence", "semantic_answer_similarity"), "reference"
    ),
    "rouge": "best",
}


def _at_most(limit: int) -> WrapSerializer:
    """Of a long list the first ones, and how many more there are."""

    def first(items: Sequence[Any], handler: Callable[[Sequence[Any]], Any]) -> dict[str, Any]:
        return {"items": handler(items[:limit]), "more": max(0, len(items) - limit)}

    return WrapSerializer(first)


def _numbered(text: str, info: SerializationInfo) -> int:
    """The number of a text in the context, where each stands once: the steps of a sample share most."""
    assert info.context is not None, "who dumps the page keeps the texts"
    texts: dict[str, int] = info.context
    return texts.setdefault(text, len(texts))


Line = Annotated[str, PlainSerializer(lambda text: one_line(text, 300))]
Words = Annotated[str, PlainSerializer(words)]
SampleText = Annotated[str, PlainSerializer(lambda text: cut(text, LONG_TEXT))]
StepText = Annotated[str, PlainSerializer(lambda text: cut(text, LONG_STEP))]


class Mark(NamedTuple):
    """A piece of a text that belongs to a verdict.

    The kind is "evidence" where the verdict rests on the piece, "statement" where it is about it, and "near"
    where it is about something that the piece says in other words.
    """

    start: int
    end: int
    number: int
    supported: bool | None
    kind: str


class QuotePage(JsonPage):
    """What a judge quoted, and where it stands."""

    text: Words
    where: str
    is_found: bool


class VerdictPage(JsonPage):
    """A verdict; `decision` is what a person's did to the judge's."""

    number: int
    text: Words
    supported: bool | None
    label: Line
    cosine: float | None
    tally: str
    reason: Words
    quotes: list[QuotePage]
    decision: Line


class VerdictGroup(JsonPage):
    """The verdicts about texts of a kind; `standing` says whether those of one reference count."""

    about: str
    title: Line
    standing: str
    verdicts: Annotated[list[VerdictPage], _at_most(MOST_VERDICTS)]


class StepPage(JsonPage):
    """What one model was asked, and what it gave: a reply and how it was read, or numbers."""

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
    """A chunk; `standing` says whether and where it stands in what the model was sent."""

    text: SampleText
    id: Line
    standing: str
    is_shown: bool


class StagePage(JsonPage):
    """A stage of the retrieval in words, and its chunks by name."""

    name: str
    what: Words
    chunks: Annotated[list[Line], _at_most(MOST_CHUNKS)]


class SamplePage(JsonPage):
    """The texts of a sample, and what is known about it."""

    question: SampleText | None
    answer: SampleText | None
    references: Annotated[list[SampleText], _at_most(MOST_REFERENCES)]
    contexts: Annotated[list[ContextPage], _at_most(MOST_CHUNKS)] | None
    found_by: Line
    stages: list[StagePage]
    history: list[tuple[Line, Words]]
    labels: list[tuple[Line, Line]]

    @classmethod
    def of_sample(cls, sample: Sample) -> Self:
        """The page of a sample."""
        stage = sample.shown_stage
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
            references=list(sample.expected),
            contexts=None if sample.contexts is None else contexts,
            # a score says little about retrieval where the contexts are, say, the model's system message
            found_by=f" (found by: {flat(rule)})" if rule else "",
            stages=[_stage(each, sample) for each in sample.stages or ()],
            history=[(turn.role, turn.content) for turn in sample.history or ()],
            labels=[(name, str(value)) for name, value in sample.labels.items()],
        )


class ProofPage(JsonPage):
    """The proof of one score.

    Attributes:
        signature, exact: the metric as it is shown, and as files name it.
        headline: the formula, or the status with its reason.
        numbers: those of the formula, by name.
        parts: of the metrics that the score combines depth, name, and formula or reason; and which it is.
        standings: of each of several references whether it counts and was asked about; else empty.
        marks: for each text ("answer", "reference 2", "chunk 1") the pieces that belong to verdicts.
        declined: why the answer declines to answer, where it does.
        problem: why the prompts cannot be shown.
        origin: the models, the forms that were read, the seal and the versions.
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
    declined: Words | None
    steps: list[StepPage]
    problem: Line
    settings: Words
    origin: list[tuple[str, Words]]
    sample: SamplePage = Field(exclude=True)

    @classmethod
    def of_record(cls, record: Record, *, measured: Iterable[str] = (), problem: str = "") -> Self:
        """The page of a record with its sample; with the messages of its steps, where it has them inside.

        Args:
            record: a hydrated or self-contained record.
            measured: what is known of the judge from people's labels, in lines.
            problem: why the messages are not inside.
        """
        sample = record.sample
        assert sample is not None, "the record is hydrated"
        standings = _standings(record, sample)
        abstained = record.abstained
        return cls.of(
            record,
            exact=record.signature,
            numbers=" · ".join(f"{name} {number:.6g}" for name, number in record.counts.items()),
            parts=list(chain.from_iterable(_parts(part, 0) for part in record.parts)),
            groups=[
                _group(record, about, list(verdicts), standings)
                for about, verdicts in groupby(record.verdicts, key=lambda verdict: verdict.about)
            ],
            ratings=[(rating, reason or "no reason given") for rating, reason in record.ratings],
            standings=standings,
            marks=_marks(record, sample),
            declined=(abstained.reason or "it gives no reason") if abstained and abstained.declined else None,
            steps=[_step(step, record) for step in record.steps],
            problem=problem,
            settings=json.dumps(record.settings) if record.settings else "",
            origin=list(_origin(record, measured)),
            sample=SamplePage.of_sample(sample),
        )

    @property
    def ranked(self) -> list[VerdictPage]:
        """The verdicts on the contexts, in their order."""
        return [each for group in self.groups if group.about == "chunk" for each in group.verdicts]


def changes_by_kind(diff: RecordDiff) -> dict[str, tuple[Change, ...]]:
    """What moved between two records, by kind, in the order of importance."""
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
    return StagePage(
        name=stage.name,
        what=number_of(len(stage.chunks), "chunk") + component + query,
        chunks=[chunk.id or chunk.text for chunk in stage.chunks],
    )


def _parts(part: PartResult, depth: int) -> Iterator[tuple[int, str, str, bool]]:
    yield depth, part.metric, part.formula or part.reason or "undefined", bool(part.formula)
    for inner in part.parts:
        yield from _parts(inner, depth + 1)


def _group(record: Record, about: str, verdicts: Sequence[Verdict], standings: Sequence[str]) -> VerdictGroup:
    kind, space, which = about.partition(" (")
    reference = _about_reference(verdicts[0])
    return VerdictGroup(
        about=about,
        title=(f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s").capitalize() + space + which,
        standing=standings[reference - 1] if reference and reference <= len(standings) else "",
        verdicts=[_verdict(record, verdict) for verdict in verdicts],
    )


def _verdict(record: Record, verdict: Verdict) -> VerdictPage:
    quotes: list[QuotePage] = []
    for evidence in verdict.evidence:
        if evidence.quote:
            where, span = "found nowhere", evidence.span
            if span is not None:
                where = _place(evidence.source, span.chunk) + ", not letter for letter" * (not span.exact)
            quotes.append(QuotePage(text=evidence.quote, where=where, is_found=span is not None))
    return VerdictPage.of(
        verdict,
        label=verdict.label or "missing",
        reason=verdict.reason or "",
        quotes=quotes,
        decision=_decision(record, verdict),
    )


def _decision(record: Record, verdict: Verdict) -> str:
    """What a person's decision did to the judge's, and who decided; "" where nobody did."""
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


def _standings(record: Record, sample: Sample) -> list[str]:
    """Of each reference whether it counts, where the score took one of several."""
    texts = sample.expected
    if (name := _COUNTED.get(record.metric)) is not None:
        is_of_all = tuple(dict.fromkeys((sample.reference, *(sample.references or ())))) == texts
    else:
        name, is_of_all = "reference", record.counts.get("references") == len(texts)
    counted = record.counts.get(name)
    if len(texts) < 2 or not is_of_all or counted is None:
        return []
    asked = len(texts) - record.counts.get("references_not_asked", 0)
    return [
        "counts" if number == counted else "does not count" if number <= asked else "not asked"
        for number in range(1, len(texts) + 1)
    ]


def _marks(record: Record, sample: Sample) -> dict[str, list[Mark]]:
    """What to mark in each text; what does not count, in its own reference alone."""
    found: dict[str, list[Mark]] = {}

    def add(name: str, start: int, end: int, verdict: Verdict, kind: str = "evidence") -> None:
        found.setdefault(name, []).append(Mark(start, end, verdict.number, verdict.supported, kind))

    for verdict in record.verdicts:
        counts = _is_about_what_counts(record, verdict)
        for evidence in verdict.evidence:
            if evidence.span and (counts or evidence.source.startswith("reference")):
                span = evidence.span
                add(_place(evidence.source, span.chunk), span.start, span.end, verdict)
    relevances = (verdict for verdict in record.verdicts if verdict.about == "context sentence")
    for number, chunk in enumerate(sample.contexts or (), start=1):
        # the record says how the contexts were split
        for start, end in record.segments.get(digest_of(chunk), ()):
            verdict_of = next(relevances, None)
            if verdict_of is not None and verdict_of.supported:
                add(_place("contexts", number), start, end, verdict_of)
    references = {reference_name(number): text for number, text in enumerate(sample.expected, start=1)}
    sought = {
        name: Sought(text[:LONG_TEXT]) for name, text in {"answer": sample.answer or "", **references}.items()
    }
    for verdict in record.verdicts[:MOST_VERDICTS]:
        name = _stated_in(record, verdict, references)
        if name in sought and (at := sought[name].find(verdict.text[:2000])):
            add(name, at.start, at.end, verdict, "statement" if at.exact else "near")
    return found


def _stated_in(record: Record, verdict: Verdict, references: Mapping[str, str]) -> str:
    """The text that a verdict's statement was made from: "answer", "reference", "reference 2"; else ""."""
    name = verdict.about.partition(" ")[0]
    if name != "reference":
        return name if _is_about_what_counts(record, verdict) else ""
    if (number := _about_reference(verdict)) is not None:
        return reference_name(number)
    # a verdict on a reference as a whole
    return next((each for each, text in references.items() if text == verdict.text), name)


def reference_name(number: int) -> str:
    """What evidence calls a sample's reference of this number."""
    return "reference" if number == 1 else f"reference {number}"


def _place(source: str, part: int) -> str:
    """A text of the sample in words: "chunk 2", "reference"."""
    return f"chunk {part}" if source == "contexts" else source


def _about_reference(verdict: Verdict) -> int | None:
    """Which of several references a verdict is about, as it says itself."""
    found = _ABOUT_REFERENCE.search(verdict.about)
    return int(found[1]) if found else None


def _is_about_what_counts(record: Record, verdict: Verdict) -> bool:
    """Whether a verdict is not about one of several references that another one was better than."""
    number = _about_reference(verdict)
    return number is None or number == record.counts.get("reference", number)
