"""Conversations with a company's bot as samples, and a judge that looks for a statement in the contexts."""

from typing import Any

from ragmetrics_core import Sample
from ragmetrics_core.protocol import Generate
from ragmetrics_core.testing import ScriptedJudge

FOUNDER = "Ada Byron founded Acme."
YEAR = "Acme was founded in 1987."
GOODS = "It makes anvils."
# Question, stand-alone question, answer, contexts. No context has the year, which the second answer repeats.
TURNS = (
    ("Who founded Acme?", None, f"{FOUNDER} {YEAR}", [FOUNDER, "Rockets fly."]),
    ("And when?", "When was Acme founded?", YEAR, [f"{GOODS} They are heavy."]),
    ("What does it make?", "What does Acme make?", GOODS, [GOODS]),
)
# faithfulness: 1 of 2, 0 of 1, 1 of 1
SCORES = (0.5, 0.0, 1.0)


def conversation(name: str, turns: int = 3, **changed: Any) -> list[Sample]:
    """The first turns of the conversation, each with the turns before it as its history."""
    samples: list[Sample] = []
    history: list[dict[str, object]] = []
    for turn, (question, standalone, answer, contexts) in enumerate(TURNS[:turns], start=1):
        fields: dict[str, Any] = {
            "question": question,
            "standalone": standalone,
            "answer": answer,
            "contexts": contexts,
            "history": tuple(history),
            "session": name,
            "turn": turn,
        }
        samples.append(Sample(id=f"{name}#{turn}", **fields | changed))
        call = {"name": "search", "arguments": '{"query": "Acme"}'}
        history += [
            {"role": "user", "content": question},
            {"role": "assistant", "content": answer, "contexts": contexts, "tool_calls": [call]},
        ]
    return samples


def literal_judge() -> ScriptedJudge:
    """A judge for which a sentence is a statement, and supported if a context has it word by word."""

    def reply(request: Generate[Any]) -> Any:
        if request.prompt.name == "statements":
            sentences = str(request.variables["answer"]).split(". ")
            return {"statements": [f"{each.rstrip('.')}." for each in sentences], "declined": False}
        contexts: Any = request.variables["contexts"]
        items: Any = request.variables["items"]
        verdicts = []
        for item in items:
            is_there = any(item.text in context for context in contexts)
            evidence, verdict = (item.text, "yes") if is_there else ("", "no")
            verdicts.append({"number": item.number, "reason": "", "evidence": evidence, "verdict": verdict})
        return {"verdicts": verdicts}

    return ScriptedJudge(reply)
