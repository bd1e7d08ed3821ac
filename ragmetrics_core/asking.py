"""The words in which a metric asks its judge, embedder and scorer.

Each is a generator to be used with `yield from`; the type checker knows what it gives back.
"""

from collections.abc import Callable, Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple, TypeVar, overload

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
    replies: tuple[Reply[A], ...] = yield Generate(prompt, variables)
    return _value(prompt, replies[0])


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
    called: Sequence[str] | None = None,
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
        called: what the record calls the items, where they are shown under other names.
        declining: the decision on the first item says whether the answer under test declines.
        variables: the prompt's other variables.

    Raises:
        StepFailed: not one verdict could be read.
    """
    if not items:
        return Judged()
    shown: Any = variables.get(source, ())
    texts: Sequence[str] = (shown,) if isinstance(shown, str) else shown
    sheet = _Sheet(prompt, variables, source, texts, first, chunks, about.partition(" ")[0])
    numbered = [Item(number, text) for number, text in enumerate(items, start=1)]
    batches = [numbered[start : start + size] for start in range(0, len(numbered), size)]
    answers = yield from together(*[_ask_batch(sheet, batch) for batch in batches])
    decided: dict[int, Decision] = {}
    for answer in answers:
        decided.update(answer.decisions)
    if not decided:
        why = next((answer.unanswered for answer in answers if answer.unanswered), None)
        raise _useless("no verdict could be read from the reply", why, prompt)
    decisions = [decided.get(number) or Decision(text, None) for number, text in numbered]
    if called is not None:
        decisions = [each._replace(text=name) for each, name in zip(decisions, called, strict=True)]
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
        raise _useless("no rating on the scale could be read", why, *(prompt for prompt, _ in asked))
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


class _Sheet(NamedTuple):
    """What all calls about some items have in common; see `ask_each`.

    Attributes:
        shown: the texts in which quoted evidence is looked up.
        field: the field that the items are from: words of them that the judge marks are looked up there.
    """

    prompt: Prompt[VerdictList]
    variables: Mapping[str, object]
    source: str
    shown: Sequence[str]
    first: int
    chunks: bool
    field: str

    def decision(
        self, item: Item, verdict: NumberedVerdict, votes: tuple[bool, ...], judge: str | None
    ) -> Decision:
        """What the judge decided on an item, with its evidence where it stands."""
        number, source = item.number, self.source
        evidence = [
            Evidence(quote=quote, source=source, span=self._place(quote, number))
            for quote in verdict.evidence
        ]
        if verdict.unsupported and self.field in {"answer", "reference"}:
            # where they stand in it, the driver knows
            evidence += [Evidence(quote=words, source=self.field) for words in verdict.unsupported]
        return Decision(
            item.text,
            verdict.supported,
            verdict.reason,
            tuple(evidence),
            votes=votes,
            confidence=verdict.confidence,
            judge=judge,
        )

    def _place(self, quote: str, number: int) -> Span | None:
        """Where the quote stands: in the chunk that the item is, else in any."""
        if self.chunks and (span := locate(quote, self.shown[number - 1 : number])) is not None:
            span.chunk = number
        else:
            span = locate(quote, self.shown)
        if span is not None:
            span.chunk += self.first - 1
        return span


class _AskedBatch(NamedTuple):
    """What the calls about some items gave: decisions by number; numbers that are left to another judge."""

    decisions: Mapping[int, Decision]
    dropped: tuple[str, ...]
    unanswered: str | None = None
    passed_on: frozenset[int] = frozenset()

    def then(self, later: "_AskedBatch") -> "_AskedBatch":
        """Both, where the later one was asked for what this one did not decide."""
        return _AskedBatch(
            {**self.decisions, **later.decisions},
            self.dropped + later.dropped,
            later.unanswered or self.unanswered,
        )


def _ask_batch(sheet: _Sheet, items: Sequence[Item]) -> Steps[_AskedBatch]:
    """Ask about some items, then about those left to another judge, then once more about those left out."""
    found = yield from _attempt(sheet, items)
    if found.passed_on:
        rest = [item for item in items if item.number in found.passed_on]
        found = found.then((yield from _attempt(sheet, rest, passed_on=True)))
    if len(found.decisions) == len(items):
        return found
    missing = [item for item in items if item.number not in found.decisions]
    return found.then((yield from _attempt(sheet, missing, again=True)))


def _attempt(
    sheet: _Sheet, items: Sequence[Item], *, again: bool = False, passed_on: bool = False
) -> Steps[_AskedBatch]:
    numbers = tuple([item.number for item in items])
    variables = {**sheet.variables, "items": tuple(items)}
    replies: tuple[Reply[VerdictList], ...] = yield Generate(
        sheet.prompt, variables, Hints(numbers), int(again), again=again, passed_on=passed_on, votes=True
    )
    values = [reply.reading.value for reply in replies if reply.reading.value is not None]
    left = frozenset([number for value in values for number in value.passed_on or () if number in numbers])
    # what one draw leaves to another judge, that one decides alone
    open_numbers = [number for number in numbers if number not in left] if left else numbers
    ballots = [
        align(
            open_numbers,
            [each for each in value.verdicts if each.number not in left] if left else value.verdicts,
        )
        for value in values
    ]
    judges = {reply.judge for reply in replies}
    judge = judges.pop() if len(judges) == 1 else None
    decisions: dict[int, Decision] = {}
    for item in items:
        number = item.number
        cast_for = [ballot.verdicts[number] for ballot in ballots if number in ballot.verdicts]
        if len(replies) == 1 and cast_for:
            decisions[number] = sheet.decision(item, cast_for[0], (), judge)
        elif cast_for:
            # the majority's decision, with the words of the first that voted so
            votes = tuple([verdict.supported for verdict in cast_for])
            decision = majority(votes)
            words = next(verdict for verdict in cast_for if verdict.supported == decision)
            decisions[number] = sheet.decision(item, words, votes, judge)
    dropped = tuple([text for ballot in ballots for text in ballot.dropped])
    why = next((reply.unanswered for reply in replies if reply.unanswered), None)
    return _AskedBatch(decisions, dropped, why, left)


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
    if reply.cut and reply.unanswered in {None, CUT}:
        raise _useless(reply.unanswered or "the reply is cut: it ends before its form does", None, prompt)
    if reply.cut or reply.reading.value is None:
        raise _useless("the reply could not be read", reply.unanswered, prompt)
    return reply.reading.value


def _useless(what: str, unanswered: str | None, *prompts: Prompt[Any]) -> StepFailed:
    """The failure of replies that hold nothing of what their prompts ask for."""
    ids = tuple(prompt.id for prompt in prompts)
    why = what if unanswered is None else f"{what}: {unanswered}"
    return StepFailed("parse_error", f"{ids[0]}: {why}", ids)
