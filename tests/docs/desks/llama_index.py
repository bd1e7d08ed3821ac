"""The reader's models and engine, made of LlamaIndex's own parts."""

import json

from tests.integrations.llama_index.fakes import (
    FunctionLLM,
    FunctionRetriever,
    WordEmbedding,
    judging,
    qa_engine,
)

TEXTS = ["The tower is 300 m high."]


def judge(prompt):
    """The judge of the page, with reasons."""
    reply = judging(prompt)
    if '"verdicts"' not in reply:
        return reply
    verdicts = json.loads(reply)["verdicts"]
    for each in verdicts:
        each["reason"] = (
            "the first context says so" if each["verdict"] == "yes" else "no context gives a colour"
        )
    return json.dumps({"verdicts": verdicts})


def given():
    return {
        "llm": FunctionLLM(judge),
        "embed_model": WordEmbedding(),
        "query_engine": qa_engine(lambda question: TEXTS[0], lambda question: TEXTS),
        "retriever": FunctionRetriever(lambda question: TEXTS),
    }
