"""Query engines as users build them."""

import asyncio
import json
from typing import Any

from llama_index.core import StorageContext, SummaryIndex, VectorStoreIndex
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation.base import BaseEvaluator, EvaluationResult
from llama_index.core.indices.query.query_transform import HyDEQueryTransform, StepDecomposeQueryTransform
from llama_index.core.postprocessor import (
    LLMRerank,
    LongContextReorder,
    MetadataReplacementPostProcessor,
    SimilarityPostprocessor,
)
from llama_index.core.query_engine import (
    CitationQueryEngine,
    CustomQueryEngine,
    MultiStepQueryEngine,
    RetrieverQueryEngine,
    RetryQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.question_gen import LLMQuestionGenerator
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import AutoMergingRetriever, QueryFusionRetriever, RecursiveRetriever
from llama_index.core.schema import IndexNode, NodeRelationship, NodeWithScore, QueryBundle, TextNode
from llama_index.core.selectors import LLMMultiSelector, LLMSingleSelector
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.tools import QueryEngineTool

from ragmetrics_core.live import note_contexts
from tests.integrations.llama_index.fakes import FunctionRetriever, WordEmbedding
from tests.integrations.llama_index.shown.applications import (
    TOP_TWO,
    Application,
    DropsAll,
    KeepsTheLast,
    application,
    query_engine,
)
from tests.integrations.llama_index.shown.served import (
    ANSWER,
    BREAD,
    CORPUS,
    HEAVY,
    HIGH,
    LYNX,
    OPENED,
    QUESTION,
    ServedLLM,
    index,
)

EMPTY = "Empty Response"


def asked(engine: Any, **expected: Any) -> Application:
    """A query engine that is asked the question, and whose streams are read."""
    return Application(ask=lambda: str(engine.query(QUESTION)), **expected)


# Response modes


@application("query engine")
def _(llm: ServedLLM) -> Application:
    return asked(query_engine(llm))


@application("query engine with the mode `refine`")
def _(llm: ServedLLM) -> Application:
    return asked(query_engine(llm, response_mode="refine"))


@application("query engine with the mode `tree_summarize`")
def _(llm: ServedLLM) -> Application:
    return asked(query_engine(llm, response_mode="tree_summarize"))


@application("query engine with the mode `simple_summarize`")
def _(llm: ServedLLM) -> Application:
    return asked(query_engine(llm, response_mode="simple_summarize"))


@application("query engine with the mode `accumulate`")
def _(llm: ServedLLM) -> Application:
    both = f"Response 1: {ANSWER}\n---------------------\nResponse 2: {ANSWER}"
    return asked(query_engine(llm, response_mode="accumulate"), answer=both)


@application("query engine with the mode `compact_accumulate`")
def _(llm: ServedLLM) -> Application:
    return asked(query_engine(llm, response_mode="compact_accumulate"), answer=f"Response 1: {ANSWER}")


@application("query engine with the mode `generation`")
def _(llm: ServedLLM) -> Application:
    return asked(query_engine(llm, response_mode="generation"), contexts=None)


@application("query engine with the mode `context_only`", written=())
def _(llm: ServedLLM) -> Application:
    return asked(query_engine(llm, response_mode="context_only"), answer="\n\n".join(TOP_TWO))


@application("query engine with the mode `no_text`")
def _(llm: ServedLLM) -> Application:
    return asked(query_engine(llm, response_mode="no_text"), answer="", contexts=None)


@application("query engine with `aquery`")
def _(llm: ServedLLM) -> Application:
    engine = query_engine(llm)
    return Application(ask=lambda: asyncio.run(engine.aquery(QUESTION)))


@application("query engine that streams")
def _(llm: ServedLLM) -> Application:
    return asked(query_engine(llm, streaming=True))


@application("query engine that streams, with the mode `refine`")
def _(llm: ServedLLM) -> Application:
    return asked(query_engine(llm, streaming=True, response_mode="refine"))


@application("query engine that streams, with `aquery`")
def _(llm: ServedLLM) -> Application:
    engine = query_engine(llm, streaming=True)

    async def read() -> str:
        response = await engine.aquery(QUESTION)
        return "".join([token async for token in response.async_response_gen()])

    return Application(ask=lambda: asyncio.run(read()))


@application("summary index with `tree_summarize` over chunks that do not fit one request")
def _(llm: ServedLLM) -> Application:
    long = [TextNode(text=f"{text} " * 400, id_=text) for text in CORPUS]
    engine = SummaryIndex(long).as_query_engine(llm=llm, response_mode="tree_summarize")
    return asked(engine, contexts=tuple(node.text for node in long))


# Postprocessors


@application("query engine with a reranker", ("Relevance", "Doc: 2, Relevance: 9"))
def _(llm: ServedLLM) -> Application:
    ranker = LLMRerank(llm=llm, top_n=1)
    return asked(query_engine(llm, node_postprocessors=[ranker]), contexts=(HEAVY,))


@application("query engine with two postprocessors")
def _(llm: ServedLLM) -> Application:
    steps = [LongContextReorder(), KeepsTheLast()]
    return asked(query_engine(llm, similarity_top_k=1, node_postprocessors=steps), contexts=(HIGH,))


@application("query engine, `SimilarityPostprocessor` drops every node", written=())
def _(llm: ServedLLM) -> Application:
    strict = SimilarityPostprocessor(similarity_cutoff=1.1)
    return asked(query_engine(llm, node_postprocessors=[strict]), contexts=(), answer=EMPTY)


@application("query engine that streams, a postprocessor drops every node", written=())
def _(llm: ServedLLM) -> Application:
    engine = query_engine(llm, streaming=True, node_postprocessors=[DropsAll()])
    return asked(engine, contexts=(), answer=EMPTY)


@application("`CitationQueryEngine`, a postprocessor drops every node", written=())
def _(llm: ServedLLM) -> Application:
    engine = CitationQueryEngine.from_args(index(), llm=llm, node_postprocessors=[DropsAll()])
    return asked(engine, contexts=(), answer=EMPTY)


@application(
    "HyDE, a postprocessor drops every node", ("write a passage", "A tower may be 9 m high."), written=()
)
def _(llm: ServedLLM) -> Application:
    engine = TransformQueryEngine(
        query_engine(llm, node_postprocessors=[DropsAll()]), HyDEQueryTransform(llm)
    )
    return asked(engine, contexts=(), answer=EMPTY)


@application("query engine with a sentence window")
def _(llm: ServedLLM) -> Application:
    nodes = [
        TextNode(text=text, id_=text, metadata={"window": f"{text} {after}"})
        for text, after in zip(CORPUS, (*CORPUS[1:], ""), strict=True)
    ]
    engine = index(nodes=nodes).as_query_engine(
        llm=llm,
        similarity_top_k=1,
        node_postprocessors=[MetadataReplacementPostProcessor(target_metadata_key="window")],
    )
    return asked(engine, contexts=(f"{HIGH} {OPENED}",))


# Retrievers


@application("`AutoMergingRetriever`")
def _(llm: ServedLLM) -> Application:
    parent = TextNode(text=f"{HIGH} {OPENED}", id_="parent")
    leaves = [TextNode(text=text, id_=text) for text in (HIGH, OPENED)]
    for leaf in leaves:
        leaf.relationships[NodeRelationship.PARENT] = parent.as_related_node_info()
    parent.relationships[NodeRelationship.CHILD] = [leaf.as_related_node_info() for leaf in leaves]
    docstore = SimpleDocumentStore()
    docstore.add_documents([parent, *leaves])
    storage = StorageContext.from_defaults(docstore=docstore)
    searched = VectorStoreIndex(leaves, storage_context=storage, embed_model=WordEmbedding())
    retriever = AutoMergingRetriever(searched.as_retriever(similarity_top_k=2), storage)
    return asked(RetrieverQueryEngine.from_args(retriever, llm=llm), contexts=(parent.text,))


@application("`QueryFusionRetriever` with several questions", ("search queries", "How tall?\nHow old?"))
def _(llm: ServedLLM) -> Application:
    found = {QUESTION: [HIGH], "How tall?": [HIGH, HEAVY], "How old?": [OPENED]}
    retriever = QueryFusionRetriever(
        [FunctionRetriever(lambda question: found[question])],
        llm=llm,
        num_queries=3,
        similarity_top_k=3,
        use_async=False,
    )
    return asked(RetrieverQueryEngine.from_args(retriever, llm=llm), contexts=(HIGH, HEAVY, OPENED))


@application(
    "`RecursiveRetriever` over engines",
    ("bread", "So it says about bread."),
    written=(ANSWER, "So it says about bread."),
)
def _(llm: ServedLLM) -> Application:
    class Links(FunctionRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return [NodeWithScore(node=IndexNode(text="about bread", index_id="below"), score=1.0)]

    below = RetrieverQueryEngine.from_args(FunctionRetriever(lambda _: [BREAD]), llm=llm)
    retriever = RecursiveRetriever(
        "links", retriever_dict={"links": Links(lambda _: [])}, query_engine_dict={"below": below}
    )
    return asked(RetrieverQueryEngine.from_args(retriever, llm=llm), contexts=(BREAD,))


# Engines around engines


@application("`CitationQueryEngine`")
def _(llm: ServedLLM) -> Application:
    engine = CitationQueryEngine.from_args(index(), llm=llm, similarity_top_k=2)
    texts = tuple(f"Source {place}:\n{text}\n" for place, text in enumerate(TOP_TWO, 1))
    return asked(engine, contexts=texts)


@application("HyDE", ("write a passage", "A tower may be 9 m high."))
def _(llm: ServedLLM) -> Application:
    return asked(TransformQueryEngine(query_engine(llm), HyDEQueryTransform(llm, include_original=True)))


def tools(llm: ServedLLM, **options: Any) -> list[QueryEngineTool]:
    """One engine that knows the tower, and one that knows lynxes."""
    lynxes = RetrieverQueryEngine.from_args(FunctionRetriever(lambda _: [LYNX]), llm=llm)
    made = {"towers": query_engine(llm, **options), "lynxes": lynxes}
    return [
        QueryEngineTool.from_defaults(made[name], name=name, description=f"knows {name}") for name in made
    ]


def choosing(*choices: int) -> tuple[str, str]:
    """What a selector's model replies."""
    return "most relevant to the question", json.dumps(
        [{"choice": each, "reason": "it fits"} for each in choices]
    )


@application("`RouterQueryEngine` that chooses one engine", choosing(1))
def _(llm: ServedLLM) -> Application:
    return asked(RouterQueryEngine(LLMSingleSelector.from_defaults(llm), tools(llm), llm=llm))


@application(
    "`RouterQueryEngine` that chooses one engine, a postprocessor drops every node", choosing(1), written=()
)
def _(llm: ServedLLM) -> Application:
    engines = tools(llm, node_postprocessors=[DropsAll()])
    return asked(
        RouterQueryEngine(LLMSingleSelector.from_defaults(llm), engines, llm=llm), contexts=(), answer=EMPTY
    )


@application("`RouterQueryEngine` that chooses several engines", choosing(1, 2))
def _(llm: ServedLLM) -> Application:
    engine = RouterQueryEngine(LLMMultiSelector.from_defaults(llm), tools(llm), llm=llm)
    return asked(engine, contexts=(*TOP_TWO, LYNX))


SUB_QUESTIONS = [{"sub_question": f"About {name}?", "tool_name": name} for name in ("towers", "lynxes")]


@application("`SubQuestionQueryEngine`", ("# Example 2", json.dumps({"items": SUB_QUESTIONS})))
def _(llm: ServedLLM) -> Application:
    engine = SubQuestionQueryEngine.from_defaults(
        tools(llm),
        llm=llm,
        question_gen=LLMQuestionGenerator.from_defaults(llm),
        response_synthesizer=get_response_synthesizer(llm),
        verbose=False,
        use_async=False,
    )
    return asked(engine, contexts=(*TOP_TWO, LYNX))


@application("`MultiStepQueryEngine`", ("New question", "How high is the tower now?"))
def _(llm: ServedLLM) -> Application:
    engine = MultiStepQueryEngine(
        query_engine(llm),
        StepDecomposeQueryTransform(llm),
        response_synthesizer=get_response_synthesizer(llm),
        num_steps=1,
    )
    return asked(engine)


class Passes(BaseEvaluator):
    """Finds fault with the first answer, and with no other."""

    def __init__(self) -> None:
        self.verdicts = iter([False])

    def _get_prompts(self) -> Any:
        return {}

    def _update_prompts(self, prompts_dict: Any) -> None: ...

    async def aevaluate(self, *args: Any, **kwargs: Any) -> EvaluationResult:
        return EvaluationResult(passing=next(self.verdicts, True), response=ANSWER, feedback="Say more.")


@application(
    "`RetryQueryEngine` that asks twice",
    ("Say more", "It is higher than it was."),
    written=("It is higher than it was.",),
)
def _(llm: ServedLLM) -> Application:
    return asked(RetryQueryEngine(query_engine(llm), Passes()), answer="It is higher than it was.")


@application("`CustomQueryEngine` that returns its nodes")
def _(llm: ServedLLM) -> Application:
    class Searching(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Response:
            nodes = [NodeWithScore(node=TextNode(text=text)) for text in TOP_TWO]
            reply = llm.complete("\n".join([*TOP_TWO, query_str]))
            return Response(str(reply), source_nodes=nodes)

    return asked(Searching())


@application("`CustomQueryEngine` that returns a text, with `note_contexts`")
def _(llm: ServedLLM) -> Application:
    class Noting(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            note_contexts(TOP_TWO)
            return str(llm.complete("\n".join([*TOP_TWO, query_str])))

    return asked(Noting())


@application("`CustomQueryEngine` that shows one of two nodes")
def _(llm: ServedLLM) -> Application:
    class Choosy(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            nodes = index().as_retriever(similarity_top_k=2).retrieve(query_str)
            return str(llm.complete(f"{nodes[0].text}\n{query_str}"))

    return asked(Choosy(), contexts=(HIGH,))
