"""Ratings: how much of what should be said is said, as a share of the words."""

from ragmetrics_embedded._rules.refusals import refusal
from ragmetrics_embedded._rules.relevance import relevant_sentences
from ragmetrics_embedded._rules.statements import statements_of
from ragmetrics_embedded._rules.verdicts import NEW, LexicalVerdict, compared, findings
from ragmetrics_embedded._support.evidence import read_evidence
from ragmetrics_embedded._support.words import read_words

__all__ = [
    "agreement",
    "best_level",
    "coverage",
    "declining",
    "grounding",
    "has_part",
    "meets",
    "relevance_of_answer",
    "sufficing",
]


def coverage(text: str, texts: tuple[str, ...]) -> float:
    """The share of a text's content words that some texts have; 0 for a text without any."""
    evidence = read_evidence(texts)
    keys = read_words(text).content_keys
    return sum(key in evidence.places for key in keys) / (len(keys) or 1)


def grounding(answer: str, contexts: tuple[str, ...]) -> float:
    """How well the answer's statements fit the contexts, on average."""
    found = findings(statements_of(answer), contexts)
    return sum(each.score for each in found) / (len(found) or 1)


def relevance_of_answer(question: str, answer: str) -> float:
    """The share of the question's words that the answer takes up; 0 when it declines."""
    if refusal(answer):
        return 0.0
    # an answer need not repeat the question, so that half of its words count as much as all
    return min(1.0, 2 * coverage(question, (answer,)))


def agreement(answer: str, reference: str, question: str) -> float:
    """The share of the answer's statements that the reference says."""
    found = compared(statements_of(answer), reference, where="the second answer", question=question)
    return sum(each.supported is True for each in found) / (len(found) or 1)


def has_part(nugget: str, answer: str, question: str) -> LexicalVerdict:
    """Whether the answer has half of a nugget's words beyond the question."""
    content = read_words(nugget).content_keys
    wanted = content - read_words(question).content_keys or content
    had = wanted & read_evidence((answer,)).places.keys()
    share = len(had) / (len(wanted) or 1)
    reason = f"{len(had)} of {len(wanted)} words beyond the question are in the answer"
    return LexicalVerdict(share >= NEW, share, reason)


def best_level(levels: list[str], answer: str) -> int:
    """The number of the level whose words the answer has most of, the lowest of equal ones."""
    shares = [coverage(level, (answer,)) for level in levels]
    return shares.index(max(shares)) + 1


def meets(criterion: str, answer: str) -> LexicalVerdict:
    """Whether the answer has the words of a criterion."""
    share = coverage(criterion, (answer,))
    return LexicalVerdict(share >= 0.5, share, f"{share:.0%} of its words are in the answer")


def declining(answer: str) -> LexicalVerdict:
    """Whether the answer declines to answer."""
    reason = refusal(answer)
    return LexicalVerdict(reason is not None, 1.0, reason or "it gives an answer")


def sufficing(question: str, contexts: tuple[str, ...]) -> LexicalVerdict:
    """Whether a sentence of the contexts has enough of the question's words."""
    for sentence in relevant_sentences(question, contexts).values():
        return LexicalVerdict(True, 1.0, "a sentence fits the question", sentence)
    return LexicalVerdict(False, 1.0, "no sentence fits the question")
