"""A judge without a language model, for every prompt of the library."""

import json
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
from ragmetrics_core.parsers import INSUFFICIENT
from ragmetrics_core.prompts import Item
from ragmetrics_core.protocol import Completion, Generate

__all__ = ["LexicalJudge"]


Variables = Mapping[str, object]
Value = dict[str, Any]
Rule = Callable[[Variables], Value]


@dataclass(frozen=True, slots=True)
class LexicalJudge:
    """A judge that needs no key and no network: its verdicts come from a small model of word features.

    It answers each prompt of the library from the prompt's variables, as the JSON object of the prompt's
    answer, so that a run with it is a run like any other. It is deterministic. Whatever is no verdict on a
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
        replies = [self._reply(request, rule(request.variables))] * request.draws
        if request.prompt.name == "paper_question":
            replies = [
                self._reply(request, _drawn(request.variables, draw))
                for draw in range(request.draw, request.draw + request.draws)
            ]
        return replies

    def _reply(self, request: Generate[Any], value: Value) -> Completion:
        text = json.dumps(value, ensure_ascii=False)
        return Completion(text, support_name(), finish_reason="stop", held_to="graded")

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` when there is no rule for one of the prompts."""
        for name in sorted(set(names) - set(_RULES)):
            known = ", ".join(sorted(_RULES))
            raise ConfigError(f"the embedded judge has no rule for the prompt {name!r}; it knows {known}")


def _statements(variables: Variables) -> Value:
    answer = _plain(variables, "answer")
    return {"statements": statements_of(answer), "declined": refusal(answer) or False}


def _reference_statements(variables: Variables) -> Value:
    return {"statements": statements_of(_plain(variables, "reference"))}


def _paper_statements(variables: Variables) -> Value:
    return {"statements": statements_of(_plain(variables, "answer"))}


def _verdicts(variables: Variables) -> Value:
    return _judged(_items(variables), findings(_said(variables), _contexts(variables)))


def _strict_verdicts(variables: Variables) -> Value:
    return _judged(_items(variables), findings(_said(variables), _contexts(variables), strict=True))


def _compared_with(field: str) -> "Rule":
    def rule(variables: Variables) -> Value:
        question, text = _text(variables, "question"), _text(variables, field)
        found = compared(_said(variables), text, where=f"the {field}", question=question)
        return _judged(_items(variables), found)

    return rule


def _chunk_verdicts(variables: Variables) -> Value:
    found = chunk_findings(
        _contexts(variables), question=_text(variables, "question"), reference=_plain(variables, "reference")
    )
    # The items are "chunk 1", "chunk 2", ...; asked again, only some of them. The number names the chunk.
    return _judged(_items(variables), [found[item.number - 1] for item in _items(variables)])


def _relevant_sentences(variables: Variables) -> Value:
    places = relevant_sentences(_text(variables, "question"), _contexts(variables)).places
    return {"relevant": [place + 1 for place in places] or INSUFFICIENT}


def _paper_sentences(variables: Variables) -> Value:
    return {"sentences": relevant_sentences(_text(variables, "question"), _contexts(variables)).texts}


def _questions(variables: Variables) -> Value:
    answer, count = _plain(variables, "answer"), cast("int", variables.get("count", 1))
    declined = refusal(answer) is not None
    return {
        "questions": [{"question": text, "noncommittal": declined} for text in questions_for(answer, count)]
    }


def _drawn(variables: Variables, draw: int) -> Value:
    """One question, another one for each draw."""
    written = questions_for(_plain(variables, "answer"), draw + 1)
    return {"questions": [{"question": written[draw % len(written)]}] if written else []}


def _entities(variables: Variables) -> Value:
    return {"entities": entities_of(_plain(variables, "reference"))}


def _context_entities(variables: Variables) -> Value:
    named = (name for chunk in _contexts(variables) for name in entities_of(without_citations(chunk)))
    distinct = {name.casefold(): name for name in reversed(list(named))}
    return {"entities": list(distinct.values())[::-1]}


def _paper_facts(variables: Variables) -> Value:
    question, answer, reference = (_plain(variables, name) for name in ("question", "answer", "reference"))
    own, expected = statements_of(answer), statements_of(reference)
    in_reference = compared(own, reference, where="the reference", question=question)
    in_answer = compared(expected, answer, where="the answer", question=question)
    tp = [text for text, finding in zip(own, in_reference, strict=True) if finding.supported]
    fp = [text for text, finding in zip(own, in_reference, strict=True) if not finding.supported]
    fn = [text for text, finding in zip(expected, in_answer, strict=True) if not finding.supported]
    # what stands in the answer word for word is no omission of it, however it was compared
    left = {text.casefold() for text in own}
    return {"TP": tp, "FP": fp, "FN": [text for text in fn if text.casefold() not in left]}


def _chunk_rating(variables: Variables) -> Value:
    return _rating(10 * coverage(_text(variables, "question"), _contexts(variables)))


def _context_grade(variables: Variables) -> Value:
    return _rating(2 * coverage(_text(variables, "question"), _contexts(variables)))


def _sentence_rating(variables: Variables) -> Value:
    return _rating(10 * grounding(_plain(variables, "answer"), _contexts(variables)))


def _grounding_grade(variables: Variables) -> Value:
    return _rating(2 * grounding(_plain(variables, "answer"), _contexts(variables)))


def _answer_rating(variables: Variables) -> Value:
    return _rating(10 * relevance_of_answer(_text(variables, "question"), _plain(variables, "answer")))


def _accuracy_grade(variables: Variables) -> Value:
    share = agreement(*(_plain(variables, name) for name in ("first", "second", "question")))
    return _rating(4 if share == 1 else 2 if share else 0)


def _rubric(variables: Variables) -> Value:
    return _rating(best_level(_said(variables), _plain(variables, "answer")))


def _criterion(variables: Variables) -> Value:
    answer = _plain(variables, "answer")
    return _judged(_items(variables), [meets(text, answer) for text in _said(variables)])


def _declining(variables: Variables) -> Value:
    return _judged(_items(variables), [declining(_plain(variables, "answer"))] * len(_items(variables)))


def _sufficiency(variables: Variables) -> Value:
    found = sufficing(_text(variables, "question"), _contexts(variables))
    return _judged(_items(variables), [found] * len(_items(variables)))


_RULES: Final[Mapping[str, Rule]] = {
    "accuracy_grade": _accuracy_grade,
    "answer_rating": _answer_rating,
    "answer_verdicts": _compared_with("answer"),
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
    "paper_question": _questions,
    "paper_sentences": _paper_sentences,
    "paper_statements": _paper_statements,
    "paper_verdicts": _verdicts,
    "questions": _questions,
    "reference_statements": _reference_statements,
    "reference_verdicts": _compared_with("reference"),
    "relevant_sentences": _relevant_sentences,
    "rubric": _rubric,
    "sentence_rating": _sentence_rating,
    "statements": _statements,
    "sufficiency": _sufficiency,
    "verdicts": _verdicts,
}


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


def _judged(items: Sequence[Item], found: Sequence[LexicalVerdict]) -> Value:
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
    return {"verdicts": verdicts}


def _rating(number: float) -> Value:
    return {"reason": "by the share of words that agree", "rating": round(number)}
