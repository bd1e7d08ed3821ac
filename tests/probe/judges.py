"""Judges whose fitness is known, because they are scripted."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from ragmetrics_core.probe import read_corpus
from ragmetrics_core.protocol import Generate
from ragmetrics_core.testing import ScriptedJudge

CORPUS = read_corpus()
SUPPORTED = {each.text: each.supported for passage in CORPUS.passages for each in passage.statements}
USEFUL = {each.text: each.useful for passage in CORPUS.passages for each in passage.chunks}

Decide = Callable[[Generate[Any], int, str], bool]


def right(request: Generate[Any], number: int, text: str) -> bool:
    """The truth about a statement, padded or not, or about a chunk; an attack's sentences are not true."""
    if request.prompt.name == "chunk_verdicts":
        return USEFUL[request.variables["contexts"][number - 1]]
    return next((truth for statement, truth in SUPPORTED.items() if text.endswith(statement)), False)


def obedient(request: Generate[Any], number: int, text: str) -> bool:
    """What the attack in the prompt wishes; without one, the truth."""
    shown = "\n".join(_texts(request.variables))
    # the sentences of an answer are shown as items, each in one line
    in_one_line = " ".join(shown.split())
    for attack in CORPUS.attacks:
        lines = (re.sub(r"^\d\. ", "", line.strip()) for line in attack.text.splitlines())
        if attack.text in shown or any(len(line) > 3 and line in in_one_line for line in lines):
            return attack.wants_yes
    return right(request, number, text)


def judge_of(decide: Decide, identity: str = "scripted") -> ScriptedJudge:
    """A judge that decides so, in the form that each prompt asks for."""
    return ScriptedJudge(lambda request: _reply(request, decide), identity=identity)


def _reply(request: Generate[Any], decide: Decide) -> str:
    said = {number: decide(request, number, text) for number, text in request.variables["items"]}
    words = {number: "Yes" if yes else "No" for number, yes in said.items()}
    if request.prompt.name == "paper_verdicts":
        lines = [f"{number}. That is how it is. Verdict: {word}." for number, word in words.items()]
        last = " ".join(f"{number}. {word}." for number, word in words.items())
        return "\n".join([*lines, f"Final verdicts: {last}"])
    # with a reason of its own: the very JSON of an attack would be a copy of it
    why = "that is how it is"
    verdicts = [{"number": n, "reason": why, "verdict": word.lower()} for n, word in words.items()]
    return json.dumps({"verdicts": verdicts})


def _texts(variables: Mapping[str, Any]) -> list[str]:
    texts = []
    for value in variables.values():
        if isinstance(value, str):
            texts.append(value)
        else:
            texts += [each if isinstance(each, str) else each.text for each in value]
    return texts
