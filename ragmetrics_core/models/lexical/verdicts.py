"""Verdicts on statements and on chunks."""

from collections.abc import Sequence
from typing import NamedTuple

from ragmetrics_core.models.lexical.refusals import is_missing_remark, without_meta_words
from ragmetrics_core.models.lexical.sources import Source, read_source
from ragmetrics_core.models.lexical.statements import statements_of
from ragmetrics_core.models.lexical.support import Support, find_support
from ragmetrics_core.models.lexical.tokens import Sentence, read_sentence

__all__ = ["Finding", "chunk_findings", "find", "findings"]

# A remark that something is missing is refuted by a sentence that has this share of what it speaks of.
REFUTED = 0.9


class Finding(NamedTuple):
    """A verdict: the decision, how well the statement fits (0 to 1), the reason, the words that decide it.

    The evidence is a text of the source, or a list when two sentences are needed; empty when nothing fits.
    """

    supported: bool
    score: float
    reason: str
    evidence: str | list[str]


def findings(
    statements: Sequence[str], texts: tuple[str, ...], *, where: str, question: str = ""
) -> list[Finding]:
    """Look statements up in texts.

    Args:
        statements: what to look up.
        texts: the context chunks, or the one text that is compared with.
        where: what the texts are called in reasons.
        question: its words count less, since every answer repeats them; empty when it is not shown.
    """
    source = read_source(texts)
    asked = read_sentence(question) if question else None
    return [find(read_sentence(text), source, where=where, question=asked) for text in statements]


def find(statement: Sentence, source: Source, *, where: str, question: Sentence | None = None) -> Finding:
    """Look one statement up.

    A remark that something is missing counts as supported by the contexts unless one sentence has all that
    it speaks of; a reference or an answer supports it only with the same remark.
    """
    found = find_support(statement, source, question=question, where=where)
    if is_missing_remark(statement.text):
        return _on_remark(statement, source, found, where)
    return _finding(found)


def chunk_findings(contexts: tuple[str, ...], *, question: str, reference: str) -> list[Finding]:
    """For each chunk, whether it alone holds at least one full fact of the reference."""
    asked = read_sentence(question)
    facts = [read_sentence(text) for text in statements_of(reference)]
    return [_on_chunk(read_source((chunk,)), facts, asked) for chunk in contexts]


def _on_chunk(chunk: Source, facts: Sequence[Sentence], question: Sentence) -> Finding:
    tried = [find_support(fact, chunk, question=question, where="the chunk") for fact in facts]
    if not tried:
        return Finding(False, 0.0, "the reference states nothing", "")
    best = max(tried, key=lambda found: (found.supported, found.score))
    holds = sum(found.supported for found in tried)
    reason = (
        f"it holds {holds} of {len(facts)} facts of the reference"
        if holds
        else f"no fact of the reference: {best.reason}"
    )
    return _finding(best._replace(reason=reason))


def _on_remark(statement: Sentence, source: Source, found: Support, where: str) -> Finding:
    if where != "the contexts":
        same = any(is_missing_remark(sentence.text) for sentence in source.sentences)
        reason = (
            f"{where} says that something is missing as well"
            if same
            else f"a remark on missing information; {where} makes none"
        )
        return Finding(same, float(same), reason, "")
    about = without_meta_words(frozenset(statement.content))
    spoken = [token for token in statement.content.values() if token.key in about and token.kind != "weak"]
    for sentence in source.sentences:
        keys = {token.key for token in sentence.tokens}
        if len(spoken) > 1 and sum(token.key in keys for token in spoken) >= REFUTED * len(spoken):
            return Finding(
                False, 0.0, "it says that this is missing, and a sentence has all its words", sentence.text
            )
    return Finding(
        True,
        1.0,
        "it says that something is missing, and no sentence has all its words",
        found.evidence[0] if found.evidence else "",
    )


def _finding(found: Support) -> Finding:
    evidence: str | list[str] = list(found.evidence) if len(found.evidence) > 1 else "".join(found.evidence)
    return Finding(found.supported, found.score, found.reason, evidence)
