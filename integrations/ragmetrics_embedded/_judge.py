"""A judge without a language model, for nearly every prompt of the library."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.parsers import (
    ANYTHING,
    CONTRADICTED,
    INSUFFICIENT,
    NOT_MENTIONED,
    SUPPORTED,
    UNKNOWN,
    Expected,
)
from ragmetrics_core.prompts import Item
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.texts import folded, spaced_form
from ragmetrics_embedded._rules.entities import entities_of
from ragmetrics_embedded._rules.questions import questions_for
from ragmetrics_embedded._rules.ratings import (
    agreement,
    best_level,
    coverage,
    declining,
    grounding,
    has_part,
    meets,
    relevance_of_answer,
    sufficing,
)
from ragmetrics_embedded._rules.refusals import is_missing_remark, refusal
from ragmetrics_embedded._rules.relevance import relevant_sentences
from ragmetrics_embedded._rules.standalone import with_earlier_questions
from ragmetrics_embedded._rules.statements import statements_by_sentence, statements_of
from ragmetrics_embedded._rules.verdicts import LexicalVerdict, chunk_findings, compared, findings
from ragmetrics_embedded._support import SupportModel, read_model, support_name
from ragmetrics_embedded._support.citations import without_citations

if TYPE_CHECKING:
    from ragmetrics_embedded._training import Training

__all__ = ["LexicalJudge"]

Value = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalJudge:
    """A judge that needs no key and no network: its verdicts come from a small model of word features.

    It answers the prompts of the library from their variables, as the JSON object of the prompt's answer. It
    refuses the prompt that asks which nuggets are vital, because words do not tell. It is deterministic.
    Answers other than verdicts on statements come from rules. The identity says whether its weights use word
    vectors, which need the extra `embedded`. It compares each word at its position and rejects statements
    that differ there. It does not infer: a paraphrase in different words is "not supported".
    docs/judge_tables.md has measured figures. With a file of `ragmetrics train-judge`, the trained weights
    decide whether contexts support statements; everything else stays as it is.

    Attributes:
        weights: path of a file of trained weights; "" for the bundled ones.
        identity: the judge's name in records; by default after its weights, trained ones with their digest.
        note: the judge's limits, for readers of its scores.
    """

    note: ClassVar[str] = (
        "a small model trained on labelled claims: it compares words and concludes nothing; "
        "use a model for real work"
    )

    draws_at_once: ClassVar[bool] = True
    answers_at_once: ClassVar[bool] = True
    by_file: ClassVar[bool] = False

    weights: str | Path = field(default="", kw_only=False)
    identity: str = ""
    _trained: SupportModel | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weights:
            object.__setattr__(self, "_trained", read_model(Path(self.weights)))
        if not self.identity:
            object.__setattr__(self, "identity", f"embedded:{self._name}")

    @property
    def _name(self) -> str:
        """Name of the weights."""
        return support_name() if self._trained is None else self._trained.name

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """A reply per draw; they differ only for the prompt that requests one question.

        Raises:
            ConfigError: the judge has no rule for the prompt.
        """
        self.check_prompts([request.prompt.name])
        shown = _Shown(request.variables, request.expected, self._trained)
        if request.prompt.name == "paper_question":
            draws = range(request.draw, request.draw + request.draws)
            return [_completion(_drawn(shown, draw), self._name) for draw in draws]
        return [_completion(_RULES[request.prompt.name](shown), self._name)] * request.draws

    @staticmethod
    def train(
        claims: Sequence[tuple[str, Sequence[str]]],
        labels: Sequence[bool],
        sources: Sequence[str],
        *,
        are_claims: bool,
    ) -> "Training":
        """Train on labelled claims; `ragmetrics_core.probe.train_judge` reads them from a file."""
        from ragmetrics_embedded._training import train

        return train(claims, labels, sources, are_claims=are_claims)

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` if there is no rule for one of the prompts."""
        for name in sorted(set(names) - set(_RULES)):
            known = ", ".join(sorted(_RULES))
            raise ConfigError(
                f"the embedded judge has no rule for the prompt {name!r}: use another judge; it knows {known}"
            )


@dataclass(frozen=True)
class _Shown:
    """The variables of a prompt, the numbers in question, and the trained model, if there is one."""

    variables: Mapping[str, object]
    expected: Expected = ANYTHING
    trained: SupportModel | None = None

    def text(self, name: str) -> str:
        return cast("str", self.variables[name])

    def plain(self, name: str) -> str:
        """The text without its citation marks; evidence is copied from `text`, which has them."""
        return without_citations(self.text(name))

    @property
    def question(self) -> str:
        return self.text("question")

    @property
    def contexts(self) -> tuple[str, ...]:
        return tuple(cast("Sequence[str]", self.variables["contexts"]))

    @property
    def items(self) -> Sequence[Item]:
        return cast("Sequence[Item]", self.variables["items"])

    @property
    def said(self) -> list[str]:
        return [without_citations(item.text) for item in self.items]


Rule = Callable[[_Shown], Value]


def _completion(value: Value, model: str) -> Completion:
    text = json.dumps(value, ensure_ascii=False)
    return Completion(text, model, finish_reason="stop", held_to="graded")


def _judged(items: Sequence[Item], verdicts: Sequence[LexicalVerdict]) -> Value:
    names = {True: "yes", False: "no", None: UNKNOWN}
    return {
        "verdicts": [
            _entry(item, verdict, names[verdict.supported], verdict.evidence)
            for item, verdict in zip(items, verdicts, strict=True)
        ]
    }


def _stances(shown: _Shown) -> Value:
    """Verdicts in three ways; the evidence of a contradiction is the sentence that contradicts."""
    entries: list[Value] = []
    found = findings(shown.said, shown.contexts, shown.trained, contrary=True)
    for item, verdict in zip(shown.items, found, strict=True):
        if verdict.supported is False and verdict.contrary:
            entries.append(_entry(item, verdict, CONTRADICTED, verdict.contrary))
        else:
            names = {True: SUPPORTED, False: NOT_MENTIONED, None: UNKNOWN}
            entries.append(_entry(item, verdict, names[verdict.supported], verdict.evidence))
    return {"verdicts": entries}


def _entry(item: Item, verdict: LexicalVerdict, word: str, evidence: str | list[str]) -> Value:
    return {
        "number": item.number,
        "reason": verdict.reason,
        "evidence": evidence,
        **({} if verdict.supported is None else {"probability": round(verdict.score, 3)}),
        "verdict": word,
    }


def _rating(number: float) -> Value:
    return {"reason": "by the share of words that agree", "rating": round(number)}


def _statements(shown: _Shown) -> Value:
    declined = refusal(shown.plain("answer"))
    stated = _stated(shown, "answer", refuses=declined is not None)
    return {**stated, "declined": declined is not None, "reason": declined}


def _reference_statements(shown: _Shown) -> Value:
    return _stated(shown, "reference", refuses=False)


def _stated(shown: _Shown, name: str, *, refuses: bool) -> Value:
    """The statements of a text, or of each sentence in question; a sentence without any has its kind."""
    if "sentences" not in shown.expected.form:
        return {"statements": _claims(statements_of(shown.plain(name)), refuses=refuses)}
    sentences = [without_citations(text) for text in shown.expected.items]
    entries: list[Value] = []
    found = zip(shown.expected.numbers, sentences, statements_by_sentence(sentences), strict=True)
    for number, sentence, statements in found:
        claims = _claims(statements, refuses=refuses)
        if claims:
            kind = "claim"
        elif statements:
            kind = "refusal"
        else:
            kind = "question" if "?" in sentence else "heading" if sentence.endswith(":") else "greeting"
        entries.append({"sentence": number, "kind": kind, "statements": claims})
    return {"sentences": entries}


def _claims(statements: Sequence[str], *, refuses: bool) -> list[str]:
    return [text for text in statements if not (refuses and is_missing_remark(text))]


def _verdicts(shown: _Shown) -> Value:
    return _judged(shown.items, findings(shown.said, shown.contexts, shown.trained))


def _compared_with(name: str) -> Rule:
    def rule(shown: _Shown) -> Value:
        where = f"the {name}"
        return _judged(
            shown.items, compared(shown.said, shown.text(name), where=where, question=shown.question)
        )

    return rule


def _chunk_verdicts(shown: _Shown) -> Value:
    verdicts = chunk_findings(shown.contexts, question=shown.question, reference=shown.plain("reference"))
    # The items are "chunk 1", "chunk 2", ...; asked again, only some of them. The number names the chunk.
    return _judged(shown.items, [verdicts[item.number - 1] for item in shown.items])


def _relevant_sentences(shown: _Shown) -> Value:
    relevant = relevant_sentences(shown.question, shown.contexts)
    return {"relevant": [place + 1 for place in relevant] or INSUFFICIENT}


def _paper_sentences(shown: _Shown) -> Value:
    return {"sentences": list(relevant_sentences(shown.question, shown.contexts).values())}


def _questions(shown: _Shown) -> Value:
    answer, count = shown.plain("answer"), cast("int", shown.variables.get("count", 1))
    declined = refusal(answer) is not None
    return {
        "questions": [{"question": text, "noncommittal": declined} for text in questions_for(answer, count)]
    }


def _drawn(shown: _Shown, draw: int) -> Value:
    """One question, different for each draw."""
    written = questions_for(shown.plain("answer"), draw + 1)
    return {"questions": [{"question": written[draw % len(written)]}] if written else []}


def _entities(shown: _Shown) -> Value:
    return {"entities": entities_of(shown.plain("reference"))}


def _context_entities(shown: _Shown) -> Value:
    named = (name for chunk in shown.contexts for name in entities_of(without_citations(chunk)))
    distinct = {folded(name): name for name in reversed(list(named))}
    return {"entities": list(distinct.values())[::-1]}


def _paper_facts(shown: _Shown) -> Value:
    question, answer, reference = (shown.plain(name) for name in ("question", "answer", "reference"))
    own, expected = statements_of(answer), statements_of(reference)
    in_reference = compared(own, reference, where="the reference", question=question)
    in_answer = compared(expected, answer, where="the answer", question=question)
    # what stands in the answer word for word is no omission of it, however it was compared
    left = {folded(spaced_form(text)) for text in own}
    missing = [text for text, verdict in zip(expected, in_answer, strict=True) if not verdict.supported]
    return {
        "TP": [text for text, verdict in zip(own, in_reference, strict=True) if verdict.supported],
        "FP": [text for text, verdict in zip(own, in_reference, strict=True) if not verdict.supported],
        "FN": [text for text in missing if folded(spaced_form(text)) not in left],
    }


def _covering(scale: int) -> Rule:
    return lambda shown: _rating(scale * coverage(shown.question, shown.contexts))


def _grounded(scale: int) -> Rule:
    return lambda shown: _rating(scale * grounding(shown.plain("answer"), shown.contexts))


def _answer_rating(shown: _Shown) -> Value:
    return _rating(10 * relevance_of_answer(shown.question, shown.plain("answer")))


def _answer_rating_with_contexts(shown: _Shown) -> Value:
    answer = shown.plain("answer")
    on_topic = coverage(answer, (shown.question, *shown.contexts))
    return _rating(10 * relevance_of_answer(shown.question, answer) * on_topic)


def _accuracy_grade(shown: _Shown) -> Value:
    share = agreement(*(shown.plain(name) for name in ("first", "second", "question")))
    return _rating(4 if share == 1 else 2 if share else 0)


def _nugget_parts(shown: _Shown) -> Value:
    answer = shown.plain("answer")
    return _judged(shown.items, [has_part(text, answer, shown.question) for text in shown.said])


def _rubric(shown: _Shown) -> Value:
    return _rating(best_level(shown.said, shown.plain("answer")))


def _criterion(shown: _Shown) -> Value:
    answer = shown.plain("answer")
    return _judged(shown.items, [meets(text, answer) for text in shown.said])


def _standalone(shown: _Shown) -> Value:
    return {"question": with_earlier_questions(shown.question, shown.text("history"))}


def _declining(shown: _Shown) -> Value:
    return _judged(shown.items, [declining(shown.plain("answer"))] * len(shown.items))


def _sufficiency(shown: _Shown) -> Value:
    verdict = sufficing(shown.question, shown.contexts)
    return _judged(shown.items, [verdict] * len(shown.items))


_RULES: Final[Mapping[str, Rule]] = {
    "accuracy_grade": _accuracy_grade,
    "answer_rating": _answer_rating,
    "answer_rating_with_contexts": _answer_rating_with_contexts,
    "answer_verdicts": _compared_with("answer"),
    "chunk_rating": _covering(10),
    "chunk_verdicts": _chunk_verdicts,
    "context_entities": _context_entities,
    "context_grade": _covering(2),
    "context_grade_again": _covering(2),
    "criterion": _criterion,
    "declining": _declining,
    "entities": _entities,
    "grounding_grade": _grounded(2),
    "grounding_grade_again": _grounded(2),
    "nugget_parts": _nugget_parts,
    "paper_facts": _paper_facts,
    "paper_question": _questions,
    "paper_sentences": _paper_sentences,
    "paper_statements": _statements,
    "paper_verdicts": _verdicts,
    "questions": _questions,
    "reference_statements": _reference_statements,
    "reference_verdicts": _compared_with("reference"),
    "relevance_grade": _covering(3),
    "relevant_sentences": _relevant_sentences,
    "rubric": _rubric,
    "sentence_rating": _grounded(10),
    "standalone": _standalone,
    "stances": _stances,
    "statements": _statements,
    "sufficiency": _sufficiency,
    "verdicts": _verdicts,
}
