"""What the tests of live scores share: one question with its answer, and what its result must be."""

from time import monotonic, sleep
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer

from ragmetrics_core.live import LiveResult
from ragmetrics_llama_index import Instrumentation
from tests.integrations.llama_index.fakes import qa_engine

QUESTION = "How high is the tower?"
ANSWER = "The tower is 300 m high."
CONTEXTS = ["The tower is 300 m high.", "It opened in 1889."]


def engine(**options: Any) -> Any:
    return qa_engine(lambda question: ANSWER, lambda question: CONTEXTS, **options)


def memory(*messages: tuple[str, str]) -> ChatMemoryBuffer:
    history = [ChatMessage(role=role, content=content) for role, content in messages]
    return ChatMemoryBuffer.from_defaults(chat_history=history, token_limit=100_000)


def settled(live: Instrumentation) -> bool:
    """Whether all is answered and scored; older versions write a chat to its end after it was read."""
    until = monotonic() + 20
    while live.open_spans and monotonic() < until:
        sleep(0.001)
    return live.flush(60)


def only(live: Instrumentation) -> LiveResult:
    """The one result that there must be."""
    assert settled(live)
    (result,) = live.results
    return result


def assert_is_the_sample(result: LiveResult, **expected: Any) -> None:
    found = {
        "question": result.sample.question,
        "answer": result.sample.answer,
        "contexts": list(result.sample.contexts or ()),
    }
    assert found == {"question": QUESTION, "answer": ANSWER, "contexts": CONTEXTS} | expected
    assert result.scores == {"faithfulness": 1.0}
