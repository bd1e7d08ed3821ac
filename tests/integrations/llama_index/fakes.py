"""Models and engines for tests, made of LlamaIndex's own parts."""

import json
import re
import threading
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from llama_index.core import PromptTemplate
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import PrivateAttr

QUERY = "What is the tower's height?"
CONTEXTS = ["The tower is 300 m high.", "It opened in 1889."]
FAITHFUL = "The tower is 300 m high."
HALF = "The tower is 300 m high. It is green."

_FENCED = r"<{0}>\n(.*?)\n</{0}>"


class FunctionLLM(CustomLLM):
    """A language model that is a function from prompt to reply; synchronous inside, as a `CustomLLM` is."""

    model_name: str = "function"
    is_chat_model: bool = False
    _function: Callable[[str], str] = PrivateAttr()
    _asked: list[str] = PrivateAttr(default_factory=list)

    def __init__(self, function: Callable[[str], str], **settings: Any) -> None:
        super().__init__(**settings)
        self._function = function

    @property
    def asked(self) -> list[str]:
        """All prompts so far."""
        return self._asked

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name=self.model_name, is_chat_model=self.is_chat_model)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self._asked.append(prompt)
        return CompletionResponse(text=self._function(prompt))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        self._asked.append(prompt)
        reply = self._function(prompt)

        def tokens() -> CompletionResponseGen:
            text = ""
            for token in re.findall(r"\S+\s*", reply):
                text += token
                yield CompletionResponse(text=text, delta=token)

        return tokens()


def judging(prompt: str) -> str:
    """What a diligent model replies: sentences as statements, and "yes" for those that stand in the texts."""
    if '{"sentences":' in prompt:
        entries = [
            {"sentence": int(number), "kind": "claim", "statements": [text]}
            for number, text in re.findall(r"\[sentence (\d+)\] (.*)$", prompt, re.MULTILINE)
        ]
        return json.dumps({"sentences": entries, **({"declined": False} if '"declined"' in prompt else {})})
    if '{"statements":' in prompt:
        text = _last("reference" if "<reference>" in prompt else "answer", prompt)
        declined = {"declined": False} if '"declined"' in prompt else {}
        return json.dumps({"statements": _sentences(text), **declined})
    if '{"verdicts":' in prompt:
        items = re.findall(r"^(\d+)\. (.*)$", _last("items", prompt), re.MULTILINE)
        shown = prompt.partition("<items>")[0]
        return json.dumps(
            {
                "verdicts": [
                    {
                        "number": int(number),
                        "reason": "looked up",
                        "evidence": "",
                        "verdict": "yes" if text.rstrip(".") in shown else "no",
                    }
                    for number, text in items
                ]
            }
        )
    if '"questions"' in prompt:
        return json.dumps({"questions": [{"question": QUERY, "noncommittal": False}] * 3})
    return "I do not know this form."


def judge_llm(**settings: Any) -> FunctionLLM:
    """A judge that knows the prompts of faithfulness, correctness and answer relevance."""
    return FunctionLLM(judging, **settings)


def _last(tag: str, prompt: str) -> str:
    found = re.findall(_FENCED.format(tag), prompt, re.DOTALL)
    return found[-1] if found else ""


def _sentences(text: str) -> list[str]:
    return [each.strip() for each in re.split(r"(?<=[.!?])\s+", text) if each.strip()]


class WordEmbedding(BaseEmbedding):
    """Vectors of hashed words: the same text always has the same vector."""

    def _get_text_embedding(self, text: str) -> list[float]:
        vector = [0.0] * 32
        for word in re.findall(r"\w+", text.casefold()):
            vector[sha256(word.encode()).digest()[0] % 32] += 1.0
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class FunctionRetriever(BaseRetriever):
    """Retrieves what a function gives for a question."""

    def __init__(self, function: Callable[[str], Sequence[str]]) -> None:
        self._function = function
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        texts = self._function(query_bundle.query_str)
        return [
            NodeWithScore(node=TextNode(text=text, id_=f"{query_bundle.query_str}#{place}"), score=1.0)
            for place, text in enumerate(texts)
        ]


def answering(answer: Callable[[str], str]) -> FunctionLLM:
    """The application's model: answers the question that stands in a prompt of `qa_engine`."""
    return FunctionLLM(lambda prompt: answer(re.findall(r"Q: (.*?) :Q", prompt, re.DOTALL)[-1]))


def qa_engine(
    answer: Callable[[str], str], contexts: Callable[[str], Sequence[str]], *, streaming: bool = False
) -> RetrieverQueryEngine:
    """The query engine that everybody uses: a retriever and a synthesizer with a model."""
    synthesizer = get_response_synthesizer(
        llm=answering(answer),
        text_qa_template=PromptTemplate("{context_str}\nQ: {query_str} :Q"),
        refine_template=PromptTemplate("{existing_answer} {context_msg}\nQ: {query_str} :Q"),
        streaming=streaming,
    )
    return RetrieverQueryEngine(FunctionRetriever(contexts), response_synthesizer=synthesizer)


class Meeting:
    """Knows how many callers were inside at the same time."""

    def __init__(self, expected: int) -> None:
        self._barrier = threading.Barrier(expected)

    def __call__(self) -> None:
        """Wait until all are here; breaks after a minute, so that a test fails and does not hang."""
        self._barrier.wait(timeout=60)
