"""Query engines as users build them."""

import asyncio
import json
from functools import partial
from typing import Any

import httpx
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
from llama_index.core.prompts import PromptTemplate
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
from llama_index.core.schema import (
    IndexNode,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    TextNode,
)
from llama_index.core.selectors import LLMMultiSelector, LLMSingleSelector
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.tools import QueryEngineTool

from ragmetrics_core.live import note_contexts
from tests.integrations.llama_index.fakes import FunctionRetriever, WordEmbedding
from tests.integrations.llama_index.shown.applications import (
    TOP_TWO,
    Application,
    Applications,
    DropsAll,
    KeepsTheLast,
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

QUERY_ENGINES = Applications()
EMPTY = "Empty Response"


def asked(engine: Any, **expected: Any) -> Application:
    """A query engine that is asked the question, and whose streams are read."""
    return Application(ask=lambda: str(engine.query(QUESTION)), **expected)


# Response modes


@QUERY_ENGINES("query engine")
def _(llm: ServedLLM) -> Application:
    return asked(query_engine(llm))


MODES: dict[str, dict[str, Any]] = {
    "refine": {},
    "tree_summarize": {},
    "simple_summarize": {},
    "accumulate": {"answer": f"Response 1: {ANSWER}\n---------------------\nResponse 2: {ANSWER}"},
    "compact_accumulate": {"answer": f"Response 1: {ANSWER}"},
    "generation": {"contexts": ()},
    "context_only": {"answer": "\n\n".join(TOP_TWO), "shown": "unseen"},
    "no_text": {"answer": "", "contexts": None},
}


def in_mode(mode: str, llm: ServedLLM) -> Application:
    return asked(query_engine(llm, response_mode=mode), **MODES[mode])


for mode in MODES:
    written = () if mode == "context_only" else (ANSWER,)
    QUERY_ENGINES(f"query engine with the mode `{mode}`", written=written)(partial(in_mode, mode))


@QUERY_ENGINES("query engine with `aquery`")
def _(llm: ServedLLM) -> Application:
    engine = query_engine(llm)
    return Application(ask=lambda: asyncio.run(engine.aquery(QUESTION)))


@QUERY_ENGINES("query engine that streams")
def _(llm: ServedLLM) -> Application:
    return asked(query_engine(llm, streaming=True))


@QUERY_ENGINES("query engine that streams, with the mode `refine`")
def _(llm: ServedLLM) -> Application:
    return asked(query_engine(llm, streaming=True, response_mode="refine"))


@QUERY_ENGINES("query engine that streams, with `aquery`")
def _(llm: ServedLLM) -> Application:
    engine = query_engine(llm, streaming=True)

    async def read() -> str:
        response = await engine.aquery(QUESTION)
        return "".join([token async for token in response.async_response_gen()])

    return Application(ask=lambda: asyncio.run(read()))


@QUERY_ENGINES("summary index with `tree_summarize` over chunks that do not fit one request")
def _(llm: ServedLLM) -> Application:
    long = [
        TextNode(text=" ".join(f"{text} This is note {note} on it." for note in range(100)))
        for text in CORPUS
    ]
    engine = SummaryIndex(long).as_query_engine(llm=llm, response_mode="tree_summarize")
    return asked(engine, contexts=tuple(node.text for node in long))


SENTENCES = [
    f"Entry {number}: on that day the keeper of the tower counted {7 * number} guests, "
    f"sold {number + 40} maps and {number + 70} cards, lit {number + 9} lamps, swept {number + 12} stairs "
    f"and wrote all of it down in volume {number + 200} of the book that lies in room {number + 500}."
    for number in range(120)
]


@QUERY_ENGINES("query engine whose only node is split over three requests")
def _(llm: ServedLLM) -> Application:
    text = " ".join(SENTENCES)
    return asked(
        RetrieverQueryEngine.from_args(FunctionRetriever(lambda _: [text]), llm=llm), contexts=(text,)
    )


# Postprocessors


@QUERY_ENGINES("query engine with a reranker", ("Relevance", "Doc: 2, Relevance: 9"))
def _(llm: ServedLLM) -> Application:
    ranker = LLMRerank(llm=llm, top_n=1)
    return asked(query_engine(llm, node_postprocessors=[ranker]), contexts=(HEAVY,))


@QUERY_ENGINES("query engine with two postprocessors")
def _(llm: ServedLLM) -> Application:
    steps = [LongContextReorder(), KeepsTheLast()]
    return asked(query_engine(llm, similarity_top_k=1, node_postprocessors=steps), contexts=(HIGH,))


@QUERY_ENGINES("query engine, `SimilarityPostprocessor` drops every node", written=())
def _(llm: ServedLLM) -> Application:
    strict = SimilarityPostprocessor(similarity_cutoff=1.1)
    return asked(query_engine(llm, node_postprocessors=[strict]), contexts=None, answer=EMPTY)


@QUERY_ENGINES("query engine that streams, a postprocessor drops every node", written=())
def _(llm: ServedLLM) -> Application:
    engine = query_engine(llm, streaming=True, node_postprocessors=[DropsAll()])
    return asked(engine, contexts=None, answer=EMPTY)


@QUERY_ENGINES("query engine with a sentence window")
def _(llm: ServedLLM) -> Application:
    windows = zip(CORPUS, (*CORPUS[1:], ""), strict=True)
    nodes = [
        TextNode(text=text, metadata={"window": f"{text} {after}"}, excluded_llm_metadata_keys=["window"])
        for text, after in windows
    ]
    engine = index(nodes=nodes).as_query_engine(
        llm=llm,
        similarity_top_k=1,
        node_postprocessors=[MetadataReplacementPostProcessor(target_metadata_key="window")],
    )
    return asked(engine, contexts=(f"{HIGH} {OPENED}",))


# Retrievers


@QUERY_ENGINES("`AutoMergingRetriever`")
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


@QUERY_ENGINES("`QueryFusionRetriever` with several questions", ("search queries", "How tall?\nHow old?"))
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


BAKED = "It says how hot bread bakes."


@QUERY_ENGINES("`RecursiveRetriever` over engines", (BREAD, BAKED), written=(BAKED, ANSWER))
def _(llm: ServedLLM) -> Application:
    class Links(FunctionRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return [NodeWithScore(node=IndexNode(text="about bread", index_id="below"), score=1.0)]

    below = RetrieverQueryEngine.from_args(FunctionRetriever(lambda _: [BREAD]), llm=llm)
    retriever = RecursiveRetriever(
        "links", retriever_dict={"links": Links(lambda _: [])}, query_engine_dict={"below": below}
    )
    engine = RetrieverQueryEngine.from_args(retriever, llm=llm)
    return asked(engine, contexts=(BREAD,))


# Engines around engines


@QUERY_ENGINES("`CitationQueryEngine`")
def _(llm: ServedLLM) -> Application:
    engine = CitationQueryEngine.from_args(index(), llm=llm, similarity_top_k=2)
    texts = tuple(f"Source {place}:\n{text}\n" for place, text in enumerate(TOP_TWO, 1))
    return asked(engine, contexts=texts)


@QUERY_ENGINES("HyDE", ("write a passage", "A tower may be 9 m high."))
def _(llm: ServedLLM) -> Application:
    return asked(TransformQueryEngine(query_engine(llm), HyDEQueryTransform(llm, include_original=True)))


def tools(llm: ServedLLM, **options: Any) -> list[QueryEngineTool]:
    """One engine that knows the tower, and one that knows lynxes."""
    lynxes = RetrieverQueryEngine.from_args(FunctionRetriever(lambda _: [LYNX]), llm=llm)
    made = {"towers": query_engine(llm, **options), "lynxes": lynxes}
    return [
        QueryEngineTool.from_defaults(made[name], name=name, description=f"knows {name}") for name in made
    ]


# What the engines below reply to what they found.
TALL = "It says how high the tower is."
AWAKE = "It says when lynxes are awake."
BELOW = ((HIGH, TALL), (LYNX, AWAKE))
SUB_ANSWERS = (TALL, AWAKE, ANSWER)


def choosing(*choices: int) -> tuple[str, str]:
    """What a selector's model replies."""
    return "most relevant to the question", json.dumps(
        [{"choice": each, "reason": "it fits"} for each in choices]
    )


@QUERY_ENGINES("`RouterQueryEngine` that chooses one engine", choosing(1))
def _(llm: ServedLLM) -> Application:
    return asked(RouterQueryEngine(LLMSingleSelector.from_defaults(llm), tools(llm), llm=llm))


@QUERY_ENGINES(
    "`RouterQueryEngine` that chooses one engine, a postprocessor drops every node", choosing(1), written=()
)
def _(llm: ServedLLM) -> Application:
    engines = tools(llm, node_postprocessors=[DropsAll()])
    return asked(
        RouterQueryEngine(LLMSingleSelector.from_defaults(llm), engines, llm=llm), contexts=None, answer=EMPTY
    )


@QUERY_ENGINES(
    "`RouterQueryEngine` that chooses several engines", choosing(1, 2), *BELOW, written=SUB_ANSWERS
)
def _(llm: ServedLLM) -> Application:
    engine = RouterQueryEngine(LLMMultiSelector.from_defaults(llm), tools(llm), llm=llm)
    return asked(engine, contexts=(*TOP_TWO, LYNX))


SUB_QUESTIONS = [
    {"sub_question": QUESTION, "tool_name": "towers"},
    {"sub_question": "When are lynxes awake?", "tool_name": "lynxes"},
]


@QUERY_ENGINES(
    "`SubQuestionQueryEngine`",
    ("# Example 2", json.dumps({"items": SUB_QUESTIONS})),
    *BELOW,
    written=SUB_ANSWERS,
)
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


@QUERY_ENGINES(
    "`MultiStepQueryEngine`", ("New question", "How high is the tower now?"), *BELOW, written=SUB_ANSWERS
)
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


@QUERY_ENGINES(
    "`RetryQueryEngine` that asks twice",
    ("Say more", "It is higher than it was."),
    written=("It is higher than it was.",),
)
def _(llm: ServedLLM) -> Application:
    return asked(RetryQueryEngine(query_engine(llm), Passes()), answer="It is higher than it was.")


@QUERY_ENGINES("`CustomQueryEngine` that returns its nodes")
def _(llm: ServedLLM) -> Application:
    class Searching(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Response:
            nodes = [NodeWithScore(node=TextNode(text=text)) for text in TOP_TWO]
            reply = llm.complete("\n".join([*TOP_TWO, query_str]))
            return Response(str(reply), source_nodes=nodes)

    return asked(Searching())


@QUERY_ENGINES("`CustomQueryEngine` that returns a text, with `note_contexts`")
def _(llm: ServedLLM) -> Application:
    class Noting(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            note_contexts(TOP_TWO)
            return str(llm.complete("\n".join([*TOP_TWO, query_str])))

    return asked(Noting())


class Own(CustomQueryEngine):
    """An engine that writes its request itself, from the texts of the two nearest nodes."""

    llm: Any
    nodes: int = 2

    def custom_query(self, query_str: str) -> str:
        nodes = index().as_retriever(similarity_top_k=2).retrieve(query_str)[: self.nodes]
        return self.written("\n".join(node.text for node in nodes), query_str)

    def written(self, texts: str, query_str: str) -> str:
        return str(self.llm.complete(f"{texts}\n{query_str}"))


def sent(llm: ServedLLM, text: str) -> str:
    """The reply to a request of a client that LlamaIndex does not know."""
    body = {"model": "served", "messages": [{"role": "user", "content": text}]}
    return httpx.post(llm.url, json=body).json()["choices"][0]["message"]["content"]


@QUERY_ENGINES("`CustomQueryEngine` with a client of its own")
def _(llm: ServedLLM) -> Application:
    class Raw(Own):
        def written(self, texts: str, query_str: str) -> str:
            return sent(self.llm, f"{texts}\n{query_str}")

    return asked(Raw(llm=llm), shown="unseen")


@QUERY_ENGINES("`CustomQueryEngine` with a prompt template that has no variable for the nodes")
def _(llm: ServedLLM) -> Application:
    class Forgetful(Own):
        def written(self, texts: str, query_str: str) -> str:
            prompt = PromptTemplate(
                "Answer from what you know, in one sentence, and be friendly.\n{query_str}"
            )
            return self.llm.predict(prompt, query_str=query_str, context_str=texts)

    return asked(Forgetful(llm=llm), contexts=(), unaccounted=())
