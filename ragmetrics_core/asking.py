"""The words in which a metric asks its judge, embedder and scorer.

Each is a generator to be used with `yield from`; the type checker knows what it gives back.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import Any, NamedTuple, TypeVar, cast, overload

from ragmetrics_core.errors import StepFailed
from ragmetrics_core.measurement import Decision, Evidence, Judged, Labels, Measurement, majority
from ragmetrics_core.parsers import Answer, Hints, NumberedVerdict, Rating, Span, VerdictList, align, locate
from ragmetrics_core.prompts import Item, Prompt
from ragmetrics_core.protocol import (
    Compare,
    Count,
    Fork,
    Generate,
    Part,
    Rate,
    Reply,
    Review,
    Segment,
    Steps,
)

__all__ = [
    "ask",
    "ask_draws",
    "ask_each",
    "ask_ratings",
    "ask_votes",
    "count",
    "part",
    "rate",
    "rate_shares",
    "review",
    "similar",
    "split",
    "together",
]

A = TypeVar("A", bound=Answer)
T = TypeVar("T")
U = TypeVar("U")

CUT = "the reply was cut by the model's length limit"
"""What is said of a reply that its provider calls cut."""
SUPPORTED = Labels("supported", "not supported")


def ask(prompt: Prompt[A], **variables: object) -> Steps[A]:
    """Ask the judge once and read the reply.

    Raises:
        StepFailed: the reply could not be read, or was cut by the length limit.
    """
    (answer,) = yield from ask_draws(prompt, 1, **variables)
    return answer


def ask_draws(prompt: Prompt[A], draws: int, **variables: object) -> Steps[tuple[A, ...]]:
    """Ask the same question several times, for `draws` independent replies.

    Raises:
        StepFailed: a reply could not be read, or was cut by the length limit.
    """
    replies: tuple[Reply[A], ...] = yield Generate(prompt=prompt, variables=variables, draws=draws)
    return tuple(_value(prompt, reply) for reply in replies)


def ask_votes(prompt: Prompt[A], **variables: object) -> Steps[tuple[A, ...]]:
    """Ask for a decision, as often as the run votes; gives the replies that could be read.

    Raises:
        StepFailed: none could be read, or one was cut by the length limit.
    """
    replies: tuple[Reply[A], ...] = yield Generate(prompt=prompt, variables=variables, votes=True)
    read = [reply for reply in replies if reply.reading.value is not None] or replies[:1]
    return tuple(_value(prompt, reply) for reply in read)


def ask_each(
    prompt: Prompt[VerdictList],
    items: Sequence[str],
    *,
    about: str = "statement",
    labels: Labels = SUPPORTED,
    source: str = "contexts",
    size: int = 20,
    first: int = 1,
    chunks: bool = False,
    declining: bool = False,
    **variables: object,
) -> Steps[Judged]:
    """Number the items and ask for a verdict on each; numbers left out are asked for once more.

    A reply that covers only some items never changes how many there are: what stays missing is a verdict
    without a decision.

    Args:
        prompt: shows the items under the variable `items`.
        items: the texts to judge; without any, nothing is asked.
        about: what the items are, for the record.
        labels: what a positive and a negative verdict are called.
        source: the variable in which quoted evidence is looked up.
        size: how many items are asked about in one call, so that long lists do not hit a length limit.
        first: which of the sample's chunks is the first one shown, where only some are.
        chunks: the items are the chunks that are shown, in order: evidence on one is looked up in it first.
        declining: the decision on the first item says whether the answer under test declines.
        variables: the prompt's other variables.

    Raises:
        StepFailed: not one verdict could be read.
    """
    if not items:
        return Judged()
    numbered = [Item(number, text) for number, text in enumerate(items, start=1)]
    batches = [numbered[start : start + size] for start in range(0, len(numbered), size)]
    answers = yield from together(*(_ask_batch(prompt, batch, variables) for batch in batches))
    found = {number: verdict for answer in answers for number, verdict in answer.verdicts.items()}
    if not found:
        why = next((answer.unanswered for answer in answers if answer.unanswered), None)
        raise _useless(_told("no verdict could be read from the reply", why), prompt)
    shown = variables.get(source, ())
    texts = (shown,) if isinstance(shown, str) else cast("Sequence[str]", shown)
    decisions = [
        _decision(text, found.get(number), source, texts, first, own=number if chunks else None, about=about)
        for number, text in numbered
    ]
    dropped = [text for answer in answers for text in answer.dropped]
    return (yield from review(decisions, about=about, labels=labels, dropped=dropped, declining=declining))


def ask_ratings(
    *asked: tuple[Prompt[Rating], Mapping[str, object]],
    allowed: Callable[[float], bool],
    attempts: int = 1,
) -> Steps[tuple[float | None, ...]]:
    """Ask for ratings side by side; None where no reply holds one that the scale has.

    Where the run asks several times or several judges, a rating is the mean of those that count.

    Args:
        asked: a prompt with its variables for each rating.
        allowed: whether a number is on the scale; any other is no rating, and is never clipped into one.
        attempts: how often a rating is asked for, at most, until one is on the scale.

    Raises:
        StepFailed: not one rating could be read.
    """
    rated: tuple[_Rated, ...] = yield from together(
        *(_rating(prompt, variables, allowed, attempts) for prompt, variables in asked)
    )
    if asked and not any(each.rating is not None for each in rated):
        why = next((each.unanswered for each in rated if each.unanswered), None)
        raise _useless(_told("no rating on the scale could be read", why), *(prompt for prompt, _ in asked))
    return tuple([each.rating for each in rated])


def review(
    decisions: Sequence[Decision],
    *,
    about: str,
    labels: Labels = SUPPORTED,
    dropped: Sequence[str] = (),
    declining: bool = False,
) -> Steps[Judged]:
    """Put decisions on the record, with a person's corrections applied, and get those that count.

    Args:
        decisions: one for each text, in order.
        about: what the texts are, for the record.
        labels: what a positive and a negative verdict are called.
        dropped: what was read and does not count, with reasons.
        declining: the first decision says whether the answer under test declines to answer.
    """
    judged: Judged = yield Review(tuple(decisions), about, labels, tuple(dropped), declining)
    return judged


def similar(anchor: str, texts: Sequence[str]) -> Steps[tuple[float | None, ...]]:
    """The cosine of each text with the anchor, each in [-1, 1]; None where a vector is zero."""
    cosines: tuple[float | None, ...] = yield Compare(anchor, tuple(texts))
    return cosines


def rate(pairs: Sequence[tuple[str, str]]) -> Steps[tuple[float, ...]]:
    """The scorer's number for each pair of texts."""
    numbers: tuple[float, ...] = yield Rate(tuple(pairs))
    return numbers


def rate_shares(pairs: Sequence[tuple[str, str]]) -> Steps[tuple[float, ...]]:
    """The scorer's number for each pair of texts, where it must be one from 0 to 1.

    Raises:
        StepFailed: a number lies outside: the scorer is of another kind than the metric needs.
    """
    numbers = yield from rate(pairs)
    outside = next((number for number in numbers if not 0 <= number <= 1), None)
    if outside is not None:
        raise StepFailed("model_error", f"the scorer gave {outside:g}, which is not from 0 to 1")
    return numbers


def count(
    procedure: str, answer: str, references: Sequence[str], **settings: object
) -> Steps[Mapping[str, tuple[int, ...]]]:
    """What a library counts in an answer and its references; the counts are kept in the record."""
    counts: Mapping[str, tuple[int, ...]] = yield Count(procedure, answer, tuple(references), settings)
    return counts


def split(text: str) -> Steps[tuple[str, ...]]:
    """The sentences of a text; the split is kept in the record."""
    sentences: tuple[str, ...] = yield Segment(text)
    return sentences


def part(request: Part) -> Steps[Measurement]:
    """Another metric's measurement of the same sample; calls that both make are made once."""
    measurement: Measurement = yield request
    return measurement


@overload
def together(first: Steps[T], second: Steps[U], /) -> Steps[tuple[T, U]]: ...
@overload
def together(*steps: Steps[T]) -> Steps[tuple[T, ...]]: ...
def together(*steps: Steps[Any]) -> Steps[tuple[Any, ...]]:
    """Run several generators side by side; all run to their end, then the most urgent failure is raised.

    A branch that could not be asked to its end comes before one whose reply is of no use: "cancelled", then
    "model_error" and "timeout", then "metric_error", then "parse_error"; of equal ones the first branch's
    counts.
    """
    if len(steps) == 1:
        return ((yield from steps[0]),)
    results: tuple[Any, ...] = yield Fork(steps)
    return results


class _Decided(NamedTuple):
    """What came out for one item; the votes only where there were several."""

    verdict: NumberedVerdict
    votes: tuple[bool, ...] = ()
    judge: str | None = None


class _Batch(NamedTuple):
    verdicts: Mapping[int, _Decided]
    dropped: tuple[str, ...]
    unanswered: str | None = None
    passed_on: frozenset[int] = frozenset()

    def then(self, later: "_Batch") -> "_Batch":
        """Both, where the later one was asked for what this one did not decide."""
        return _Batch(
            {**self.verdicts, **later.verdicts},
            self.dropped + later.dropped,
            later.unanswered or self.unanswered,
        )


def _ask_batch(
    prompt: Prompt[VerdictList], items: Sequence[Item], variables: Mapping[str, object]
) -> Steps[_Batch]:
    """Ask about some items, then about those left to another judge, then once more about those left out."""
    found = yield from _attempt(prompt, items, variables)
    if found.passed_on:
        rest = [item for item in items if item.number in found.passed_on]
        found = found.then((yield from _attempt(prompt, rest, variables, passed_on=True)))
    missing = [item for item in items if item.number not in found.verdicts]
    if not missing:
        return found
    return found.then((yield from _attempt(prompt, missing, variables, again=True)))


def _attempt(
    prompt: Prompt[VerdictList],
    items: Sequence[Item],
    variables: Mapping[str, object],
    *,
    again: bool = False,
    passed_on: bool = False,
) -> Steps[_Batch]:
    numbers = tuple([item.number for item in items])
    shown = {**variables, "items": tuple(items)}
    replies: tuple[Reply[VerdictList], ...] = yield Generate(
        prompt=prompt,
        variables=shown,
        hints=Hints(numbers),
        draw=int(again),
        again=again,
        passed_on=passed_on,
        votes=True,
    )
    values = [reply.reading.value for reply in replies if reply.reading.value is not None]
    left = frozenset(number for value in values for number in value.passed_on or () if number in numbers)
    # what one draw leaves to another judge, that one decides alone
    ballots = [align([n for n in numbers if n not in left], _kept(value, left)) for value in values]
    judge = replies[0].judge if len({reply.judge for reply in replies}) == 1 else None
    dropped = tuple(text for ballot in ballots for text in ballot.dropped)
    why = next((reply.unanswered for reply in replies if reply.unanswered), None)
    if len(replies) == 1:
        found = {n: _Decided(one, (), judge) for each in ballots for n, one in each.verdicts.items()}
        return _Batch(found, dropped, why, left)
    cast_for = {n: [ballot.verdicts[n] for ballot in ballots if n in ballot.verdicts] for n in numbers}
    found = {n: _decided(verdicts, judge) for n, verdicts in cast_for.items() if verdicts}
    return _Batch(found, dropped, why, left)


def _kept(value: VerdictList, left: frozenset[int]) -> Sequence[NumberedVerdict]:
    """The verdicts but those on numbers that are left to another judge."""
    return [each for each in value.verdicts if each.number not in left] if left else value.verdicts


def _decided(verdicts: Sequence[NumberedVerdict], judge: str | None) -> _Decided:
    """The majority's decision, with the words of the first that voted so."""
    votes = tuple(verdict.supported for verdict in verdicts)
    decision = majority(votes)
    return _Decided(next(verdict for verdict in verdicts if verdict.supported == decision), votes, judge)


class _Rated(NamedTuple):
    rating: float | None
    unanswered: str | None


def _rating(
    prompt: Prompt[Rating],
    variables: Mapping[str, object],
    allowed: Callable[[float], bool],
    attempts: int,
) -> Steps[_Rated]:
    why: str | None = None
    for attempt in range(attempts):
        replies: tuple[Reply[Rating], ...] = yield Generate(
            prompt=prompt, variables=variables, draw=attempt, votes=True
        )
        read = [reply.reading.value for reply in replies if not reply.cut]
        ratings = [each.rating for each in read if each is not None and allowed(each.rating)]
        if ratings:
            return _Rated(fsum(ratings) / len(ratings), None)
        why = next((reply.unanswered for reply in replies if reply.unanswered), why)
    return _Rated(None, why)


def _value(prompt: Prompt[A], reply: Reply[A]) -> A:
    if reply.cut or reply.reading.value is None:
        raise _useless(_why(reply), prompt)
    return reply.reading.value


def _why(reply: Reply[Any]) -> str:
    """Why a reply is of no use."""
    if reply.cut and reply.unanswered == CUT:
        return reply.unanswered
    if reply.cut and reply.unanswered is None:
        return "the reply is cut: it ends before its form does"
    return _told("the reply could not be read", reply.unanswered)


def _told(what: str, unanswered: str | None) -> str:
    """What failed, with the words that say why no answer came."""
    return what if unanswered is None else f"{what}: {unanswered}"


def _useless(why: str, *prompts: Prompt[Any]) -> StepFailed:
    """The failure of replies that hold nothing of what their prompts ask for."""
    ids = tuple(prompt.id for prompt in prompts)
    return StepFailed("parse_error", f"{ids[0]}: {why}", ids)


def _decision(
    text: str,
    decided: _Decided | None,
    source: str,
    shown: Sequence[str],
    first: int,
    *,
    own: int | None,
    about: str,
) -> Decision:
    if decided is None:
        return Decision(text, None)
    found, votes, judge = decided
    evidence: list[Evidence] = []
    for quote in found.evidence:
        span = _place(quote, shown, own)
        if span is not None and first > 1:
            span = replace(span, chunk=span.chunk + first - 1)
        evidence.append(Evidence(quote=quote, source=source, span=span))
    if (field := about.partition(" ")[0]) in {"answer", "reference"}:
        # where they stand in it, the driver knows
        evidence += [Evidence(quote=words, source=field) for words in found.unsupported or ()]
    return Decision(
        text, found.supported, found.reason, tuple(evidence), None, votes, found.confidence, judge
    )


def _place(quote: str, shown: Sequence[str], own: int | None) -> Span | None:
    """Where the quote stands: in the chunk that the item is, else in any."""
    if own is not None and (span := locate(quote, shown[own - 1 : own])) is not None:
        return replace(span, chunk=own)
    return locate(quote, shown)
