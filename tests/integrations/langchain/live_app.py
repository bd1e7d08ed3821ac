"""The application that the shared suite of live scoring is run on: an LCEL chain with the handler."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, RunnablePassthrough

from ragmetrics_core.live import LiveScorer
from ragmetrics_langchain import RagMetricsCallbackHandler
from tests.integrations.langchain.apps import Echo
from tests.live.suite import App, Ending, answer_to, contexts_for

# More than the 200 of the suite that are open at the same time.
MAX_OPEN = 250
PROMPT = ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{question}")])


class Library(BaseRetriever):
    """Retrieves what the suite expects."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [Document(page_content=text) for text in contexts_for(query)]


class Model(Echo):
    """Answers the last message as the suite expects, at once or word by word."""

    def _reply(self, messages: list[BaseMessage]) -> AIMessage:
        return AIMessage(answer_to(str(messages[-1].text)))


class ChainApp:
    """Retrieval, prompt, model and parser, with the handler among the callbacks."""

    most_held = MAX_OPEN * 2

    def __init__(self, live: LiveScorer) -> None:
        self.live = live
        self.handler = RagMetricsCallbackHandler(live=live, max_open=MAX_OPEN)
        self._config: RunnableConfig = {"callbacks": [self.handler]}
        self._chain = (
            {"context": Library(), "question": RunnablePassthrough()} | PROMPT | Model() | StrOutputParser()
        )

    def ask(self, question: str) -> str:
        return self._chain.invoke(question, self._config)

    async def aask(self, question: str) -> str:
        return await self._chain.ainvoke(question, self._config)

    def stream(self, question: str) -> Iterator[str]:
        return self._chain.stream(question, self._config)

    def root(self, number: int, ending: Ending) -> None:
        root, part = uuid4(), uuid4()
        self.handler.on_chain_start(None, f"question {number}", run_id=root, name="app")
        self.handler.on_retriever_start(None, "query", run_id=part, parent_run_id=root)
        self.handler.on_retriever_end([Document(page_content="text")], run_id=part, parent_run_id=root)
        if ending == "answered":
            self.handler.on_chain_end("answer", run_id=root)
        elif ending == "failed":
            self.handler.on_chain_error(ValueError("no answer"), run_id=root)

    def held(self) -> int:
        return self.handler.open_runs

    def close(self) -> None:
        self.live.close()


def make_app(**options: Any) -> App:
    return ChainApp(LiveScorer("faithfulness", **options))
