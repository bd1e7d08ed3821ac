"""Retrievers around retrievers: what the model saw are the contexts."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from tests.integrations.langchain.shown.trial import (
    ABOUT_TEA,
    BLACK,
    GREEN,
    PROMPT,
    TEA,
    Trial,
    join,
    retriever,
)

retrievers = pytest.importorskip("langchain_classic.retrievers")
compressors = pytest.importorskip("langchain_classic.retrievers.document_compressors")


class Reranker(BaseDocumentCompressor):
    """Turns the order round and keeps the first."""

    keep: int = 1

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        return list(reversed(documents))[: self.keep]


def answered(app: Trial, search: Any) -> None:
    given = {"context": search | RunnableLambda(join), "question": RunnablePassthrough()}
    (given | PROMPT | app.model | StrOutputParser()).invoke(ABOUT_TEA, app.config)


def test_ensemble(start):
    app = start()
    both = retrievers.EnsembleRetriever(retrievers=[retriever(1), retriever(2)], weights=[0.5, 0.5])
    answered(app, both)
    app.expect(*TEA)


def test_reranker_that_keeps_one(start):
    app = start()
    search = retrievers.ContextualCompressionRetriever(base_compressor=Reranker(), base_retriever=retriever())
    answered(app, search)
    app.expect(BLACK)


def test_a_model_takes_parts_out_of_the_documents(start):
    app = start({GREEN + "\n>>>": "dried in a pan", BLACK + "\n>>>": "left to wither"})
    search = retrievers.ContextualCompressionRetriever(
        base_compressor=compressors.LLMChainExtractor.from_llm(app.model), base_retriever=retriever()
    )
    answered(app, search)
    app.expect(*TEA)


def test_a_model_filters_the_documents(start):
    app = start({GREEN + "\n>>>": "YES", BLACK + "\n>>>": "NO"})
    search = retrievers.ContextualCompressionRetriever(
        base_compressor=compressors.LLMChainFilter.from_llm(app.model), base_retriever=retriever()
    )
    answered(app, search)
    app.expect(GREEN)


def test_several_questions_of_a_model(start):
    app = start({"different versions": "Is green tea dried?\nDoes black tea wither and turn dark?"})
    search = retrievers.MultiQueryRetriever.from_llm(retriever=retriever(1), llm=app.model)
    answered(app, search)
    app.expect(GREEN, BLACK)
