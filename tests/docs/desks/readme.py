"""The run of `make demo`, two runs to compare, and an app of each framework."""

from haystack import Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsConnector
from ragmetrics_langchain import RagMetricsCallbackHandler
from ragmetrics_llama_index import instrument
from tests.docs.desks import langchain, llama_index, study


def given():
    for name in ("branch", "main"):
        study.grounded(f"runs/{name}")
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(InMemoryDocumentStore()))
    return {
        **llama_index.given(),
        **langchain.given(),
        "RagMetricsCallbackHandler": RagMetricsCallbackHandler,
        "RagMetricsConnector": RagMetricsConnector,
        "instrument": instrument,
        "judge": "embedded",
        "pipeline": pipeline,
    }
