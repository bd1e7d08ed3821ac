"""Statements that the contexts should support."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragmetrics_core.asking import ask_each, review, unmentioned
from ragmetrics_core.errors import StepFailed
from ragmetrics_core.measurement import Judged, Labels
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Earlier, NamedText

__all__ = ["Evidence", "Supported", "ask_supported"]

_USER_WORDS = Labels("in the user's words", "not in the user's words")
_EARLIER_ANSWERS = Labels("only in an earlier answer", "not in an earlier answer")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Texts that may support a statement.

    Attributes:
        contexts: the chunks that the model received for the answer.
        unaccounted: other texts in its request, of which it is unknown whether they are evidence.
        earlier: the conversation before the question.
    """

    contexts: tuple[str, ...]
    unaccounted: tuple[str, ...] = ()
    earlier: Earlier = field(default_factory=Earlier)


@dataclass(frozen=True)
class Supported:
    """The decisions on statements, and for a conversation the number of statements supported by each place.

    Attributes:
        judged: the decisions; the contexts of this and of earlier turns support a statement.
        places: numbers of statements, each counted at the first place that supports it; empty without a
            conversation. `in_user_words` and `in_earlier_answers` are not supported.
    """

    judged: Judged
    places: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, kw_only=True)
class _Questions:
    """What all questions about some statements have in common; see `ask_supported`."""

    prompt: Prompt[VerdictList]
    statements: Sequence[str]
    about: str
    labels: Labels
    size: int

    def about_all(self, contexts: tuple[str, ...]) -> Steps[Judged]:
        """Ask about all statements."""
        if not any(chunk.strip() for chunk in contexts):
            nothing = unmentioned(self.prompt, self.statements, "this turn has no contexts")
            return (yield from review(nothing, about=self.about, labels=self.labels))
        return (
            yield from ask_each(
                self.prompt,
                self.statements,
                about=self.about,
                labels=self.labels,
                size=self.size,
                contexts=contexts,
            )
        )

    def about_some(
        self,
        numbers: Sequence[int],
        name: str,
        own: tuple[str, ...],
        others: Sequence[str],
        named: Sequence[NamedText] = (),
        labels: Labels | None = None,
    ) -> Steps[Judged]:
        """Ask about some statements again, with further texts."""
        return (
            yield from ask_each(
                self.prompt,
                [self.statements[number] for number in numbers],
                about=f"{self.about} (with {name})",
                labels=labels or self.labels,
                size=self.size,
                evidence=len(own),
                others=named,
                contexts=(*own, *others),
            )
        )


def ask_supported(
    prompt: Prompt[VerdictList],
    statements: Sequence[str],
    evidence: Evidence,
    *,
    about: str,
    labels: Labels,
    size: int,
) -> Steps[Supported]:
    """Ask whether the contexts support each statement.

    Statements without support are asked about again with more texts: first the contexts of earlier turns,
    which support a statement as those of this turn do; then the texts in the model's request of which it is
    unknown whether they are evidence. A statement that only these support has no decision: the score has
    bounds. At last the user's words, and then the application's earlier answers: a statement that only these
    support is not supported, but counted apart.

    Args:
        prompt: the prompt, which shows the contexts and the statements.
        statements: the statements.
        evidence: the texts.
        about: the kind of statements, for the record.
        labels: names of a positive and a negative verdict.
        size: maximum number of statements in one call.
    """
    asking = _Questions(prompt=prompt, statements=statements, about=about, labels=labels, size=size)
    contexts, earlier = evidence.contexts, evidence.earlier
    judged = yield from asking.about_all(contexts)
    in_contexts = judged.supported

    doubted = _doubted(judged)
    shown = tuple([text.text for text in earlier.contexts])
    if shown and doubted:
        again = yield from asking.about_some(
            doubted, "contexts of earlier turns", contexts, shown, earlier.contexts
        )
        judged = _updated(judged, doubted, again)
        doubted = _doubted(judged)
    in_earlier = judged.supported - in_contexts

    known = (*contexts, *shown)
    if evidence.unaccounted and doubted:
        again = yield from asking.about_some(doubted, "text of unknown origin", known, evidence.unaccounted)
        if again.supported:
            open_ones = [None if supported else False for supported in again.known]
            judged = _updated(judged, doubted, replace(again, known=tuple(open_ones), probabilities=()))
            judged = replace(judged, why_missing="unaccounted_text")
            doubted = _doubted(judged)
    if not any(earlier):
        return Supported(judged)

    in_user_words = yield from _supported_by(
        asking, doubted, "the user's words", known, earlier.user, _USER_WORDS
    )
    doubted = [number for number in doubted if number not in in_user_words]
    said = (*known, *[text.text for text in earlier.user])
    in_answers = yield from _supported_by(
        asking, doubted, "earlier answers", said, earlier.answers, _EARLIER_ANSWERS
    )
    places = {
        "in_contexts": in_contexts,
        "in_earlier_contexts": in_earlier,
        "in_user_words": len(in_user_words),
        "in_earlier_answers": len(in_answers),
    }
    return Supported(judged, places)


def _supported_by(
    asking: _Questions,
    numbers: Sequence[int],
    name: str,
    own: tuple[str, ...],
    texts: Sequence[NamedText],
    labels: Labels,
) -> Steps[list[int]]:
    """The statements that further texts support, which are no evidence; none if no reply can be read."""
    if not (numbers and texts):
        return []
    try:
        shown = [text.text for text in texts]
        found = yield from asking.about_some(numbers, name, own, shown, texts, labels)
    except StepFailed as failed:
        if failed.status != "parse_error":
            raise
        return []
    return [number for number, supported in zip(numbers, found.known, strict=True) if supported]


def _doubted(judged: Judged) -> list[int]:
    return [number for number, known in enumerate(judged.known) if known is False]


def _updated(judged: Judged, numbers: Sequence[int], again: Judged) -> Judged:
    """The decisions with later ones on some statements."""
    known, probabilities, stances = list(judged.known), list(judged.probabilities), list(judged.stances)
    for place, number in enumerate(numbers):
        known[number] = again.known[place]
        if probabilities and again.probabilities:
            probabilities[number] = again.probabilities[place]
        if stances and (again.known[place] or again.known[place] is None):
            stances[number] = again.stances[place] if again.known[place] and again.stances else None
    why = again.why_missing if again.missing else judged.why_missing
    return replace(
        judged,
        known=tuple(known),
        probabilities=tuple(probabilities),
        stances=tuple(stances),
        why_missing=why,
    )
