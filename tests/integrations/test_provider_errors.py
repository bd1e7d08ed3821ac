"""What a provider's client raises means the same for a judge or an embedder of each framework."""

import asyncio
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from ragmetrics_core.errors import (
    AccessRefused,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelTimeout,
    TransientModelError,
)
from ragmetrics_core.prompts import QUESTIONS, Message
from ragmetrics_core.protocol import Generate
from tests.servers import Answer, OpenAIServer

REQUEST: Generate[Any] = Generate(prompt=QUESTIONS, variables={}, messages=(Message("user", "Tea?"),))


def langchain(call: Callable[[], Any]) -> ModelError:
    runnables = pytest.importorskip("langchain_core.runnables")
    from ragmetrics_langchain import LangChainJudge

    return failure(LangChainJudge(runnables.RunnableLambda(lambda _: call())).agenerate(REQUEST))


def langchain_model(call: Callable[[], Any]) -> ModelError:
    pytest.importorskip("langchain_core")
    from ragmetrics_langchain import LangChainJudge
    from tests.integrations.langchain.apps import Echo

    class Calling(Echo):
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            return call()

    return failure(LangChainJudge(Calling()).agenerate(REQUEST))


def llama_index(call: Callable[[], Any]) -> ModelError:
    pytest.importorskip("llama_index.core")
    from ragmetrics_llama_index import LlamaIndexJudge
    from tests.integrations.llama_index.fakes import FunctionLLM

    return failure(LlamaIndexJudge(FunctionLLM(lambda prompt: call())).agenerate(REQUEST))


def haystack(call: Callable[[], Any]) -> ModelError:
    pytest.importorskip("haystack")
    from haystack_integrations.components.evaluators.ragmetrics import HaystackEmbedder
    from tests.integrations.haystack.mocks import MockTextEmbedder

    return failure(HaystackEmbedder(MockTextEmbedder(embedding_fn=lambda text: call())).aembed(["a"]))


def failure(asked: Any) -> ModelError:
    with pytest.raises(ModelError) as failed:
        asyncio.run(asked)
    return failed.value


class HTTPFailure(Exception):
    """As most clients have it, with the status on the error."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status_code = status


class HTTPStatusError(Exception):
    """As httpx has it: the status is the response's."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.response = SimpleNamespace(status_code=status)


class APIConnectionError(Exception):
    """As OpenAI's client names it, whatever the connection was lost for."""


class ReadTimeout(Exception):
    """As httpx names it."""


@pytest.mark.parametrize("framework", [langchain, langchain_model, llama_index, haystack])
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (HTTPFailure(429), ModelOverloaded),
        (HTTPFailure(503), ModelOverloaded),
        (HTTPFailure(500), TransientModelError),
        (HTTPFailure(409), TransientModelError),
        (HTTPFailure(401), AccessRefused),
        (HTTPFailure(404), AccessRefused),
        (HTTPStatusError(429), ModelOverloaded),
        (HTTPStatusError(401), AccessRefused),
        (ReadTimeout("slow"), ModelTimeout),
        (TimeoutError("slow"), ModelTimeout),
        (APIConnectionError("gone"), TransientModelError),
        (ConnectionResetError("gone"), TransientModelError),
        (ConnectionError("lost"), TransientModelError),
        (ModelRefused("no"), ModelRefused),
        (ValueError("odd"), ModelError),
    ],
    ids=repr,
)
def test_an_error_of_a_provider_says_whether_it_may_pass(
    framework: Any, error: Exception, kind: type[ModelError]
):
    def fails() -> NoReturn:
        raise error

    told = framework(fails)

    assert type(told) is kind
    # without its cause: a provider's error may hold the request, and with it the key
    assert told.__cause__ is None
    named = str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"
    assert named in str(told)
    if framework is langchain_model and not isinstance(error, ModelError):
        # a class of the user's own has a digest of its code
        assert re.search(rf"\.Calling/echo-1\?code=[0-9a-f]{{16}}: {re.escape(named)}", str(told))


@pytest.mark.parametrize("framework", [langchain, llama_index, haystack])
def test_the_wait_that_a_server_asks_for_is_kept(framework: Any):
    openai = pytest.importorskip("openai", reason="needs the package that the frameworks' models call with")
    busy = Answer(status=429, body={}, headers={"Retry-After": "7"})
    with (
        OpenAIServer(busy) as server,
        openai.OpenAI(base_url=server.base_url, api_key="k", max_retries=0) as client,
    ):
        told = framework(lambda: client.chat.completions.create(model="m", messages=[]))

    assert isinstance(told, ModelOverloaded)
    assert told.retry_after == 7.0
