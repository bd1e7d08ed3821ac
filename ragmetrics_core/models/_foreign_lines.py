"""Advice on models of other libraries, recognized by their classes' modules.

No library is imported. Models are not wrapped here, because an application's client belongs to its event loop
and the adapters lie above this package.
"""

from collections.abc import Iterator
from functools import partial
from typing import Literal, NamedTuple

__all__ = ["line_for"]

Kind = Literal["judge", "embedder", "scorer"]


class _Library(NamedTuple):
    """A library's models.

    Attributes:
        module: the package (possibly in a namespace) of the model's class.
        judge, embedder, scorer: the line to write, or "".
        named: words of which one must be in the class name; empty for all classes of the package.
    """

    module: str
    judge: str = ""
    embedder: str = ""
    scorer: str = ""
    named: tuple[str, ...] = ()


_HAYSTACK = "from haystack_integrations.components.evaluators.ragmetrics import"
_SAME_SERVER = "base_url=str(client.base_url), api_key=client.api_key"
_LITELLM = 'litellm.completion(model="MODEL", messages=[{"role": "user", "content": prompt}])'
_OPENAI_NAME = 'judge="openai:MODEL"'

_LIBRARIES = (
    _Library(
        "langchain_core",
        judge="from ragmetrics_langchain import LangChainJudge; judge=LangChainJudge(model)",
        named=("BaseChatModel", "BaseLLM"),
    ),
    _Library(
        "langchain_core",
        judge="from ragmetrics_core.models import DecisionJudge; from ragmetrics_langchain import "
        "LangChainDecisions; judge=DecisionJudge(decisions=LangChainDecisions(model))",
        named=("BaseDecisionModel",),
    ),
    _Library("langchain_openai", judge='judge="decisions:MODEL"', named=("OpenAIDecisions",)),
    _Library(
        "langchain_typesafe",
        judge='judge="decisions:MODEL@https://api.typesafe.ai/v1/systemone", with its key in OPENAI_API_KEY',
        named=("TypeSafeClassifier",),
    ),
    _Library(
        "langchain_core",
        embedder="from ragmetrics_langchain import LangChainEmbedder; embedder=LangChainEmbedder(model)",
        named=("Embeddings",),
    ),
    _Library(
        "llama_index",
        judge="from ragmetrics_llama_index import LlamaIndexJudge; judge=LlamaIndexJudge(llm)",
        named=("BaseLLM", "LLM"),
    ),
    _Library(
        "llama_index",
        embedder="from ragmetrics_llama_index import LlamaIndexEmbedder; embedder=LlamaIndexEmbedder(model)",
        named=("BaseEmbedding",),
    ),
    *(
        library
        for module in ("haystack", "haystack_integrations")
        for library in (
            _Library(
                module,
                judge=f"{_HAYSTACK} HaystackJudge; judge=HaystackJudge(generator)",
                named=("Generator",),
            ),
            _Library(
                module,
                embedder=f"{_HAYSTACK} HaystackEmbedder; embedder=HaystackEmbedder(text_embedder)",
                named=("Embedder",),
            ),
        )
    ),
    _Library(
        "openai",
        judge=f'judge="openai:MODEL", or from ragmetrics_core import OpenAIJudge; '
        f'judge=OpenAIJudge("MODEL", {_SAME_SERVER})',
        embedder=f'embedder="openai:MODEL", or from ragmetrics_core import OpenAIEmbedder; '
        f'embedder=OpenAIEmbedder("MODEL", {_SAME_SERVER})',
    ),
    _Library("litellm", judge=f"judge=lambda prompt: {_LITELLM}.choices[0].message.content"),
    _Library(
        "transformers",
        judge='judge=lambda prompt: pipe(prompt, return_full_text=False)[0]["generated_text"]',
        scorer='scorer="cross-encoder:MODEL"',
    ),
    _Library(
        "sentence_transformers",
        embedder='embedder="embedded", or "openai:MODEL@URL" for a server that has the model',
        scorer='scorer="cross-encoder:MODEL"',
    ),
    _Library(
        "anthropic",
        judge='judge=lambda prompt: client.messages.create(model="MODEL", max_tokens=4096, '
        'messages=[{"role": "user", "content": prompt}]).content[0].text',
    ),
    _Library(
        "google.genai",
        judge='judge=lambda prompt: client.models.generate_content(model="MODEL", contents=prompt).text',
    ),
    _Library(
        "ollama",
        judge='judge="openai:MODEL@http://localhost:11434/v1", which is the address of Ollama itself',
    ),
    _Library(
        "ragas",
        judge=f"{_OPENAI_NAME}, or the wrapped LangChain model as LangChainJudge(wrapper.langchain_llm) of "
        "ragmetrics_langchain",
        embedder='embedder="openai:MODEL", or the wrapped LangChain model as '
        "LangChainEmbedder(wrapper.embeddings) of ragmetrics_langchain",
        named=("LLM", "Embedding"),
    ),
    _Library(
        "deepeval",
        judge=f"{_OPENAI_NAME}, or judge=lambda prompt: model.generate(prompt) if that returns a text",
        named=("BaseLLM",),
    ),
)


def line_for(kind: Kind, model: object) -> str | None:
    """A sentence on another library's model with the line to write; None for anything else.

    Methods of a model and a library's calling functions are recognized too; a user's function that calls one
    is not.
    """
    while isinstance(model, partial):
        model = model.func
    owner = getattr(model, "__self__", None)
    names = dict(_origins(model if owner is None else owner))
    for library in _LIBRARIES:
        line: str = getattr(library, kind)
        if line and any(_is_of(library, name, module) for name, module in names.items()):
            name = getattr(model, "__qualname__", type(model).__name__)
            article = "an" if kind == "embedder" else "a"
            return f"{name} of {library.module} is not {article} {kind} by itself; write {line}"
    return None


def _origins(model: object) -> Iterator[tuple[str, str]]:
    """The names of a class, a function or an object's classes, with their modules."""
    if isinstance(module := getattr(model, "__module__", None), str) and isinstance(
        name := getattr(model, "__name__", None), str
    ):
        yield name, module
    for each in (model if isinstance(model, type) else type(model)).__mro__:
        yield each.__name__, each.__module__


def _is_of(library: _Library, name: str, module: str) -> bool:
    inside = f"{module}.".startswith((f"{library.module}.", f"{library.module}_"))
    return inside and (not library.named or any(word in name for word in library.named))
