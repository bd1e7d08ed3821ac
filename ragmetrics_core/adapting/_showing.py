"""Chunks that the model's request contains: some, none or unknown."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ragmetrics_core.adapting._captured import Call, CapturedMessage, CapturedRun, Dialect, Rules
from ragmetrics_core.adapting._documents import Chunk, chunks_of
from ragmetrics_core.adapting._fields import CONTEXT_KEYS
from ragmetrics_core.adapting._stages import (
    RetrievalSteps,
    documents_anywhere,
    documents_by_place,
    once,
    texts_in,
)
from ragmetrics_core.adapting._wiring import SHORTEST, messages_in, reply_of
from ragmetrics_core.comparing import spaced_form
from ragmetrics_core.samples import Sample, SoughtText, Stage, StageChunk, sought_in
from ragmetrics_core.shapes import is_series

__all__ = ["KnownRun", "ShownChunks", "shown_to_the_model"]

SYSTEM = "system message of the model, with its instructions"


class ShownChunks(NamedTuple):
    """The chunks in the model's request, None if unknown, with the reason."""

    chunks: Sequence[StageChunk] | None
    rule: str
    stages: Sequence[Stage] = ()
    model: str = ""


class KnownRun(NamedTuple):
    """An answered question before its contexts are determined.

    Attributes:
        run: the run.
        makers: the calls that made the answer.
        before: the calls upstream of the answer, in order of their ends.
        request: the makers' messages, or None if unknown.
        retrieval: the stages among the calls before.
        sample: the sample so far.
        dialect, rules: as for `sample_of`.
    """

    run: CapturedRun
    makers: Sequence[Call]
    before: Sequence[Call]
    request: Sequence[CapturedMessage] | None
    retrieval: RetrievalSteps
    sample: Sample
    dialect: Dialect
    rules: Rules


def shown_to_the_model(known: KnownRun) -> ShownChunks:
    run, request, retrieval, dialect = known.run, known.request, known.retrieval, known.dialect
    components = ", ".join(dict.fromkeys(step.call.name for step in retrieval.steps))
    named = _documents(run.sources, dialect)
    last = [chunk for step in retrieval.last for chunk in step.chunks]
    # the text of a tool may be anything
    is_last_known = bool(retrieval.steps) and not (retrieval.texts_of_tools and not last)
    if request is None:
        options = (named, last if is_last_known else None, _loose(run, dialect))
        chunks = next((option for option in options if option is not None), None)
        if chunks is None:
            return ShownChunks(None, "none")
        unseen = [_marked(SoughtText("unseen", chunk.text), chunk) for chunk in once(chunks)]
        return ShownChunks(unseen, f"{components or 'response'}: no request was seen")
    model = ", ".join(dict.fromkeys(call.name for call in known.makers))
    stood, steps = _standing(known, request)
    if stood:
        rule = ", ".join(dict.fromkeys([*filter(None, [components]), *(step.component for step in steps)]))
        return ShownChunks(stood, f"{rule or 'run'}, shown to {model}", steps, model)
    if named == [] or (is_last_known and not last) or _is_explained(known, request):
        return ShownChunks([], f"{components or 'response'}: nothing was shown to {model}", model=model)
    if known.rules.system_message and (system := [each.text for each in request if each.role == "system"]):
        text = "\n\n".join(system)
        return ShownChunks([_marked(sought_in([text], [[text]])[0][0], Chunk(text))], SYSTEM, model=model)
    if not retrieval.steps and not named:
        return ShownChunks(None, "none")
    rule = f"unknown: no chunk of {components or 'the response'} stands in what {model} was sent; if it was "
    return ShownChunks(None, rule + "shown them in other words, write note_contexts(documents)")


def _standing(known: KnownRun, request: Sequence[CapturedMessage]) -> tuple[list[StageChunk], list[Stage]]:
    """The chunks in the request, in its order, with the texts of steps in between."""
    run, retrieval, sample, dialect = known.run, known.retrieval, known.sample, known.dialect
    last = once(chunk for step in retrieval.last for chunk in step.chunks)
    earlier = [step.chunks for step in reversed(retrieval.steps)]
    held = [call.inputs for call in (*known.before, *known.makers)]
    held += [run.sources, run.inputs, run.outputs]
    sources = [chunk for value in held for chunk in documents_anywhere(value, dialect)]
    groups = [last, *earlier, sources, _loose(run, dialect) or [] if not retrieval.steps else []]
    taken: set[str] = set()
    options: list[list[tuple[Chunk, str]]] = []
    for group in groups:
        fresh = [chunk for chunk in once(group) if chunk.text not in taken]
        taken |= {chunk.text for chunk in fresh}
        options.append([(chunk, text) for chunk in fresh for text in _texts(chunk)])
    besides = [sample.question or "", *(turn.content for turn in sample.history or ())]
    besides += [stage.query for stage in sample.stages or () if stage.query]
    messages = [each.text for each in request]
    outcome = sought_in(messages, [[text for _, text in group] for group in options], besides=besides)
    standing: list[StageChunk] = []
    for candidates, results in zip(options, outcome, strict=True):
        best: dict[int, tuple[Chunk, SoughtText]] = {}
        for (chunk, _), sought in zip(candidates, results, strict=True):
            if sought.place is not None and (
                id(chunk) not in best
                or (sought.shown == "verified" and best[id(chunk)][1].shown != "verified")
            ):
                best[id(chunk)] = chunk, sought
        standing += [_marked(sought, chunk) for chunk, sought in best.values()]
    claimed = [each for each in standing if each.message is not None]
    written, stages = _written(known, messages, besides, claimed)
    return sorted([*standing, *written], key=lambda each: (each.message or 0, each.start or 0)), stages


def _texts(chunk: Chunk) -> list[str]:
    """The texts that may be shown for a chunk: larger texts around it first, others last."""
    around = [text for text in chunk.others if chunk.text in text and text != chunk.text]
    return [
        *sorted(around, key=len, reverse=True),
        chunk.text,
        *(t for t in chunk.others if chunk.text not in t),
    ]


def _written(
    known: KnownRun, messages: Sequence[str], besides: Sequence[str], claimed: Sequence[StageChunk]
) -> tuple[list[StageChunk], list[Stage]]:
    """Texts that later steps wrote from the documents (summaries, compressions) and the request contains."""
    dialect = known.dialect
    texts = [chunk.text for step in known.retrieval.steps for chunk in step.chunks]
    if not texts:
        return [], []
    written: list[StageChunk] = []
    stages: list[Stage] = []
    for call in known.before:
        if call.kind not in ("chain", "model") or not _reads(call, texts, dialect):
            continue
        made = [text for text in texts_in(call.outputs, dialect) if len(text.strip()) >= SHORTEST]
        made = [text for text in made if text not in texts and text not in {each.text for each in written}]
        for text, sought in zip(made, sought_in(messages, [made], besides=besides)[0], strict=True):
            if sought.shown != "verified" or sought.place is None:
                continue
            if any(_overlap(sought, each) for each in (*claimed, *written)):
                continue  # the documents themselves, only written otherwise
            written.append(_marked(sought, Chunk(text)))
            stages.append(
                Stage(name="filtered", component=call.name, chunks=(StageChunk(text=text, rank=1),))
            )
    return written, stages


def _reads(call: Call, texts: Sequence[str], dialect: Dialect) -> bool:
    """Whether a call was given documents: typed ones, or their texts in its messages."""
    if any(documents_by_place(call.inputs, dialect).values()):
        return True
    messages = [each.text for each in messages_in(call.inputs, dialect)]
    return bool(messages) and any(each.shown != "absent" for each in sought_in(messages, [texts])[0])


def _overlap(sought: SoughtText, chunk: StageChunk) -> bool:
    if sought.place is None or chunk.message != sought.place.message:
        return False
    return (chunk.start or 0) < sought.place.end and sought.place.start < (chunk.end or 0)


def _is_explained(known: KnownRun, request: Sequence[CapturedMessage]) -> bool:
    """Whether the prompt is known to contain no documents, only the question and earlier messages.

    The prompt is the call that made the messages; without one, the messages themselves must be known texts.
    """
    sample, dialect = known.sample, known.dialect
    sides = [sample.question, *(turn.content for turn in sample.history or ())]
    sides += [stage.query for stage in sample.stages or ()]
    # what a model wrote that was shown documents may be these in other words
    texts = [chunk.text for stage in sample.stages or () for chunk in stage.chunks]
    models = [call for call in known.before if call.kind == "model"]
    sides += [reply_of(call, dialect) for call in models if not texts or not _reads(call, texts, dialect)]
    explained = {spaced_form(text) for text in sides if text} | {""}
    whole = " ".join(spaced_form(each.text) for each in request)
    prompts = [call for call in known.before if call.kind == "prompt" and _made(call, whole, dialect)]
    values: Iterable[Any]
    if prompts:
        fields = dialect.fields(prompts[-1].inputs)
        values = fields.values() if fields else [prompts[-1].inputs]
    else:
        values = [each.text for each in request]
    for value in values:
        if isinstance(value, bool | int | float) or value is None:
            continue
        said = [each.text for each in messages_in(value, dialect)]
        if not said and not (is_series(value) and not value):
            return False
        if any(spaced_form(text) not in explained for text in said):
            return False
    return True


def _made(prompt: Call, whole: str, dialect: Dialect) -> bool:
    outputs: Sequence[Any] = [prompt.outputs, *dialect.fields(prompt.outputs).values()]
    texts = [each.text for value in outputs for each in messages_in(value, dialect)]
    return bool(texts) and all(spaced_form(text) in whole for text in texts)


def _documents(value: Any, dialect: Dialect) -> list[Chunk] | None:
    """The typed documents in a value; empty if it says that there are none, None if unknown."""
    held = documents_by_place(value, dialect)
    return [chunk for chunks in held.values() for chunk in chunks] if held else None


def _loose(run: CapturedRun, dialect: Dialect) -> list[Chunk] | None:
    """Documents and texts under a telling name of the run's outputs or inputs."""
    for value in (run.outputs, run.inputs):
        named: Mapping[str, Any] = dialect.fields(value)
        for key in CONTEXT_KEYS:
            held = named.get(key)
            if held is None:
                continue
            chunks, unknown = chunks_of(held)
            if not unknown:
                return chunks
    return None


def _marked(sought: SoughtText, chunk: Chunk) -> StageChunk:
    return StageChunk.of(sought, rank=1, id=chunk.id, score=chunk.score)
