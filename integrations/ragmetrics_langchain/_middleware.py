"""Middleware for `create_agent`: more complete observation than callbacks, and a gate for answers."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, Unpack, cast
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain.agents.middleware.types import ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import ensure_config

from ragmetrics_core.adapting import CapturedRun, Fields, Rules, answer_in, as_now
from ragmetrics_core.boundary import listing_settings
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.gate import Gate, GateDecision, OnFailure
from ragmetrics_core.live import (
    Capture,
    LiveFace,
    LiveResult,
    LiveScorer,
    Notes,
    Skip,
)
from ragmetrics_core.runs import Metrics
from ragmetrics_langchain._dialect import DIALECT, MESSAGES, conversation, fields_of
from ragmetrics_langchain._gathering import Gathered, gathering
from ragmetrics_langchain._runs import contexts_in, session_in
from ragmetrics_langchain._scorer import SCORER_DEFAULTS, ScorerArgs, live_scorer, scored_beside
from ragmetrics_langchain._tools import ContextTools, tool_names
from ragmetrics_langchain._wiring import translated

__all__ = ["RagMetricsMiddleware", "Rejection"]

# Messages whose contexts are remembered, and rejections that are kept.
_MOST_MESSAGES = 10_000
_MOST_REJECTIONS = 1000
# What LangGraph streams no tokens of.
_NO_STREAM = "nostream"


class Rejection(NamedTuple):
    """An answer that a gate rejected.

    Attributes:
        id: id of the sample and its records.
        answer: the model's answer.
        decision: the reasons, with the records that prove them.
    """

    id: str
    answer: str | None
    decision: GateDecision


OnReject = Literal["say", "ask_again"] | Callable[[Rejection], str | Fields]


class RagMetricsMiddleware(LiveFace, AgentMiddleware):
    """Score the answers of a `create_agent` agent, in the background or before they are returned.

    It observes what callbacks do not report: documents that a prompt middleware added to the system message
    (noted with `note_contexts`, or from a retriever), artifacts of tools, and the state. List it first.

    Without a gate each answer is scored in the background. With one, the agent waits for the scores. Scores
    that reach their threshold pass, and so do undefined ones, such as that of a greeting. If the judge fails
    or time runs out, `on_failure` decides. With a gate, tokens are not streamed: the answer is returned as a
    whole after it has passed.

    Args:
        metrics: names or objects, as for `evaluate`.
        judge, embedder, scorer: the models, as for `RagMetricsCallbackHandler`.
        gate: worst passing score by metric: {"faithfulness": 0.7}.
        on_reject: "say" replaces the answer by `rejected_answer`. "ask_again" asks the model again and names
            the unsupported statements; if that answer is rejected too, it acts like "say". A function of
            `Rejection` returns the new text, or an update of the state, which may have "jump_to": "end" or
            "model".
        on_failure: "reject" or "pass" answers that could not be scored.
        rejected_answer: text that replaces a rejected answer.
        time_limit: maximum seconds to wait for an answer's scores; then `on_failure` decides.
        system_message: use the model's system message as the context if no contexts are found. It also
            contains instructions, as the label `found_contexts` says.
        context_tools: the only tools whose text is evidence: a name, a tool, or several. Default: all tools.
        evidence: names of functions whose text is evidence as well, such as a web search.
        not_evidence: names of functions, retrievers and tools whose text is not evidence.
        context_key: the entry of the state that holds the contexts.
        answer_key: the entry of the state that is the answer, such as "structured_response.text".
        needs_contexts: without a gate, skip answers for which nothing was retrieved.
        live: a live scorer, instead of metrics, models and live settings.
        settings: the live settings as one object.
        keywords: single live settings, as for `LiveScorer`: `out`, `concurrency` and the others of
            `LiveArgs`.

    Raises:
        ConfigError: an argument is invalid.
    """

    @listing_settings(ScorerArgs, SCORER_DEFAULTS)
    def __init__(
        self,
        metrics: Metrics = (),
        *,
        gate: Mapping[str, float] | None = None,
        on_reject: OnReject = "say",
        on_failure: OnFailure = "reject",
        rejected_answer: str = "I could not find support for an answer to this question.",
        time_limit: float | None = 30.0,
        system_message: bool = False,
        context_tools: ContextTools = (),
        evidence: str | Iterable[str] = (),
        not_evidence: ContextTools = (),
        context_key: str | None = None,
        answer_key: str | None = None,
        needs_contexts: bool = False,
        **keywords: Unpack[ScorerArgs],
    ) -> None:
        super().__init__()
        if on_reject not in ("say", "ask_again") and not callable(on_reject):
            raise ConfigError(f"on_reject must be 'say', 'ask_again' or a function, not {on_reject!r}")
        if time_limit is not None and not time_limit > 0:
            raise ConfigError(f"time_limit must be more than 0 seconds, not {time_limit}")
        self._rules = Rules(
            context_tools=tool_names(context_tools),
            evidence=tool_names(evidence, "evidence"),
            not_evidence=tool_names(not_evidence, "not_evidence"),
            context_key=context_key,
            answer_key=answer_key,
            system_message=system_message,
        )
        self._live = live_scorer(metrics, **keywords)
        self._gate = None if gate is None else Gate(gate, self._live.metrics, on_failure)
        self._on_reject = on_reject
        self._rejected_answer = rejected_answer
        self._time_limit = time_limit
        self._needs_contexts = needs_contexts
        self._gathered: OrderedDict[str, Gathered] = OrderedDict()
        self._asked_again: OrderedDict[str, None] = OrderedDict()
        self._updates: OrderedDict[str, Fields] = OrderedDict()
        self.rejections: deque[Rejection] = deque(maxlen=_MOST_REJECTIONS)

    @property
    def live(self) -> LiveScorer:
        """The live scorer."""
        return self._live

    def notes_here(self) -> Notes | None:
        """The notes of the current call of a model or a tool."""
        return None

    # What LangChain asks

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the model; with a gate, decide whether its answer may be returned."""
        response = self._heard(handler, self._quiet(request))
        rejection = self._judged(self._to_gate(request, response))
        if rejection is not None and self._may_ask_again(request):
            response = self._heard(handler, self._quiet(_asking_again(request, response, rejection)))
            self._note_asked(response)
            rejection = self._judged(self._to_gate(request, response))
        return response if rejection is None else self._rejected(response, rejection)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Like `wrap_model_call`, without blocking the running loop."""
        response = await self._aheard(handler, self._quiet(request))
        rejection = await self._ajudged(self._to_gate(request, response))
        if rejection is not None and self._may_ask_again(request):
            response = await self._aheard(handler, self._quiet(_asking_again(request, response, rejection)))
            self._note_asked(response)
            rejection = await self._ajudged(self._to_gate(request, response))
        return response if rejection is None else self._rejected(response, rejection)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the tool, and keep what it retrieved."""
        return self._heard(handler, request)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Like `wrap_tool_call`, for an asynchronous tool."""
        return await self._aheard(handler, request)

    @hook_config(can_jump_to=["end", "model"])
    def after_model(self, state: Any, runtime: Any) -> Any:
        """Return the state update that `on_reject` requested."""
        last = state["messages"][-1] if state["messages"] else None
        update = None if last is None else self._updates.pop(last.id or "", None)
        return None if update is None else dict(update)

    def after_agent(self, state: Any, runtime: Any) -> Any:
        """Submit the answer; with a gate, decide about the answer of a tool that returns directly."""
        return self._in_place(self._judged(self._at_the_end(state)))

    async def aafter_agent(self, state: Any, runtime: Any) -> Any:
        """Like `after_agent`, without blocking the running loop."""
        return self._in_place(await self._ajudged(self._at_the_end(state)))

    # Working

    def _quiet(self, request: Any) -> Any:
        """The request without streaming if there is a gate, which must decide before tokens are returned."""
        model = request.model
        if self._gate is None or not isinstance(model, BaseChatModel) or _NO_STREAM in (model.tags or ()):
            return request
        return request.override(model=model.model_copy(update={"tags": [*(model.tags or ()), _NO_STREAM]}))

    def _heard(self, handler: Callable[[Any], Any], request: Any) -> Any:
        with gathering(self) as gathered:
            response = handler(request)
        self._remember(response, gathered)
        return response

    async def _aheard(self, handler: Callable[[Any], Any], request: Any) -> Any:
        with gathering(self) as gathered:
            response = await handler(request)
        self._remember(response, gathered)
        return response

    def _remember(self, response: Any, gathered: Gathered) -> None:
        given = _answer_of(response) if isinstance(response, ModelResponse) else response
        for message in conversation(given) or conversation(fields_of(given).get(MESSAGES)):
            message.id = message.id or str(uuid4())
            _put(self._gathered, message.id, gathered)

    def _to_gate(self, request: Any, response: Any) -> Capture | None:
        """The gate's case for a final answer; None for tool calls."""
        messages = [*request.state["messages"], *response.result]
        state = {**request.state, "messages": messages, "structured_response": response.structured_response}
        return self._captured(state) if self._gate is not None and _is_final(state) else None

    def _at_the_end(self, state: Any) -> Capture | None:
        """The gate's case at the end; without a gate, the answer is submitted."""
        last = state["messages"][-1] if state["messages"] else None
        if self._gate is None:
            self._live.submit(self._captured(state))
            return None
        is_direct = isinstance(last, ToolMessage) and state.get("structured_response") is None
        return self._captured(state) if is_direct and _is_final(state) else None

    def _captured(self, state: Fields) -> Capture:
        held = as_now({name: value for name, value in state.items() if name != "jump_to"})
        messages: list[BaseMessage] = held["messages"]
        asked = max((n for n, message in enumerate(messages) if message.type == "human"), default=0)
        ids = [message.id or "" for message in messages[asked:]]
        gathered = [self._gathered[id] for id in ids if id in self._gathered]
        calls = [call for seen in gathered for call in seen.calls]
        session = session_in(ensure_config().get("configurable") or {})
        run = CapturedRun(
            calls=calls, inputs={"messages": messages[: asked + 1]}, outputs=held, session=session
        )
        return Capture(
            translate=lambda _: translated(run, self._rules),
            needs_contexts=self._needs_contexts and self._gate is None,
            id=str(uuid4()),
            name="agent",
            noted=contexts_in(seen.notes for seen in gathered),
            session=session,
        )

    def _judged(self, capture: Capture | None) -> Rejection | None:
        """The rejection of an answer; None if it passes or there is nothing to decide."""
        if capture is None:
            return None
        try:
            outcome = scored_beside(self._live, capture).result(self._time_limit)
        except Exception as error:  # the boundary to the judge and to code of the host's
            return self._rejection(capture, error)
        return self._rejection(capture, outcome)

    async def _ajudged(self, capture: Capture | None) -> Rejection | None:
        if capture is None:
            return None
        try:
            async with asyncio.timeout(self._time_limit):
                outcome = await asyncio.wrap_future(scored_beside(self._live, capture))
        except Exception as error:  # the boundary to the judge and to code of the host's
            return self._rejection(capture, error)
        return self._rejection(capture, outcome)

    def _rejection(self, capture: Capture, outcome: LiveResult | Exception) -> Rejection | None:
        assert self._gate is not None, "asked before"
        answer = None
        match outcome:
            case LiveResult():
                answer, decision = outcome.sample.answer, self._gate.decide(outcome.records)
            case Skip():  # no question, no text: nothing to judge
                self._live.skip(cast(Any, outcome.reason))
                return None
            case TimeoutError():
                decision = self._gate.failed(f"no scores within {self._time_limit:g} s")
            case _:
                self._live.hook_failed(outcome)
                decision = self._gate.failed(f"{type(outcome).__name__}: {outcome}")
        if decision.passed:
            return None
        rejection = Rejection(capture.id, answer, decision)
        self.rejections.append(rejection)
        return rejection

    def _may_ask_again(self, request: Any) -> bool:
        return self._on_reject == "ask_again" and not any(
            message.id in self._asked_again for message in request.state["messages"] if message.id
        )

    def _note_asked(self, response: Any) -> None:
        if (message := _answer_of(response)) is not None:
            _put(self._asked_again, cast(str, message.id), None)

    def _rejected(self, response: Any, rejection: Rejection) -> Any:
        """The replacement of a rejected answer."""
        message = self._instead(rejection, id=cast(AIMessage, _answer_of(response)).id)
        return ModelResponse(result=[message], structured_response=None)

    def _in_place(self, rejection: Rejection | None) -> dict[str, Any] | None:
        return None if rejection is None else {"messages": [self._instead(rejection, id=str(uuid4()))]}

    def _instead(self, rejection: Rejection, *, id: str | None) -> AIMessage:
        told = self._on_reject(rejection) if callable(self._on_reject) else self._rejected_answer
        if not isinstance(told, str):
            _put(self._updates, cast(str, id), told)
            told = self._rejected_answer
        why = {"sample": rejection.id, "rejected": list(rejection.decision.reasons)}
        return AIMessage(told, id=id, response_metadata={"ragmetrics": why})


def _is_final(state: Fields) -> bool:
    """Whether an agent with this state has answered: no tool calls, or a structured response."""
    return answer_in(state, DIALECT) is not None


def _answer_of(response: Any) -> AIMessage | None:
    """The model's message in a response."""
    return next((message for message in response.result if isinstance(message, AIMessage)), None)


def _asking_again(request: Any, response: Any, rejection: Rejection) -> Any:
    """The request with the rejected answer and the reasons, which never enter the state."""
    correction = HumanMessage(rejection.decision.correction)
    return request.override(messages=[*request.messages, *response.result, correction])


def _put(table: "OrderedDict[str, Any]", name: str, value: Any) -> None:
    table[name] = value
    while len(table) > _MOST_MESSAGES:
        table.popitem(last=False)
