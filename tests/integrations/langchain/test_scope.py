"""One sample for each unit: handlers inside, twice, shared, for the whole process; units of one's own."""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel

from ragmetrics_core import Sample, aevaluate
from ragmetrics_core.live import LiveScorer
from ragmetrics_langchain import LangChainJudge, RagMetricsCallbackHandler, RunInfo, install
from tests.integrations.langchain.apps import Echo, Shelf, answer, question, rag_chain, texts


def topics(handler: RagMetricsCallbackHandler) -> list[str]:
    """The questions that were scored, each checked against its contexts and answer."""
    assert handler.flush()
    assert handler.open_runs == 0
    found = []
    for result in handler.results:
        topic = str(result.sample.question).removeprefix("Tell me about ").removesuffix("?")
        assert result.sample.contexts == texts(topic)
        assert result.sample.answer == answer(topic)
        found.append(topic)
    return sorted(found)


def having(handler: Any, **settings: Any) -> Any:
    return rag_chain().with_config(callbacks=[handler], **settings)


TEA = question("tea")
ONCE: dict[str, Callable[[Any, Any], Any]] = {
    "on an inner chain": lambda handler, config: RunnableLambda(having(handler).invoke).invoke(TEA),
    "around a function": lambda handler, config: RunnableLambda(rag_chain().invoke).invoke(TEA, config),
    "twice": lambda handler, config: having(handler).invoke(TEA, config),
    "thrice": lambda handler, config: having(handler).with_config(callbacks=[handler]).invoke(TEA, config),
    "twice, in a stream": lambda handler, config: list(having(handler).stream(TEA, config)),
    "on the retriever too": lambda handler, config: rag_chain(Shelf(callbacks=[handler])).invoke(TEA, config),
}


@pytest.mark.parametrize("attached", ONCE)
def test_one_question_is_one_sample_wherever_the_handler_is_attached(handler, attached):
    ONCE[attached](handler, {"callbacks": [handler]})

    assert topics(handler) == ["tea"]


@pytest.mark.parametrize("scope", ["outermost_rag", "book chain"])
def test_one_question_is_one_sample_in_scopes_of_several(make_handler, scope):
    handler = make_handler(scope=scope)
    inner = having(handler, run_name="book chain")
    (RunnableLambda(inner.invoke) if scope == "book chain" else inner).invoke(TEA, {"callbacks": [handler]})

    assert topics(handler) == ["tea"]


def test_a_handler_that_several_chains_share_keeps_them_apart(handler):
    chains = [rag_chain().with_config(callbacks=[handler], run_name=name) for name in ("a", "b")]
    for chain, topic in zip(chains, ("tea", "milk"), strict=True):
        chain.invoke(question(topic))

    assert topics(handler) == ["milk", "tea"]
    assert [result.sample.labels["app"] for result in handler.results] == ["a", "b"]


@pytest.mark.parametrize("way", ["list", "parallel", "map"])
def test_a_root_with_many_questions_is_split_into_its_chains_on_request(make_handler, way):
    rooted, split = make_handler(), make_handler(scope="outermost_rag")
    inner = rag_chain().with_config(run_name="inner")  # a run of its own, also inside a sequence
    given = [question("tea"), question("milk")]
    app: Runnable[Any, Any] = {
        "list": RunnableLambda(lambda asked: [inner.invoke(each) for each in asked]),
        "parallel": RunnableLambda(lambda asked: asked)
        | RunnableParallel(
            one=RunnableLambda(lambda asked: asked[0]) | inner,
            two=RunnableLambda(lambda asked: asked[1]) | inner,
        ),
        "map": inner.map(),
    }[way]

    app.invoke(given, {"callbacks": [rooted, split]})

    assert topics(split) == ["milk", "tea"]
    assert topics(rooted) == []
    assert sum(rooted.stats.skipped.values()) == 1


@pytest.mark.parametrize(
    "scope", ["book chain", lambda run: run.name == "book chain"], ids=["name", "function"]
)
def test_runs_that_a_scope_names_are_the_samples(make_handler, scope):
    handler = make_handler(scope=scope)
    inner = rag_chain().with_config(run_name="book chain")
    outer = RunnableLambda(lambda asked: " and ".join(inner.invoke(each) for each in asked))
    outer.invoke([question("tea"), question("milk")], {"callbacks": [handler]})
    rag_chain().invoke(question("salt"), {"callbacks": [handler]})

    assert topics(handler) == ["milk", "tea"]


def test_a_scope_that_raises_does_not_reach_the_application(make_handler):
    def scope(run: RunInfo) -> bool:
        raise RuntimeError("no idea")

    handler = make_handler(scope=scope)

    assert rag_chain().invoke(question("tea"), {"callbacks": [handler]}) == answer("tea")
    assert topics(handler) == []
    assert "no idea" in handler.stats.errors[0]


# The whole process


@pytest.fixture
def installed(handler: RagMetricsCallbackHandler) -> Iterator[RagMetricsCallbackHandler]:
    with install(handler):
        yield handler


def test_an_installed_handler_sees_all_threads_loops_and_ways_of_calling(installed):
    chain = rag_chain()

    async def asynchronous() -> None:
        await chain.ainvoke(question("a"))
        async for _ in chain.astream(question("b")):
            pass

    thread = threading.Thread(target=lambda: chain.invoke(question("c")))
    thread.start()
    thread.join()
    asyncio.run(asynchronous())
    chain.batch([question("d"), question("e")])
    # passed besides, it is one handler
    list(chain.stream(question("f"), {"callbacks": [installed]}))

    assert topics(installed) == ["a", "b", "c", "d", "e", "f"]


def test_after_uninstalling_nothing_is_seen(handler):
    with install(handler) as done:
        pass
    done.uninstall()
    rag_chain().invoke(question("tea"))

    assert topics(handler) == []


def test_two_handlers_may_be_installed_and_a_place_is_used_again(make_handler):
    from langchain_core.tracers import context

    first, second = make_handler(), make_handler()
    with install(first), install(second):
        rag_chain().invoke(question("tea"))
    hooks = len(context._configure_hooks)
    for _ in range(5):
        with install(first):
            rag_chain().invoke(question("milk"))

    assert topics(first) == ["milk"] * 5 + ["tea"]
    assert topics(second) == ["tea"]
    assert len(context._configure_hooks) == hooks


# Judges


class JudgeModel(Echo):
    """A LangChain model that judges; it also answers, as the application's own model."""

    def _reply(self, messages: Any) -> Any:
        from langchain_core.messages import AIMessage

        text = str(messages[-1].text)
        if "statements" in text and "verdict" not in text:
            sentences = re.findall(r"\[sentence (\d+)\] (.*)", text)
            entries = [{"sentence": int(number), "statements": [said]} for number, said in sentences]
            return AIMessage(json.dumps({"sentences": entries, "declined": False}))
        if "noncommittal" in text:
            asked = '{"question": "Which tea?", "noncommittal": false}'
            return AIMessage(f'{{"questions": [{asked}, {asked}, {asked}]}}')
        if "verdict" in text:
            return AIMessage('{"verdicts": [{"number": 1, "verdict": "yes", "reason": "it says so"}]}')
        return super()._reply(messages)


@pytest.mark.parametrize("mode", ["background", "inline"])
@pytest.mark.parametrize("attached", ["passed", "installed", "by a hook", "by the environment"])
def test_calls_of_a_langchain_judge_are_no_samples(by_hook, make_handler, mode, attached):
    model = JudgeModel()
    judge = RunnableLambda(model.invoke) | RunnableLambda(lambda reply: reply)
    live = LiveScorer("faithfulness", judge=LangChainJudge(judge, name="judge"), mode=mode)  # type: ignore[arg-type]
    handler = RagMetricsCallbackHandler(live=live)
    chain = rag_chain(model=model)
    match attached:
        case "passed":
            chain.invoke(question("tea"), {"callbacks": [handler]})
            asyncio.run(chain.ainvoke(question("milk"), {"callbacks": [handler]}))
        case "installed":
            with install(handler):
                chain.invoke(question("tea"))
                asyncio.run(chain.ainvoke(question("milk")))
                assert handler.flush()
        case _:
            by_hook(handler, by_environment=attached == "by the environment")
            chain.invoke(question("tea"))
            asyncio.run(chain.ainvoke(question("milk")))
            assert handler.flush()

    assert topics(handler) == ["milk", "tea"]
    assert {result.scores["faithfulness"] for result in handler.results} == {1.0}
    assert handler.stats.captured == 2
    assert handler.stats.skipped == {}
    live.close()


def test_a_judge_in_a_run_of_its_own_is_seen_by_nobody(handler):
    class Other(BaseCallbackHandler):
        def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
            seen.append(kwargs["name"])

    seen: list[str] = []
    judge = LangChainJudge(RunnableLambda(JudgeModel().invoke), name="judge")
    sample = Sample(question="q", contexts=["Tea is green."], answer="Tea is green.")

    async def evaluated(given: str) -> float | None:
        run = await aevaluate([sample], metrics="faithfulness", judge=judge)
        return run.means()[0].value

    with install(handler):
        mean = asyncio.run(RunnableLambda(evaluated).ainvoke("now", {"callbacks": [Other()]}))

    assert mean == 1.0
    assert seen == ["evaluated"]
    assert handler.flush()
    # the handler saw the function around the run, which is no answer, and nothing of the judge
    assert handler.stats.skipped == {"no_answer": 1}
    assert handler.open_runs == 0


@pytest.fixture
def by_hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Attach a handler as LangChain's own tracers attach themselves, and take the hook away afterwards."""
    from contextvars import ContextVar

    from langchain_core.tracers import context

    def attach(handler: BaseCallbackHandler, *, by_environment: bool) -> None:
        variable: ContextVar[Any] = ContextVar("variable", default=None if by_environment else handler)
        if not by_environment:
            context.register_configure_hook(variable, inheritable=True)
            return
        monkeypatch.setenv("RAGMETRICS_TEST_HOOK", "true")

        class OfEnvironment(BaseCallbackHandler):
            def __new__(cls) -> Any:
                return handler

        context.register_configure_hook(
            variable, inheritable=True, handle_class=OfEnvironment, env_var="RAGMETRICS_TEST_HOOK"
        )

    before = list(context._configure_hooks)
    yield attach
    # another module of LangChain's may hold this very list
    context._configure_hooks[:] = before


def test_the_application_and_the_judge_may_share_one_model_object(make_handler):
    model = JudgeModel()
    handler = make_handler(judge=model)
    config: Any = {"callbacks": [handler]}

    async def ask_all() -> None:
        await asyncio.gather(*(rag_chain(model=model).ainvoke(question(n), config) for n in range(100)))

    asyncio.run(ask_all())

    assert topics(handler) == sorted(map(str, range(100)))
    assert handler.means["faithfulness"] == (1.0, 100)
