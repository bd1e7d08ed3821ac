"""Judges on a server with the OpenAI protocol: the library's own, and the frameworks' models."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from ragmetrics_core import Judge

__all__ = ["DOORS", "FRAMEWORKS", "Door"]

Door = Callable[..., Judge]


def openai(url: str, **settings: Any) -> Judge:
    pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")
    from ragmetrics_core.models import OpenAIJudge

    return OpenAIJudge("m", base_url=url, api_key="sk-4711-test", **settings)


def langchain(url: str, **settings: Any) -> Judge:
    models = pytest.importorskip("langchain_openai", reason="needs the package langchain-openai")
    from ragmetrics_langchain import LangChainJudge

    bound = {name: settings.pop(name) for name in ("response_format",) if name in settings}
    model = models.ChatOpenAI(model="m", base_url=url, api_key="sk-4711-test", max_retries=0, **settings)
    return LangChainJudge(model.bind(**bound) if bound else model)


def haystack(url: str, **settings: Any) -> Judge:
    pytest.importorskip("haystack", reason="needs haystack: pip install 'ragmetrics-core[haystack]'")
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.utils import Secret

    from haystack_integrations.components.evaluators.ragmetrics import HaystackJudge

    key = Secret.from_token("sk-4711-test")
    return HaystackJudge(
        OpenAIChatGenerator(
            model="m", api_base_url=url, api_key=key, max_retries=0, generation_kwargs=settings
        )
    )


def llama_index(url: str, **settings: Any) -> Judge:
    models = pytest.importorskip(
        "llama_index.llms.openai_like", reason="needs the package llama-index-llms-openai-like"
    )
    from ragmetrics_llama_index import LlamaIndexJudge

    own = {name: settings.pop(name) for name in ("temperature", "max_tokens") if name in settings}
    model = models.OpenAILike(
        model="m", api_base=url, api_key="sk-4711-test", max_retries=0, is_chat_model=True, **own,
        additional_kwargs=settings,
    )  # fmt: skip
    return LlamaIndexJudge(model)


FRAMEWORKS: Final[Mapping[str, Door]] = {
    "langchain": langchain,
    "haystack": haystack,
    "llama_index": llama_index,
}
DOORS: Final[Mapping[str, Door]] = {"openai": openai, **FRAMEWORKS}
