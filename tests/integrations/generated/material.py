"""Random applications and their truth, without a framework.

A case is drawn from a seed: documents, what happens to them before the prompt, a second source beside them,
and earlier calls of the model. Its truth is computed from the bodies of the requests that a server kept.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from random import Random
from typing import Any

from jinja2 import Environment

from tests.integrations.body_keeping import Call, Reply

__all__ = [
    "AGENTS",
    "CODE",
    "EVIDENCE",
    "FILTERED",
    "HEADER",
    "PARTS",
    "SOURCES",
    "STEPS",
    "TEMPLATES",
    "Case",
    "draw",
    "pieces",
    "plan",
    "rendered",
    "replies",
    "template",
    "variables",
]

# Texts

_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "il")]
_ENGLISH = "the of a in is was and to by for with on as at from that it its were an be or not has"
_GERMAN = "der die das und ist war von zu mit auf für über nicht ein eine wird größer im am bei nach"
_KANA = "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん"


def _word(rng: Random) -> str:
    """A word that nothing else has: one of more than a million."""
    return "".join(rng.choices(_SYLLABLES, k=3))


def _phrase(rng: Random, size: int, common: str) -> list[str]:
    """Words of which at least every third is rare, the first among them."""
    return [
        _word(rng) if n % 3 == 0 or rng.random() < 0.4 else rng.choice(common.split()) for n in range(size)
    ]


def _sentences(rng: Random, size: int) -> Iterator[int]:
    while size > 0:
        length = min(size, rng.randint(3, 20))
        yield length
        size -= length


def _prose(rng: Random, size: int, common: str = _ENGLISH) -> str:
    made = (" ".join(_phrase(rng, length, common)).capitalize() for length in _sentences(rng, size))
    return " ".join(f"{each}." for each in made)


def _german(rng: Random, size: int) -> str:
    text = _prose(rng, size, _GERMAN)
    return text.replace("er", "är").replace("un", "üß") if size > 3 else text


def _list(rng: Random, size: int) -> str:
    return "\n".join(f"- {' '.join(_phrase(rng, length, _ENGLISH))}" for length in _sentences(rng, size))


def _table(rng: Random, size: int) -> str:
    rows = [[_word(rng), str(rng.randint(100, 99999)), _word(rng)] for _ in range(size // 3 or 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _numbers(rng: Random, size: int) -> str:
    return ", ".join(
        f"{_word(rng)}: {rng.randint(10, 99999)}.{rng.randint(0, 99)} %" for _ in range(size // 4 or 1)
    )


def _chinese(rng: Random, size: int) -> str:
    made = ("".join(chr(rng.randint(0x4E00, 0x6E00)) for _ in range(n)) for n in _sentences(rng, size * 2))
    return "".join(f"{each}。" for each in made)


def _japanese(rng: Random, size: int) -> str:
    text = _chinese(rng, size)
    return "".join(rng.choice(_KANA) if each != "。" and rng.random() < 0.4 else each for each in text)


def _markup(rng: Random, size: int) -> str:
    made = (" ".join(_phrase(rng, length, _ENGLISH)) for length in _sentences(rng, size))
    return "<p>" + "</p>\n<p>".join(f"{each} &amp; <b>{_word(rng)}</b>." for each in made) + "</p>"


def _json_like(rng: Random, size: int) -> str:
    rows = [{"name": _word(rng), "text": _prose(rng, length)} for length in _sentences(rng, size)]
    return json.dumps(rows, indent=rng.choice((None, 2)))


_KINDS = (_prose, _prose, _german, _list, _table, _numbers, _chinese, _japanese, _markup, _json_like)
HEADER = "Handbook of the Vandelor works, issued by the board of the works"


def _size(rng: Random) -> int:
    """From 1 to 300 words, as often short as long."""
    return min(300, max(1, round(10 ** rng.uniform(0, 2.5))))


# What happens between retrieval and prompt

_SELECTIONS: Mapping[str, Callable[[Random, list[int]], list[int]]] = {
    "all": lambda _, places: places,
    "some": lambda rng, places: sorted(rng.sample(places, rng.randint(1, len(places)))),
    "none": lambda _, places: [],
    "reordered": lambda rng, places: rng.sample(places, len(places)),
    "last": lambda _, places: places[-1:],
}

# One text `d` after the other; N is a number of the case. Filters that Jinja lacks are in `_FILTERS`.
PARTS: Mapping[str, str] = {
    "whole": "{{ d }}\n",
    "merged": "{{ d }} ",
    "stripped": "{{ d|trim }}\n\n",
    "upper": "{{ d|upper }}\n",
    "characters": "{{ d[:N] }}\n",
    "words": "{{ d.split()[:N]|join(' ') }}\n",
    "head and tail": "{{ d[:N] }} [...] {{ d[-N:] }}\n",
    "bullets": "{% for s in d|sentences %}- {{ s }}\n{% endfor %}",
    "numbered": "{% for s in d|sentences %}{{ loop.index }}. {{ s }}\n{% endfor %}",
    "cells": "{% for s in d|sentences %}| {{ s }} {% endfor %}|\n",
    "<br/>": "{{ d|sentences|join('<br/>') }}\n",
    "bold": "{% for w in d.split() %}{{ '**' ~ w ~ '**' if loop.index % 5 == 0 else w }} {% endfor %}\n",
    "masked": "{% for w in d.split() %}{{ '[NAME]' if loop.index % 7 == 0 else w }} {% endfor %}\n",
    "JSON": '{"id": {{ loop.index }}, "text": {{ d|tojson }}}\n',
    "JSON, all characters": '{"id": {{ loop.index }}, "text": {{ d|dumps }}}\n',
    "escaped": "{{ d|e }}\n",
    "striptags": "{{ d|striptags }}\n",
    "table": "| {{ loop.index }} | {{ d|replace('\n', ' ') }} | yes |\n",
    "wrapped": "{{ d|wordwrap(40) }}\n",
    "titled": "<document index='{{ loop.index }}'>\n{{ d }}\n</document>\n",
}


def pieces(text: str) -> list[str]:
    """The sentences of a text."""
    return [each.strip() for each in re.split(r"(?<=[.。])\s*(?=\D)|\n", text) if each.strip()]


_FILTERS: dict[str, Any] = {"sentences": pieces, "dumps": partial(json.dumps, ensure_ascii=False)}
FILTERED = tuple(f"|{name}" for name in _FILTERS)
_JINJA = Environment(autoescape=False)
_JINJA.filters.update(_FILTERS)


def rendered(case: "Case", texts: Sequence[str]) -> str:
    """The texts as they stand in the prompt."""
    loop = "{% for d in texts %}" + case.part + "{% endfor %}"
    return _JINJA.from_string(loop).render(texts=texts)


# The second source: by its name, whether it is evidence, code or neither

EVIDENCE = ("tool", "retriever")
CODE = ("web text", "web dicts", "style rules", "memory")
SOURCES = ("none", "none", "none", *EVIDENCE, *CODE, "history")


# The calls of the model

TEMPLATES = {
    "rewrite": "Rewrite the question for a search engine.\nQuestion: {question}",
    "grade": "Is this text relevant to the question? Say yes or no.\n{document}\nQuestion: {question}",
    "summary": "Summarise this text in a few words.\n{document}",
    "draft": "Write a first draft from these texts.\n{context}\n{extra}\nQuestion: {question}",
    "answer": "RULESAnswer from these texts.\n{context}\n{extra}\nQuestion: {question}",
    "polish": "Polish this draft and return nothing else.\n{draft}\n{rules}",
    "translate": "Translate this draft for our readers.\n{draft}\n{rules}",
    "refine": "Refine this draft with the texts.\n{draft}\n{context}\n{rules}\nQuestion: {question}",
    "check": "Is this draft supported by the texts? Say yes or no.\n{draft}\n{context}",
}
_RETRIEVED = ["retrieve", "select", "source", "render"]
_GRADED = ["retrieve", "grade", "source", "render"]
_PLANS: Mapping[str, Sequence[str]] = {
    "none": [*_RETRIEVED, "answer"],
    "rewrite": ["rewrite", *_RETRIEVED, "answer"],
    "grade": [*_GRADED, "answer"],
    "summary": ["retrieve", "select", "source", "summaries", "answer"],
    "polish": [*_RETRIEVED, "draft", "polish"],
    "translate": [*_RETRIEVED, "draft", "translate"],
    "refine": [*_RETRIEVED, "draft", "refine"],
    "check": [*_RETRIEVED, "draft", "check", "give"],
    "raw": [*_RETRIEVED, "raw"],
    "grade, raw": [*_GRADED, "raw"],
}
AGENTS = ("agent", "agent that talks", "supervisor")
STEPS = ("none", *_PLANS, *AGENTS)


@dataclass(frozen=True, kw_only=True)
class Case:
    """An application and what goes through it.

    Attributes:
        documents: what the retriever finds.
        kept: places of the documents that are left, in their order.
        operation: what happens to them, in words.
        part: the template of one text.
        source, extra: the second source and its texts.
        step: the earlier calls.
        draft: the reply to "draft", and of a sub-agent.
        summaries: replies to "summary", one after the other.
        query: the reply to "rewrite".
        answer: what the model replies at last.
        finish: what a step of code takes out of the answer.
        rules: text of the template before its first variable.
        shape: a number for the builder to choose a form of the application by.
    """

    seed: int
    question: str
    documents: tuple[str, ...]
    kept: tuple[int, ...]
    operation: str
    part: str
    source: str
    extra: tuple[str, ...]
    step: str
    draft: str
    summaries: tuple[str, ...]
    query: str
    answer: str
    finish: str
    rules: str
    shape: int

    @property
    def name(self) -> str:
        return f"{self.operation}; {self.source}; {self.step}"

    @property
    def final(self) -> str:
        """The model's last reply."""
        return self.draft if self.step == "check" else self.answer

    @property
    def given(self) -> str:
        """What the application gives out."""
        return self.final.replace(self.finish, "") if self.finish else self.final

    @property
    def evidence(self) -> tuple[str, ...]:
        """All texts that can be contexts."""
        return (*self.documents, *self.extra) if self.source in EVIDENCE else self.documents

    @property
    def code(self) -> tuple[str, ...]:
        """Texts that a function wrote."""
        return self.extra if self.source in CODE else ()

    @property
    def written(self) -> tuple[str, ...]:
        """Texts that the model wrote."""
        return (self.draft, self.query, *self.summaries, self.answer)


def draw(seed: int) -> Case:
    """The case of a seed."""
    rng = Random(seed)
    documents = [rng.choice(_KINDS)(rng, _size(rng)) for _ in range(rng.randint(1, 6))]
    rules = ""
    if rng.random() < 0.3:
        # instructions with which the documents share their header
        rules = f"You know the {HEADER}. {_prose(rng, rng.randint(5, 60))}\n"
        documents = [f"{HEADER}\n{each}" if rng.random() < 0.7 else each for each in documents]
    selection, part = rng.choice(list(_SELECTIONS)), rng.choice(list(PARTS))
    source = rng.choice(SOURCES)
    size = rng.randint(8, 80)
    texts = {"none": 0, "history": 2}.get(source, 1 if source == "web text" else rng.randint(1, 3))
    step = rng.choice(STEPS)
    finish = "" if step in AGENTS else rng.choice(("", "", "", " [1]"))
    answer = _prose(rng, rng.randint(1, 60))
    return Case(
        seed=seed,
        question=" ".join(_phrase(rng, rng.randint(4, 12), _ENGLISH)).capitalize() + "?",
        documents=tuple(documents),
        kept=tuple(_SELECTIONS[selection](rng, list(range(len(documents))))),
        operation=f"{selection}, {part}",
        part=PARTS[part].replace("N", str(rng.randint(5, 200))) if part != "masked" else PARTS[part],
        source=source,
        extra=tuple(_prose(rng, size) for _ in range(texts)),
        step=step,
        draft=_quoting(rng, _prose(rng, _size(rng)), documents),
        summaries=tuple(_prose(rng, rng.randint(1, 40)) for _ in documents),
        query=" ".join(_phrase(rng, rng.randint(3, 9), _ENGLISH)),
        answer=_quoting(rng, answer, documents).replace(".", f"{finish}."),
        finish=finish,
        rules=rules,
        shape=rng.randint(0, 5),
    )


def _quoting(rng: Random, text: str, documents: Sequence[str]) -> str:
    """The text, sometimes with words of a document after it, fewer than its own."""
    quoted = " ".join(rng.choice(documents).split()[: len(text.split()) // 3])[: len(text) // 3]
    return f"{text} {quoted}." if quoted and rng.random() < 0.3 else text


def template(case: Case, name: str) -> str:
    """The prompt of a call, with its variables in braces."""
    return TEMPLATES[name].replace("RULES", case.rules)


def variables(case: Case, name: str, state: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a prompt's variables, of what an application knows."""
    rules = case.source == "style rules" and case.step in ("polish", "translate", "refine")
    extra = state.get("extra", "")
    known = {**state, "rules": extra if rules else "", "extra": "" if rules else extra}
    return {key: known[key] for key in re.findall(r"{(\w+)}", template(case, name))}


def plan(case: Case) -> Sequence[str]:
    """The steps of an application that is not an agent's."""
    return _PLANS[case.step]


def replies(case: Case) -> Callable[[str], Reply]:
    """What the model replies to the text of a request."""
    summaries = cycle(case.summaries)
    kept = [case.documents[place] for place in case.kept]
    saying = case.draft if case.step == "agent that talks" else None
    names = ["search", "other"] if case.source == "tool" else ["search"]
    calls = iter([[Call(name, {"query": case.query}, saying) for name in names]])
    by_beginning: Mapping[str, Callable[[str], Reply]] = {
        "rewrite": lambda _: case.query,
        "grade": lambda text: "yes" if any(each in text for each in kept) else "no",
        "summary": lambda _: next(summaries),
        "draft": lambda _: case.draft,
        "check": lambda _: "yes",
    }
    beginnings = {template(case, name).partition("\n")[0]: reply for name, reply in by_beginning.items()}

    def reply(text: str) -> Reply:
        for beginning, made in beginnings.items():
            if beginning in text:
                return made(text)
        return next(calls, case.answer) if case.step in AGENTS else case.answer

    return reply
