"""The adapters: what their public classes take from their frameworks and from ragmetrics.

Only basedpyright reads this file, in seconds; mypy needs a minute for the frameworks.
"""

from typing import Any, assert_type

from haystack import Pipeline
from haystack.components.generators.chat.types import ChatGenerator
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.llms import LLM

from haystack_integrations.components.evaluators.ragmetrics import (
    FaithfulnessEvaluator as HaystackFaithfulness,
)
from haystack_integrations.components.evaluators.ragmetrics import RagMetricsConnector
from ragmetrics_core import Embedder, Judge, Run, evaluate
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_langchain import (
    Installed,
    LangChainEmbedder,
    LangChainJudge,
    RagMetricsCallbackHandler,
    install,
    score_step,
)
from ragmetrics_llama_index import (
    FaithfulnessEvaluator,
    Instrumentation,
    LlamaIndexJudge,
    TracedEvaluationResult,
    instrument,
)
from ragmetrics_pytest import assert_scores


def langchain(chain: Runnable[str, str], model: BaseChatModel, embeddings: Embeddings) -> None:
    judge: Judge = LangChainJudge(model)
    embedder: Embedder = LangChainEmbedder(embeddings)
    evaluate("data.jsonl", judge=judge, embedder=embedder)
    evaluate("data.jsonl", judge=LangChainJudge(model))
    handler = RagMetricsCallbackHandler(["faithfulness", Faithfulness()], judge=model, out="runs/live")
    RagMetricsCallbackHandler("faithfulness", judge=judge, embedder=embeddings)
    chain.invoke("Which tea is green?", {"callbacks": [handler]})
    assert_type(install(handler), Installed)
    assert_type(score_step("faithfulness", judge="embedded"), Runnable[Any, dict[str, Any]])
    RagMetricsCallbackHandler(Faithfulness, judge=model)  # error: reportArgumentType
    RagMetricsCallbackHandler("faithfulness", judge=embeddings)  # error: reportArgumentType
    RagMetricsCallbackHandler("faithfulness", llm=model)  # error: reportCallIssue
    RagMetricsCallbackHandler("faithfulness", mode="later")  # error: reportArgumentType
    evaluate("data.jsonl", judge=LangChainEmbedder(embeddings))  # error: reportArgumentType


async def llama_index(engine: BaseQueryEngine, llm: LLM, embed_model: BaseEmbedding) -> None:
    judge: Judge = LlamaIndexJudge(llm)
    evaluate("data.jsonl", judge=judge)
    evaluator = FaithfulnessEvaluator(llm)
    result = await evaluator.aevaluate(query="q", response="a", contexts=["c"])
    assert_type(result, TracedEvaluationResult)
    drop_in: BaseEvaluator = FaithfulnessEvaluator("embedded")
    compatible: EvaluationResult = result
    print(drop_in, compatible)
    assert_type(instrument("faithfulness", llm, embed_model, watch=[engine]), Instrumentation)
    FaithfulnessEvaluator(embed_model)  # error: reportArgumentType
    instrument(Faithfulness, llm)  # error: reportArgumentType
    instrument("faithfulness", judge=llm)  # error: reportCallIssue


def haystack(pipeline: Pipeline, generator: ChatGenerator) -> None:
    connector = RagMetricsConnector(metrics=["faithfulness"], chat_generator=generator)
    pipeline.add_component("scores", connector)
    HaystackFaithfulness(chat_generator="embedded", variant="paper")
    RagMetricsConnector(metrics=[Faithfulness()])  # error: reportArgumentType
    RagMetricsConnector(judge=generator)  # error: reportCallIssue


def pytest(run: Run) -> None:
    assert_scores(run, faithfulness=0.8)
    assert_scores(run, {"ndcg(k=10)": 0.5}, failures=1)
    assert_scores(run, faithfulness=[0.8])  # error: reportArgumentType
    assert_scores("runs/first", faithfulness=0.8)  # error: reportArgumentType
