"""Models of one's own: what fits the protocols, what does not, and what goes around them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core import Embedder, Judge, as_judge, evaluate
from ragmetrics_core.models import Line, OpenAIJudge, Traffic, WordLlamaEmbedder
from ragmetrics_core.protocol import Completion, Generate, Scorer
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge


@dataclass(frozen=True)
class Canned:
    """A judge, an embedder and a scorer that fit."""

    identity: str = "canned"

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        return [Completion(text=request.messages[-1].content)]

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return np.ones((len(texts), 2))

    async def arate(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [0.5 for _ in pairs]


class Named:
    """A judge whose identity is a property."""

    @property
    def identity(self) -> str:
        return "named"

    async def agenerate(self, request: Generate[Any]) -> list[Completion]:
        return [Completion(text=request.prompt.name)]


class Nameless:
    """Without an identity nobody could say who judged."""

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        return [Completion(text="")]


class Synchronous:
    """Its reply is there at once, and no judge's."""

    identity = "synchronous"

    def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        return [Completion(text="")]


class Textual:
    """Its reply is a text, and no completion."""

    identity = "textual"

    async def agenerate(self, request: Generate[Any]) -> Sequence[str]:
        return [""]


def what_fits() -> None:
    judges: list[Judge] = [Canned(), Named(), ScriptedJudge({}), OpenAIJudge("m")]
    embedders: list[Embedder] = [Canned(), HashEmbedder(), WordLlamaEmbedder()]
    scorer: Scorer = Canned()
    evaluate("data.jsonl", judge=judges[0], panel=judges, embedder=embedders[0], scorer=scorer)


def what_does_not_fit() -> None:
    nameless: Judge = Nameless()  # error: assignment, reportAssignmentType
    synchronous: Judge = Synchronous()  # error: assignment, reportAssignmentType
    textual: Judge = Textual()  # error: assignment, reportAssignmentType
    embedder: Embedder = Named()  # error: assignment, reportAssignmentType
    evaluate("data.jsonl", judge=Textual())  # error: arg-type, reportArgumentType
    evaluate("data.jsonl", scorer=Named())  # error: arg-type, reportArgumentType
    print(nameless, synchronous, textual, embedder)


def a_line_to_a_model_is_one(model: Judge) -> None:
    judge: Judge = Line(model, Traffic(concurrency=8, requests_per_minute=60))
    embedder: Embedder = Line(HashEmbedder(), Traffic(attempts=2))
    evaluate("data.jsonl", judge=judge, embedder=embedder)
    Line("embedded")  # error: arg-type, reportArgumentType
    Traffic(retries=3)  # error: call-arg, reportCallIssue


def a_function_becomes_a_judge() -> None:
    assert_type(as_judge(str.upper), Judge)
    assert_type(as_judge("openai:gpt-4.1-mini"), Judge)
    as_judge(len)  # error: arg-type, reportArgumentType
    as_judge(None)  # error: arg-type, reportArgumentType
