"""What the local server replies: a text in the form that a prompt asks for.

The prompts of this library and those of ragas 0.4 are recognised by the form of the reply that they show. A
reply depends on nothing but the prompt and a salt, so the same request always has the same reply. About
three verdicts in four are "yes".
"""

import json
import re
from array import array
from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

__all__ = ["judge_reply", "vector"]

REASON = "The second sentence of the text says the same in other words."
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NUMBERED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
_MARKED = re.compile(r"\[sentence (\d+)\] ([^\n]*)")
_SENTENCE_NUMBER = re.compile(r"^\[(\d+)\] ", re.MULTILINE)
_WANTED = re.compile(r"^Write (\d+) different questions", re.MULTILINE)
_NAME = re.compile(r"\b(?:[A-Z]\w+|\d[\w.]*)")
_RAGAS_INPUT = "Now perform the same with the following input"


def judge_reply(prompt: str, salt: str = "") -> str:
    """The reply of a judge.

    Args:
        prompt: all messages of the request, one after the other.
        salt: any change gives other verdicts, as another draw would.
    """
    asked, marker, given = prompt.rpartition(_RAGAS_INPUT)
    if marker:
        return json.dumps(_ragas(asked, json.JSONDecoder().raw_decode(given[given.index("{") :])[0], salt))
    for form, reply in _FORMS.items():
        if form in prompt:
            found = reply(prompt, salt)
            return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return "This server does not know the prompt."


def vector(text: str, dimensions: int) -> "array[float]":
    """Counts of hashed words as 32-bit floats: texts that share words are close, none is a zero vector."""
    counts = array("f", bytes(4 * dimensions))
    counts[0] = 0.01
    for word in text.casefold().split():
        counts[crc32(word.encode("utf-8", "replace")) % dimensions] += 1.0
    return counts


def _verdicts(prompt: str, salt: str) -> Mapping[str, Any]:
    chunks = "numbered chunk" in prompt
    quote = "" if chunks else _quote(prompt)
    return {
        "verdicts": [
            {
                "number": int(number),
                "reason": REASON,
                "evidence": _chunk_quote(prompt, number) if chunks else quote,
                "verdict": "yes" if _yes(text, salt) else "no",
            }
            for number, text in _items(prompt)
        ]
    }


def _paper_verdicts(prompt: str, salt: str) -> str:
    items = [(number, "Yes." if _yes(text, salt) else "No.") for number, text in _items(prompt)]
    lines = [f"{number}. {REASON} Verdict: {verdict}" for number, verdict in items]
    return "\n".join([*lines, f"Final verdicts in order: {' '.join(verdict for _, verdict in items)}"])


def _statements(prompt: str, salt: str) -> Mapping[str, Any]:
    found = {"statements": _sentences(_material(prompt))}
    return found | {"declined": False} if '"declined"' in prompt else found


def _split(prompt: str, salt: str) -> Mapping[str, Any]:
    entries = [
        {"sentence": int(number), "kind": "claim", "statements": [text]}
        for number, text in _MARKED.findall(_material(prompt))
    ]
    found = {"sentences": entries}
    return found | {"declined": False, "reason": ""} if '"declined"' in prompt else found


def _paper_statements(prompt: str, salt: str) -> str:
    return "\n".join(f"{n}. {each}" for n, each in enumerate(_sentences(_material(prompt)), start=1))


def _questions(prompt: str, salt: str) -> Mapping[str, Any]:
    wanted = _WANTED.search(prompt)
    beginnings = ("What", "Which part", "How", "Why", "When", "Where", "Who")
    topic = _sentences(_material(prompt))[0][:80].rstrip(".")
    count = int(wanted[1]) if wanted else 1
    return {
        "questions": [
            {"question": f"{beginnings[n % len(beginnings)]}: {topic}?", "noncommittal": False}
            for n in range(count)
        ]
    }


def _relevant(prompt: str, salt: str) -> Mapping[str, Any]:
    numbers = [int(each) for each in _SENTENCE_NUMBER.findall(prompt)]
    return {"relevant": [n for n in numbers if _yes(f"{n}{prompt[-200:]}", salt)][:6]}


def _entities(prompt: str, salt: str) -> Mapping[str, Any]:
    return {"entities": list(dict.fromkeys(_NAME.findall(_material(prompt))))[:12]}


def _facts(prompt: str, salt: str) -> str:
    said, expected = _sentences(_block(prompt, "answer")), _sentences(_block(prompt, "reference"))
    lists = {
        "TP": [each for each in said if _yes(each, salt)],
        "FP": [each for each in said if not _yes(each, salt)],
        "FN": [each for each in expected if not _yes(each, salt)],
    }
    return ",\n".join(f'"{name}": {json.dumps(texts, ensure_ascii=False)}' for name, texts in lists.items())


# What a prompt of the library shows as the form of its reply, and who writes it.
_FORMS: Mapping[str, Callable[[str, str], Mapping[str, Any] | str]] = {
    '{"verdicts": [': _verdicts,
    "Final verdicts in order": _paper_verdicts,
    '{"sentences": [': _split,
    '{"statements": [': _statements,
    "1. first statement\n2. second statement": _paper_statements,
    '{"questions": [': _questions,
    '{"relevant": [': _relevant,
    '{"entities": [': _entities,
    '"TP": ["a statement"': _facts,
    "Write one question": lambda prompt, _: f"What is known about {_material(prompt)[:60]}?",
    "Copy out of the contexts": lambda prompt, _: _quote(prompt),
}


def _ragas(asked: str, given: Mapping[str, Any], salt: str) -> Mapping[str, Any]:
    """The reply to a prompt of ragas 0.4: its input is JSON, its form a schema among the instructions."""
    if "classifications" in asked:
        return {
            "classifications": [
                {"statement": each, "reason": REASON, "attributed": int(_yes(each, salt))}
                for each in _sentences(given["answer"])
            ]
        }
    if "claims" in asked:
        return {"claims": _sentences(given["response"])}
    if "statements" in given:
        return {
            "statements": [
                {"statement": each, "reason": REASON, "verdict": int(_yes(each, salt))}
                for each in given["statements"]
            ],
            "declined": False,
        }
    if "noncommittal" in asked:
        return {"question": f"What: {_sentences(given['response'])[0][:80]}?", "noncommittal": 0}
    if "context" in given:
        return {"reason": REASON, "verdict": int(_yes(given["context"], salt))}
    return {"statements": _sentences(given["answer"])}


def _block(prompt: str, name: str) -> str:
    """The text between the last fences of this name, "" when there are none."""
    return prompt.rpartition(f"<{name}>\n")[2].partition(f"\n</{name}>")[0] if f"<{name}>\n" in prompt else ""


def _material(prompt: str) -> str:
    """What the prompt asks to take apart."""
    return next(filter(None, (_block(prompt, name) for name in ("reference", "answer", "contexts"))), "")


def _items(prompt: str) -> list[tuple[str, str]]:
    return _NUMBERED.findall(_block(prompt, "items"))


def _sentences(text: str) -> list[str]:
    return [each for each in _SENTENCE_END.split(text) if each.strip()] or ["Nothing is said."]


def _quote(prompt: str) -> str:
    """A sentence to quote: the first of the contexts, else of the other material."""
    first = prompt.partition("\n[1] ")[2].partition("\n")[0]
    return first or _sentences(_material(prompt))[0]


def _chunk_quote(prompt: str, number: str) -> str:
    return prompt.partition(f"\nChunk {number}:\n")[2].partition("\n")[0].partition("] ")[2]


def _yes(text: str, salt: str) -> bool:
    return crc32((text + salt).encode("utf-8", "replace")) % 4 != 0
