"""The application's own models judge without being touched on another event loop than the application's."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.language_models.chat_models import SimpleChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda

from ragmetrics_core.errors import ConfigError, ModelRefused
from ragmetrics_langchain import LangChainEmbedder, LangChainJudge, RagMetricsCallbackHandler
from tests.integrations.langchain.apps import Echo, answer
from tests.integrations.langchain.test_models import ask, request


class LoopBound(SimpleChatModel):
    """A model whose client belongs to the loop that it was first used in."""

    @property
    def _llm_type(self) -> str:
        return "loop-bound"

    model: str = "bound-1"
    loops: list[Any] = []  # noqa: RUF012  copied by pydantic

    def _call(self, *args: Any, **kwargs: Any) -> str:
        raise AssertionError

    async def _acall(self, *args: Any, **kwargs: Any) -> str:
        loop = asyncio.get_running_loop()
        if loop not in (self.loops or [loop]):
            raise RuntimeError("this lock is bound to a different event loop")
        self.loops.append(loop)
        return "yes"

    async def _agenerate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Any:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(await self._acall()))])


def test_a_model_that_belongs_to_another_loop_asks_for_a_function_that_makes_one():
    model = LoopBound()
    asyncio.run(model.ainvoke("the application was first"))

    with pytest.raises(ModelRefused, match="pass a function that makes the model"):
        ask(LangChainJudge(model))


def test_a_function_makes_one_model_for_each_loop():
    made: list[LoopBound] = []

    def make() -> LoopBound:
        made.append(LoopBound())
        return made[-1]

    judge = LangChainJudge(make, name="made")

    async def twice() -> None:
        await judge.agenerate(request())
        await judge.agenerate(request())

    asyncio.run(twice())
    asyncio.run(twice())
    assert len(made) == 2


class SharedClient(Echo):
    """A model whose asynchronous client is the application's, as those of providers are."""

    threads: list[str] = []  # noqa: RUF012  copied by pydantic

    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        self.threads.append(threading.current_thread().name)
        return super()._generate(*args, **kwargs)

    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("asked from a loop that is not the application's")


def test_a_model_is_asked_through_its_synchronous_interface_in_other_threads():
    model = SharedClient()
    for judge in (LangChainJudge(model), LangChainJudge(model.bind(stop=["x"]).with_retry())):
        assert [reply.text for reply in ask(judge, draws=2)] == [answer("tea")] * 2
    assert threading.main_thread().name not in model.threads


def test_embeddings_are_asked_through_their_synchronous_interface():
    class Shared(DeterministicFakeEmbedding):
        async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
            raise AssertionError("asked from a loop that is not the application's")

    rows = asyncio.run(LangChainEmbedder(Shared(size=2), name="shared").aembed(["tea"]))
    assert rows.shape == (1, 2)


class AsyncEmbeddings(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise NotImplementedError("use aembed_documents")

    def embed_query(self, text: str) -> list[float]:
        raise NotImplementedError("use aembed_query")

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]


async def _areply(messages: Any) -> str:
    return "yes"


@pytest.mark.parametrize(
    "judge",
    [
        LoopBound(),
        LoopBound().with_retry(),
        LoopBound().with_fallbacks([Echo()]),
        Echo().with_fallbacks([LoopBound()]),
        LoopBound() | StrOutputParser(),
        RunnableLambda(_areply),
    ],
    ids=lambda judge: type(judge).__name__,
)
def test_a_model_that_can_only_be_asked_asynchronously_is_refused_by_a_handler_with_the_reason(judge):
    for given in (judge, LangChainJudge(judge), LangChainJudge(lambda: judge)):
        with pytest.raises(ConfigError, match=r"has no synchronous interface.*belongs to the application"):
            RagMetricsCallbackHandler("faithfulness", judge=given)


def test_embeddings_that_are_asynchronous_only_are_refused_by_a_handler_and_work_elsewhere():
    with pytest.raises(ConfigError, match="has no synchronous interface"):
        RagMetricsCallbackHandler("answer_similarity", embedder=AsyncEmbeddings())
    assert asyncio.run(LangChainEmbedder(AsyncEmbeddings()).aembed(["tea"])).tolist() == [[1.0]]
