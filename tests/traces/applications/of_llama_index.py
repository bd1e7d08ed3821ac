"""Applications of LlamaIndex, as its tutorials build them."""

from typing import Any

from llama_index.core import Settings
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.tools import FunctionTool, RetrieverTool
from llama_index.llms.openai_like import OpenAILike
from openinference.instrumentation import using_session

from tests.integrations.body_keeping import BodyKeeper, Call
from tests.integrations.llama_index.agents import ran
from tests.integrations.llama_index.shown.agents import AGENTS
from tests.integrations.llama_index.shown.query_engines import QUERY_ENGINES
from tests.integrations.llama_index.shown.served import (
    BREAD,
    HEAVY,
    HIGH,
    QUESTION,
    ServedLLM,
    index,
)
from tests.integrations.llama_index.shown.served import (
    replying as replying_by,
)
from tests.traces.applications.served import Application, replying

ANSWER = "The tower is 300 m high, as the texts say."
DRAFT = "Its height is a matter of three hundred metres."
FOLLOW_UP = "And how heavy is it?"


def model_of(server: BodyKeeper) -> OpenAILike:
    # chains without a model of their own take this one
    Settings.llm = OpenAILike(
        model="served-model",
        api_base=server.base_url,
        api_key="none",
        is_chat_model=True,
        is_function_calling_model=True,
        context_window=4000,
        max_retries=0,
    )
    return Settings.llm  # type: ignore[return-value]


def postprocessor(server: BodyKeeper) -> None:
    """A query engine that drops the nodes of low similarity: the retriever's span shows them."""
    strict = SimilarityPostprocessor(similarity_cutoff=0.6)
    engine = index().as_query_engine(llm=model_of(server), similarity_top_k=3, node_postprocessors=[strict])
    engine.query(QUESTION)


def oven(topic: str) -> str:
    """Reads the manual of the oven."""
    return BREAD


LOOK = Call("towers", {"input": QUESTION})
READ = Call("oven", {"topic": "bread"})


def agent(server: BodyKeeper) -> None:
    """An agent with a retriever and a function as its tools."""
    towers = RetrieverTool.from_defaults(
        index().as_retriever(similarity_top_k=2), name="towers", description="finds texts about towers"
    )
    given: list[Any] = [towers, FunctionTool.from_defaults(oven)]
    ran(
        FunctionAgent(name="guide", description="knows towers", tools=given, llm=model_of(server)),
        user_msg=QUESTION,
    )


def refine(server: BodyKeeper) -> None:
    """A query engine that streams, and asks once for each chunk: the second request holds a draft."""
    engine = index().as_query_engine(
        llm=model_of(server), similarity_top_k=2, response_mode="refine", streaming=True
    )
    str(engine.query(QUESTION))


def conversation(server: BodyKeeper) -> None:
    """A chat engine that condenses a follow-up question; two turns, one after the other."""
    engine = index().as_chat_engine(
        chat_mode="condense_plus_context", llm=model_of(server), similarity_top_k=1
    )
    with using_session("tower"):
        for question in (QUESTION, FOLLOW_UP):
            engine.chat(question)


def shown(name: str) -> Application:
    """An application of the page on captures, by its name there."""
    entry = {**AGENTS, **QUERY_ENGINES}[name]

    def run(server: BodyKeeper) -> None:
        llm = ServedLLM(url=f"{server.base_url}/chat/completions")
        Settings.llm = llm
        entry.make(llm).ask()

    return Application(run, replying_by(*entry.replies))


APPLICATIONS = {
    "llama_index_engine_as_tool": shown("agent with a query engine as its tool, `watch=[agent]`"),
    "llama_index_react": shown("`ReActAgent` with a retriever as its tool, `watch=[agent]`"),
    "llama_index_window": shown("query engine with a sentence window"),
    "llama_index_workflow": shown("workflow that returns a response, `watch=[workflow]`"),
    "llama_index_postprocessor": Application(postprocessor, replying(otherwise=ANSWER)),
    "llama_index_agent": Application(agent, replying((BREAD, ANSWER), (HIGH, READ), otherwise=LOOK)),
    "llama_index_refine": Application(refine, replying((DRAFT, ANSWER), otherwise=DRAFT)),
    "llama_index_conversation": Application(
        conversation,
        replying(
            ("standalone question", "How many tonnes is what the tower weighs?"),
            (HEAVY, "It weighs more than ten thousand tonnes."),
            (HIGH, ANSWER),
            otherwise="I do not know.",
        ),
    ),
}
