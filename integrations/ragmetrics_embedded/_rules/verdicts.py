"""Verdicts on statements and on chunks."""

from collections.abc import Sequence
from typing import NamedTuple

from ragmetrics_embedded._rules.refusals import is_missing_remark
from ragmetrics_embedded._rules.short_answers import Match, aliases_of, match
from ragmetrics_embedded._rules.statements import statements_of
from ragmetrics_embedded._support import Support, SupportModel, support_model
from ragmetrics_embedded._support.evidence import read_evidence
from ragmetrics_embedded._support.vocabulary import META
from ragmetrics_embedded._support.words import read_words

__all__ = ["LexicalVerdict", "chunk_findings", "compared", "findings"]

# A remark that something is missing is refuted by a sentence that has this share of what it speaks of.
REFUTED = 0.9
# A fact that words cannot decide may be the one that counts.
_RANKS: dict[bool | None, int] = {False: 0, None: 1, True: 2}
# Of what a statement says beyond the question, the other text must have this share.
NEW = 0.5


class LexicalVerdict(NamedTuple):
    """A verdict: the decision, the probability that it is supported, the reason, the words that decide it.

    No decision means that words cannot decide. The evidence is a text of the source, or a list when two
    sentences are needed; empty when nothing fits. `contrary` is the sentence that contradicts the statement,
    if one does.
    """

    supported: bool | None
    score: float
    reason: str
    evidence: str | list[str] = ""
    contrary: str = ""


def findings(
    statements: Sequence[str],
    contexts: tuple[str, ...],
    trained: SupportModel | None = None,
    *,
    contrary: bool = False,
) -> list[LexicalVerdict]:
    """Look statements up in the contexts.

    A remark that something is missing counts as supported unless one sentence has all that it speaks of.

    Args:
        statements: what to look up.
        contexts: where.
        trained: the model that decides, instead of the bundled one.
        contrary: whether to look for sentences that contradict them.
    """
    model = trained or support_model()
    return [
        _on_remark(text, contexts)
        if is_missing_remark(text)
        else _finding(model.support(text, contexts, contrary=contrary))
        for text in statements
    ]


def compared(statements: Sequence[str], other: str, *, where: str, question: str) -> list[LexicalVerdict]:
    """Look the statements of an answer up in a reference, or those of a reference in an answer.

    What the question says already need not be said again. Of a short answer on either side it is asked
    whether the other side has it.

    Args:
        statements: what to look up.
        other: the other text.
        where: what it is called in reasons.
        question: what both answer.
    """
    return [_compared(text, other, where, question) for text in statements]


def chunk_findings(contexts: tuple[str, ...], *, question: str, reference: str) -> list[LexicalVerdict]:
    """For each chunk, whether it alone holds at least one full fact of the reference."""
    facts = statements_of(reference)
    return [_on_chunk(chunk, facts, question) for chunk in contexts]


def _compared(statement: str, other: str, where: str, question: str) -> LexicalVerdict:
    if is_missing_remark(statement):
        same = is_missing_remark(other)
        reason = (
            f"{where} says that something is missing as well"
            if same
            else f"a remark on missing information; {where} makes none"
        )
        return LexicalVerdict(same, float(same), reason)
    if aliases := aliases_of(other):
        found = match(aliases, statement, question)
        reason = f'{found.share:.2f}: it {"has" if found.agrees else "lacks"} the answer "{found.alias}"'
        return LexicalVerdict(found.agrees, found.share, reason, found.alias if found.agrees else "")
    if aliases := aliases_of(statement):
        matches = [match(aliases, text, question) for text in statements_of(other)]
        best = max(matches, default=Match(0.0, ""))
        reason = f"{best.share:.2f}: {where} {'has' if best.agrees else 'lacks'} it"
        return LexicalVerdict(best.agrees, best.share, reason)
    return _beyond_question(statement, other, where, question)


def _beyond_question(statement: str, other: str, where: str, question: str) -> LexicalVerdict:
    """What is said beyond the question must be in the other text, and the whole in both together."""
    asked = read_words(question).content_keys
    new = [token for token in read_words(statement).content if token.key not in asked]
    evidence = read_evidence((other,))
    known = sum(token.key in evidence.places for token in new)
    found = support_model().support(
        statement, (f"{question}\n{other}",) if new else (other,), question=question
    )
    quotes = [quote for quote in found.evidence if quote in other]
    if new and known < NEW * len(new):
        share = min(found.probability, known / len(new))
        return LexicalVerdict(
            False,
            share,
            f"{share:.2f}: {known} of {len(new)} words beyond the question are in {where}",
            quotes,
        )
    return _finding(found._replace(evidence=tuple(quotes)))


def _on_chunk(chunk: str, facts: Sequence[str], question: str) -> LexicalVerdict:
    tried = [_compared(fact, chunk, "the chunk", question) for fact in facts]
    if not tried:
        return LexicalVerdict(False, 0.0, "the reference states nothing")
    best = max(tried, key=lambda found: (_RANKS[found.supported], found.score))
    if best.supported is None:
        return best
    holds = sum(found.supported is True for found in tried)
    reason = (
        f"it holds {holds} of {len(facts)} facts of the reference"
        if holds
        else f"no fact of the reference: {best.reason}"
    )
    return best._replace(reason=reason)


def _on_remark(statement: str, contexts: tuple[str, ...]) -> LexicalVerdict:
    spoken = read_words(statement).content_keys - META
    evidence = read_evidence(contexts)
    for place, keys in enumerate(evidence.keys):
        if len(spoken) > 1 and len(spoken & keys) >= REFUTED * len(spoken):
            reason = "it says that this is missing, and a sentence has all its words"
            refuting = evidence.as_written(place)
            return LexicalVerdict(False, 0.0, reason, refuting, refuting)
    return LexicalVerdict(True, 1.0, "it says that something is missing, and no sentence has all its words")


def _finding(found: Support) -> LexicalVerdict:
    evidence: str | list[str] = list(found.evidence) if len(found.evidence) > 1 else "".join(found.evidence)
    return LexicalVerdict(found.supported, found.probability, found.reason, evidence, found.contrary)
