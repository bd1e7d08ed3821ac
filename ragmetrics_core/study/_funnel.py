"""Where the relevant chunks went: found, kept and shown, stage by stage, and which stage lost each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.records import Record
from ragmetrics_core.runs import Run
from ragmetrics_core.samples import Sample, Stage, StageChunk
from ragmetrics_core.study._intervals import Estimate, wilson_interval

__all__ = ["Funnel", "FunnelFinding", "FunnelHop", "FunnelStage", "Lost", "study_funnel"]

NOT_FOUND = "not found by any search"
UNKNOWN = "unknown: nobody knows what was shown"


class Lost(NamedTuple):
    """A relevant chunk that the model was not shown.

    Attributes:
        sample_id: of which sample.
        reference: its id, or its text.
        stage: the stage that had it no more; "" where no search found it, or where what was shown is unknown.
        component: that stage's component, or why there is none.
    """

    sample_id: str
    reference: str
    stage: str
    component: str


class FunnelStage(NamedTuple):
    """What was there after a stage.

    Attributes:
        stage: what it does: "retrieved", "fused", "reranked", "filtered" or "shown".
        component: the component's name; "" for "shown".
        samples: how many samples have the stage.
        chunks: mean number of chunks.
        hit: share of these samples with a relevant chunk among them.
        recall: share of the relevant chunks of these samples that are among them.
        lost: relevant chunks that were there before and not after it, and are not shown.
    """

    stage: str
    component: str
    samples: int
    chunks: float
    hit: Estimate
    recall: Estimate
    lost: int


class FunnelHop(NamedTuple):
    """One search after the other in the same sample.

    Attributes:
        hop: the first, second, ... search.
        samples: how many samples have so many.
        relevant: mean number of relevant chunks that no earlier search of the sample had found.
        without_new: how many found no chunk at all that was not there before.
        repeated: how many asked the same component the same again.
    """

    hop: int
    samples: int
    relevant: float
    without_new: int
    repeated: int


class FunnelFinding(NamedTuple):
    """A sample to look at: "search not needed", "answer without a search" or "same search twice"."""

    sample_id: str
    finding: str
    what: str = ""


@dataclass(frozen=True, kw_only=True)
class Funnel:
    """What became of the relevant chunks of a run.

    Attributes:
        stages: in the order in which they ran.
        lost: each relevant chunk that was not shown, and the stage that lost it.
        hops: search by search.
        used: share of the shown chunks that a supported statement of the answer rests on; None where no
            score says so.
        findings: samples to look at.
        samples: how many samples have stages.
        without_reference: how many of these do not say which chunks are relevant.
    """

    stages: tuple[FunnelStage, ...]
    lost: tuple[Lost, ...]
    hops: tuple[FunnelHop, ...]
    used: Estimate | None
    findings: tuple[FunnelFinding, ...]
    samples: int
    without_reference: int


class _Relevant(NamedTuple):
    """A chunk that should be found: by its id, by its text or quote, or by both."""

    id: str | None
    text: str | None

    @property
    def name(self) -> str:
        return self.id or self.text or ""

    def is_among(self, chunks: Iterable[StageChunk]) -> bool:
        """Whether it is one of these: it has the id, or holds the text, or is a part of it."""
        for chunk in chunks:
            if self.id is not None and chunk.id is not None:
                if self.id == chunk.id:
                    return True
            elif self.text is not None and _are_one(self.text, chunk.text):
                return True
        return False


@dataclass
class _Row:
    """What is counted of a stage."""

    samples: int = 0
    chunks: int = 0
    judged: int = 0
    hits: int = 0
    relevant: int = 0
    kept: int = 0
    lost: int = 0


@dataclass
class _FunnelCounts:
    rows: dict[tuple[str, str], _Row] = field(default_factory=dict[tuple[str, str], _Row])
    lost: list[Lost] = field(default_factory=list[Lost])
    hops: dict[int, list[tuple[int, bool, bool]]] = field(
        default_factory=dict[int, list[tuple[int, bool, bool]]]
    )
    findings: list[FunnelFinding] = field(default_factory=list[FunnelFinding])
    samples: int = 0
    without_reference: int = 0
    order: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])


def study_funnel(run: Run) -> Funnel:
    """Follow the relevant chunks of each sample through its stages.

    Relevant are `reference_context_ids`, or `reference_contexts`: chunks, or quotes that stand in them.

    Raises:
        ConfigError: no sample says what became of its retrieval.
    """
    counts = _FunnelCounts()
    for sample in run.samples():
        if sample.stages is not None or sample.request_messages is not None:
            _count(sample, counts)
    if not counts.samples:
        raise ConfigError(
            "no sample says what became of its retrieval: an adapter captures it, and a file has it as stages"
        )
    return Funnel(
        stages=tuple(
            _row(key, counts.rows[key]) for key in sorted(counts.rows, key=lambda key: counts.order[key])
        ),
        lost=tuple(counts.lost),
        hops=tuple(_hop(number, searches) for number, searches in sorted(counts.hops.items())),
        used=_used(run),
        findings=tuple(counts.findings),
        samples=counts.samples,
        without_reference=counts.without_reference,
    )


def _row(key: tuple[str, str], row: _Row) -> FunnelStage:
    return FunnelStage(
        stage=key[0],
        component=key[1],
        samples=row.samples,
        chunks=row.chunks / row.samples,
        hit=wilson_interval(row.hits, row.judged),
        recall=wilson_interval(row.kept, row.relevant),
        lost=row.lost,
    )


def _hop(number: int, searches: Sequence[tuple[int, bool, bool]]) -> FunnelHop:
    return FunnelHop(
        hop=number,
        samples=len(searches),
        relevant=sum(new for new, _, _ in searches) / len(searches),
        without_new=sum(not is_new for _, is_new, _ in searches),
        repeated=sum(again for _, _, again in searches),
    )


def _count(sample: Sample, counts: _FunnelCounts) -> None:
    counts.samples += 1
    stages = sample.stages or ()
    relevant = _relevant(sample)
    by_key: dict[tuple[str, str], list[StageChunk]] = {}
    for place, stage in enumerate(stages):
        key = _key(stage)
        by_key.setdefault(key, []).extend(stage.chunks)  # the searches of an agent count together
        rank = place + 1000 * (stage.name == "shown")
        counts.order[key] = max(counts.order.get(key, 0), rank)
    for key, chunks in by_key.items():
        row = counts.rows.setdefault(key, _Row())
        row.samples += 1
        row.chunks += len(chunks)
        if relevant:
            kept = sum(each.is_among(chunks) for each in relevant)
            row.judged += 1
            row.hits += kept > 0
            row.relevant += len(relevant)
            row.kept += kept
    counts.without_reference += relevant is None
    for each in relevant or ():
        if (lost := _lost(sample.id, each, stages)) is not None:
            counts.lost.append(lost)
            if lost.stage:
                counts.rows[lost.stage, "" if lost.stage == "shown" else lost.component].lost += 1
    _look(sample, relevant, counts)


def _key(stage: Stage) -> tuple[str, str]:
    return stage.name, "" if stage.name == "shown" else stage.component


def _relevant(sample: Sample) -> list[_Relevant] | None:
    """What should be found; None where the sample does not say, empty where it says nothing."""
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
    return [each for each, grade in zip(known, grades, strict=True) if grade > 0]


def _lost(sample_id: str, relevant: _Relevant, stages: Sequence[Stage]) -> Lost | None:
    """The stage that had a relevant chunk no more and none behind it has; None where it was shown."""
    open_: list[Stage] = []  # stages of which no later one is made
    by: Stage | None = None
    was_there = is_there = False
    for stage in stages:
        open_ = [*_left(open_, stage), stage]
        was_there, is_there = is_there, any(relevant.is_among(each.chunks) for each in open_)
        if was_there and not is_there:
            by = stage
    if not stages or stages[-1].name != "shown":
        if is_there:
            return Lost(sample_id, relevant.name, "", UNKNOWN)
    elif is_there:
        return None
    if by is None:
        return Lost(sample_id, relevant.name, "", NOT_FOUND)
    return Lost(
        sample_id, relevant.name, by.name, "shown to the model" if by.name == "shown" else by.component
    )


def _left(open_: Sequence[Stage], stage: Stage) -> list[Stage]:
    """The stages that this one is not made of: those that share no chunk with it, where another one does."""
    if stage.name == "retrieved":
        return list(open_)
    if stage.name == "shown" or not stage.chunks:
        return []
    made_of = [
        each for each in open_ if any(_same(one, other) for one in each.chunks for other in stage.chunks)
    ]
    return [each for each in open_ if made_of and not any(each is one for one in made_of)]


def _same(one: StageChunk, other: StageChunk) -> bool:
    if one.id is not None and other.id is not None:
        return one.id == other.id
    return _are_one(one.text, other.text)


def _are_one(one: str, other: str) -> bool:
    """Whether one text is the other or a part of it, white space aside."""
    first, second = " ".join(one.split()), " ".join(other.split())
    return bool(first and second) and (first in second or second in first)


def _look(sample: Sample, relevant: list[_Relevant] | None, counts: _FunnelCounts) -> None:
    """Search by search: what was new in it, and what is odd."""
    searches = [stage for stage in sample.stages or () if stage.name == "retrieved"]
    if not searches and sample.request_messages is not None and relevant != []:
        counts.findings.append(FunnelFinding(sample.id, "answer without a search"))
    if searches and relevant == []:
        counts.findings.append(FunnelFinding(sample.id, "search not needed", f"{len(searches)} searches"))
    seen: list[StageChunk] = []
    found: set[_Relevant] = set()
    asked: Counter[tuple[str, str]] = Counter()
    hop, last_query, components = 0, None, set[str]()
    for stage in searches:
        query = " ".join((stage.query or "").split()).casefold()
        again = bool(query) and asked[stage.component, query] > 0
        if hop == 0 or query != last_query or stage.component in components:
            hop, components = hop + 1, set[str]()  # several components asked the same are one search
            is_first = True
        else:
            is_first = False
        last_query = query
        components.add(stage.component)
        asked[stage.component, query] += 1
        if again and asked[stage.component, query] == 2:
            counts.findings.append(FunnelFinding(sample.id, "same search twice", stage.query or ""))
        new = {each for each in relevant or () if each not in found and each.is_among(stage.chunks)}
        is_new = any(not any(_same(chunk, each) for each in seen) for chunk in stage.chunks)
        found |= new
        seen += stage.chunks
        of_hop = counts.hops.setdefault(hop, [])
        if is_first:
            of_hop.append((len(new), is_new, again))
        else:
            before = of_hop[-1]
            of_hop[-1] = before[0] + len(new), before[1] or is_new, before[2] or again


def _used(run: Run) -> Estimate | None:
    """The share of the shown chunks that a supported statement rests on, by the quotes of its verdicts."""
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
