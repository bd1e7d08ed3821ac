"""Relevant chunks stage by stage: found, kept, shown, and the stage that lost each of them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.records import Record
from ragmetrics_core.runs import Run
from ragmetrics_core.samples import Sample, Stage, StageChunk
from ragmetrics_core.study._estimates import Estimate, wilson_interval
from ragmetrics_core.study._tables import Column, StudyTable, TableColumn, in_notebooks, plain_table, table_of
from ragmetrics_core.texts.comparing import folded, spaced_form
from ragmetrics_core.texts.wording import number_of

__all__ = ["Funnel", "FunnelFinding", "FunnelHop", "FunnelStage", "Lost", "funnel_tables", "study_funnel"]

NOT_FOUND = "not found by any search"
UNKNOWN = "unknown: nobody knows what was shown"


class Lost(NamedTuple):
    """A relevant chunk that the model did not receive.

    Attributes:
        sample_id: id of the sample.
        reference: id or text of the chunk.
        stage: stage that lost the chunk; "" if no search found it or it is unknown what the model received.
        component: component of that stage, or why there is none.
    """

    sample_id: Annotated[str, Column("sample")]
    reference: str
    stage: str
    component: str

    @property
    def chunk(self) -> str:
        """The id or a short form of the text."""
        return _in_short(self.reference)


class FunnelStage(NamedTuple):
    """Chunks after a stage.

    Attributes:
        stage: kind of the stage: "retrieved", "fused", "reranked", "filtered" or "shown".
        component: name of the component; "" for "shown".
        samples: number of samples with this stage.
        chunks: mean number of chunks.
        hit: share of these samples with a relevant chunk after the stage.
        recall: share of these samples' relevant chunks that remain after the stage.
        lost: number of relevant chunks that this stage lost and the model did not receive.
    """

    stage: str
    component: str
    samples: int
    chunks: float
    hit: Estimate
    recall: Estimate
    lost: Annotated[int, Column("lost here")]


class FunnelHop(NamedTuple):
    """Searches with the same position in their samples.

    Attributes:
        hop: position of the search: 1, 2, ...
        samples: number of samples with at least that number of searches.
        relevant: mean number of relevant chunks that no earlier search of the sample found.
        without_new: number of searches without a new chunk.
        repeated: number of searches that repeat a query to the same component.
    """

    hop: Annotated[int, Column("search")]
    samples: int
    relevant: Annotated[float, Column("new relevant")]
    without_new: Annotated[int, Column("nothing new")]
    repeated: int


class FunnelFinding(NamedTuple):
    """A sample to look at: "search not needed", "answer without a search" or "same search twice"."""

    sample_id: Annotated[str, Column("sample")]
    finding: str
    what: str = ""

    @property
    def about(self) -> Annotated[str, Column("what")]:
        """The subject of the finding in short."""
        return _in_short(self.what)


@dataclass(frozen=True)
class Funnel:
    """Relevant chunks of a run, stage by stage.

    Attributes:
        stages: stages in their order.
        lost: relevant chunks that the model did not receive, and the stages that lost them.
        hops: searches by position.
        used: share of the shown chunks that support a statement of the answer; None if no score shows it.
        findings: samples with unusual searches.
        samples: number of samples with stages.
        without_reference: number of these without known relevant chunks.
    """

    stages: tuple[FunnelStage, ...]
    lost: tuple[Lost, ...]
    hops: tuple[FunnelHop, ...]
    used: Estimate | None
    findings: tuple[FunnelFinding, ...]
    samples: int
    without_reference: int


class _Relevant(NamedTuple):
    """A chunk that should be found, identified by its id, its text or quote, or both."""

    id: str | None
    text: str | None


class _Kept(NamedTuple):
    """Counts of a sample after a stage: chunks, relevant chunks kept, relevant chunks in total."""

    chunks: int
    kept: int
    relevant: int


def study_funnel(run: Run) -> Funnel:
    """Follow the relevant chunks of each sample through its stages.

    Relevant chunks are `reference_context_ids`, or `reference_contexts`: chunks, or quotes from them.

    Raises:
        ConfigError: no sample has stages of its retrieval.
    """
    kept, order = defaultdict[tuple[str, str], list[_Kept]](list), dict[tuple[str, str], int]()
    hops = defaultdict[int, list[tuple[int, bool, bool]]](list)
    findings, lost = list[FunnelFinding](), list[Lost]()
    samples = without_reference = 0
    for sample in run.samples():
        if sample.stages is None and sample.request_messages is None:
            continue
        samples, stages, relevant = samples + 1, sample.stages or (), _relevant(sample)
        without_reference += relevant is None
        by_key = defaultdict[tuple[str, str], list[StageChunk]](list)
        for place, stage in enumerate(stages):
            key = stage.name, "" if stage.name == "shown" else stage.component
            by_key[key].extend(stage.chunks)  # the searches of an agent count together
            order[key] = max(order.get(key, 0), place + 1000 * (stage.name == "shown"))
        for part, chunks in by_key.items():
            there = sum(_is_among(each, chunks) for each in relevant or ())
            kept[part].append(_Kept(len(chunks), there, len(relevant or ())))
        lost += filter(None, (_lost(sample.id, each, stages) for each in relevant or ()))
        findings += _findings(sample, relevant)
        for number, search in enumerate(_searches(stages, relevant or ()), start=1):
            hops[number].append(search)
    if not samples:
        raise ConfigError(
            "no sample says what became of its retrieval: an adapter captures it, and a file has it as stages"
        )
    by = Counter((each.stage, "" if each.stage == "shown" else each.component) for each in lost)
    by_stage = tuple(_stage(key, kept[key], by[key]) for key in sorted(kept, key=order.__getitem__))
    by_hop = tuple(
        FunnelHop(number, len(gains), fmean(relevant), sum(not new for new in is_new), sum(is_repeated))
        for number, gains in sorted(hops.items())
        for relevant, is_new, is_repeated in [zip(*gains, strict=True)]
    )
    return Funnel(by_stage, tuple(lost), by_hop, _used(run), tuple(findings), samples, without_reference)


def _stage(key: tuple[str, str], rows: Sequence[_Kept], lost: int) -> FunnelStage:
    judged = [row for row in rows if row.relevant]
    hit = wilson_interval(sum(row.kept > 0 for row in judged), len(judged))
    recall = wilson_interval(sum(row.kept for row in judged), sum(row.relevant for row in judged))
    return FunnelStage(*key, len(rows), fmean(row.chunks for row in rows), hit, recall, lost)


def _relevant(sample: Sample) -> list[_Relevant] | None:
    """Relevant chunks of a sample; None if unknown, empty if there are none."""
    ids, texts = sample.reference_context_ids, sample.reference_contexts
    if ids is None and texts is None:
        return None
    grades = sample.reference_context_grades or (1.0,) * len(ids or texts or ())
    has_ids = any(chunk.id is not None for stage in sample.stages or () for chunk in stage.chunks)
    if ids and texts and len(ids) == len(texts):
        known = [_Relevant(id, text) for id, text in zip(ids, texts, strict=True)]
    elif ids and (has_ids or not texts):
        known = [_Relevant(id, None) for id in ids]
    else:
        known = [_Relevant(None, text) for text in texts or ()]
    if len(grades) != len(known):
        return known
    return [chunk for chunk, grade in zip(known, grades, strict=True) if grade > 0]


def _lost(sample_id: str, relevant: _Relevant, stages: Sequence[Stage]) -> Lost | None:
    """First stage that lost the chunk for good; None if the model received it."""
    open_: list[Stage] = []  # stages of which no later one is made
    by: Stage | None = None
    is_there = False
    for stage in stages:
        open_ = [*_left(open_, stage), stage]
        was_there, is_there = is_there, any(_is_among(relevant, each.chunks) for each in open_)
        if was_there and not is_there:
            by = stage
    has_shown, name = bool(stages) and stages[-1].name == "shown", relevant.id or relevant.text or ""
    if is_there:
        return None if has_shown else Lost(sample_id, name, "", UNKNOWN)
    if by is None:
        return Lost(sample_id, name, "", NOT_FOUND)
    return Lost(sample_id, name, by.name, "shown to the model" if by.name == "shown" else by.component)


def _left(open_: Sequence[Stage], stage: Stage) -> Sequence[Stage]:
    """The stages that this stage does not build on: they share no chunk with it, but another stage does."""
    if stage.name == "retrieved":
        return open_
    if stage.name == "shown" or not stage.chunks:
        return ()
    rest = [each for each in open_ if not any(_is_among(chunk, stage.chunks) for chunk in each.chunks)]
    return rest if len(rest) < len(open_) else ()


def _is_among(one: _Relevant | StageChunk, chunks: Iterable[StageChunk]) -> bool:
    """Whether one of these chunks has the id, contains the text or is a part of it."""
    return any(
        one.id == other.id
        if one.id is not None and other.id is not None
        else _are_one(one.text or "", other.text)
        for other in chunks
    )


def _are_one(one: str, other: str) -> bool:
    """Whether one text equals or contains the other, ignoring white space."""
    first, second = " ".join(one.split()), " ".join(other.split())
    return bool(first and second) and (first in second or second in first)


def _findings(sample: Sample, relevant: Sequence[_Relevant] | None) -> Iterator[FunnelFinding]:
    """Findings on the searches of a sample."""
    searches = [stage for stage in sample.stages or () if stage.name == "retrieved"]
    if not searches and sample.request_messages is not None and relevant != []:
        yield FunnelFinding(sample.id, "answer without a search")
    if searches and relevant == []:
        yield FunnelFinding(sample.id, "search not needed", f"{len(searches)} searches")
    asked = Counter[tuple[str, str]]()
    for stage in searches:
        asked[stage.component, query := _query(stage)] += 1
        if query and asked[stage.component, query] == 2:
            yield FunnelFinding(sample.id, "same search twice", stage.query or "")


def _searches(stages: Sequence[Stage], relevant: Sequence[_Relevant]) -> Iterator[tuple[int, bool, bool]]:
    """For each search of a sample: number of new relevant chunks, whether any chunk is new, whether repeated.

    Several components with the same query are one search.
    """
    groups: list[list[Stage]] = []
    for stage in stages:
        if stage.name == "retrieved":
            last = groups[-1] if groups else []
            if any(
                _query(each) != _query(stage) or each.component == stage.component for each in last or [stage]
            ):
                groups.append([])
            groups[-1].append(stage)
    earlier: list[StageChunk] = []
    asked, found = set[tuple[str, str]](), set[_Relevant]()
    for group in groups:
        chunks = [chunk for stage in group for chunk in stage.chunks]
        new = {each for each in relevant if each not in found and _is_among(each, chunks)}
        keys = {(stage.component, query) for stage in group if (query := _query(stage))}
        yield len(new), not all(_is_among(chunk, earlier) for chunk in chunks), bool(keys & asked)
        earlier += chunks
        found |= new
        asked |= keys


def _query(stage: Stage) -> str:
    return folded(spaced_form(stage.query or ""))


def _used(run: Run) -> Estimate | None:
    """The share of shown chunks that support a statement, by the quotes of verdicts."""
    entry = next((entry for entry in run.metrics if entry.name == "faithfulness"), None)
    shown = used = 0
    for record in () if entry is None else run.records(entry.signature):
        if record.status == "ok" and record.sample is not None:
            shown += len(record.sample.contexts or ())
            used += len(set(_cited(record)))
    return wilson_interval(used, shown) if shown else None


def _cited(record: Record) -> Iterator[int]:
    """The numbers of the chunks that its supported statements quote."""
    for verdict in record.verdicts:
        for evidence in verdict.evidence if verdict.supported else ():
            if evidence.source == "contexts" and evidence.span is not None:
                yield evidence.span.chunk


def _in_short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 80 else f"{words[:79]}…"


@in_notebooks
def funnel_tables(funnel: Funnel) -> Iterator[StudyTable]:
    """Tables of stages, lost chunks, searches and findings."""
    notes = ["hit: samples with a relevant chunk; recall: relevant chunks that are there; Wilson's intervals"]
    if funnel.used is not None:
        notes.append(f"{funnel.used} of the shown chunks are used by a supported statement")
    if without := funnel.without_reference:
        notes.append(
            f"{number_of(without, 'sample')} of {funnel.samples} do not say which chunks are relevant"
        )
    columns = "stage component samples chunks hit recall lost"
    yield table_of("stages", "Relevant chunks, stage by stage", FunnelStage, funnel.stages, columns, notes)
    if funnel.lost:
        causes = Counter((lost.stage, lost.component) for lost in funnel.lost).most_common()
        by = ((*cause, count) for cause, count in causes)
        heads = "stage", "component", TableColumn("lost", "count")
        yield plain_table("lost", "Relevant chunks lost by stage", heads, by)
        title = "Relevant chunks that were not shown"
        yield table_of("lost_chunks", title, Lost, funnel.lost, "sample_id chunk stage component")
    if funnel.hops:
        note = "new relevant: mean number of relevant chunks that no earlier search of the sample found"
        columns = "hop samples relevant without_new repeated"
        yield table_of("hops", "Search by search", FunnelHop, funnel.hops, columns, [note])
    if funnel.findings:
        columns = "sample_id finding about"
        yield table_of("findings", "Searches to look at", FunnelFinding, funnel.findings, columns)
