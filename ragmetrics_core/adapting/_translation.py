"""From a captured run to a sample: one order of rules for all frameworks."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ragmetrics_core.adapting._captured import Call, CapturedMessage, CapturedRun, Dialect, NamedValue, Rules
from ragmetrics_core.adapting._documents import Chunk, chunks_of
from ragmetrics_core.adapting._fields import CONTEXT_KEYS, answer_in, at, history_in, question_in
from ragmetrics_core.adapting._skip import Skip
from ragmetrics_core.adapting._stages import (
    RetrievalSteps,
    documents_anywhere,
    documents_by_place,
    retrieval_of,
    texts_in,
)
from ragmetrics_core.errors import SampleError
from ragmetrics_core.sample import Sample, Turn
from ragmetrics_core.shapes import is_series
from ragmetrics_core.stages import SoughtText, Stage, StageChunk, sought_in

__all__ = ["sample_of"]

_LOGGER = logging.getLogger("ragmetrics.live")
_TOLD: set[str] = set()
_SPEAKERS = ("user", "assistant", "system")
# A shorter text of a step stands in a request by chance.
_SHORTEST = 20
SYSTEM = "system message of the model, with its instructions"


class _Shown(NamedTuple):
    """What the model was shown, None where nobody can know, and how that is known."""

    chunks: Sequence[StageChunk] | None
    rule: str
    stages: Sequence[Stage] = ()
    model: str = ""


def sample_of(run: CapturedRun, dialect: Dialect, rules: Rules | None = None) -> Sample:
    """The sample of a run; its labels `found_question`, `found_contexts` and `found_answer` name rules.

    In this order. Question and answer: what `extract` gave, the host's wiring, the known places. The calls
    that made the answer: the host's wiring, else the one call whose reply it is. The stages: the calls that
    these were made of. The contexts: what the application says; else the chunks that stand in the request;
    none where a stage, the prompt's own inputs or the response say that there are none; unknown where there
    are chunks and none of them stands there. Where the request is not known: what the response names, else
    the chunks of the last stages.

    Raises:
        Skip: "several_answers", "no_question" or "no_answer".
        SampleError: `extract` gave what no sample has.
    """
    rules = rules or Rules()
    given, said = _given(run.given, dialect) if run.given else (None, None)
    if run.rivals and (given is None or given.answer is None):
        _tell_rivals(run)
        raise Skip("several_answers")
    question = _first(None if given is None else given.question, run.question, dialect) or question_in(
        run.inputs, dialect, rules.input_key
    )
    answer = _first(None if given is None else given.answer, run.answer, dialect) or answer_in(
        run.outputs, dialect, rules.answer_key, run.inputs
    )
    if question is None or not question.value.strip():
        raise Skip("no_question")  # nothing, or an image
    if answer is None or not answer.value.strip():
        raise Skip("several_answers" if _is_several(run.outputs, dialect) else "no_answer")
    history = run.history
    if history is None:
        history = history_in(run.inputs, run.outputs, question.value, dialect)
    makers = _makers(run, answer.value, dialect)
    request = _request(makers, dialect)
    retrieval = retrieval_of(_before(run, makers), dialect, rules)
    sample = Sample(
        question=question.value,
        answer=answer.value,
        history=_turns(history) or None,
        stages=retrieval.stages or None,
        request_messages=None
        if request is None
        else [Turn(role=each.role, content=each.text) for each in request],
        labels={"found_question": question.rule, "found_answer": _named(answer.rule, makers)},
    )
    if said is None:
        said = run.contexts or _at_key(run, dialect, rules)
    if said is not None:
        sample = _with_said(sample, said, dialect)
    else:
        shown = _shown(run, makers, request, retrieval, sample, dialect, rules)
        sample = _with_shown(sample, shown)
    return sample if given is None else _with_more(sample, given)


def _first(given: str | None, known: NamedValue | None, dialect: Dialect) -> NamedValue | None:
    if given is not None:
        return NamedValue(given, "extract")
    text = None if known is None else dialect.text(known.value)
    return None if known is None or text is None else NamedValue(text, known.rule)


def _named(rule: str, makers: Sequence[Call]) -> str:
    names = ", ".join(dict.fromkeys(call.name for call in makers))
    return f"{rule}, by {names}" if names else rule


def _turns(messages: Sequence[CapturedMessage]) -> tuple[Turn, ...]:
    """What was said, without calls of tools and their results."""
    return tuple(
        Turn(role=each.role, content=each.text)
        for each in messages
        if each.role in _SPEAKERS and each.text and not each.calls_tools
    )


def _is_several(outputs: Any, dialect: Dialect) -> bool:
    return is_series(outputs) and len(outputs) > 0 and not documents_by_place(outputs, dialect)


def _tell_rivals(run: CapturedRun) -> None:
    names = ", ".join(run.rivals)
    if names not in _TOLD and len(_TOLD) < 100:
        _TOLD.add(names)
        _LOGGER.warning(
            "several components replied (%s), and nothing says which reply is the answer: none is scored, "
            "and it is counted as several_answers. Line to write: %s",
            names,
            run.line or "name the answer's place in the adapter's options",
        )


# Which calls made the answer, and what came before them


def _makers(run: CapturedRun, answer: str, dialect: Dialect) -> Sequence[Call]:
    """The calls that made the answer: by the wiring, else the only one whose reply the answer is."""
    if run.answered_by is not None:
        return run.answered_by
    models = [call for call in run.walk() if call.kind == "model" and call.ended is not None]
    wanted = " ".join(answer.split())
    replies = [(call, " ".join(_reply(call, dialect).split())) for call in models]
    same = [call for call, reply in replies if reply == wanted]
    same = same or [call for call, reply in replies if _holds(reply, wanted) or _holds(wanted, reply)]
    if same:
        return same if len(same) == 1 else ()
    return models if len(models) == 1 else ()


def _holds(longer: str, shorter: str) -> bool:
    """Whether a text stands in another one, and not by chance."""
    return len(shorter) >= _SHORTEST and shorter in longer


def _reply(call: Call, dialect: Dialect) -> str:
    if (text := dialect.text(call.outputs)) is not None:
        return text
    messages = dialect.messages(call.outputs)
    return messages[-1].text if messages else ""


def _request(makers: Sequence[Call], dialect: Dialect) -> list[CapturedMessage] | None:
    """The messages of the calls that made the answer; None where those of one are not known."""
    request: list[CapturedMessage] = []
    for call in makers:
        messages = _messages(call.inputs, dialect)
        if not messages:
            return None
        request += messages
    return request or None


def _messages(value: Any, dialect: Dialect) -> Sequence[CapturedMessage]:
    if messages := dialect.messages(value):
        return messages
    text = dialect.text(value)
    return () if text is None else [CapturedMessage("user", text)]


def _before(run: CapturedRun, makers: Sequence[Call]) -> list[Call]:
    """The calls that the answer was made of, in the order in which they ended."""
    calls = [
        call for call in run.walk() if call.ended is not None and not any(call is each for each in makers)
    ]
    if makers:
        if all(call.sources is not None for call in makers):
            wired = {id(inner) for call in _wired(makers) for inner in call.walk()}
            calls = [call for call in calls if id(call) in wired]
        else:
            began = max(call.began for call in makers)
            calls = [call for call in calls if call.ended is not None and call.ended < began]
    return sorted(calls, key=lambda call: call.ended or 0)


def _wired(makers: Sequence[Call]) -> list[Call]:
    reached: list[Call] = []
    waiting = [source for call in makers for source in call.sources or ()]
    while waiting:
        call = waiting.pop()
        if not any(call is each for each in reached):
            reached.append(call)
            waiting += call.sources or ()
    return reached


# What was shown


def _at_key(run: CapturedRun, dialect: Dialect, rules: Rules) -> NamedValue | None:
    if rules.context_key is None:
        return None
    sides = (dialect.fields(run.outputs), dialect.fields(run.inputs))
    value = next((held for side in sides if (held := at(side, rules.context_key, dialect)) is not None), None)
    return None if value is None else NamedValue(value, f"context_key {rules.context_key!r}")


def _with_said(sample: Sample, said: NamedValue, dialect: Dialect) -> Sample:
    """The sample with the contexts that the application says it has."""
    value = said.value
    if dialect.document(value) is not None or not is_series(value):
        value = [value]
    chunks, unknown = chunks_of([dialect.document(each) or each for each in value])
    if unknown and not chunks:
        raise SampleError(f"{said.rule} gives contexts that have no text: {unknown[0]}")
    unique = list({chunk.text: chunk for chunk in reversed(chunks)}.values())[::-1]
    sample = sample.with_contexts(
        [chunk.text for chunk in unique],
        ids=[chunk.id for chunk in unique],
        scores=[chunk.score for chunk in unique],
        component=said.rule,
    )
    return sample.model_copy(update={"labels": sample.labels | {"found_contexts": said.rule}})


def _with_shown(sample: Sample, shown: _Shown) -> Sample:
    labels = sample.labels | {"found_contexts": shown.rule}
    if shown.chunks is None:
        return sample.model_copy(update={"labels": labels})
    chunks = tuple(
        chunk.model_copy(update={"rank": rank}) for rank, chunk in enumerate(shown.chunks, start=1)
    )
    stage = Stage(name="shown", component=shown.model, query=sample.question, chunks=chunks)
    ids = [chunk.id for chunk in chunks if chunk.id is not None]
    return sample.model_copy(
        update={
            "contexts": tuple(chunk.text for chunk in chunks),
            "context_ids": tuple(ids) if ids and len(ids) == len(chunks) else None,
            "stages": (*(sample.stages or ()), *shown.stages, stage),
            "labels": labels,
        }
    )


def _shown(
    run: CapturedRun,
    makers: Sequence[Call],
    request: Sequence[CapturedMessage] | None,
    retrieval: RetrievalSteps,
    sample: Sample,
    dialect: Dialect,
    rules: Rules,
) -> _Shown:
    components = ", ".join(dict.fromkeys(step.call.name for step in retrieval.steps))
    named = _documents(run.sources, dialect)
    if request is None:
        chunks = named
        if chunks is None and retrieval.steps:
            chunks = [chunk for step in retrieval.last for chunk in step.chunks]
            if not chunks and retrieval.texts_of_tools:
                chunks = None
        if chunks is None:
            chunks = _loose(run, dialect)
        found = (
            None
            if chunks is None
            else [_marked(SoughtText("unseen", chunk.text), chunk) for chunk in _once(chunks)]
        )
        return _Shown(
            found, f"{components or 'response'}: no request was seen" if found is not None else "none"
        )
    model = ", ".join(dict.fromkeys(call.name for call in makers))
    stood, steps = _standing(run, makers, request, retrieval, sample, dialect)
    if stood:
        rule = ", ".join(dict.fromkeys([*filter(None, [components]), *(step.component for step in steps)]))
        return _Shown(stood, f"{rule or 'run'}, shown to {model}", steps, model)
    if (
        (named is not None and not named)
        or (
            retrieval.steps
            and not retrieval.texts_of_tools
            and not any(step.chunks for step in retrieval.last)
        )
        or _is_explained(run, request, makers, sample, dialect)
    ):
        return _Shown([], f"{components or 'response'}: nothing was shown to {model}", model=model)
    if rules.system_message and (system := [each.text for each in request if each.role == "system"]):
        text = "\n\n".join(system)
        return _Shown([_marked(sought_in([text], [[text]])[0][0], Chunk(text))], SYSTEM, model=model)
    if retrieval.steps or named:
        return _Shown(
            None,
            f"unknown: no chunk of {components or 'the response'} stands in what {model} was sent; if it was "
            "shown them in other words, write note_contexts(documents)",
        )
    return _Shown(None, "none")


def _standing(
    run: CapturedRun,
    makers: Sequence[Call],
    request: Sequence[CapturedMessage],
    retrieval: RetrievalSteps,
    sample: Sample,
    dialect: Dialect,
) -> tuple[list[StageChunk], list[Stage]]:
    """The chunks that stand in the request, in its order; and the steps between whose texts do."""
    calls = _before(run, makers)
    last = _once(chunk for step in retrieval.last for chunk in step.chunks)
    earlier = [step.chunks for step in reversed(retrieval.steps)]
    sources = [
        chunk
        for value in (*(call.inputs for call in (*calls, *makers)), run.sources, run.inputs, run.outputs)
        for chunk in documents_anywhere(value, dialect)
    ]
    groups = [last, *earlier, sources, _loose(run, dialect) or [] if not retrieval.steps else []]
    known: set[str] = set()
    options: list[list[tuple[Chunk, str]]] = []
    for group in groups:
        fresh = [chunk for chunk in _once(group) if chunk.text not in known]
        known |= {chunk.text for chunk in fresh}
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
    written, stages = _written(calls, retrieval, messages, besides, claimed, dialect)
    return sorted([*standing, *written], key=lambda each: (each.message or 0, each.start or 0)), stages


def _texts(chunk: Chunk) -> list[str]:
    """What may be shown of a chunk: what is around it before itself, what else it has after it."""
    around = [text for text in chunk.others if chunk.text in text and text != chunk.text]
    return [
        *sorted(around, key=len, reverse=True),
        chunk.text,
        *(t for t in chunk.others if chunk.text not in t),
    ]


def _written(
    calls: Sequence[Call],
    retrieval: RetrievalSteps,
    messages: Sequence[str],
    besides: Sequence[str],
    claimed: Sequence[StageChunk],
    dialect: Dialect,
) -> tuple[list[StageChunk], list[Stage]]:
    """What steps between wrote of the documents (summaries, compressions) and the request holds."""
    texts = [chunk.text for step in retrieval.steps for chunk in step.chunks]
    if not texts:
        return [], []
    written: list[StageChunk] = []
    stages: list[Stage] = []
    for call in calls:
        if call.kind not in ("chain", "model") or not _reads(call, texts, dialect):
            continue
        made = [text for text in texts_in(call.outputs, dialect) if len(text.strip()) >= _SHORTEST]
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
    messages = [each.text for each in _messages(call.inputs, dialect)]
    return bool(messages) and any(each.shown != "absent" for each in sought_in(messages, [texts])[0])


def _overlap(sought: SoughtText, chunk: StageChunk) -> bool:
    place = sought.place
    return (
        place is not None
        and chunk.message == place.message
        and (chunk.start or 0) < place.end
        and place.start < (chunk.end or 0)
    )


def _is_explained(
    run: CapturedRun,
    request: Sequence[CapturedMessage],
    makers: Sequence[Call],
    sample: Sample,
    dialect: Dialect,
) -> bool:
    """Whether all that went into the prompt is known to be no document: the question, what was said before.

    The prompt is the call that made the messages; without one, the messages themselves must be known texts.
    """
    calls = _before(run, makers)
    sides = [sample.question, *(turn.content for turn in sample.history or ())]
    sides += [stage.query for stage in sample.stages or ()]
    # what a model wrote that was shown documents may be these in other words
    texts = [chunk.text for stage in sample.stages or () for chunk in stage.chunks]
    models = [call for call in calls if call.kind == "model"]
    sides += [_reply(call, dialect) for call in models if not texts or not _reads(call, texts, dialect)]
    known = {" ".join(text.split()) for text in sides if text} | {""}
    whole = " ".join(" ".join(each.text.split()) for each in request)
    prompts = [call for call in calls if call.kind == "prompt" and _made(call, whole, dialect)]
    values: Iterable[Any]
    if prompts:
        fields = dialect.fields(prompts[-1].inputs)
        values = fields.values() if fields else [prompts[-1].inputs]
    else:
        values = [each.text for each in request]
    for value in values:
        if isinstance(value, bool | int | float) or value is None:
            continue
        said = [each.text for each in _messages(value, dialect)]
        if not said and not (is_series(value) and not value):
            return False
        if any(" ".join(text.split()) not in known for text in said):
            return False
    return True


def _made(prompt: Call, whole: str, dialect: Dialect) -> bool:
    outputs: Sequence[Any] = [prompt.outputs, *dialect.fields(prompt.outputs).values()]
    texts = [each.text for value in outputs for each in _messages(value, dialect)]
    return bool(texts) and all(" ".join(text.split()) in whole for text in texts)


def _documents(value: Any, dialect: Dialect) -> list[Chunk] | None:
    """The typed documents in a value; empty where it says that there are none, None where it does not say."""
    if value is None:
        return None
    held = documents_by_place(value, dialect)
    return [chunk for chunks in held.values() for chunk in chunks] if held else None


def _loose(run: CapturedRun, dialect: Dialect) -> list[Chunk] | None:
    """Documents and texts under a telling name of what came out of the run or went into it."""
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


def _once(chunks: Iterable[Chunk]) -> list[Chunk]:
    unique: dict[str, Chunk] = {}
    for chunk in chunks:
        unique.setdefault(chunk.text, chunk)
    return list(unique.values())


# What `extract` gives


def _given(given: Mapping[str, Any], dialect: Dialect) -> tuple[Sample, NamedValue | None]:
    """What `extract` gave, as a sample; and the contexts apart, whose documents have ids."""
    if unknown := [name for name in given if name not in Sample.model_fields]:
        known = ", ".join(sorted(Sample.model_fields))
        raise SampleError(f"extract gave {unknown[0]!r}, which is no field of a sample; there are {known}")
    contexts = given.get("contexts")
    row = {
        name: _in_text(value, dialect)
        for name, value in given.items()
        if name != "contexts" and value is not None
    }
    sample = Sample.from_mapping(row) if row else Sample()
    return sample, None if contexts is None else NamedValue(contexts, "extract")


def _in_text(value: Any, dialect: Dialect) -> Any:
    if (text := dialect.text(value)) is not None:
        return text
    if is_series(value) and value and not all(isinstance(each, str) for each in value):
        if len(messages := dialect.messages(value)) == len(value):
            return [{"role": turn.role, "content": turn.content} for turn in _turns(messages)]
        return [chunk.text if (chunk := dialect.document(each)) is not None else each for each in value]
    return value


def _with_more(sample: Sample, given: Sample) -> Sample:
    """The sample with further fields of `extract`."""
    known = {"id", "labels", "question", "answer", "contexts"}
    fields = {name: getattr(given, name) for name in given.model_fields_set - known}
    return sample.model_copy(update=fields | {"labels": sample.labels | given.labels})
