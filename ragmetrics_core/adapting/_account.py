"""The account of a request: which known texts its words come from, and which of them are evidence."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.adapting._captured import Call, CapturedMessage, CapturedRun, Dialect, Rules
from ragmetrics_core.adapting._documents import Chunk
from ragmetrics_core.adapting._known_texts import (
    KnownText,
    is_excluded,
    is_written_by,
    known_texts,
    named_chunks,
    texts_of,
)
from ragmetrics_core.adapting._stages import RetrievalSteps, documents_by_place, once
from ragmetrics_core.adapting._wiring import calls_before, messages_in
from ragmetrics_core.samples import (
    LEAST_RUN,
    RequestPlace,
    Sample,
    Stage,
    StageChunk,
    Tiling,
    Turn,
    UnaccountedText,
    part_of,
    tile,
)

__all__ = ["Account", "account_for"]

SYSTEM = "system message of the model, with its instructions"


class Account(NamedTuple):
    """The evidence in the requests behind an answer, and the account of their words.

    Attributes:
        rule: how that is known, for the label `found_contexts`.
        chunks: the evidence in the requests, in their order; None if it is unknown.
        request: the messages of the calls that made the answer, and of those that wrote texts in them; None
            if they were not seen.
        stage: the stage "shown" without its chunks.
        derived: texts that models wrote from the evidence.
    """

    rule: str
    chunks: Sequence[StageChunk] | None = None
    request: Sequence[Turn] | None = None
    stage: Stage | None = None
    derived: Sequence[Stage] = ()


@dataclass
class _Found:
    """A known text in the requests: which of its words, and where."""

    known: KnownText
    covered: NDArray[np.bool_]
    places: list[RequestPlace] = field(default_factory=list[RequestPlace])


def account_for(
    run: CapturedRun,
    makers: Sequence[Call],
    retrieval: RetrievalSteps,
    sample: Sample,
    dialect: Dialect,
    rules: Rules,
) -> Account:
    """Account for the words of the requests behind an answer.

    A text that an earlier model call wrote is not evidence: the request of that call is accounted for too.

    Args:
        run: the run.
        makers: the calls that made the answer.
        retrieval: the stages among the calls before.
        sample: the sample so far, with question and history.
        dialect: reads the framework's objects.
        rules: the user's options.
    """
    components = ", ".join(dict.fromkeys(step.call.name for step in retrieval.steps))
    if not makers or not all(messages_in(call.inputs, dialect) for call in makers):
        return _unseen(run, retrieval, components, dialect)
    ledger = _Ledger(run, makers, sample, dialect, rules)
    ledger.read()
    model = ", ".join(dict.fromkeys(call.name for call in makers))
    chunks, unaccounted = ledger.chunks(), ledger.unaccounted
    stage = Stage(
        name="shown",
        component=model,
        query=sample.question,
        words=ledger.words,
        accounted=ledger.accounted,
        unaccounted=tuple(unaccounted) or None,
    )
    request = [Turn(role=each.role, content=each.text) for each in ledger.request]
    if chunks:
        absent = ledger.absent(retrieval)
        rule = f"{components or 'run'}, shown to {model}" + (
            f"; not shown: {', '.join(absent)}" if absent else ""
        )
        return Account(rule, chunks, request, stage, ledger.derived())
    system = [each.text for each in ledger.request if each.role == "system"]
    if rules.system_message and system:
        whole = "\n\n".join(system)
        place = RequestPlace(1 + [each.role for each in ledger.request].index("system"), 0, len(system[0]))
        chunk = StageChunk(text=whole, rank=1).standing_at([place], 1.0)
        return Account(SYSTEM, [chunk], request, stage)
    has_documents = any(step.chunks for step in retrieval.last)
    is_known = not unaccounted and not ledger.unseen
    if is_known and not (has_documents and ledger.longest_gap >= LEAST_RUN):
        tools = [call.name for call in run.walk() if call.kind == "tool" and is_excluded(call.name, rules)]
        rule = f"{components or 'response'}: nothing was shown to {model}"
        rule += f"; not evidence by the options: {', '.join(dict.fromkeys(tools))}" if tools else ""
        return Account(rule, [], request, stage, ledger.derived())
    missing = ledger.words - ledger.accounted
    rule = (
        f"unknown: {missing} of {ledger.words} words that {model} was sent come from no known text; "
        f"if they are contexts, {rules.advice}"
    )
    return Account(rule if components else f"none; {rule}", None, request, stage, ledger.derived())


class _Ledger:
    """The requests behind an answer, and what their words come from."""

    def __init__(
        self, run: CapturedRun, makers: Sequence[Call], sample: Sample, dialect: Dialect, rules: Rules
    ) -> None:
        self._run, self._sample, self._dialect, self._rules = run, sample, dialect, rules
        self._calls = list(makers)
        self._found: dict[tuple[str, bool], _Found] = {}
        self._written: list[Call] = []
        self.request: list[CapturedMessage] = []
        self.unaccounted: list[UnaccountedText] = []
        self.unseen: list[str] = []
        self.longest_gap = 0
        self.words = self.accounted = 0

    def read(self) -> None:
        """Account for the requests of the calls, and of all calls that wrote texts in them."""
        for call in self._calls:  # it grows
            messages = messages_in(call.inputs, self._dialect)
            if not messages:
                self.unseen.append(call.name)
            elif not {each.text for each in messages} <= {each.text for each in self.request}:
                self._account(call, messages)

    def _account(self, call: Call, messages: Sequence[CapturedMessage]) -> None:
        before = calls_before(self._run, [call])
        known = known_texts(self._run, before, messages, self._sample, self._dialect, self._rules)
        question, earlier = self._sample.question or "", self._rules.earlier
        texts = [each.text for each in messages]
        rest = tile(texts, [each.text for each in known]).rest()
        known += [KnownText("prompt", text) for text in earlier.shared(call.name, question)]
        earlier.add(call.name, question, rest)
        tiling = tile(texts, [each.text for each in known], phrases=False)
        offset = len(self.request)
        self.request += messages
        self.words += tiling.words
        self.accounted += tiling.accounted_by([each.kind != "code" for each in known])
        for run, tied in zip(tiling.runs, tiling.tied, strict=True):  # in the order of the request
            for writer in [known[number].call for number in (run.text, *sorted(tied))]:
                if writer is not None and writer not in self._calls:
                    self._calls.append(writer)
                    self._written.append(writer)
        for number, each in enumerate(known):
            covered = tiling.covered[number]
            if covered.any():
                found = self._found.setdefault((each.text, each.is_evidence), _Found(each, covered))
                found.covered = found.covered | covered
                found.places += [
                    place._replace(message=place.message + offset) for place in tiling.places(number)
                ]
        self.longest_gap = max(self.longest_gap, tiling.longest_gap)
        self._note_unaccounted(tiling, known, messages, offset)

    def _note_unaccounted(
        self, tiling: Tiling, known: Sequence[KnownText], messages: Sequence[CapturedMessage], offset: int
    ) -> None:
        """Note the stretches that no text accounts for, and the texts of code."""
        found = [(place, "") for place in tiling.unaccounted()]
        for number, each in enumerate(known):
            if each.kind == "code":
                found += [(place, each.component) for place in tiling.places(number)]
        for place, component in sorted(found):
            self.unaccounted.append(
                UnaccountedText(
                    text=messages[place.message - 1].text[place.start : place.end],
                    message=place.message + offset,
                    start=place.start,
                    end=place.end,
                    component=component,
                )
            )

    def chunks(self) -> list[StageChunk]:
        """The evidence in the requests, in their order."""
        found = [each for each in self._found.values() if each.known.is_evidence]
        found.sort(key=lambda each: min(each.places))
        chunks: list[StageChunk] = []
        for rank, each in enumerate(found, start=1):
            known, is_whole = each.known, bool(each.covered.all())
            chunk = known.chunk or Chunk(known.text)
            chunks.append(
                StageChunk(
                    text=known.text if is_whole else part_of(known.text, each.covered),
                    id=chunk.id,
                    score=chunk.score,
                    rank=rank,
                ).standing_at(each.places, 1.0 if is_whole else round(float(each.covered.mean()), 3))
            )
        return chunks

    def absent(self, retrieval: RetrievalSteps) -> list[str]:
        """Ids of the chunks of the last stages that the requests lack, or their first words."""
        last = once(chunk for step in retrieval.last for chunk in step.chunks)
        shown = {text for text, is_evidence in self._found if is_evidence}
        absent = [chunk for chunk in last if not shown & {chunk.text, *chunk.others}]
        # what another text accounts for is there as well
        tiling = tile([each.text for each in self.request], [chunk.text for chunk in absent])
        written = [text for call in self._written for text in texts_of(call, self._dialect)]
        lost = [
            chunk
            for number, chunk in enumerate(absent)
            if tiling.share(number) < 1 and not is_written_by(chunk.text, written)
        ]
        return [chunk.id or repr(chunk.text[:30]) for chunk in lost]

    def derived(self) -> list[Stage]:
        """The texts in the requests that models of this run wrote."""
        return [
            Stage(
                name="derived",
                component=call.name,
                chunks=(StageChunk(text="\n".join(texts_of(call, self._dialect)), rank=1),),
            )
            for call in self._written
        ]


def _unseen(run: CapturedRun, retrieval: RetrievalSteps, components: str, dialect: Dialect) -> Account:
    """The chunks that may have been shown, if the request was not seen."""
    named = documents_by_place(run.sources, dialect)
    sources = [chunk for chunks in named.values() for chunk in chunks]
    last = [chunk for step in retrieval.last for chunk in step.chunks]
    loose = named_chunks(run, dialect)
    options = (sources, last, loose or [])
    chunks = next((option for option in options if option), None)
    if not chunks:
        return Account(f"{components}: no request was seen" if components else "none")
    unseen = [
        StageChunk(text=chunk.text, id=chunk.id, score=chunk.score, rank=1, shown="unseen")
        for chunk in once(chunks)
    ]
    stage = Stage(name="shown", query=None)
    return Account(f"{components or 'response'}: no request was seen", unseen, None, stage)
