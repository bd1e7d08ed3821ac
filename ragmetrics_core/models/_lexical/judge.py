"""A judge without a language model, for every prompt of the library."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, cast

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models._lexical.entities import entities_of
from ragmetrics_core.models._lexical.questions import questions_for
from ragmetrics_core.models._lexical.ratings import (
    agreement,
    best_level,
    coverage,
    declining,
    grounding,
    meets,
    relevance_of_answer,
    sufficing,
)
from ragmetrics_core.models._lexical.refusals import refusal
from ragmetrics_core.models._lexical.relevance import relevant_sentences
from ragmetrics_core.models._lexical.statements import statements_of
from ragmetrics_core.models._lexical.verdicts import LexicalVerdict, chunk_findings, compared, findings
from ragmetrics_core.models._support import support_name
from ragmetrics_core.models._support.citations import without_citations
from ragmetrics_core.models._support.veto import veto_name
from ragmetrics_core.prompts import Item
from ragmetrics_core.protocol import Completion, Generate

__all__ = ["LexicalJudge"]


# What a parser would take for markup or cut away: as JSON escapes it reaches the parsed text unchanged.
_ESCAPED = re.compile("[<\r\u200b\u2060\u200e\u200f\ufeff]")

_PROBABILITY = re.compile(r"^[01]\.\d\d: ")

Variables = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class LexicalJudge:
    """A judge that needs no key and no network: its verdicts come from a small model of word features.

    It answers each prompt of the library from the prompt's variables, in the format that the prompt asks a
    model for, so that a run with it is a run like any other. It is deterministic. Whatever is no verdict on a
    statement comes from rules. The identity says whether its weights know word vectors, as they do with the
    extra `embedded`. It concludes nothing: a paraphrase in quite other words is "not supported", and a false
    statement in the right words is mostly "supported". docs/judges.md has measured figures.

    Attributes:
        identity: how it is named in records; by default after its weights.
        strict: give verdicts on contexts with the veto, which refuses more statements that say something else
            in one place, such as another number. All other replies are the same.
    """

    draws_at_once: ClassVar[bool] = True
    answers_at_once: ClassVar[bool] = True

    identity: str = ""
    strict: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.identity:
            weights = f"{support_name()},{veto_name()}" if self.strict else support_name()
            object.__setattr__(self, "identity", f"embedded:{weights}")

    @property
    def note(self) -> str:
        """What the judge says about itself, for whoever reads its scores."""
        return (
            "a small model trained on labelled claims: it compares words and concludes nothing; "
            "use a model for real work"
        )

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """As many replies as there are draws; they differ only for the prompt that asks for one question.

        Raises:
            ConfigError: there is no rule for the prompt.
        """
        self.check_prompts([request.prompt.name])
        rule = _RULES[request.prompt.name]
        if self.strict and request.prompt.name == "verdicts":
            rule = _strict_verdicts
        draws = range(request.draw, request.draw + request.draws)
        if request.prompt.name != "paper_question":
            reply = Completion(text=rule(request.variables, 0), model=support_name(), finish_reason="stop")
            return [reply] * len(draws)
        return [
            Completion(text=rule(request.variables, draw), model=support_name(), finish_reason="stop")
            for draw in draws
        ]

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` when there is no rule for one of the prompts."""
        for name in sorted(set(names) - set(_RULES)):
            known = ", ".join(sorted(_RULES))
            raise ConfigError(f"the embedded judge has no rule for the prompt {name!r}; it knows {known}")


def _statements(variables: Variables, draw: int) -> str:
    del draw
    answer = _plain(variables, "answer")
    return _json({"statements": statements_of(answer), "declined": refusal(answer) or False})


def _reference_statements(variables: Variables, draw: int) -> str:
    del draw
    return _json({"statements": statements_of(_plain(variables, "reference"))})


def _paper_statements(variables: Variables, draw: int) -> str:
    del draw
    statements = statements_of(_plain(variables, "answer"))
    return "\n".join(f"{number}. {_line(text)}" for number, text in enumerate(statements, start=1)) or "None."


def _verdicts(variables: Variables, draw: int) -> str:
    del draw
    return _as_json(_items(variables), _on_contexts(variables))


def _strict_verdicts(variables: Variables, draw: int) -> str:
    del draw
    found = findings(_said(variables), _contexts(variables), strict=True)
    return _as_json(_items(variables), found)


def _paper_verdicts(variables: Variables, draw: int) -> str:
    del draw
    lines: list[str] = []
    words: list[str] = []
    for item, finding in zip(_items(variables), _on_contexts(variables), strict=True):
        word = "Yes" if finding.supported else "No"
        words.append(f"{word}.")
        # without the probability in front, which could be taken for the number of a line
        reason = _PROBABILITY.sub("", _line(finding.reason))
        lines.append(f"{item.number}. {reason}. Verdict: {word}.")
    return "\n".join([*lines, f"Final verdicts in order: {' '.join(words)}"])


def _reference_verdicts(variables: Variables, draw: int) -> str:
    del draw
    found = compared(
        _said(variables),
        _text(variables, "reference"),
        where="the reference",
        question=_text(variables, "question"),
    )
    return _as_json(_items(variables), found)


def _answer_verdicts(variables: Variables, draw: int) -> str:
    del draw
    found = compared(
        _said(variables),
        _text(variables, "answer"),
        where="the answer",
        question=_text(variables, "question"),
    )
    return _as_json(_items(variables), found)


def _chunk_verdicts(variables: Variables, draw: int) -> str:
    del draw
    found = chunk_findings(
        _contexts(variables), question=_text(variables, "question"), reference=_plain(variables, "reference")
    )
    # The items are "chunk 1", "chunk 2", ...; asked again, only some of them. The number names the chunk.
    return _as_json(_items(variables), [found[item.number - 1] for item in _items(variables)])


def _relevant_sentences(variables: Variables, draw: int) -> str:
    del draw
    places = relevant_sentences(_text(variables, "question"), _contexts(variables)).places
    return _json({"relevant": [place + 1 for place in places] or "Insufficient Information"})


def _paper_sentences(variables: Variables, draw: int) -> str:
    del draw
    found = relevant_sentences(_text(variables, "question"), _contexts(variables))
    return "\n".join(found.texts) or "Insufficient Information"


def _questions(variables: Variables, draw: int) -> str:
    del draw
    answer, count = _plain(variables, "answer"), cast("int", variables["count"])
    declined = refusal(answer) is not None
    return _json(
        {"questions": [{"question": text, "noncommittal": declined} for text in questions_for(answer, count)]}
    )


def _paper_question(variables: Variables, draw: int) -> str:
    written = questions_for(_plain(variables, "answer"), draw + 1)
    return _line(written[draw % len(written)]) if written else "None."


def _entities(variables: Variables, draw: int) -> str:
    del draw
    return _json({"entities": entities_of(_plain(variables, "reference"))})


def _context_entities(variables: Variables, draw: int) -> str:
    del draw
    named = (name for chunk in _contexts(variables) for name in entities_of(without_citations(chunk)))
    distinct = {name.casefold(): name for name in reversed(list(named))}
    return _json({"entities": list(distinct.values())[::-1]})


def _paper_facts(variables: Variables, draw: int) -> str:
    del draw
    question, answer, reference = (_plain(variables, name) for name in ("question", "answer", "reference"))
    own, expected = statements_of(answer), statements_of(reference)
    in_reference = compared(own, reference, where="the reference", question=question)
    in_answer = compared(expected, answer, where="the answer", question=question)
    lists = {
        "TP": [text for text, finding in zip(own, in_reference, strict=True) if finding.supported],
        "FP": [text for text, finding in zip(own, in_reference, strict=True) if not finding.supported],
        "FN": [text for text, finding in zip(expected, in_answer, strict=True) if not finding.supported],
    }
    return ",\n".join(f'"{name}": {_json(texts)}' for name, texts in lists.items())


def _chunk_rating(variables: Variables, draw: int) -> str:
    del draw
    return _rating(10 * coverage(_text(variables, "question"), _contexts(variables)))


def _context_grade(variables: Variables, draw: int) -> str:
    del draw
    return _rating(2 * coverage(_text(variables, "question"), _contexts(variables)))


def _sentence_rating(variables: Variables, draw: int) -> str:
    del draw
    return _rating(10 * grounding(_plain(variables, "answer"), _contexts(variables)))


def _grounding_grade(variables: Variables, draw: int) -> str:
    del draw
    return _rating(2 * grounding(_plain(variables, "answer"), _contexts(variables)))


def _answer_rating(variables: Variables, draw: int) -> str:
    del draw
    return _rating(10 * relevance_of_answer(_text(variables, "question"), _plain(variables, "answer")))


def _accuracy_grade(variables: Variables, draw: int) -> str:
    del draw
    share = agreement(*(_plain(variables, name) for name in ("first", "second", "question")))
    return _rating(4 if share == 1 else 2 if share else 0)


def _rubric(variables: Variables, draw: int) -> str:
    del draw
    return _rating(best_level(_said(variables), _plain(variables, "answer")))


def _criterion(variables: Variables, draw: int) -> str:
    del draw
    answer = _plain(variables, "answer")
    return _as_json(_items(variables), [meets(text, answer) for text in _said(variables)])


def _declining(variables: Variables, draw: int) -> str:
    del draw
    found = declining(_plain(variables, "answer"))
    return _as_json(_items(variables), [found] * len(_items(variables)))


def _sufficiency(variables: Variables, draw: int) -> str:
    del draw
    found = sufficing(_text(variables, "question"), _contexts(variables))
    return _as_json(_items(variables), [found] * len(_items(variables)))


_RULES: Final[Mapping[str, Callable[[Variables, int], str]]] = {
    "accuracy_grade": _accuracy_grade,
    "answer_rating": _answer_rating,
    "answer_verdicts": _answer_verdicts,
    "chunk_rating": _chunk_rating,
    "chunk_verdicts": _chunk_verdicts,
    "context_entities": _context_entities,
    "context_grade": _context_grade,
    "context_grade_again": _context_grade,
    "criterion": _criterion,
    "declining": _declining,
    "entities": _entities,
    "grounding_grade": _grounding_grade,
    "grounding_grade_again": _grounding_grade,
    "paper_facts": _paper_facts,
    "paper_question": _paper_question,
    "paper_sentences": _paper_sentences,
    "paper_statements": _paper_statements,
    "paper_verdicts": _paper_verdicts,
    "questions": _questions,
    "reference_statements": _reference_statements,
    "reference_verdicts": _reference_verdicts,
    "relevant_sentences": _relevant_sentences,
    "rubric": _rubric,
    "sentence_rating": _sentence_rating,
    "statements": _statements,
    "sufficiency": _sufficiency,
    "verdicts": _verdicts,
}


def _on_contexts(variables: Variables) -> list[LexicalVerdict]:
    return findings(_said(variables), _contexts(variables))


def _text(variables: Variables, name: str) -> str:
    return cast("str", variables[name])


def _plain(variables: Variables, name: str) -> str:
    """The text without its citation marks; evidence is copied from `_text`, which has them."""
    return without_citations(_text(variables, name))


def _contexts(variables: Variables) -> tuple[str, ...]:
    return tuple(cast("Sequence[str]", variables["contexts"]))


def _items(variables: Variables) -> Sequence[Item]:
    return cast("Sequence[Item]", variables["items"])


def _said(variables: Variables) -> list[str]:
    return [without_citations(item.text) for item in _items(variables)]


def _as_json(items: Sequence[Item], found: Sequence[LexicalVerdict]) -> str:
    verdicts = [
        {
            "number": item.number,
            "reason": finding.reason,
            "evidence": finding.evidence,
            "probability": round(finding.score, 3),
            "verdict": "yes" if finding.supported else "no",
        }
        for item, finding in zip(items, found, strict=True)
    ]
    return _json({"verdicts": verdicts})


def _rating(number: float) -> str:
    return _json({"reason": "by the share of words that agree", "rating": round(number)})


def _json(value: object) -> str:
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def _line(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())
