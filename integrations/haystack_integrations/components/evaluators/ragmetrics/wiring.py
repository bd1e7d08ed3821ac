"""
Translation of a run's spans into a captured run, by the wiring of the components.

Runs in the background. Follows the pipeline's edges, and the order in time only for visits of one component.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from haystack.dataclasses import ChatMessage, Document, GeneratedAnswer
from ragmetrics_core import Sample
from ragmetrics_core.adapting import (
    Call,
    CapturedMessage,
    CapturedRun,
    Fields,
    NamedValue,
    Rules,
    question_in,
    sample_of,
)
from ragmetrics_core.boundary import is_series
from ragmetrics_core.live import Capture, Skip

from haystack_integrations.components.evaluators.ragmetrics.conversations import (
    SESSION_NAMES,
    history_before,
    messages_at,
    session_at,
)
from haystack_integrations.components.evaluators.ragmetrics.dialect import HAYSTACK, text_in
from haystack_integrations.components.evaluators.ragmetrics.places import Places, Socket
from haystack_integrations.components.evaluators.ragmetrics.visits import (
    has,
    holds_documents,
    invoked,
    kind_of,
    passed_on,
    reaches,
)
from haystack_integrations.components.evaluators.ragmetrics.watching import AGENT, PIPELINES, Visit, WatchedRun, Watcher

__all__ = ["Wiring", "capture_of"]


# Calls after which messages are no longer what was said before.
_RESULTS = frozenset({"model", "retriever", "postprocessor"})


class _Reply(NamedTuple):
    """A possible answer: its text, place and model calls, and whether it certainly is an answer."""

    text: str
    place: Socket
    makers: Sequence[Call]
    is_sure: bool = False


def capture_of(run: WatchedRun, watcher: Watcher) -> Capture:
    """
    Make a capture of an ended run; the host waits, so only references are kept.

    :param run: The run.
    :param watcher: Its watcher.
    :returns: The capture.
    """
    return Capture(
        translate=_run_sample,
        needs_contexts=watcher.needs_contexts,
        name=watcher.name,
        data={"run": run, "places": watcher.places, "rules": watcher.rules},
        session=session_at(watcher.places, run.inputs or HAYSTACK.fields(run.root.inputs)),
        noted=run.notes.contexts,
    )


def _run_sample(capture: Capture) -> Sample:
    run: WatchedRun = capture.data["run"]
    wiring = Wiring(run.root, capture.data["rules"])
    captured = wiring.run(run.inputs, capture.data["places"])
    captured.session = captured.session or capture.session
    if captured.answer is None:
        reason = "no_answer"
        raise Skip(reason)
    return wiring.sample(captured)


class Wiring:
    """
    The calls of a run, each with the calls that produced its inputs.

    :param root: The span of the pipeline or the agent; None if there is none.
    :param rules: The options for finding fields.
    """

    def __init__(self, root: Visit | None, rules: Rules | None = None) -> None:
        """Read the spans."""
        self._rules = rules or Rules()
        self._made: dict[Visit, Call] = {}
        self._visits: dict[Call, Visit] = {}
        self._sent: dict[Call, Mapping[str, Sequence[Call]]] = {}  # what it took, by socket
        self._root = root or Visit(operation="", tags={}, began=0)
        self.calls = [self._call(self._root, {})] if self._root.operation == AGENT else self._inside(self._root, ())

    def sample(self, run: CapturedRun) -> Sample:
        """
        Make the sample of a run.

        :param run: The run without its calls.
        :returns: The sample.
        """
        run.calls = self.calls
        return sample_of(run, HAYSTACK, self._rules)

    def run(self, inputs: Fields, places: Places) -> CapturedRun:
        """
        Make the captured run of a pipeline or an agent.

        :param inputs: Its inputs by component.
        :param places: The user's places of fields.
        :returns: The captured run.
        """
        replies = self._placed(places["answer"]) if "answer" in places else self._replies(self._root)
        makers = self._final(replies)
        # the likeliest first, for the line to write
        likely = sorted(makers, key=self._is_grounded, reverse=True)
        rivals = list(dict.fromkeys(call.name for call in likely))
        reply = next((each for each in replies if not makers or makers[-1] in each.makers), None)
        flat = self._inputs(inputs, reply, makers)
        question = self._question(places["question"]) if "question" in places else question_in(flat, HAYSTACK)
        return CapturedRun(
            inputs=flat,
            answered_by=makers,
            rivals=rivals if len(rivals) > 1 else [],
            line=f"RagMetricsConnector(..., answer_from={rivals[0]!r})" if rivals else "",
            question=question,
            history=None if question is None else self.history(question.value, inputs),
            session=self._session(places["session"]) if "session" in places else None,
            answer=NamedValue(reply.text, f"{'extract:' * ('answer' in places)}{reply.place}") if reply else None,
            contexts=self._contexts(places["contexts"]) if "contexts" in places else None,
        )

    # The calls

    def _inside(self, outer: Visit, given: Sequence[Call]) -> list[Call]:
        """The calls in a span: ordered by edges in a pipeline, otherwise by time."""
        made: list[Call] = []
        visits = tuple(outer.children)
        prompts = {each.name for each in visits if "prompt" in HAYSTACK.fields(each.outputs)}
        for visit in visits:
            if visit.operation in PIPELINES:
                made += self._inside(visit, [*given, *made])
            elif outer.operation in PIPELINES:
                made.append(self._call(visit, self._senders(visit, visits, given), prompts))
            else:
                made.append(self._call(visit, {"": [*given, *made]}))
        return made

    def _call(self, visit: Visit, sent: Mapping[str, Sequence[Call]], prompts: Collection[str] = frozenset()) -> Call:
        sources = list(dict.fromkeys(call for calls in sent.values() for call in calls))
        outputs = passed_on(visit, prompts)
        call = Call(
            kind=kind_of(visit, prompts),
            name=visit.name,
            inputs=visit.inputs,
            outputs=outputs,
            sources=sources,
            began=visit.began,
            ended=visit.ended,
        )
        self._made[visit], self._visits[call], self._sent[call] = call, visit, sent
        call.children = [*self._inside(visit, sources), *invoked(visit, sources)]
        return call

    def _senders(self, visit: Visit, visits: Sequence[Visit], given: Sequence[Call]) -> dict[str, list[Call]]:
        """The calls that produced a component's inputs, by socket; `given` for inputs from outside."""
        since = max((each.began for each in visits if each.name == visit.name and each.began < visit.began), default=0)
        sent: dict[str, list[Call]] = {}
        inputs = HAYSTACK.fields(visit.inputs)
        for socket, names in visit.senders.items():
            if (value := inputs.get(socket)) is None:
                continue
            if not names:
                sent[socket] = list(given)
            for name in names:
                of_name = [each for each in visits if each.name == name]
                calls = [
                    self._made[each]
                    for each in of_name
                    if each.ended is not None and since < each.ended < visit.began and reaches(each, visit.name)
                ]
                if not of_name and has(value, Document):  # it ran before the break from which this run went on
                    calls = [Call(kind="retriever", name=name, outputs={socket: value}, sources=[], ended=0)]
                sent.setdefault(socket, []).extend(calls[-1:])
        return sent

    # The answer

    def _replies(self, scope: Visit) -> list[_Reply]:
        """Possible answers of a pipeline or an agent: those of an answer builder, or else output texts."""
        if scope.operation == AGENT:
            makers = self.agents_last(scope)
            return [_Reply(self._said(maker) or "", Socket(scope.name, "last_message"), [maker]) for maker in makers]
        latest = list({visit.name: visit for visit in scope.children if visit.ended is not None}.values())
        outputs = [(visit, socket) for visit in latest for socket in HAYSTACK.fields(visit.outputs)]
        named = HAYSTACK.fields(scope.outputs)
        leaving = [
            (visit, socket)
            for visit, socket in outputs
            if not visit.receivers.get(socket) or socket in HAYSTACK.fields(named.get(visit.name))
        ]
        built = [(visit, socket) for visit, socket in outputs if has(visit.outputs[socket], GeneratedAnswer)]
        for places in (built, leaving, outputs):
            replies = [reply for visit, socket in places if (reply := self._reply(visit, socket)) and reply.makers]
            if replies:
                return replies
        return []

    def _reply(self, visit: Visit | Call, socket: str) -> _Reply | None:
        value = _value(visit, socket)
        text = text_in(value[-1:] if socket == "messages" and is_series(value) else value)
        if not text:
            return None
        makers = self._makers(visit if isinstance(visit, Call) else self._made[visit])
        if len(makers) > 1:  # the question that a model rewrote goes the same way as the reply
            makers = [call for call in makers if _same(text, self._said(call))] or makers
        return _Reply(text, Socket(visit.name, socket), makers, has(value, GeneratedAnswer))

    def _makers(self, call: Call) -> list[Call]:
        """The nearest upstream model calls of a component's text."""
        visit = self._visits.get(call)
        if visit is None:
            return []
        if inner := [each for each in visit.children if each.operation in PIPELINES or each.operation == AGENT]:
            found = [maker for each in inner for reply in self._replies(each) for maker in reply.makers]
            if found:
                return found
        if call.kind == "model":
            return [call] if self._said(call) else []
        if call.kind in ("prompt", "retriever", "postprocessor", "tool"):
            return []
        sent = self._sent[call]
        before = sent.get("replies") or [each for calls in sent.values() for each in calls]
        return list(dict.fromkeys(maker for source in before for maker in self._makers(source)))

    def agents_last(self, agent: Visit) -> list[Call]:
        """
        Find the call of an agent's model that made its last message.

        :param agent: The agent's span; it may be open.
        :returns: The call, or None.
        """
        models = [call for visit in agent.children if (call := self._made[visit]).kind == "model"]
        return [call for call in models[-1:] if self._said(call)]

    def _said(self, call: Call) -> str | None:
        """A model's reply; None for tool calls."""
        messages = HAYSTACK.messages(call.outputs)
        return None if not messages or messages[0].calls_tools else messages[0].text or None

    def _final(self, replies: Sequence[_Reply]) -> list[Call]:
        """The calls that made the answer: those not used by others; several if that is ambiguous."""
        makers = list(dict.fromkeys(call for reply in replies for call in reply.makers))
        before = {call: call.behind() for call in makers}
        final = [
            call
            for call in makers
            if not any(
                call in before[other] and self._is_grounded(call) <= self._is_grounded(other) for other in makers
            )
        ]
        if len(final) != 1 or any(reply.is_sure for reply in replies) or self._is_grounded(final[0]):
            return final
        # a model that was shown documents, and after it one that was shown its reply: which of them answers?
        request = " ".join(each.text for each in HAYSTACK.messages(final[0].inputs))
        models = [call for call in final[0].behind() if call.kind == "model"]
        others = [call for call in models if call.name != final[0].name and self._is_grounded(call)]
        return [*(call for call in others if _same(request, self._said(call))), *final]

    def _is_grounded(self, call: Call) -> bool:
        """Whether a model gets documents, other than through a different model."""
        calls = [source for source in call.behind(past_models=False) if source.kind != "model"]
        return any(holds_documents(side) for source in calls for side in (source.inputs, source.outputs))

    # Question, conversation and contexts

    def history(self, question: str, inputs: Fields) -> Sequence[CapturedMessage] | None:
        """
        Find the messages before the question: among the inputs, or from a component that reads a store.

        :param question: The question.
        :param inputs: The pipeline's inputs by component.
        :returns: The messages; empty for the first turn, None if there is no place for a conversation.
        """
        held = [messages for side in inputs.values() for messages in messages_at(HAYSTACK.fields(side))]
        for call in (inner for outer in self.calls for inner in outer.walk()):
            visit = self._visits.get(call)
            if visit is None or call.kind != "chain" or call.ended is None:
                continue
            if not any(each.kind in _RESULTS for each in (*call.walk(), *call.behind())):
                outputs = HAYSTACK.fields(visit.outputs)
                sockets = [socket for socket, type_ in visit.types.items() if "ChatMessage" in type_]
                held += [outputs[socket] for socket in sockets if socket in outputs]
        return history_before(question, filter(is_series, held))

    def _session(self, places: Sequence[Socket]) -> str | None:
        values = (_value(visit, place.socket) for visit, place in self._filled(places))
        return next((str(value) for value in values if value is not None), None)

    def _inputs(self, inputs: Fields, reply: _Reply | None, makers: Sequence[Call]) -> dict[str, Any]:
        """All sockets as one mapping; inputs of the components nearest to the answer take precedence."""
        near = [reply.place.component] if reply else []
        near += [call.name for maker in makers for call in maker.behind()]
        sides = [HAYSTACK.fields(inputs.get(name)) for name in dict.fromkeys([*near, *inputs])]
        flat = {socket: value for side in reversed(sides) for socket, value in side.items()}
        flat = {socket: value for socket, value in flat.items() if socket not in SESSION_NAMES}
        if "messages" not in flat and (held := messages_at(flat)):
            flat["messages"] = held[0]
        if any(isinstance(value, str) or has(value, ChatMessage) for value in flat.values()):
            return flat
        # nobody gave it a text: what a component made up is asked
        made = [HAYSTACK.fields(call.inputs) for call in self.calls]
        return {socket: value for side in reversed(made) for socket, value in side.items()} | flat

    def _placed(self, places: Sequence[Socket]) -> list[_Reply]:
        """The answer at the user's places: the value that was set last."""
        for visit, place in self._filled(places):
            for socket in [place.socket] if place.socket else HAYSTACK.fields(visit.outputs):
                if reply := self._reply(visit, socket):
                    return [reply._replace(is_sure=True)]
        return []

    def _question(self, places: Sequence[Socket]) -> NamedValue:
        """The question at the user's places: the value that was set first."""
        texts = [(text_in(_value(visit, place.socket)), place) for visit, place in self._filled(places)]
        named = [NamedValue(text, f"extract:{place}") for text, place in texts if text]
        return named[-1] if named else NamedValue("", "extract")

    def _contexts(self, places: Sequence[Socket]) -> NamedValue | None:
        latest = {place: _value(visit, place.socket) for visit, place in reversed(list(self._filled(places)))}
        held = [latest[place] for place in places if latest.get(place) is not None]
        return NamedValue(held, f"extract:{', '.join(map(str, places))}") if held else None

    def _filled(self, places: Sequence[Socket]) -> Iterator[tuple[Visit | Call, Socket]]:
        """The visits of these components and tools, latest first."""
        calls = sorted((call for outer in self.calls for call in outer.walk()), key=lambda call: call.began)
        visits = [self._visits.get(call, call) for call in reversed(calls)]
        return ((visit, place) for visit in visits for place in places if visit.name == place.component)


def _value(visit: Visit | Call, socket: str) -> Any:
    """The value at a socket; the output if a component passes on its input."""
    values = [HAYSTACK.fields(side).get(socket) for side in (visit.outputs, visit.inputs)]
    return next((value for value in values if value is not None), None)


def _same(text: str, part: str | None) -> bool:
    """Whether a text contains another one, word by word."""
    return bool(part) and f" {' '.join((part or '').split())} " in f" {' '.join(text.split())} "
