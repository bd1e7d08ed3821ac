"""LlamaIndex models as judge and embedder."""

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms.callbacks import llm_chat_callback
from pydantic import PrivateAttr

from ragmetrics_core import evaluate
from ragmetrics_core.errors import (
    ConfigError,
    TransientModelError,
)
from ragmetrics_core.prompts import STATEMENTS
from ragmetrics_core.protocol import Completion, Generate, Usage
from ragmetrics_llama_index import (
    FaithfulnessEvaluator,
    LlamaIndexEmbedder,
    LlamaIndexJudge,
    RagMetricsEvaluator,
    instrument,
)
from tests.integrations.llama_index.fakes import FunctionLLM, WordEmbedding, judging


def request(draws: int = 1) -> Generate[Any]:
    variables = {"question": "How high?", "answer": "300 m."}
    return Generate(
        prompt=STATEMENTS, variables=variables, messages=STATEMENTS.render(variables), draws=draws
    )


def asked(llm: Any, draws: int = 1) -> list[Completion]:
    return list(asyncio.run(LlamaIndexJudge(llm).agenerate(request(draws))))


class ChatLLM(FunctionLLM):
    """A chat model as the providers' packages have; its asynchronous body must not be used."""

    is_chat_model: bool = True
    model_name: str = "chatty"
    raw: Any = None
    _seen: list[Any] = PrivateAttr(default_factory=list)

    def __init__(self, **settings: Any) -> None:
        super().__init__(str, **settings)

    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        raise AssertionError("asked on an event loop that may not be the model's")

    @llm_chat_callback()
    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        self._seen.append([(each.role.value, each.content) for each in messages])
        return ChatResponse(message=ChatMessage(role="assistant", content="a reply"), raw=self.raw)


def test_a_chat_model_gets_system_and_user_message():
    llm = ChatLLM()
    assert asked(llm) == [Completion(text="a reply", model="chatty")]
    system, user = request().messages
    assert llm._seen == [[("system", system.content), ("user", user.content)]]


def test_a_completion_model_gets_the_prompt_that_its_own_format_makes():
    llm = FunctionLLM(
        lambda prompt: "a reply", messages_to_prompt=lambda messages: f"{len(messages)} messages"
    )
    assert asked(llm) == [Completion(text="a reply", model="function")]
    assert llm.asked == ["2 messages"]


@pytest.mark.parametrize("is_chat_model", [False, True])
def test_a_model_that_is_synchronous_inside_does_not_hold_up_the_loop(is_chat_model):
    answered = threading.Event()

    def waits(prompt: str) -> str:
        assert answered.wait(60), "the loop stood still while the model was asked"
        return "a reply"

    async def main() -> list[Completion]:
        asking = asyncio.create_task(
            LlamaIndexJudge(FunctionLLM(waits, is_chat_model=is_chat_model)).agenerate(request())
        )
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        answered.set()
        return list(await asking)

    assert [each.text for each in asyncio.run(main())] == ["a reply"]


@pytest.mark.parametrize(
    "raw",
    [
        SimpleNamespace(
            model="large-1",
            usage=SimpleNamespace(prompt_tokens=7, completion_tokens=3),
            choices=[SimpleNamespace(finish_reason="length")],
        ),
        {
            "model": "large-1",
            "usage": {"input_tokens": 7, "output_tokens": 3},
            "stop_reason": "max_tokens",
        },
    ],
)
def test_tokens_and_the_reason_for_the_end_are_kept_where_the_provider_tells_them(raw):
    assert asked(ChatLLM(raw=raw)) == [Completion("a reply", "large-1", Usage(7, 3), "length")]


def test_an_empty_reply_is_an_empty_text():
    class Silent(ChatLLM):
        def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
            return ChatResponse(message=ChatMessage(role="assistant", blocks=[]))

    assert asked(Silent())[0].text == ""


@pytest.mark.parametrize(
    "make",
    [
        lambda llm: instrument("faithfulness", llm),
        FaithfulnessEvaluator,
        lambda llm: RagMetricsEvaluator("faithfulness", llm),
    ],
)
@pytest.mark.parametrize("is_decorated", [False, True])
def test_a_model_that_is_asynchronous_only_is_refused_when_the_scorer_is_made(make, is_decorated):
    def chat(self: Any, messages: Any, **kwargs: Any) -> ChatResponse:
        raise NotImplementedError("use achat")

    body = {"__module__": __name__, "chat": llm_chat_callback()(chat) if is_decorated else chat}
    with pytest.raises(ConfigError, match="AsyncOnly has no synchronous interface"):
        make(type("AsyncOnly", (ChatLLM,), body)())


def test_an_embedding_model_that_is_asynchronous_only_is_refused_when_the_scorer_is_made():
    class AsyncOnly(WordEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            raise NotImplementedError

    with pytest.raises(ConfigError, match=r"AsyncOnly has no synchronous interface, .* an embedder"):
        instrument("answer_similarity", embed_model=AsyncOnly())


def test_the_identity_names_class_model_and_settings_and_no_key():
    class Provider(FunctionLLM):
        temperature: float = 0.1
        api_key: str = "secret"

    identity = LlamaIndexJudge(Provider(str)).identity
    named = f"llama_index:{Provider.__module__}.{Provider.__qualname__}/function?temperature=0.1"
    assert identity.partition("&code=")[0] == named  # and the code of a class of one's own
    assert "secret" not in identity
    assert identity != LlamaIndexJudge(Provider(str, temperature=0.2)).identity
    assert LlamaIndexJudge(Provider(str), name="mine").identity == "mine"


class Hosted(FunctionLLM):
    """As many `CustomLLM`s are: the server and its settings are its own, and no metadata tells them."""

    model_name: str = "hosted"
    api_base: str = "https://user:secret@one.example/v1?key=secret"
    style: str = "short"


def test_models_of_other_servers_or_settings_have_other_names():
    judge = LlamaIndexJudge(Hosted(str))

    assert ".Hosted/hosted@https://one.example/v1" in judge.identity
    assert "secret" not in judge.identity
    assert judge.identity != LlamaIndexJudge(Hosted(str, api_base="https://two.example/v1")).identity
    assert judge.identity != LlamaIndexJudge(Hosted(str, style="long")).identity
    assert judge.identity == LlamaIndexJudge(Hosted(str)).identity
    assert judge.cacheable


@pytest.mark.parametrize("model_name", ["unknown", ""])
def test_replies_of_a_model_that_does_not_say_what_it_is_are_not_kept(model_name):
    assert not LlamaIndexJudge(Hosted(str, model_name=model_name)).cacheable
    assert LlamaIndexJudge(Hosted(str, model_name=model_name), name="mine").cacheable
    assert not LlamaIndexEmbedder(WordEmbedding(model_name=model_name)).cacheable
    assert LlamaIndexEmbedder(WordEmbedding(model_name="words-1")).cacheable


def briefly(messages: Any) -> str:
    return "Be brief."


def test_a_completion_model_is_told_by_the_format_of_its_prompt():
    usual = LlamaIndexJudge(Hosted(str))
    brief = LlamaIndexJudge(Hosted(str, messages_to_prompt=briefly))

    assert f"messages_to_prompt=callable%3A{__name__}.briefly%23" in brief.identity
    assert "messages_to_prompt" not in usual.identity
    assert usual.cacheable
    assert brief.cacheable
    one, other = (LlamaIndexJudge(Hosted(str, messages_to_prompt=lambda _, is_=is_: is_)) for is_ in "ab")
    assert one.cacheable
    assert one.identity != other.identity
    # a chat model has no such format
    lock = threading.Lock()
    assert not LlamaIndexJudge(Hosted(str, messages_to_prompt=lambda _: f"{lock}")).cacheable
    assert LlamaIndexJudge(ChatLLM(messages_to_prompt=lambda messages: "")).cacheable


# Embedders


def embedded(model: Any, texts: list[str]) -> Any:
    return asyncio.run(LlamaIndexEmbedder(model).aembed(texts))


class AsyncEmbedding(WordEmbedding):
    """Has an asynchronous body of its own, which must not be used."""

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        raise AssertionError("asked on an event loop that may not be the model's")

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in texts]


def test_there_is_a_row_for_each_text_in_their_order():
    texts = [f"word{number}" for number in range(25)]  # more than one batch of 10
    rows = embedded(WordEmbedding(), texts)
    expected = [WordEmbedding()._get_text_embedding(text) for text in texts]
    assert np.array_equal(rows, expected)


def test_an_embedding_model_is_asked_through_its_synchronous_interface():
    assert embedded(AsyncEmbedding(), ["a", "bcd"]).tolist() == [[1.0, 1.0], [3.0, 1.0]]


def test_a_failing_embedding_model_is_a_model_error():
    class Failing(WordEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            raise ConnectionError("lost")

    with pytest.raises(TransientModelError, match="lost"):
        embedded(Failing(), ["a"])


class Nameless(FunctionLLM):
    """A model that cannot say what it is."""

    @property
    def metadata(self) -> Any:
        raise AttributeError("no attribute 'deployment'")


def test_an_error_in_what_a_model_says_of_itself_is_that_error():
    judge = LlamaIndexJudge(Nameless(judging))
    with pytest.raises(AttributeError, match="deployment"):
        evaluate(
            [{"question": "Q?", "answer": "A.", "contexts": ["A."]}], metrics="faithfulness", judge=judge
        )
