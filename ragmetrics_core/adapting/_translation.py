"""Translation of a captured run into a sample: the same rules for all frameworks."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from ragmetrics_core.adapting._account import account_for
from ragmetrics_core.adapting._captured import (
    Call,
    CapturedRun,
    Dialect,
    Fields,
    NamedValue,
    Rules,
    named_value,
)
from ragmetrics_core.adapting._conversations import number_after, standalone_in, turns_in
from ragmetrics_core.adapting._documents import chunks_of
from ragmetrics_core.adapting._fields import answer_in, at, history_in, question_in
from ragmetrics_core.adapting._skip import Skip
from ragmetrics_core.adapting._stages import documents_by_place, once, retrieval_of
from ragmetrics_core.adapting._wiring import calls_before, contradiction, makers_of, messages_in
from ragmetrics_core.boundary.shapes import is_series
from ragmetrics_core.errors import SampleError
from ragmetrics_core.samples import CitedText, Sample, Turn, citations_of, cited_text

__all__ = ["sample_of"]

_LOGGER = logging.getLogger("ragmetrics.live")
_TOLD: set[str] = set()
# The fields from `extract` that have rules of their own here.
_USED = frozenset({"id", "labels", "question", "answer", "contexts"})


def sample_of(run: CapturedRun, dialect: Dialect, rules: Rules | None = None) -> Sample:
    """The sample of a run; its labels `found_question`, `found_contexts` and `found_answer` name rules.

    Rules in order of precedence. Question and answer: `extract`, the host's wiring, known names. Calls that
    made the answer: the host's wiring, or else the call with the answer as its reply. Stages: the calls
    upstream of those. Contexts: what the application designates, or else the chunks in the request; none if a
    stage, the prompt's inputs or the response say that there are none; unknown if there are chunks but the
    request contains none of them. If the request is unknown: the response's sources, or else the chunks of
    the last stages.

    A sample with a history or a session has the number of its turn if the run shows what was said before.

    Raises:
        Skip: "several_answers", "no_question" or "no_answer".
        SampleError: `extract` returned a field that samples do not have.
    """
    rules = rules or Rules()
    given, said = _given(run.given or {}, dialect)
    if run.rivals and given.answer is None:
        _tell_rivals(run)
        raise Skip("several_answers")
    question = _first(given.question, run.question, dialect) or question_in(
        run.inputs, dialect, rules.input_key
    )
    answer = _first(given.answer, run.answer, dialect) or answer_in(
        run.outputs, dialect, rules.answer_key, run.inputs
    )
    if question is None or not question.value.strip():
        raise Skip("no_question")  # nothing, or an image
    if answer is None or not answer.value.strip():
        raise Skip("several_answers" if _is_several(run.outputs, dialect) else "no_answer")
    history = run.history
    if history is None:
        history = history_in(run.inputs, run.outputs, question.value, dialect)
    turns = turns_in(history or (), rules) if given.history is None else given.history
    session = run.session if given.session is None else given.session
    is_in_conversation = bool(turns) or (history is not None and session is not None)
    makers = makers_of(run, answer.value, dialect)
    found_answer = _named(answer.rule, makers) + contradiction(run, makers, answer.value, dialect)
    before = calls_before(run, makers)
    retrieval = retrieval_of(before, dialect, rules)
    sample = Sample(
        question=question.value,
        answer=answer.value,
        history=turns or None,
        session=session,
        turn=number_after(turns) if is_in_conversation else None,
        stages=retrieval.stages or None,
        request_messages=_request(makers, dialect),
        labels={"found_question": question.rule, "found_answer": found_answer},
    )
    if said is None:
        said = run.contexts or _at_key(run, dialect, rules)
    if said is not None:
        sample, found = _with_said(sample, said, dialect), said.rule
    else:
        account = account_for(run, makers, retrieval, sample, dialect, rules)
        found = account.rule
        sample = sample.model_copy(update={"request_messages": account.request})
        if account.stage is not None:
            sample = sample.with_account(account.chunks, account.stage, account.derived)
    fields = {name: getattr(given, name) for name in given.model_fields_set - _USED}
    labels = sample.labels | {"found_contexts": found}
    if (standalone := standalone_in(before, question.value, turns, dialect)) and given.standalone is None:
        fields["standalone"] = standalone.value
        labels["found_standalone"] = standalone.rule
    labels |= given.labels
    sample = sample.model_copy(update={**fields, "labels": labels})
    return sample if sample.citations is not None else _with_citations(sample, run, makers, dialect)


def _with_citations(sample: Sample, run: CapturedRun, makers: Sequence[Call], dialect: Dialect) -> Sample:
    """The sample with the citations of the reply that is its answer, as the provider returned them.

    The label `found_citations` names their place, or says why they could not be read.
    """
    answer = sample.answer or ""
    places = [(call.cited or call.outputs, f"reply of {call.name}") for call in makers]
    for place, rule in [*places, (run.outputs, "the output")]:
        for value in _values(place, dialect):
            cited = value if isinstance(value, CitedText) else cited_text(value)
            if cited is None or not cited.citations or cited.text.split() != answer.split():
                continue
            try:
                citations = citations_of(
                    cited.citations,
                    answer,
                    text=cited.text,
                    contexts=sample.contexts or (),
                    ids=sample.context_ids or (),
                )
            except SampleError as error:
                refused = sample.labels | {"found_citations": f"not read: {error}"}
                return sample.model_copy(update={"labels": refused})
            labels = sample.labels | {"found_citations": rule}
            return sample.model_copy(update={"citations": citations, "labels": labels})
    return sample


def _values(value: Any, dialect: Dialect) -> Iterator[Any]:
    """A value, and the values inside of it that may be replies, the last ones first."""
    yield value
    if isinstance(value, CitedText):
        return
    for part in [value] if is_series(value) else dialect.fields(value).values():
        yield part
        if is_series(part):
            yield from reversed(part)


def _request(makers: Sequence[Call], dialect: Dialect) -> list[Turn] | None:
    """The messages of these calls; None if they were not seen."""
    messages = [each for call in makers for each in messages_in(call.inputs, dialect)]
    return [Turn(role=each.role, content=each.text) for each in messages] or None


def _first(given: str | None, known: NamedValue | None, dialect: Dialect) -> NamedValue | None:
    if given is not None:
        return NamedValue(given, "extract")
    return None if known is None else named_value(dialect.text(known.value), known.rule)


def _named(rule: str, makers: Sequence[Call]) -> str:
    names = ", ".join(dict.fromkeys(call.name for call in makers))
    return f"{rule}, by {names}" if names else rule


def _is_several(outputs: Any, dialect: Dialect) -> bool:
    return is_series(outputs) and len(outputs) > 0 and not documents_by_place(outputs, dialect)


def _tell_rivals(run: CapturedRun) -> None:
    names = ", ".join(run.rivals)
    if names not in _TOLD and len(_TOLD) < 100:
        _TOLD.add(names)
        _LOGGER.warning(
            "several components replied (%s), and it is unknown which reply is the answer: the run is not "
            "scored but counted as several_answers. Line to write: %s",
            names,
            run.line or "name the answer's place in the adapter's options",
        )


def _at_key(run: CapturedRun, dialect: Dialect, rules: Rules) -> NamedValue | None:
    if rules.context_key is None:
        return None
    sides = (dialect.fields(run.outputs), dialect.fields(run.inputs))
    value = next((held for side in sides if (held := at(side, rules.context_key, dialect)) is not None), None)
    return named_value(value, f"context_key {rules.context_key!r}")


def _with_said(sample: Sample, said: NamedValue, dialect: Dialect) -> Sample:
    """The sample with the contexts that the application designates."""
    value = said.value
    if dialect.document(value) is not None or not is_series(value):
        value = [value]
    chunks, unknown = chunks_of([dialect.document(each) or each for each in value])
    if unknown and not chunks:
        raise SampleError(f"{said.rule} returned contexts without text: {unknown[0]}")
    unique = once(chunks)
    return sample.with_contexts(
        [chunk.text for chunk in unique],
        ids=[chunk.id for chunk in unique],
        scores=[chunk.score for chunk in unique],
        component=said.rule,
    )


# What `extract` gives


def _given(given: Fields, dialect: Dialect) -> tuple[Sample, NamedValue | None]:
    """The result of `extract` as a sample, and separately its contexts, which keep the documents' ids."""
    if unknown := [name for name in given if name not in Sample.model_fields]:
        known = ", ".join(sorted(Sample.model_fields))
        raise SampleError(
            f"extract gave {unknown[0]!r}, which is not a field of a sample; the fields are {known}"
        )
    row = {
        name: _in_text(value, dialect)
        for name, value in given.items()
        if name != "contexts" and value is not None
    }
    sample = Sample.from_mapping(row) if row else Sample()
    return sample, named_value(given.get("contexts"), "extract")


def _in_text(value: Any, dialect: Dialect) -> Any:
    if (text := dialect.text(value)) is not None:
        return text
    if is_series(value) and value and not all(isinstance(each, str) for each in value):
        if len(messages := dialect.messages(value)) == len(value):
            return [{"role": turn.role, "content": turn.content} for turn in turns_in(messages, Rules())]
        return [chunk.text if (chunk := dialect.document(each)) is not None else each for each in value]
    return value
