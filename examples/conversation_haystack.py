"""A conversation in Haystack, scored live: what the second answer takes from the first one.

    pip install 'ragmetrics-core[embedded,haystack]'
    python examples/conversation_haystack.py

The pipeline reads the conversation from a store, rewrites the question by it, and searches with the rewritten
one. The store's `session_id` becomes the session. No key, no network: see conversation.py.
"""

# Haystack leaves the type of an adapter's output open.
# pyright: reportArgumentType=false

import os
from collections import defaultdict
from typing import Any

# Haystack reads this when it is imported; otherwise every run of a pipeline is reported to its makers.
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from conversation import DOCUMENTS, REPLIES, REWRITE, SESSION, reply, show
from haystack import Document, Pipeline, component
from haystack.components.builders import ChatPromptBuilder
from haystack.components.converters import OutputAdapter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsConnector

STORED: dict[str, list[ChatMessage]] = defaultdict(list)
SAID = "{% for each in history %}{{ each.role.value }}: {{ each.text }}\n{% endfor %}"


@component
class ScriptedGenerator:
    """A chat generator that looks its replies up."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """Reply to messages."""
        return {
            "replies": [ChatMessage.from_assistant(reply("\n".join(each.text or "" for each in messages)))]
        }


@component
class ReadConversation:
    """Reads what was said in a session so far."""

    @component.output_types(history=list[ChatMessage])
    def run(self, session_id: str) -> dict[str, Any]:
        """Read the messages of a session."""
        return {"history": list(STORED[session_id])}


def conversational() -> Pipeline:
    """A pipeline that rewrites the question, searches, and answers."""
    store = InMemoryDocumentStore()
    store.write_documents([Document(content=text) for text in DOCUMENTS])
    pipeline = Pipeline()
    pipeline.add_component("memory", ReadConversation())
    pipeline.add_component(
        "rewrite_prompt",
        ChatPromptBuilder(
            [ChatMessage.from_user(REWRITE + "\n" + SAID + "Last question: {{ question }}")],
            required_variables="*",
        ),
    )
    pipeline.add_component("rewriter", ScriptedGenerator())
    pipeline.add_component("query", OutputAdapter("{{ replies[0].text }}", output_type=str))
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=1))
    pipeline.add_component(
        "prompt",
        ChatPromptBuilder(
            [
                ChatMessage.from_user(
                    "Answer from this text:\n{{ documents[0].content }}\n" + SAID + "Question: {{ question }}"
                )
            ],
            required_variables="*",
        ),
    )
    pipeline.add_component("llm", ScriptedGenerator())
    pipeline.connect("memory.history", "rewrite_prompt.history")
    pipeline.connect("rewrite_prompt.prompt", "rewriter.messages")
    pipeline.connect("rewriter.replies", "query.replies")
    pipeline.connect("query.output", "retriever.query")
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("memory.history", "prompt.history")
    pipeline.connect("prompt.prompt", "llm.messages")
    return pipeline


def main() -> None:
    """Ask the questions in one session, and print the scores."""
    pipeline = conversational()
    scores = RagMetricsConnector("faithfulness", chat_generator="embedded")
    pipeline.add_component("scores", scores)
    for each in REPLIES:
        inputs = {
            "memory": {"session_id": SESSION},
            "rewrite_prompt": {"question": each.question},
            "prompt": {"question": each.question},
        }
        (answer,) = pipeline.run(inputs)["llm"]["replies"]
        STORED[SESSION] += [ChatMessage.from_user(each.question), answer]
    scores.flush()
    show(scores.live.results)
    scores.close()


if __name__ == "__main__":
    main()
