"""CPU that the hooks of LangChain's handler take in the application's own thread.

    python -m benchmarks.handlers

A retrieval of 20 documents of 1 kB, a prompt, a model that answers at once. The application runs with and
without the hook, alternately; scoring happens in other threads and is not counted.
"""

import argparse
import logging
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.table import Row, printed

DOCUMENTS = [
    f"Document {number}: " + "the tower is made of iron and open all year. " * 22 for number in range(20)
]
ANSWER = "The tower is made of iron."
QUESTION = "What is the tower made of?"
ROUNDS = 40
PER_ROUND = 10

Run = Callable[[], object]


def langchain() -> tuple[Run, Run]:
    """A chain of retriever, prompt, model and parser; plain, and with the callback handler."""
    from langchain_core.documents import Document
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnablePassthrough

    from ragmetrics_langchain import RagMetricsCallbackHandler

    class Shelf(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [Document(text, id=str(number)) for number, text in enumerate(DOCUMENTS)]

    def join(documents: list[Document]) -> str:
        return "\n\n".join(document.page_content for document in documents)

    prompt = ChatPromptTemplate.from_template("Answer from:\n{context}\n\nQuestion: {question}")
    model = FakeListChatModel(responses=[ANSWER])
    chain: Any = (
        {"context": Shelf() | join, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()
    )
    handler = RagMetricsCallbackHandler("exact_match", max_pending=1, overflow="drop_newest")
    return lambda: chain.invoke(QUESTION), lambda: chain.invoke(QUESTION, {"callbacks": [handler]})


def own_thread(run: Run) -> float:
    """Milliseconds of CPU of this thread for one run."""
    start = time.thread_time()
    for _ in range(PER_ROUND):
        run()
    return 1e3 * (time.thread_time() - start) / PER_ROUND


def measured(name: str, made: tuple[Run, Run]) -> Row:
    """The plain application and what the hook adds, medians of alternating rounds."""
    plain, hooked = made
    pairs = [(own_thread(plain), own_thread(hooked)) for _ in range(ROUNDS)]
    alone = median(first for first, _ in pairs)
    added = median(second - first for first, second in pairs)
    return Row(f"{name}: ms of CPU added to {alone:.2f} ms a run", f"{added:.2f} ({added / alone:.0%})", "")


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(
        prog="python -m benchmarks.handlers", description=__doc__.splitlines()[0]
    ).parse_args()
    logging.disable(logging.WARNING)
    printed("Hooks in the application's thread", [measured("LangChain", langchain())])


if __name__ == "__main__":
    main()
