"""Applications whose spans follow OpenTelemetry's conventions for generative AI."""

import json
from typing import Any

import openai
from opentelemetry.util.genai.handler import TelemetryHandler
from opentelemetry.util.genai.types import InputMessage, OutputMessage, RetrievalDocument, Text

from tests.integrations.body_keeping import BodyKeeper, Call
from tests.traces.applications.served import Application, replying

CORPUS = {
    "otter": "Otters sleep on their backs and hold hands.",
    "heron": "Herons stand still until a fish swims by.",
    "newt": "Newts grow their tails again.",
}
QUESTION = "How do otters sleep?"
ANSWER = "They sleep on their backs."


def asked(server: BodyKeeper, messages: list[Any], **options: Any) -> Any:
    client = openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0)
    return (
        client.chat.completions.create(model="served-model", messages=messages, **options).choices[0].message
    )


def retrieval(server: BodyKeeper) -> None:
    """A workflow whose retrieval names the ids of its documents: the prompt shows one of the two."""
    handler = TelemetryHandler()
    with handler.workflow("answer", conversation_id="river") as workflow:
        workflow.input_messages = [InputMessage("user", [Text(QUESTION)])]
        with handler.retrieval(data_source_id="animals") as search:
            search.query_text = QUESTION
            search.documents = [RetrievalDocument("otter", 0.9), RetrievalDocument("newt", 0.2)]
        told = {"role": "system", "content": f"Use only:\n{CORPUS['otter']}"}
        answer = asked(server, [told, {"role": "user", "content": QUESTION}]).content
        workflow.output_messages = [OutputMessage("assistant", [Text(answer)], "stop")]


LOOK = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}


def agent(server: BodyKeeper) -> None:
    """An agent with a tool that returns a text."""
    handler = TelemetryHandler()
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    with handler.invoke_local_agent(agent_name="guide") as guide:
        guide.input_messages = [InputMessage("user", [Text(QUESTION)])]
        reply = asked(server, messages, tools=[LOOK])
        (call,) = reply.tool_calls
        with handler.tool(call.function.name, tool_call_id=call.id) as tool:
            tool.arguments = json.loads(call.function.arguments)
            tool.tool_result = CORPUS["otter"]
        found = {"role": "tool", "tool_call_id": call.id, "content": CORPUS["otter"]}
        answer = asked(server, [*messages, reply, found], tools=[LOOK]).content
        guide.output_messages = [OutputMessage("assistant", [Text(answer)], "stop")]


def bare(server: BodyKeeper) -> None:
    """A model that is asked without a retrieval or an agent around it: the documents have no source."""
    told = {"role": "system", "content": f"Use only:\n{CORPUS['otter']}"}
    asked(server, [told, {"role": "user", "content": QUESTION}])


APPLICATIONS = {
    "genai_retrieval": Application(retrieval, replying(otherwise=ANSWER)),
    "genai_agent": Application(
        agent, replying((CORPUS["otter"], ANSWER), otherwise=Call("look", {"animal": "otter"}))
    ),
    "genai_bare": Application(bare, replying(otherwise=ANSWER)),
}
