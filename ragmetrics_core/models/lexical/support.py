"""Does a text support a statement? Words, names, numbers with units, negations and opposites are compared.

This is no understanding. A statement passes when nearly all that it speaks of is found together in the text
and nothing speaks against it: no number, name or abbreviation that the text lacks, no negation on one side
only, no opposite. It fails on paraphrases in other words, on roles that are swapped, and on whatever has to
be concluded.
"""

from collections.abc import Sequence
from heapq import nlargest
from typing import NamedTuple

from ragmetrics_core.models.lexical.quantities import Quantity
from ragmetrics_core.models.lexical.sources import Place, Source
from ragmetrics_core.models.lexical.tokens import WEIGHTS, Clause, Sentence, Token
from ragmetrics_core.models.lexical.vocabulary import ANTONYMS, NEGATING_PREFIXES

__all__ = ["Support", "find_support"]

# Shares of a statement's weight: in the whole text, and in the one or two sentences that fit best.
ENOUGH_IN_ALL = 0.6
ENOUGH_TOGETHER = 0.5
# Below this share two clauses speak of different things, and a negation in one says nothing about the other.
SAME_SUBJECT = 0.5
# What the question says already, and what is said in passing, counts this much of its weight.
MINOR = 0.3
# The second sentence counts less than the best one.
SECOND = 0.7
# What an objection leaves of the score: a missing number or name is surer than what is read from the wording.
MISSING = 0.4
WORDING = 0.6
# How many sentences are looked at closely.
CANDIDATES = 40
# A sentence with more numbers is a table.
_TABLE = 200


class Support(NamedTuple):
    """What was found for a statement.

    Attributes:
        supported: the decision.
        score: how well it fits, from 0 to 1, for thresholds of the caller's own; 0.5 where there was nothing
            to look up.
        reason: in words.
        evidence: the sentences that fit best, as the source has them; empty when nothing fits.
    """

    supported: bool
    score: float
    reason: str
    evidence: tuple[str, ...]


class _Match(NamedTuple):
    """A weighted token of the statement, the keys under which the source has it, and the sentences."""

    token: Token
    weight: float
    keys: frozenset[str]
    places: frozenset[int]
    flipped: bool


class _Number(NamedTuple):
    """A number of the statement, and the sentences that have it."""

    quantity: Quantity
    weight: float
    places: frozenset[int]


class _Addition(NamedTuple):
    """A second sentence, and the weight that it adds to the best one."""

    place: int
    weight: float


class _Objection(NamedTuple):
    """What speaks against a statement, in words, and what it leaves of the score."""

    reason: str
    leaves: float


def find_support(
    statement: Sentence, source: Source, *, question: Sentence | None = None, where: str = "the text"
) -> Support:
    """Look a statement up in a source.

    Args:
        statement: the statement.
        source: the text.
        question: the question that both answer. What it says already counts less, and need not be said again;
            what the statement says in passing, in brackets or behind "e.g.", counts less as well.
        where: what the source is called in the reason.
    """
    tokens = list(statement.content.values())
    if statement.language is not None and source.languages and statement.language not in source.languages:
        # Words of two languages cannot be compared; names, abbreviations and numbers can.
        where = f"{where} (other language: only names and numbers are compared)"
        tokens = [
            token
            for token in tokens
            if token.kind == "code" or (token.kind == "name" and source.places(token.key))
        ]
    matches = [_match(token, source, _worth(token, statement, question)) for token in tokens]
    matches = _spelled_out(matches, statement, source)
    numbers = [
        _numbered(quantity, statement, source, question) for quantity in dict.fromkeys(statement.quantities)
    ]
    # What is minor and missing does not count against the statement.
    matches = [match for match in matches if match.places or match.weight == WEIGHTS[match.token.kind]]
    numbers = [number for number in numbers if number.places or number.weight == WEIGHTS["number"]]
    everything: list[_Match | _Number] = [*matches, *numbers]
    total = sum(found.weight for found in everything)
    if total == 0:
        return _verbatim(statement, source, where)

    weights = _fitting(everything, source)
    if not weights:
        return Support(False, 0.0, f"none of its words is in {where}", ())

    implied = {place: _implied_weight(place, matches, source) for place in weights}
    best = max(
        weights,
        key=lambda place: (weights[place] + implied[place], weights[place], source.sentences[place].text),
    )
    second = _second(best, _lacking(best, everything, source), source)
    everywhere = sum(found.weight for found in everything if found.places)
    together = weights[best] + implied[best] + (SECOND * second.weight if second else 0.0)
    share, close = everywhere / total, min(together / total, 1.0)

    against = _objection(statement, source, matches, numbers, where)
    score = (share + close) / 2 * (against.leaves if against else 1.0)
    supported = against is None and share >= ENOUGH_IN_ALL and close >= ENOUGH_TOGETHER
    places = [best, second.place] if second and supported else [best]
    evidence = tuple(source.sentences[place].text for place in places)
    return Support(
        supported, round(score, 4), against.reason if against else _counted(matches, numbers, where), evidence
    )


def _fitting(found: Sequence[_Match | _Number], source: Source) -> dict[int, float]:
    """The sentences that share most with a statement, with the weight that they share."""
    weights: dict[int, float] = {}
    for each in found:
        for place in each.places:
            weights[place] = weights.get(place, 0.0) + each.weight
    if len(weights) <= CANDIDATES:
        return weights
    best = nlargest(CANDIDATES, weights, key=lambda place: (weights[place], source.sentences[place].text))
    return {place: weights[place] for place in best}


def _is_known(token: Token, question: Sentence) -> bool:
    """Whether the question has a word, also where it spells out what is abbreviated here."""
    return token.key in question.content or (
        token.kind == "code" and len(token.key) > 1 and token.key in question.initials
    )


def _worth(token: Token, statement: Sentence, question: Sentence | None) -> float:
    weight = WEIGHTS[token.kind]
    if question is None:
        return weight
    return weight * MINOR if _is_known(token, question) or token.key in statement.asides else weight


def _match(token: Token, source: Source, weight: float) -> _Match:
    loosely = token.kind in {"word", "weak", "name"}
    key = source.find(token.key, loosely=loosely)
    if key is not None:
        return _Match(token, weight, frozenset({key}), frozenset(source.places(key)), False)
    if token.kind == "code" and (places := source.abbreviates(token.key)):
        return _Match(token, weight, frozenset(), frozenset(places), False)
    if loosely:
        for prefix in NEGATING_PREFIXES:
            for other in (prefix + token.key, token.key.removeprefix(prefix)):
                if other != token.key and len(other) > 3 and source.places(other):
                    return _Match(token, weight, frozenset({other}), frozenset(source.places(other)), True)
    return _Match(token, weight, frozenset(), frozenset(), False)


def _numbered(quantity: Quantity, statement: Sentence, source: Source, question: Sentence | None) -> _Number:
    agreeing = source.agreeing(quantity)
    if quantity.unit and source.measures(quantity.unit.dimension):
        # A bare number can stand for one with a unit only where the source has no such units.
        agreeing = [(place, other) for place, other in agreeing if other.unit]
    places = frozenset(place for place, _ in agreeing)
    minor = question is not None and (
        quantity.key in statement.asides or any(quantity.agrees(other) for other in question.quantities)
    )
    return _Number(quantity, WEIGHTS["number"] * (MINOR if minor else 1.0), places)


def _spelled_out(matches: list[_Match], statement: Sentence, source: Source) -> list[_Match]:
    """Words that the source only has as an abbreviation: "Packet Forwarding Control Protocol" for PFCP."""
    if all(match.places for match in matches):
        return matches
    lettered = [token for token in statement.tokens if token.text[0].isalpha()]
    covered: dict[str, frozenset[int]] = {}
    for code in sorted(source.codes):
        if len(code) > 2 and code.isalpha() and (start := statement.initials.find(code)) != -1:
            run = lettered[start : start + len(code)]
            if all(token.text[0].isupper() or token.kind == "stop" for token in run):
                covered |= {token.key: frozenset(source.places(code)) for token in run}
    return [
        match if match.places else match._replace(places=covered.get(match.token.key, frozenset()))
        for match in matches
    ]


def _implied_weight(place: int, matches: list[_Match], source: Source) -> float:
    company = source.company(place)
    return sum(match.weight for match in matches if place not in match.places and match.keys & company)


def _lacking(best: int, found: Sequence[_Match | _Number], source: Source) -> list[_Match | _Number]:
    """What the best sentence neither says nor implies."""
    company = source.company(best)
    return [
        each
        for each in found
        if best not in each.places and not (isinstance(each, _Match) and each.keys & company)
    ]


def _second(best: int, lacking: Sequence[_Match | _Number], source: Source) -> _Addition | None:
    """The sentence that adds most to the best one; of equal ones the one in the same chunk."""
    added: dict[int, float] = {}
    for each in lacking:
        for place in each.places:
            added[place] = added.get(place, 0.0) + each.weight
    if not added:
        return None
    near = source.chunk_of[best]
    place = max(
        added, key=lambda place: (added[place], source.chunk_of[place] == near, source.sentences[place].text)
    )
    return _Addition(place, added[place])


def _objection(
    statement: Sentence, source: Source, matches: list[_Match], numbers: list[_Number], where: str
) -> _Objection | None:
    """What speaks against the statement; None when nothing does."""
    for number in numbers:
        if not number.places and number.weight >= 1:
            return _Objection(_missing_number(number.quantity, source, where), MISSING)
    for match in matches:
        if match.token.kind in {"code", "name"} and not match.places and match.weight >= 1:
            return _Objection(f'"{match.token.text}" is not in {where}', MISSING)
    for clause in statement.clauses:
        own = [match for match in matches if match.token.key in clause.keys]
        against = _clause_objection(clause, own, statement, source)
        if against:
            return _Objection(against, WORDING)
    mixed_up = _mixed_up(statement, source, numbers)
    return _Objection(mixed_up, WORDING) if mixed_up else None


def _missing_number(quantity: Quantity, source: Source, where: str) -> str:
    for _, other in source.quantities:
        if quantity.readings & other.readings:
            return f"{quantity.text} is not in {where}, which says {other.text}"
    return f"the number {quantity.text} is not in {where}"


def _clause_objection(
    clause: Clause, matches: list[_Match], statement: Sentence, source: Source
) -> str | None:
    """A name that stands elsewhere, a negation on one side only, or an opposite."""
    total = sum(match.weight for match in matches)
    if not total:
        return None
    counterpart = _counterpart(clause, matches, statement, source)
    if counterpart is None:
        return None
    keys = counterpart.clause.keys
    company = source.company_of(counterpart)
    for match in matches:
        spelled_out = not match.keys and counterpart.sentence in match.places
        if (
            match.token.kind == "code"
            and match.weight >= 1
            and not (match.keys & (keys | company) or spelled_out)
        ):
            return f'what fits this best does not name "{match.token.text}"'
    if sum(match.weight for match in matches if match.keys & keys) < SAME_SUBJECT * total:
        return None
    words = {
        token.text
        for token in statement.tokens
        if token.key in clause.keys - keys and (ANTONYMS.get(token.key, frozenset()) & keys) - clause.keys
    }
    if words:
        return f'"{min(words)}" is said there with the opposite word'
    flips = sum(match.flipped for match in matches if match.keys & keys)
    if (clause.negations + counterpart.clause.negations + flips) % 2:
        return "one of the two is negated, the other is not"
    return None


def _counterpart(clause: Clause, matches: list[_Match], statement: Sentence, source: Source) -> Place | None:
    """The source's clause that shares most with a clause of the statement; what it implies counts half."""
    numbers = {token.key for token in statement.tokens if token.kind == "number" and token.key in clause.keys}
    near = _fitting(matches, source)

    def fit(place: Place) -> tuple[float, float, bool, list[str], list[str], str]:
        said = sum(match.weight for match in matches if match.keys & place.clause.keys)
        said += WEIGHTS["number"] * len(numbers & place.clause.keys)
        company = source.company_of(place)
        meant = [match for match in matches if match.keys & company and not match.keys & place.clause.keys]
        implied = sum(match.weight for match in meant)
        agrees = (place.clause.negations - clause.negations) % 2 == 0
        # The rest only makes the choice independent of the order of the chunks.
        names = sorted(match.token.key for match in meant)
        text = source.sentences[place.sentence].text
        return (said + implied / 2, said, agrees, sorted(place.clause.keys), names, text)

    return max((clause for place in near for clause in source.clauses(place)), key=fit, default=None)


def _mixed_up(statement: Sentence, source: Source, numbers: list[_Number]) -> str | None:
    """A number that a list gives to something else: "1 for voice, 2 for video" against "video has 1"."""
    names = _names(statement)
    for number in numbers:
        if len(number.places) != 1:
            continue
        (place,) = number.places
        sentence = source.sentences[place]
        if len(sentence.quantities) > _TABLE:
            continue  # what each of so many numbers is said of cannot be told
        own = {each.segment for each in sentence.quantities if number.quantity.agrees(each)}
        said_of = frozenset[str]().union(*(sentence.segments[segment] for segment in own)) & _names(sentence)
        if not said_of or said_of & names:
            continue  # it is said of nothing in particular, or of what the statement names
        for each in sentence.quantities:
            rival = sentence.segments[each.segment] & names and each.unit == number.quantity.unit
            if rival and not any(each.agrees(other) for other in statement.quantities):
                return f"{each.text} stands there in place of {number.quantity.text}"
    return None


def _names(sentence: Sentence) -> frozenset[str]:
    return frozenset(token.key for token in sentence.tokens if token.kind in {"code", "name"})


def _verbatim(statement: Sentence, source: Source, where: str) -> Support:
    """A statement of function words only: supported when the source has the same words in a row."""
    words = " ".join(token.key for token in statement.tokens)
    for sentence in source.sentences:
        if words and f" {words} " in f" {' '.join(token.key for token in sentence.tokens)} ":
            return Support(True, 0.5, f"the same words are in {where}", (sentence.text,))
    return Support(False, 0.5, "it has no word of content that could be looked up", ())


def _counted(matches: list[_Match], numbers: list[_Number], where: str) -> str:
    words = [match for match in matches if match.weight >= 0.3]
    found = sum(bool(match.places) for match in words)
    reason = f"{found} of {len(words)} content words"
    if numbers:
        reason += f" and {sum(bool(number.places) for number in numbers)} of {len(numbers)} numbers"
    return f"{reason} are in {where}"
