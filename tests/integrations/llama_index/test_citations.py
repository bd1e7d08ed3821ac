"""Citations that a provider returns beside the text of its reply are those of the sample."""

from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CitationBlock,
    LLMMetadata,
    MessageRole,
    TextBlock,
)
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from pydantic import PrivateAttr

from ragmetrics_llama_index import instrument
from tests.integrations.llama_index.fakes import FunctionLLM, FunctionRetriever
from tests.integrations.llama_index.scored import only

SUN, RAIN = "Sun is hot in June.", "Rain is wet in May."
ANSWER = "Sun shines. Rain falls."


class ChattingLLM(FunctionLLM):
    """A chat model with one reply."""

    is_chat_model: bool = True
    _reply: ChatMessage = PrivateAttr()

    def __init__(self, reply: ChatMessage) -> None:
        super().__init__(lambda _: "")
        self._reply = reply

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="chatting", is_chat_model=True)

    @llm_chat_callback()
    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=self._reply)


BLOCKS = ChatMessage(
    role=MessageRole.ASSISTANT,
    blocks=[
        TextBlock(text="Sun shines. "),
        TextBlock(text="Rain falls."),
        CitationBlock(cited_content=RAIN, source="", title="", additional_location_info={}),
    ],
)
LISTED = ChatMessage(
    role=MessageRole.ASSISTANT,
    content=ANSWER,
    additional_kwargs={
        "citations": [{"start": 12, "end": 22, "text": "Rain falls", "document_ids": ["doc:1"]}]
    },
)


@pytest.mark.parametrize("reply", [BLOCKS, LISTED], ids=["blocks", "listed"])
def test_citations_of_a_reply_are_those_of_the_sample(live: Any, reply: ChatMessage) -> None:
    engine = RetrieverQueryEngine.from_args(FunctionRetriever(lambda _: [SUN, RAIN]), llm=ChattingLLM(reply))
    hooks = live()
    engine.query("How is the weather?")
    sample = only(hooks).sample
    (citation,) = sample.citations or ()
    assert (sample.answer or "")[citation.start : citation.end].strip(".") == "Rain falls"
    if reply is BLOCKS:
        assert citation.chunks == (2,)


def test_markers_of_the_citation_query_engine_name_its_sources() -> None:
    llm = FunctionLLM(lambda _: "Sun shines [1]. Rain falls [2]. It is nice.")
    engine = CitationQueryEngine(retriever=FunctionRetriever(lambda _: [SUN, RAIN]), llm=llm)
    hooks = instrument("citation_recall", "embedded", watch=[engine])
    engine.query("How is the weather?")
    result = only(hooks)
    hooks.close()
    (record,) = result.records
    assert {each.text: each.about.removeprefix("sentence that cites ") for each in record.verdicts} == {
        "Sun shines. [1]": "chunk 1",
        "Rain falls. [2]": "chunk 2",
        "It is nice.": "nothing",
    }
    assert [chunk.splitlines()[1] for chunk in result.sample.contexts or ()] == [SUN, RAIN]
