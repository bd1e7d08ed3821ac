"""A conversation in LangGraph, scored live: what the second answer takes from the first one.

    pip install 'ragmetrics-core[embedded,langchain]' langgraph
    python examples/conversation_langchain.py

The graph rewrites a question by the conversation so far, and searches with it. A checkpointer keeps the
conversation by `thread_id`, which becomes the session. No key, no network: see conversation.py.
"""

# LangChain and LangGraph leave the types of prompts and graphs open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false, reportArgumentType=false

from typing import Any

from conversation import REPLIES, REWRITE, SESSION, nearest, reply, show
from langchain_core.callbacks import CallbackManagerForLLMRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState, StateGraph

from ragmetrics_langchain import RagMetricsCallbackHandler

REWRITTEN = ChatPromptTemplate([("system", REWRITE), MessagesPlaceholder("messages")])
ANSWER = ChatPromptTemplate(
    [("system", "Answer from this text:\n{context}"), MessagesPlaceholder("messages")]
)


class ScriptedModel(SimpleChatModel):
    """A chat model that looks its replies up."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _call(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> str:
        return reply("\n".join(str(each.text) for each in messages))


class Documents(BaseRetriever):
    """The document that is nearest to a query."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [Document(nearest(query))]


class State(MessagesState):
    """The messages of a conversation, and the documents for its last question."""

    documents: list[Document]


def search(state: State) -> dict[str, Any]:
    """Find documents for the last question, which is rewritten first unless it is the only one."""
    messages = state["messages"]
    query = messages[-1].text
    if len(messages) > 1:
        query = (REWRITTEN | ScriptedModel()).invoke({"messages": messages}).text
    return {"documents": Documents().invoke(str(query))}


def answer(state: State) -> dict[str, Any]:
    """Answer the last question from the documents."""
    context = "\n".join(each.page_content for each in state["documents"])
    return {
        "messages": (ANSWER | ScriptedModel()).invoke({"context": context, "messages": state["messages"]})
    }


def main() -> None:
    """Ask the questions in one thread, and print the scores."""
    graph = StateGraph(State).add_sequence([search, answer]).set_entry_point("search")
    app = graph.compile(checkpointer=InMemorySaver())
    handler = RagMetricsCallbackHandler("faithfulness", judge="embedded")
    for each in REPLIES:
        app.invoke(
            State(messages=[HumanMessage(each.question)], documents=[]),
            {"callbacks": [handler], "configurable": {"thread_id": SESSION}},
        )
    handler.flush()
    show(handler.results)
    handler.close()


if __name__ == "__main__":
    main()
