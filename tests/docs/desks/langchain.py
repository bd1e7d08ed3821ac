"""The reader's app and its models, a LangSmith client, and examples."""

import uuid

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import create_retriever_tool
from langsmith.schemas import Example

from ragmetrics_core import Run
from tests.integrations.langchain.apps import Echo, rag_chain
from tests.integrations.langchain.test_langsmith import OfflineClient
from tests.integrations.langchain.test_scope import JudgeModel


class Teas(BaseRetriever):
    """A retriever that knows one tea."""

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(page_content="Sencha is green.")]


def given():
    replies = [AIMessage("Sencha is green.") for _ in range(9)]
    example = Example(
        id=uuid.uuid4(),
        dataset_id=uuid.uuid4(),
        inputs={"question": "Which tea is green?"},
        outputs={"answer": "Sencha is green."},
    )
    looking = AIMessage("", tool_calls=[{"name": "search", "args": {"query": "green tea"}, "id": "1"}])
    said = [AIMessage("It was bought in Vienna."), AIMessage("Sencha is green.")]
    return {
        "chat_model": Echo(replies=[looking, *said]),
        "search": create_retriever_tool(Teas(), "search", "Finds teas."),
        "chain": rag_chain(Teas(), Echo(replies=replies)),
        "model": JudgeModel(),
        "embeddings": DeterministicFakeEmbedding(size=8),
        "client": OfflineClient(),
        "examples": [example],
    }


def then(names, page):
    assert "'faithfulness': LiveMean(mean=1.0, n=1)" in page.printed
    assert "scored=1, failed=0, pending=0, skipped={}, errors=[]" in page.printed
    # the last handler of the page was given no run
    names["handler"].flush()
    assert (names["handler"].stats.scored, names["handler"].stats.errors) == (0, [])
    unsupported = {"question": "q", "context": ["Tea is green."], "answer": "Vienna is large."}
    assert names["guarded"].invoke(unsupported) == "Let me ask somebody."
    assert names["reply"]["messages"][-1].text == "Sencha is green."
    assert len(names["guard"].rejections) == 1
    names["guard"].close()
    found = [each.key for row in names["results"] for each in row["evaluation_results"]["results"]]
    assert found == ["faithfulness"]
    assert Run.load("runs/live").mean("faithfulness").value == 1.0
