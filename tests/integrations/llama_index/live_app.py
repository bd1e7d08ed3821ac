"""The application of the shared suite: a query engine of LlamaIndex, watched by `instrument`."""

import inspect
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from llama_index.core.base.response.schema import Response
from llama_index.core.schema import NodeWithScore, TextNode

from ragmetrics_llama_index import instrument
from tests.integrations.llama_index.fakes import FunctionRetriever, qa_engine
from tests.live.suite import App, Ending, answer_to, contexts_for

# More than the 200 of the suite that are open at the same time.
MAX_OPEN = 250
SPANS_PER_ROOT = 2


class LlamaIndexApp:
    """Two engines, one of which streams."""

    most_held = MAX_OPEN * SPANS_PER_ROOT

    def __init__(self, judge: Any, options: dict[str, Any]) -> None:
        self.engine = qa_engine(answer_to, contexts_for)
        self.streaming = qa_engine(answer_to, contexts_for, streaming=True)
        self.retriever = FunctionRetriever(contexts_for)
        self.hooks = instrument(
            "faithfulness", judge, watch=[self.engine, self.streaming], max_open=MAX_OPEN, **options
        )
        self.live = self.hooks.live

    def ask(self, question: str) -> str:
        return str(self.engine.query(question))

    async def aask(self, question: str) -> str:
        return str(await self.engine.aquery(question))

    def stream(self, question: str) -> Iterator[str]:
        return self.streaming.query(question).response_gen

    def root(self, number: int, ending: Ending) -> None:
        handler = self.hooks._handler
        root, retrieval = f"RetrieverQueryEngine.query-{uuid4()}", f"Retriever.retrieve-{uuid4()}"
        given = inspect.signature(self.engine.query).bind(f"number {number}")
        handler.span_enter(root, given, self.engine)
        handler.span_enter(retrieval, given, self.retriever, root)
        if ending == "abandoned":
            return
        nodes = [NodeWithScore(node=TextNode(text="A text."))]
        handler.span_exit(retrieval, given, self.retriever, nodes)
        if ending == "failed":
            handler.span_drop(root, given, self.engine, RuntimeError("no"))
        else:
            handler.span_exit(root, given, self.engine, Response("An answer.", nodes))

    def held(self) -> int:
        return self.hooks.open_spans

    def close(self) -> None:
        self.hooks.close()


def make_app(judge: Any = "embedded", **options: Any) -> App:
    return LlamaIndexApp(judge, options)
