"""The middleware for `create_agent`: what it sees, and what it stops."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import create_retriever_tool, tool
from pydantic import BaseModel

from ragmetrics_core import recompute
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import note_contexts
from tests.integrations.langchain.apps import Echo, Shelf, answer, join, question, texts

agents = pytest.importorskip("langchain.agents")
middlewares = pytest.importorskip("langchain.agents.middleware")
structured = pytest.importorskip("langchain.agents.structured_output")
InMemorySaver = pytest.importorskip("langgraph.checkpoint.memory").InMemorySaver
types = pytest.importorskip("langgraph.types")

WRONG = "The shelf was built in Vienna in 1913."
REFUSED = "I could not find support for an answer to this question."
SEARCH = create_retriever_tool(Shelf(), "search", "Finds books.")


@pytest.fixture
def make_middleware() -> Iterator[Any]:
    from ragmetrics_langchain import RagMetricsMiddleware

    made: list[Any] = []

    def make(**options: Any) -> Any:
        made.append(RagMetricsMiddleware(**{"metrics": "faithfulness", "judge": "embedded"} | options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def looking(topic: str = "tea") -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "search", "args": {"query": question(topic)}, "id": topic}])


def asked(topic: str = "tea") -> dict[str, Any]:
    return {"messages": [HumanMessage(question(topic))]}


def invoke(app: Any, given: Any, config: Any = None) -> Any:
    return app.invoke(given, config)


def ainvoke(app: Any, given: Any, config: Any = None) -> Any:
    return asyncio.run(app.ainvoke(given, config))


BOTH = pytest.mark.parametrize("call", [invoke, ainvoke])


@middlewares.dynamic_prompt
def prompt_with_context(request: Any) -> str:
    """As the tutorial writes it: the store is searched, and no callback tells."""
    found = [Document(page_content=text) for text in texts("tea")]
    note_contexts(found)
    return f"Use only:\n{join(found)}"


@middlewares.dynamic_prompt
def silent_prompt(request: Any) -> str:
    return f"Use only:\n{join([Document(page_content=text) for text in texts('tea')])}"


@middlewares.dynamic_prompt
def retrieving_prompt(request: Any) -> str:
    return f"Use only:\n{join(Shelf().invoke(str(request.messages[-1].text)))}"


def only(middleware: Any) -> Any:
    assert middleware.flush()
    assert middleware.stats.errors == []
    (result,) = middleware.results
    return result


# What it sees


@BOTH
@pytest.mark.parametrize("first", [True, False])
def test_documents_that_a_prompt_noted_are_the_contexts(make_middleware, call, first):
    mine = make_middleware()
    order = [mine, prompt_with_context] if first else [prompt_with_context, mine]
    call(agents.create_agent(Echo(), [], middleware=order), asked())

    sample = only(mine).sample
    assert (sample.question, sample.contexts, sample.answer) == (question("tea"), texts("tea"), answer("tea"))
    assert sample.labels["found_contexts"] == "note_contexts"


@BOTH
def test_a_retriever_in_a_prompt_is_seen(make_middleware, call):
    mine = make_middleware()
    call(agents.create_agent(Echo(), [], middleware=[mine, retrieving_prompt]), asked())

    assert only(mine).sample.contexts == texts("tea")


@BOTH
def test_a_system_message_is_a_context_only_on_request_and_says_so(make_middleware, call):
    without, having = make_middleware(), make_middleware(system_message=True)
    for mine in (without, having):
        call(agents.create_agent(Echo(), [], middleware=[mine, silent_prompt]), asked())

    assert only(without).sample.contexts is None
    sample = only(having).sample
    assert sample.contexts == ("Use only:\n" + "\n".join(texts("tea")),)
    assert sample.labels["found_contexts"] == "system message of the model, with its instructions"


@BOTH
def test_documents_of_a_retriever_tool_are_the_contexts_of_their_turn(make_middleware, call):
    mine = make_middleware(concurrency=1)
    replies = [looking("milk"), AIMessage(answer("milk")), looking("tea"), AIMessage(answer("tea"))]
    app = agents.create_agent(
        Echo(replies=replies), [SEARCH], middleware=[mine], checkpointer=InMemorySaver()
    )
    for topic in ("milk", "tea"):
        call(app, asked(topic), {"configurable": {"thread_id": "1"}})
    assert mine.flush()

    milk, tea = (result.sample for result in mine.results)
    # what the first search found is still in the thread, in one piece
    assert (milk.contexts, tea.contexts) == (texts("milk"), ("\n\n".join(texts("milk")), *texts("tea")))
    asked_before, called, found, answered = tea.history
    assert (asked_before.content, answered.content) == (question("milk"), answer("milk"))
    assert (called.tool_calls[0].name, found.role, found.content) == (
        "search",
        "tool",
        "\n\n".join(texts("milk")),
    )
    assert answered.contexts == texts("milk")
    assert (tea.session, tea.turn) == ("1", 2)


def test_what_a_tool_finds_that_answers_with_an_update_of_the_state_is_the_context(make_middleware):
    tools = pytest.importorskip("langchain.tools")
    types = pytest.importorskip("langgraph.types")

    def find(query: str, runtime: Any) -> Any:
        found = "\n".join(each.page_content for each in Shelf().invoke(query))
        return types.Command(update={"messages": [ToolMessage(found, tool_call_id=runtime.tool_call_id)]})

    find.__annotations__["runtime"] = tools.ToolRuntime
    mine = make_middleware()
    search = tool("search", description="Finds books.")(find)
    agents.create_agent(Echo(replies=[looking()]), [search], middleware=[mine]).invoke(asked())

    assert only(mine).sample.contexts == texts("tea")


def test_a_note_in_a_tool_is_the_context(make_middleware):
    @tool("search")
    def find(query: str) -> str:
        """Finds books."""
        note_contexts(list(texts("tea")))
        return "found"

    mine = make_middleware()
    agents.create_agent(Echo(replies=[looking()]), [find], middleware=[mine]).invoke(asked())

    assert only(mine).sample.contexts == texts("tea")


def test_what_the_application_changes_afterwards_changes_no_sample(make_middleware):
    gate = threading.Event()

    def judge(prompt: str) -> str:
        gate.wait(60)
        return ""

    mine = make_middleware(judge=judge)
    out = agents.create_agent(Echo(replies=[looking()]), [SEARCH], middleware=[mine]).invoke(asked())
    out["messages"][-1].content = "changed"
    gate.set()

    assert mine.flush()
    assert mine.results[0].sample.answer == answer("tea")


# Gates


@BOTH
@pytest.mark.parametrize("replies", [[looking()], [AIMessage("Hello!")]], ids=["supported", "greeting"])
def test_a_supported_answer_and_a_greeting_leave(make_middleware, call, replies):
    mine = make_middleware(gate={"faithfulness": 0.7})
    said = answer("tea") if replies[0].tool_calls else "Hello!"
    out = call(agents.create_agent(Echo(replies=[*replies]), [SEARCH], middleware=[mine]), asked())

    assert out["messages"][-1].text == only(mine).sample.answer == said
    assert list(mine.rejections) == []


@BOTH
def test_an_unsupported_answer_is_replaced_and_its_record_proves_why(make_middleware, call):
    mine = make_middleware(gate={"faithfulness": 0.7}, rejected_answer="Let me ask somebody.")
    model = Echo(replies=[looking(), AIMessage(WRONG)])
    out = call(agents.create_agent(model, [SEARCH], middleware=[mine]), asked())

    assert [str(each.text) for each in out["messages"]][-1] == "Let me ask somebody."
    assert WRONG not in str(out)
    (rejection,) = mine.rejections
    assert rejection.answer == WRONG
    (record,) = only(mine).records
    assert record.sample_id == rejection.id == out["messages"][-1].response_metadata["ragmetrics"]["sample"]
    assert recompute(record).value == 0.0


@BOTH
def test_the_model_is_asked_once_more_with_the_unsupported_statements(make_middleware, call):
    mine = make_middleware(gate={"faithfulness": 0.7}, on_reject="ask_again")
    model = Echo(replies=[looking(), AIMessage(WRONG), AIMessage(answer("tea"))])
    out = call(agents.create_agent(model, [SEARCH], middleware=[mine]), asked())

    assert out["messages"][-1].text == answer("tea")
    assert f"1. {WRONG}" in model.heard[-1][-1].text
    assert [each.type for each in out["messages"]] == ["human", "ai", "tool", "ai"]
    assert len(mine.rejections) == 1


@BOTH
def test_it_is_asked_only_once_more_also_when_it_looks_again(make_middleware, call):
    mine = make_middleware(gate={"faithfulness": 0.7}, on_reject="ask_again")
    replies = [looking(), AIMessage(WRONG), looking("milk"), AIMessage(WRONG), AIMessage("never asked for")]
    model = Echo(replies=replies)
    out = call(agents.create_agent(model, [SEARCH], middleware=[mine]), asked())

    assert out["messages"][-1].text == REFUSED
    assert len(model.replies) == 1
    assert len(mine.rejections) == 2


def failing(prompt: str) -> str:
    raise RuntimeError("the judge is down")


@BOTH
@pytest.mark.parametrize("judge", [failing, lambda prompt: "no form at all"])
@pytest.mark.parametrize(("on_failure", "left"), [("reject", REFUSED), ("pass", answer("tea"))])
def test_a_judge_that_fails_rejects_or_passes_as_asked(make_middleware, call, judge, on_failure, left):
    mine = make_middleware(judge=judge, gate={"faithfulness": 0.7}, on_failure=on_failure, attempts=1)
    out = call(agents.create_agent(Echo(replies=[looking()]), [SEARCH], middleware=[mine]), asked())

    assert out["messages"][-1].text == left


@BOTH
def test_an_answer_waits_no_longer_than_its_time_limit(make_middleware, call):
    done = threading.Event()

    def hanging(prompt: str) -> str:
        done.wait(60)
        return ""

    mine = make_middleware(judge=hanging, gate={"faithfulness": 0.7}, time_limit=0.05)
    out = call(agents.create_agent(Echo(replies=[looking()]), [SEARCH], middleware=[mine]), asked())
    done.set()

    assert out["messages"][-1].text == REFUSED
    (rejection,) = mine.rejections
    assert rejection.decision.reasons == ("faithfulness has no score: no scores within 0.05 s",)


@BOTH
def test_a_function_says_what_leaves_or_jumps(make_middleware, call):
    saying = make_middleware(
        gate={"faithfulness": 0.7}, on_reject=lambda rejected: f"Not sure: {rejected.answer}"
    )
    model = Echo(replies=[looking(), AIMessage(WRONG)])
    out = call(agents.create_agent(model, [SEARCH], middleware=[saying]), asked())
    assert out["messages"][-1].text == f"Not sure: {WRONG}"

    again = {"messages": [HumanMessage("Look at the shelf.")], "jump_to": "model"}
    jumping = make_middleware(gate={"faithfulness": 0.7}, on_reject=lambda rejected: again)
    model = Echo(replies=[looking(), AIMessage(WRONG), AIMessage(answer("tea"))])
    out = call(agents.create_agent(model, [SEARCH], middleware=[jumping]), asked())
    assert [str(each.text) for each in out["messages"][-2:]] == ["Look at the shelf.", answer("tea")]


class Reply(BaseModel):
    """A form."""

    said: str


@BOTH
@pytest.mark.parametrize("said", [answer("tea"), WRONG])
@pytest.mark.parametrize("strategy", ["ToolStrategy", "ProviderStrategy"])
def test_a_structured_answer_is_judged_by_its_text(make_middleware, call, said, strategy):
    form = {
        "ToolStrategy": AIMessage("", tool_calls=[{"name": "Reply", "args": {"said": said}, "id": "form"}]),
        "ProviderStrategy": AIMessage(Reply(said=said).model_dump_json()),
    }[strategy]
    mine = make_middleware(gate={"faithfulness": 0.7})
    app = agents.create_agent(
        Echo(replies=[looking(), form]),
        [SEARCH],
        middleware=[mine],
        response_format=getattr(structured, strategy)(Reply),
    )
    out = call(app, asked())

    if said == WRONG:
        assert out.get("structured_response") is None
        assert out["messages"][-1].text == REFUSED
    else:
        assert out["structured_response"] == Reply(said=said)
    assert only(mine).sample.answer == said


@BOTH
def test_a_tool_that_returns_directly_is_gated(make_middleware, call):
    @tool("search", return_direct=True)
    def find(query: str) -> str:
        """Finds books."""
        Shelf().invoke(query)
        return WRONG

    mine = make_middleware(gate={"faithfulness": 0.7})
    out = call(agents.create_agent(Echo(replies=[looking()]), [find], middleware=[mine]), asked())

    assert out["messages"][-1].text == REFUSED


def test_it_works_beside_interrupts_retries_and_limits_with_a_checkpointer(make_middleware):
    mine = make_middleware(gate={"faithfulness": 0.7})
    others = [
        middlewares.HumanInTheLoopMiddleware(interrupt_on={"search": True}),
        middlewares.ModelCallLimitMiddleware(run_limit=5),
        middlewares.ToolRetryMiddleware(),
    ]
    app = agents.create_agent(
        Echo(replies=[looking(), AIMessage(WRONG)]),
        [SEARCH],
        middleware=[mine, *others],
        checkpointer=InMemorySaver(),
    )
    thread = {"configurable": {"thread_id": "1"}}
    assert "__interrupt__" in app.invoke(asked(), thread)
    out = app.invoke(types.Command(resume={"decisions": [{"type": "approve"}]}), thread)

    assert out["messages"][-1].text == REFUSED
    assert only(mine).sample.contexts == texts("tea")
    assert WRONG not in str(app.get_state(thread).values)


# Streams


@pytest.mark.parametrize("mode", ["messages", "updates", "values"])
def test_nothing_of_a_rejected_answer_is_streamed(make_middleware, mode):
    mine = make_middleware(gate={"faithfulness": 0.7})
    app = agents.create_agent(Echo(replies=[AIMessage(WRONG)]), [], middleware=[mine, retrieving_prompt])
    parts = list(app.stream(asked(), stream_mode=mode))

    assert "Vienna" not in str(parts)
    assert REFUSED in str(parts)


def test_an_answer_that_passes_leaves_a_stream_in_one_piece(make_middleware):
    mine = make_middleware(gate={"faithfulness": 0.7})
    app = agents.create_agent(Echo(), [], middleware=[mine, retrieving_prompt])
    said = [str(message.text) for message, _ in app.stream(asked(), stream_mode="messages")]

    assert said == [answer("tea")]


def test_without_a_gate_tokens_are_streamed(make_middleware):
    app = agents.create_agent(Echo(), [], middleware=[make_middleware()])
    said = [str(message.text) for message, _ in app.stream(asked(), stream_mode="messages")]

    assert "".join(said) == answer("tea")
    assert len(said) > 3


# Mistakes


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        ({"gate": {"faithfullness": 0.7}}, "the gate's 'faithfullness' is not measured"),
        ({"gate": {"faithfulness": 7}}, "from 0 to 1, not 7"),
        ({"gate": {"faithfulness": 0.7}, "on_failure": "raise"}, "on_failure must be"),
        ({"on_reject": "retry"}, "on_reject must be 'say', 'ask_again' or a function"),
        ({"time_limit": 0}, "time_limit must be more than 0"),
    ],
)
def test_a_mistake_is_told_when_it_is_made(make_middleware, mistake, told):
    with pytest.raises(ConfigError, match=told):
        make_middleware(**mistake)
