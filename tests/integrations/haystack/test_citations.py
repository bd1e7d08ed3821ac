"""Citations that a provider returns beside the text of its reply are those of the sample."""

from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.dataclasses import ChatMessage
from ragmetrics_core.live import LiveScorer

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsTracer
from tests.integrations.haystack.live_app import TEMPLATE

SUN, RAIN = "Sun is hot in June.", "Rain is wet in May."
ANSWER = "Sun shines [2]. Rain falls [7]. It is nice."
# As Cohere's generator keeps them.
CITATIONS = [{"start": 16, "end": 26, "text": "Rain falls", "sources": [{"type": "document", "id": "rain"}]}]


@component
class Shelf:
    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        return {"documents": [Document(id="sun", content=SUN), Document(id="rain", content=RAIN)]}


@component
class Replying:
    """A generator with one reply."""

    def __init__(self, meta: dict[str, Any]) -> None:
        self.meta = meta

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        return {"replies": [ChatMessage.from_assistant(ANSWER, meta=self.meta)]}


def scored(meta: dict[str, Any], *, with_answers: bool) -> Any:
    """The result of one run of a pipeline with this reply."""
    pipeline = Pipeline()
    pipeline.add_component("shelf", Shelf())
    prompt = ChatPromptBuilder(template=[ChatMessage.from_user(TEMPLATE)], required_variables=["documents", "question"])
    pipeline.add_component("prompt", prompt)
    pipeline.add_component("llm", Replying(meta))
    pipeline.connect("shelf.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "llm.messages")
    data: dict[str, Any] = {"shelf": {"query": "How is it?"}, "prompt": {"question": "How is it?"}}
    if with_answers:
        pipeline.add_component("answers", AnswerBuilder(reference_pattern="\\[(\\d+)\\]"))
        pipeline.connect("llm.replies", "answers.replies")
        pipeline.connect("shelf.documents", "answers.documents")
        data["answers"] = {"query": "How is it?"}
    live = LiveScorer("citation_recall", judge="embedded")
    tracer = RagMetricsTracer.install()
    tracer.watch(live)
    pipeline.run(data)
    assert live.flush()
    (result,) = live.results
    tracer.unwatch(live)
    live.close()
    return result


def claims(result: Any) -> dict[str, str]:
    (record,) = result.records
    return {each.text: each.about.removeprefix("sentence that cites ") for each in record.verdicts}


@pytest.mark.parametrize("with_answers", [False, True], ids=["messages", "answers"])
def test_citations_of_a_reply_are_those_of_the_sample(with_answers):
    result = scored({"citations": CITATIONS}, with_answers=with_answers)
    (citation,) = result.sample.citations
    assert (citation.start, citation.end, citation.chunks) == (16, 26, (2,))
    # markers in the text do not count then
    assert claims(result) == {"Sun shines.": "nothing", "Rain falls. [2]": "chunk 2", "It is nice.": "nothing"}


@pytest.mark.parametrize("with_answers", [False, True], ids=["messages", "answers"])
def test_markers_of_an_answer_builder_name_the_documents_of_the_prompt(with_answers):
    # the builder returns only the document that was cited; the second document stays the second
    result = scored({}, with_answers=with_answers)
    assert result.sample.contexts == (SUN, RAIN)
    assert claims(result) == {
        "Sun shines. [2]": "chunk 2",
        "Rain falls. [7]": "a missing chunk: 7",
        "It is nice.": "nothing",
    }
