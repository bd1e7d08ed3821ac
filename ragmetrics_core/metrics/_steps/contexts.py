"""Statements that the contexts should support."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragmetrics_core.asking import AskedDecisions, ask_decisions, ask_each, review, unmentioned
from ragmetrics_core.errors import StepFailed
from ragmetrics_core.measurement import EARLIER_ANSWER, USER_WORDS, Decision, Judged, Labels
from ragmetrics_core.parsers import CONTRADICTED, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Earlier, NamedText

__all__ = ["Supported", "SupportingTexts", "ask_supported"]


@dataclass(frozen=True, kw_only=True)
class SupportingTexts:
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
            conversation. Those `in_user_words` and `in_earlier_answers` are not supported.
    """

    judged: Judged
    places: Mapping[str, int] = field(default_factory=dict[str, int])


def ask_supported(
    prompt: Prompt[VerdictList],
    statements: Sequence[str],
    sources: SupportingTexts,
    *,
    about: str,
    labels: Labels,
    size: int,
) -> Steps[Supported]:
    """Ask whether the contexts support each statement.

    Statements without support are asked about once more if the model was shown texts of which it is unknown
    whether they are evidence. A statement that only these support has no decision: the score has bounds.

    In a conversation they are asked about with more and more texts: first the contexts of earlier turns,
    which support a statement as those of this turn do; then texts of unknown origin; then the user's words
    and the application's earlier answers, which support nothing, but tell where a statement comes from. A
    statement that a context contradicts is not asked about again.

    Args:
        prompt: the prompt, which shows the contexts and the statements.
        statements: the statements.
        sources: the texts.
        about: the kind of statements, for the record.
        labels: names of a positive and a negative verdict.
        size: maximum number of statements in one call.
    """
    if any(sources.earlier):
        search = _Search(prompt, statements, sources.contexts, about, size)
        yield from search.in_all(sources)
        judged = yield from review(search.decisions, about=about, labels=labels)
        return Supported(replace(judged, why_missing=search.why_missing), search.places)
    contexts, unaccounted = sources.contexts, sources.unaccounted
    judged = yield from ask_each(prompt, statements, about=about, labels=labels, size=size, contexts=contexts)
    doubted = [number for number, known in enumerate(judged.known) if known is False]
    if not unaccounted or not doubted:
        return Supported(judged)
    again = yield from ask_each(
        prompt,
        [statements[number] for number in doubted],
        about=f"{about} (with text of unknown origin)",
        labels=labels,
        size=size,
        evidence=len(contexts),
        contexts=(*contexts, *unaccounted),
    )
    if not again.supported:
        return Supported(judged)
    decided = list(judged.known)
    for number, known in zip(doubted, again.known, strict=True):
        decided[number] = None if known else False
    stances = [
        None if known is None else stance
        for known, stance in zip(decided, judged.stances or [None] * len(decided), strict=True)
    ]
    return Supported(
        Judged(
            tuple(decided), judged.probabilities, "unaccounted_text", tuple(stances) if judged.stances else ()
        )
    )


class _Search:
    """The search for support of statements in the texts of a conversation.

    Args:
        prompt, statements, about, size: as for `ask_supported`.
        contexts: the contexts of this turn.

    Attributes:
        decisions: the decision on each statement so far.
        why_missing: short code for the reason of missing decisions.
        places: numbers of statements by the place that supports them.
    """

    def __init__(
        self,
        prompt: Prompt[VerdictList],
        statements: Sequence[str],
        contexts: tuple[str, ...],
        about: str,
        size: int,
    ) -> None:
        self._prompt, self._statements, self._about, self._size = prompt, statements, about, size
        self._own = contexts
        self._others: list[NamedText] = []
        self.decisions: list[Decision] = []
        self.why_missing = Judged.why_missing
        self.places: dict[str, int] = {}

    def in_all(self, sources: SupportingTexts) -> Steps[None]:
        """Look in the contexts, then, for what they do not support, in one kind of text after the other."""
        if any(chunk.strip() for chunk in self._own):
            asked = yield from self._ask(range(len(self._statements)))
            self.decisions, self.why_missing = list(asked.decisions), asked.why_missing
        else:
            self.decisions = unmentioned(self._prompt, self._statements, "this turn has no contexts")
        self.places["in_contexts"] = sum(bool(each.supported) for each in self.decisions)
        yield from self._in_earlier_contexts(sources.earlier.contexts)
        yield from self._in_unaccounted(sources.unaccounted)
        yield from self._in_no_evidence("in_user_words", sources.earlier.user, USER_WORDS)
        yield from self._in_no_evidence("in_earlier_answers", sources.earlier.answers, EARLIER_ANSWER)

    def _in_earlier_contexts(self, texts: Sequence[NamedText]) -> Steps[None]:
        self.places["in_earlier_contexts"] = 0
        texts = [text for text in texts if text.text not in self._own]
        if texts and (doubted := self._doubted):
            self._others += texts
            asked = yield from self._ask(doubted)
            for number, found in zip(doubted, asked.decisions, strict=True):
                if found.supported is not False or found.stance == CONTRADICTED:
                    self.decisions[number] = found
                    self.places["in_earlier_contexts"] += bool(found.supported)
            if any(found.supported is None for found in asked.decisions):
                self.why_missing = asked.why_missing

    def _in_unaccounted(self, texts: Sequence[str]) -> Steps[None]:
        if texts and (doubted := self._doubted):
            named = [NamedText(text, "the request, from an unknown source") for text in texts]
            asked = yield from self._ask(doubted, named)
            for number, found in zip(doubted, asked.decisions, strict=True):
                if found.supported:
                    self.decisions[number] = found._replace(supported=None, confidence=None, stance=None)
                    self.why_missing = "unaccounted_text"

    def _in_no_evidence(self, place: str, texts: Sequence[NamedText], label: str) -> Steps[None]:
        """Look for statements in texts that are not evidence; an unreadable reply changes nothing."""
        self.places[place] = 0
        if not (
            texts and (doubted := [each for each in self._doubted if self.decisions[each].label is None])
        ):
            return
        self._others += texts
        try:
            asked = yield from self._ask(doubted)
        except StepFailed as failed:
            if failed.status != "parse_error":
                raise
            return
        for number, found in zip(doubted, asked.decisions, strict=True):
            if found.supported:
                reasons = filter(None, (self.decisions[number].reason, found.reason))
                self.decisions[number] = self.decisions[number]._replace(
                    reason="; ".join(reasons) or None, evidence=found.evidence, label=label
                )
                self.places[place] += 1

    @property
    def _doubted(self) -> list[int]:
        """The statements without support, but for those that a context contradicts, which is final."""
        return [
            number
            for number, decision in enumerate(self.decisions)
            if decision.supported is False and decision.stance != CONTRADICTED
        ]

    def _ask(self, numbers: Sequence[int], more: Sequence[NamedText] = ()) -> Steps[AskedDecisions]:
        """Ask about statements; the prompt shows the contexts, the texts before, and more texts."""
        others = [*self._others, *more]
        return (
            yield from ask_decisions(
                self._prompt,
                [self._statements[number] for number in numbers],
                {"contexts": (*self._own, *[text.text for text in others])},
                about=self._about,
                size=self._size,
                evidence=len(self._own),
                others=others,
            )
        )
