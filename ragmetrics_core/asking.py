"""Functions with which a metric asks its judge, embedder and scorer.

All are generators for `yield from`, with typed results.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import Any, NamedTuple, TypeVar, overload

from ragmetrics_core.errors import StepFailed
from ragmetrics_core.measurement import Decision, Evidence, Judged, Labels, Measurement, majority
from ragmetrics_core.parsers import (
    ANYTHING,
    NOT_MENTIONED,
    UNKNOWN,
    Answer,
    Expected,
    NumberedVerdict,
    Rating,
    Scale,
    Span,
    StanceList,
    StatementList,
    VerdictList,
    locate,
)
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
    Unread,
)
from ragmetrics_core.samples import NamedText

__all__ = [
    "SUPPORTED",
    "AskedDecisions",
    "Uncovered",
    "ask",
    "ask_decisions",
    "ask_draws",
    "ask_each",
    "ask_ratings",
    "ask_readable",
    "ask_statements",
    "ask_votes",
    "count",
    "is_three_way",
    "part",
    "rate",
    "rate_shares",
    "review",
    "similar",
    "split",
    "together",
    "unmentioned",
]

A = TypeVar("A", bound=Answer)
T = TypeVar("T")
U = TypeVar("U")

SUPPORTED = Labels("supported", "not supported")


class Uncovered(str):
    """A sentence of which the judge gave no statement, in place of its statements: it has no verdict."""


def ask(prompt: Prompt[A], *, expected: Expected = ANYTHING, **variables: object) -> Steps[A]:
    """Ask the judge and read the reply; if the reply does not have the form, ask again with the reasons.

    Args:
        prompt: the prompt.
        expected: further constraints on the reply, such as the number of entries.
        variables: the variables of the prompt.

    Raises:
        StepFailed: no reply had the form.
    """
    (reply,) = yield from _replies(Generate(prompt, variables, expected))
    return _value(reply)


def ask_readable(prompt: Prompt[A], *, expected: Expected = ANYTHING, **variables: object) -> Steps[A]:
    """Ask as `ask` does, but accept a reply that has the form and still gets objections in the end.

    Raises:
        StepFailed: no reply had the form.
    """
    (reply,) = yield from _replies(Generate(prompt, variables, expected))
    if reply.reading.value is None:
        raise _useless(reply)
    return reply.reading.value


def ask_draws(
    prompt: Prompt[A], draws: int, *, expected: Expected = ANYTHING, **variables: object
) -> Steps[tuple[A, ...]]:
    """Ask the same question for `draws` independent replies; see `ask`.

    Raises:
        StepFailed: one of the replies never had the form.
    """
    replies = yield from _replies(Generate(prompt, variables, expected, draws=draws))
    return tuple([_value(reply) for reply in replies])


def ask_votes(
    prompt: Prompt[A], *, expected: Expected = ANYTHING, **variables: object
) -> Steps[tuple[A, ...]]:
    """Ask for a decision once for each vote of the run; return the readable replies; see `ask`.

    Raises:
        StepFailed: no reply had the form.
    """
    replies = yield from _replies(Generate(prompt, variables, expected, votes=True))
    read = [reply for reply in replies if not reply.reading.objections] or replies[:1]
    return tuple([_value(reply) for reply in read])


def ask_statements(prompt: Prompt[StatementList], **variables: object) -> Steps[tuple[str, ...]]:
    """The statements of a text; sentences of which the judge gave none follow as `Uncovered`.

    Args:
        prompt: the prompt.
        variables: the variables of the prompt.

    Raises:
        StepFailed: no statement could be read.
    """
    expected = Expected(items=(str(variables["answer"]),)) if "answer" in variables else ANYTHING
    (reply,) = yield from _replies(Generate(prompt, variables, expected))
    found = reply.reading.value
    answered = None if found is None else found.answered()
    if found is None or answered is None:
        return _value(reply).statements
    sentences = zip(reply.expected.numbers, reply.expected.items, strict=True)
    return (*found.statements, *(Uncovered(text) for number, text in sentences if number not in answered))


def ask_each(
    prompt: Prompt[VerdictList],
    items: Sequence[str],
    *,
    about: str = "statement",
    labels: Labels = SUPPORTED,
    source: str = "contexts",
    size: int = 20,
    ranks: Sequence[int] = (),
    chunks: bool = False,
    called: Sequence[str] | None = None,
    declining: bool = False,
    evidence: int | None = None,
    **variables: object,
) -> Steps[Judged]:
    """Number the items and ask for a verdict on each; ask again about numbers without a verdict.

    There is always one verdict for each item; if the judge never gives it, its decision is None.

    Args:
        prompt: shows the items under the variable `items`.
        items: the texts to judge; nothing is asked about those that are `Uncovered`.
        about: the kind of items, for the record.
        labels: names of a positive and a negative verdict.
        source: the variable in which to look up quoted evidence.
        size: maximum number of items in one call, so that long lists do not hit a length limit.
        ranks: ranks of the chunks that are shown, if not all are.
        chunks: whether the items are the shown chunks, in order; evidence on a chunk is first looked up in
            it.
        called: names of the items in the record, if they differ from the shown ones.
        declining: whether the decision on the first item says that the answer under test declines.
        evidence: how many of the texts under `source` are its own, if not all are. A quote from another one
            has no place.
        variables: the prompt's other variables.

    Raises:
        StepFailed: no verdict could be read.
    """
    asked = yield from ask_decisions(
        prompt,
        items,
        variables,
        about=about,
        source=source,
        size=size,
        ranks=ranks,
        chunks=chunks,
        evidence=evidence,
    )
    decisions = asked.decisions
    if called is not None:
        decisions = [each._replace(text=name) for each, name in zip(decisions, called, strict=True)]
    if not decisions:
        return Judged()
    judged = yield from review(decisions, about=about, labels=labels, declining=declining)
    return replace(judged, why_missing=asked.why_missing)


class AskedDecisions(NamedTuple):
    """Decisions on items in order, and a short code for the reason of missing ones."""

    decisions: Sequence[Decision] = ()
    why_missing: str = Judged.why_missing


def ask_decisions(
    prompt: Prompt[VerdictList],
    items: Sequence[str],
    variables: Mapping[str, object],
    *,
    about: str,
    source: str = "contexts",
    size: int = 20,
    ranks: Sequence[int] = (),
    chunks: bool = False,
    evidence: int | None = None,
    others: Sequence[NamedText] = (),
) -> Steps[AskedDecisions]:
    """Ask as `ask_each` does, without a review: the decisions do not count yet.

    The arguments are those of `ask_each`, and `others`: texts that are not the variable's own, of which a
    quote names the place.

    Raises:
        StepFailed: no verdict could be read.
    """
    if not items:
        return AskedDecisions()
    shown: Any = variables.get(source, ())
    texts: Sequence[str] = (shown,) if isinstance(shown, str) else shown
    field = about.partition(" ")[0]
    sheet = _Sheet(prompt, variables, source, texts[:evidence], ranks, chunks, field, others)
    numbered = [
        Item(number, text) for number, text in enumerate(items, start=1) if not isinstance(text, Uncovered)
    ]
    batches = [numbered[start : start + size] for start in range(0, len(numbered), size)]
    answers = yield from together(*[_ask_batch(sheet, batch) for batch in batches])
    decided: dict[int, Decision] = {}
    for answer in answers:
        decided.update(answer.decisions)
    if numbered and not decided:
        raise _useless(answers[0].reply)
    decisions = [decided.get(number) or _undecided(text) for number, text in enumerate(items, start=1)]
    if len(numbered) < len(items):
        return AskedDecisions(decisions, "uncovered_sentences")
    if any(each.supported is None for each in decided.values()):
        return AskedDecisions(decisions, "undecided_verdicts")
    return AskedDecisions(decisions)


def is_three_way(prompt: Prompt[Any]) -> bool:
    """Whether a prompt asks for verdicts in three ways: supported, contradicted, not mentioned."""
    return issubclass(prompt.answer, StanceList)


def unmentioned(prompt: Prompt[VerdictList], texts: Sequence[str], reason: str) -> list[Decision]:
    """Negative decisions on texts that the prompt was not asked about, because nothing can support them."""
    stance = NOT_MENTIONED if is_three_way(prompt) else None
    return [Decision(text, False, reason, stance=stance) for text in texts]


def _undecided(text: str) -> Decision:
    why = "the judge gave no statement of this sentence" if isinstance(text, Uncovered) else None
    return Decision(str(text), None, why)


def ask_ratings(
    *asked: tuple[Prompt[Rating], Mapping[str, object]], scale: Scale, attempts: int | None = None
) -> Steps[tuple[float | None, ...]]:
    """Ask for ratings concurrently; None for a rating if no reply has a number on the scale.

    If the run asks several times or several judges, a rating is the mean of the valid ones.

    Args:
        asked: a prompt with its variables for each rating.
        scale: the allowed numbers; other ratings are asked for again, never clipped.
        attempts: how often to ask for a rating, at most; None for the run's own limit.

    Raises:
        StepFailed: no rating could be read.
    """
    expected = Expected(scale=scale)
    replies: tuple[list[Reply[Rating]], ...] = yield from together(
        *(
            _replies(Generate(prompt, variables, expected, votes=True, attempts=attempts))
            for prompt, variables in asked
        )
    )
    ratings = [
        [reply.reading.value.rating for reply in rated if reply.reading.value is not None]
        for rated in replies
    ]
    if asked and not any(ratings):
        raise _useless(*[given[0] for given in replies])
    return tuple([fsum(given) / len(given) if given else None for given in ratings])


def review(
    decisions: Sequence[Decision],
    *,
    about: str,
    labels: Labels = SUPPORTED,
    declining: bool = False,
    notes: Sequence[str] = (),
) -> Steps[Judged]:
    """Record decisions, apply a person's corrections, and return the final decisions.

    Args:
        decisions: one for each text, in order.
        about: the kind of texts, for the record.
        labels: names of a positive and a negative verdict.
        declining: whether the first decision says that the answer under test declines.
        notes: findings in the texts that do not count, with reasons, for the record.
    """
    judged: Judged = yield Review(tuple(decisions), about, labels, declining, tuple(notes))
    return judged


def similar(anchor: str, texts: Sequence[str]) -> Steps[tuple[float | None, ...]]:
    """The cosine of each text with the anchor, in [-1, 1]; None for a zero vector."""
    cosines: tuple[float | None, ...] = yield Compare(anchor, tuple(texts))
    return cosines


def rate(pairs: Sequence[tuple[str, str]]) -> Steps[tuple[float, ...]]:
    """The scorer's number for each pair of texts."""
    numbers: tuple[float, ...] = yield Rate(tuple(pairs))
    return numbers


def rate_shares(pairs: Sequence[tuple[str, str]]) -> Steps[tuple[float, ...]]:
    """The scorer's number from 0 to 1 for each pair of texts.

    Raises:
        StepFailed: a number is outside [0, 1], so the scorer does not suit the metric.
    """
    numbers = yield from rate(pairs)
    outside = next((number for number in numbers if not 0 <= number <= 1), None)
    if outside is not None:
        raise StepFailed("model_error", f"the scorer gave {outside:g}, which is not from 0 to 1")
    return numbers


def count(
    procedure: str, answer: str, references: Sequence[str], **settings: object
) -> Steps[Mapping[str, tuple[int, ...]]]:
    """Counts of a library for an answer and its references; the record keeps them."""
    counts: Mapping[str, tuple[int, ...]] = yield Count(procedure, answer, tuple(references), settings)
    return counts


def split(text: str) -> Steps[tuple[str, ...]]:
    """The sentences of a text; the record keeps them."""
    sentences: tuple[str, ...] = yield Segment(text)
    return sentences


def part(request: Part) -> Steps[Measurement]:
    """Another metric's measurement of the same sample; shared calls are made once."""
    measurement: Measurement = yield request
    return measurement


@overload
def together(first: Steps[T], second: Steps[U], /) -> Steps[tuple[T, U]]: ...
@overload
def together(*steps: Steps[T]) -> Steps[tuple[T, ...]]: ...
def together(*steps: Steps[Any]) -> Steps[tuple[Any, ...]]:
    """Run several generators concurrently to their end, then raise the most urgent failure.

    From most to least urgent: "cancelled"; "model_error" and "timeout"; "metric_error"; "parse_error". Of
    equal failures, that of the first branch is raised.
    """
    if len(steps) == 1:
        return ((yield from steps[0]),)
    results: tuple[Any, ...] = yield Fork(steps)
    return results


class _Sheet(NamedTuple):
    """Common data of all calls about some items; see `ask_each`.

    Attributes:
        shown: the texts in which to look up quoted evidence.
        field: the field of the items, in which to look up words that the judge marks.
        others: further texts in which to look up quotes.
    """

    prompt: Prompt[VerdictList]
    variables: Mapping[str, object]
    source: str
    shown: Sequence[str]
    ranks: Sequence[int]
    chunks: bool
    field: str
    others: Sequence[NamedText] = ()

    def decision(
        self, item: Item, verdict: NumberedVerdict, votes: tuple[bool, ...], judge: str | None
    ) -> Decision:
        """The judge's decision on an item, with its evidence located."""
        evidence = [self._evidence(quote, item.number) for quote in verdict.quotes]
        if verdict.unsupported and self.field in {"answer", "reference"}:
            # where they stand in it, the driver knows
            evidence += [Evidence(quote=words, source=self.field) for words in verdict.unsupported]
        return Decision(
            item.text,
            verdict.supported,
            verdict.reason.strip() or None,
            tuple(evidence),
            votes=votes,
            confidence=verdict.probability,
            judge=judge,
            stance=verdict.stance,
        )

    def _evidence(self, quote: str, number: int) -> Evidence:
        """A quote with its place, or with the name of the other text that has it."""
        span = self._place(quote, number)
        if span is None:
            source = next((each.place for each in self.others if locate(quote, (each.text,))), self.source)
            return Evidence(quote=quote, source=source)
        return Evidence(quote=quote, source=self.source, span=span)

    def _place(self, quote: str, number: int) -> Span | None:
        """Place of the quote: in the item's own chunk, else in any."""
        if self.chunks and (span := locate(quote, self.shown[number - 1 : number])) is not None:
            span.chunk = number
        else:
            span = locate(quote, self.shown)
        if span is not None and self.ranks:
            span.chunk = self.ranks[span.chunk - 1]
        return span


class _AskedBatch(NamedTuple):
    """Decisions on items by number, and the first incomplete reply, else the first reply."""

    decisions: Mapping[int, Decision]
    reply: Reply[VerdictList]


def _ask_batch(sheet: _Sheet, items: Sequence[Item], *, passed_on: bool = False) -> Steps[_AskedBatch]:
    """Ask about some items, then about the items that were left to another judge."""
    variables = {**sheet.variables, "items": tuple(items)}
    expected = Expected(tuple([item.number for item in items]), tuple([item.text for item in items]))
    if is_three_way(sheet.prompt):
        expected = expected._replace(texts=(*sheet.shown, *[text.text for text in sheet.others]))
    replies = yield from _replies(
        Generate(sheet.prompt, variables, expected, passed_on=passed_on, votes=True)
    )
    values = [reply.reading.value for reply in replies if reply.reading.value is not None]
    # what one draw leaves to another judge, that one decides alone
    left = frozenset([number for value in values for number in value.passed_on])
    cast = [verdict for value in values for verdict in value.verdicts if verdict.number not in left]
    open_reasons = {verdict.number: verdict.reason for verdict in cast if verdict.verdict == UNKNOWN}
    judges = {reply.judge for reply in replies}
    judge = judges.pop() if len(judges) == 1 else None
    decisions: dict[int, Decision] = {}
    for item in items:
        cast_for = [each for each in cast if each.number == item.number and each.verdict != UNKNOWN]
        if not cast_for and item.number in open_reasons:
            decisions[item.number] = Decision(item.text, None, open_reasons[item.number], judge=judge)
        elif cast_for:
            # the majority's decision, with the words of the first that voted so
            votes = tuple([verdict.supported for verdict in cast_for])
            agreeing = [verdict for verdict in cast_for if verdict.supported == majority(votes)]
            words = next((each for each in agreeing if each.stance == _stance_of(agreeing)), agreeing[0])
            decision = sheet.decision(item, words, votes if len(replies) > 1 else (), judge)
            decisions[item.number] = decision._replace(stance=_stance_of(agreeing))
    shown = next((reply for reply in replies if reply.reading.objections), replies[0])
    if not left or passed_on:
        return _AskedBatch(decisions, shown)
    rest = yield from _ask_batch(sheet, [item for item in items if item.number in left], passed_on=True)
    return _AskedBatch({**decisions, **rest.decisions}, rest.reply)


def _stance_of(agreeing: Sequence[NumberedVerdict]) -> str | None:
    """The stance of more than half of the votes for one decision; without a majority "not mentioned"."""
    stances = [verdict.stance for verdict in agreeing]
    (most, number), *_ = Counter(stances).most_common(1)
    return most if 2 * number > len(stances) else NOT_MENTIONED


def _replies(request: Generate[A]) -> Steps[list[Reply[A]]]:
    """The replies to a request; replies without the form are asked for again, with the reasons.

    The driver sets the limit: it returns no reply after the last attempt.
    """
    first: tuple[Reply[A], ...] = yield request
    replies = list(first)
    last: dict[int, Unread] = {}
    again = 0
    while unread := [place for place, reply in enumerate(replies) if reply.reading.objections]:
        again += 1
        last |= {place: _unread(replies[place], last.get(place)) for place in unread}
        follows = tuple([last[place] for place in unread])
        later: tuple[Reply[A], ...] = yield request._replace(again=again, follows=follows)
        if not later:
            break
        for place, reply in zip(unread, later, strict=True):
            replies[place] = _joined(replies[place], reply)
    return replies


def _unread(reply: Reply[Any], before: Unread | None) -> Unread:
    """The follow-up to a reply, about the numbers that it does not answer."""
    expected, value = reply.expected, reply.reading.value
    done = None if value is None else value.answered()
    if done is not None:
        left = [item for item in zip(expected.numbers, expected.items, strict=True) if item[0] not in done]
        expected = expected._replace(
            numbers=tuple([number for number, _ in left]),
            items=tuple([text for _, text in left]),
            known=tuple(done.items()),
        )
    return Unread(reply.text, reply.reading.objections, reply.draw, reply.judge, expected, before)


def _joined(reply: Reply[A], later: Reply[A]) -> Reply[A]:
    """A later reply with what the earlier one says about other numbers, or alone has the form to say."""
    value, more = reply.reading.value, later.reading.value
    if value is None or (more is not None and value.answered() is None):
        return later
    both = value if more is None else value.with_more(more)
    return later._replace(reading=later.reading._replace(value=both), expected=reply.expected)


def _value(reply: Reply[A]) -> A:
    if reply.reading.value is None or reply.reading.objections:
        raise _useless(reply)
    return reply.reading.value


def _useless(reply: Reply[Any], *others: Reply[Any]) -> StepFailed:
    """The failure for replies that do not have the form of their prompts."""
    why = f"{reply.prompt}: the reply could not be read: {'; '.join(reply.reading.objections)}"
    return StepFailed("parse_error", why, tuple([each.prompt for each in (reply, *others)]))
