"""LangChain's models as judges and embedders."""

import asyncio
import re
import threading
import warnings
from collections.abc import Iterator
from typing import Any, TypedDict

import numpy as np
import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import FakeListChatModel, FakeListLLM, GenericFakeChatModel
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda
from pydantic import PrivateAttr

from ragmetrics_core.errors import (
    ConfigError,
    ModelError,
    ModelOverloaded,
    ModelRefused,
)
from ragmetrics_core.prompts import QUESTIONS, Message
from ragmetrics_core.protocol import Completion, Generate, Usage
from ragmetrics_langchain import LangChainEmbedder, LangChainJudge, RagMetricsCallbackHandler
from tests.integrations.langchain.apps import Echo, answer


def request(text: str = "Tell me about tea?", *, draw: int = 0, draws: int = 1) -> Generate[Any]:
    messages = (Message("system", "You judge."), Message("user", text))
    return Generate(prompt=QUESTIONS, variables={}, messages=messages, draw=draw, draws=draws)


def ask(judge: LangChainJudge, **of_request: Any) -> list[Completion]:
    return list(asyncio.run(judge.agenerate(request(**of_request))))


# Replies


def test_a_reply_comes_with_model_usage_and_both_messages_were_sent():
    model = Echo()
    (reply,) = ask(LangChainJudge(model))

    assert reply == Completion(text=answer("tea"), model="echo-1-2026", usage=Usage(7, 5))
    assert [(each.type, each.text) for each in model.heard[0]] == [
        ("system", "You judge."),
        ("human", "Tell me about tea?"),
    ]


def test_a_reply_in_blocks_is_joined_and_a_cut_one_is_told():
    blocks: Any = [{"type": "text", "text": "It is "}, {"type": "text", "text": "so."}]
    cut = AIMessage(blocks, response_metadata={"stop_reason": "max_tokens", "model": "m"})
    (reply,) = ask(LangChainJudge(Echo(replies=[cut])))

    assert reply == Completion(text="It is so.", model="m", finish_reason="length")


@pytest.mark.parametrize(
    "model",
    [
        FakeListChatModel(responses=["yes"]),
        FakeListChatModel(responses=["yes"]).bind(temperature=0),
        FakeListChatModel(responses=["yes"]).with_config(tags=["mine"]),
        FakeListChatModel(responses=["yes"]).with_retry(),
        FakeListChatModel(responses=["yes"]) | StrOutputParser(),
        FakeListLLM(responses=["yes"]),
        GenericFakeChatModel(messages=iter(["yes"])),
        lambda: FakeListChatModel(responses=["yes"]),
    ],
    ids=["chat", "bound", "configured", "retrying", "parsed", "completion", "generic", "factory"],
)
def test_any_runnable_that_replies_with_text_judges(model):
    assert [reply.text for reply in ask(LangChainJudge(model))] == ["yes"]


def test_a_reply_that_is_no_text_is_an_error_that_names_it():
    judge = LangChainJudge(RunnableLambda(lambda messages: 42), name="odd")

    with pytest.raises(ModelError, match="odd replied with int, neither a message nor a text"):
        ask(judge)


def test_draws_are_made_at_the_same_time():
    everybody_is_here = threading.Barrier(3, timeout=60)

    def meet(messages: Any) -> str:
        everybody_is_here.wait()
        return "yes"

    assert len(ask(LangChainJudge(RunnableLambda(meet), name="meeting"), draws=3)) == 3


def test_a_failed_draw_is_the_error_itself():
    with pytest.raises(ModelError, match="ValueError: no"):
        ask(LangChainJudge(Echo(error=ValueError("no"))), draws=3)


# Caches and draws


@pytest.fixture
def global_cache() -> Iterator[InMemoryCache]:
    cache = InMemoryCache()
    set_llm_cache(cache)
    yield cache
    set_llm_cache(None)


def drawn(model: BaseChatModel, wrap: Any = lambda model: model) -> list[str]:
    return [reply.text for reply in ask(LangChainJudge(wrap(model)), draws=3)]


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: m.bind(temperature=1)], ids=["plain", "bound"])
def test_a_global_cache_does_not_make_all_draws_one(global_cache, wrap):
    def model() -> BaseChatModel:
        return GenericFakeChatModel(messages=iter(["one", "two", "three"]))

    assert sorted(drawn(model(), wrap)) == ["one", "three", "two"]


def test_a_cache_of_the_models_own_does_not_make_all_draws_one():
    model = GenericFakeChatModel(messages=iter(["one", "two", "three"]), cache=InMemoryCache())

    assert sorted(drawn(model)) == ["one", "three", "two"]


def test_the_first_draw_still_comes_from_the_cache(global_cache):
    judge = LangChainJudge(GenericFakeChatModel(messages=iter(["one", "two"])))

    assert [ask(judge)[0].text, ask(judge)[0].text] == ["one", "one"]


def test_a_cache_that_cannot_be_seen_is_warned_of_once(global_cache):
    hidden = FakeListChatModel(responses=["same"])
    judge = LangChainJudge(RunnableLambda(hidden.invoke), name="hidden")

    with pytest.warns(UserWarning, match=r"hidden does not show.*Switch the cache off") as told:
        ask(judge, draws=3)
    with warnings.catch_warnings(action="error"):
        ask(judge, draws=3)
    assert len(told) == 1


def test_draws_that_are_one_message_are_warned_of():
    one = AIMessage("same", id="message-1")
    judge = LangChainJudge(RunnableLambda(lambda messages: one), name="stuck")

    with pytest.warns(UserWarning, match="stuck gave the same message for several draws"):
        ask(judge, draws=2)


# Names


def test_a_judge_is_named_by_class_model_server_and_settings():
    class ChatBooks(Echo):
        temperature: float = 0.5
        base_url: str = "https://user:secret@books.example/v1?key=secret"

    plain = LangChainJudge(ChatBooks())
    bound = LangChainJudge(ChatBooks().bind(temperature=0, stop=["\n"]))

    named = f"langchain:{ChatBooks.__module__}.{ChatBooks.__qualname__}/echo-1@https://books.example/v1"
    # a class of one's own has a digest beside that
    assert re.fullmatch(re.escape(f"{named}?temperature=0.5&code=") + r"\w{16}", plain.identity)
    assert f"{named}?stop=%5B%22%5Cn%22%5D&temperature=0&code=" in bound.identity
    assert "secret" not in plain.identity
    assert plain.cacheable
    assert bound.cacheable


def test_a_model_class_of_ones_own_is_told_by_its_code_and_by_all_that_it_holds():
    def made(strict: bool) -> Echo:
        class Own(Echo):
            _strict: bool = PrivateAttr(default=True)

            def said(self) -> str:
                return "no" if strict else "yes"

        return Own()

    lenient = made(True)
    lenient._strict = False
    one, again, other, another = map(LangChainJudge, (made(True), made(True), made(False), lenient))
    assert one.identity == again.identity
    assert len({one.identity, other.identity, another.identity}) == 3
    assert one.cacheable


def test_replies_of_a_model_that_does_not_say_what_it_is_are_not_kept():
    unknown = FakeListChatModel(responses=["yes"])

    named = f"{FakeListChatModel.__module__}.FakeListChatModel"
    assert LangChainJudge(unknown).identity == f"langchain:{named}"
    assert not LangChainJudge(unknown).cacheable
    assert not LangChainJudge(Echo().bind(tools=[object()])).cacheable
    assert LangChainJudge(unknown, name="mine").cacheable
    assert LangChainJudge(unknown, name="mine").identity == "mine"


def test_what_is_no_model_is_refused_before_any_call():
    for given in ("gpt", Echo, None):
        with pytest.raises(ConfigError, match="Runnable of LangChain or a function that makes one, not"):
            LangChainJudge(given)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="Embeddings of LangChain"):
        LangChainEmbedder(3)  # type: ignore[arg-type]


# Errors


class HTTPFailure(Exception):
    def __init__(self, status_code: int) -> None:
        super().__init__(f"status {status_code}")
        self.status_code = status_code


class APIConnectionError(Exception):
    """As OpenAI's client names it, whatever the connection was lost for."""


def test_a_foreign_loop_that_a_client_calls_a_lost_connection_asks_for_a_function_too():
    lost = APIConnectionError("Connection error.")
    lost.__cause__ = RuntimeError("Event loop is closed")

    with pytest.raises(ModelRefused, match="pass a function that makes the model"):
        ask(LangChainJudge(Echo(error=lost)))


# Embedders


def test_embeddings_give_one_row_for_each_text():
    embedder = LangChainEmbedder(DeterministicFakeEmbedding(size=8), name="fake")
    rows = asyncio.run(embedder.aembed(["tea", "milk", "tea"]))

    assert rows.shape == (3, 8)
    assert np.array_equal(rows[0], rows[2])
    assert embedder.identity == "fake"


def test_an_embedder_is_named_by_class_and_model_and_errors_are_ours():
    class BookEmbeddings(Embeddings):
        model = "books-1"
        dimensions = 4

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise HTTPFailure(429)

        def embed_query(self, text: str) -> list[float]:
            raise AssertionError

    embedder = LangChainEmbedder(BookEmbeddings())
    assert embedder.identity.rpartition("&code=")[0].endswith(".BookEmbeddings/books-1?dimensions=4")
    assert embedder.cacheable
    with pytest.raises(ModelOverloaded):
        asyncio.run(embedder.aembed(["tea"]))


class Verdict(TypedDict):
    """What a graph holds."""

    text: str


def decisions() -> Any:
    made: Any = pytest.importorskip(
        "langchain_openai.decisions", reason="langchain-openai has no decisions yet"
    )
    return made.OpenAIDecisions(model="served-model", api_key="none")


def answering_graph() -> Any:
    graphs = pytest.importorskip("langgraph.graph")
    built = graphs.StateGraph(Verdict)
    built.add_node("judge", lambda state: {"text": "yes"})
    built.add_edge(graphs.START, "judge")
    return built.compile()


@pytest.mark.parametrize(
    ("make", "takes"),
    [(decisions, "DecisionRequest"), (answering_graph, "Verdict")],
    ids=["decisions", "graph"],
)
def test_what_takes_no_messages_is_no_judge_and_says_why(make, takes):
    model = make()
    for judge in (model, model.with_retry(), model.with_config(tags=["judge"])):
        with pytest.raises(ConfigError, match=f"takes {takes}, not messages: .* Pass a chat model"):
            RagMetricsCallbackHandler("faithfulness", judge=judge)
    with pytest.raises(ConfigError, match="not messages"):
        RagMetricsCallbackHandler("faithfulness", judge=LangChainJudge(lambda: model))
