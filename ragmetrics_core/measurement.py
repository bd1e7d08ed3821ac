"""Results of a measurement: verdicts on numbered texts, and the value of a formula for them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, overload

from pydantic import ConfigDict, with_config

from ragmetrics_core.parsers import Span
from ragmetrics_core.scoring import Bounds

__all__ = [
    "EARLIER_ANSWER",
    "UNSURE",
    "USER_WORDS",
    "Bounds",
    "Decision",
    "Evidence",
    "Judged",
    "Labels",
    "Measurement",
    "Verdict",
    "combine",
    "majority",
    "score",
    "undefined",
]


UNSURE: Final = (0.35, 0.65)
"""Lowest and highest probability of an unsure verdict; near 0.5, where a verdict turns, it is a near miss."""


USER_WORDS: Final = "only in the user's words"
"""Label of a statement that is not supported, although the user says the same."""

EARLIER_ANSWER: Final = "only in an earlier answer"
"""Label of a statement that is not supported, although an earlier answer of the application says the same."""


class Labels(NamedTuple):
    """Names of a positive and of a negative verdict."""

    yes: str
    no: str

    def of(self, supported: bool | None) -> str:
        """The name of a decision; "missing" for None."""
        return "missing" if supported is None else self.yes if supported else self.no


# A record keeps the fields of a later version; there is no place for them in here, where they are left out.
# Not frozen, as places in the contexts are not: one is made of every quote, and freezing takes time.
@with_config(ConfigDict(extra="ignore"))
@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Evidence:
    """A quote of a judge and its place.

    Attributes:
        quote: the quoted words.
        source: the field of the sample that was searched, or the place in the conversation: "the answer of
            turn 2".
        span: the place in that field; None if the quote was not found.
    """

    quote: str
    source: str = "contexts"
    span: Span | None = None

    @property
    def is_found(self) -> bool:
        """Whether the quote has a place, in the sample's texts or in its conversation."""
        return self.span is not None or self.source.startswith("the ")

    @property
    def place(self) -> str:
        """The place in words of a quote without a span."""
        return self.source if self.is_found else "found nowhere"


class Decision(NamedTuple):
    """A metric's decision on one text; the driver turns it into a `Verdict`.

    Attributes:
        text: the text.
        supported: the decision; None if the judge gave none.
        reason: the judge's reason.
        evidence: the judge's quotes.
        cosine: the cosine of the text, if the metric compares texts.
        votes: the votes, if the run asked several times or several judges.
        confidence: the judge's probability that the text is supported, if it gives one.
        judge: the sub-judge that decided, if the run's judge has several.
        stance: the decision in one of three ways, if the judge was asked for it: "supported", "contradicted"
            or "not mentioned"; "unproven" for a contradiction whose evidence is not in the texts.
        label: name of a negative verdict, if its kind has more than one.
    """

    text: str
    supported: bool | None
    reason: str | None = None
    evidence: tuple[Evidence, ...] = ()
    cosine: float | None = None
    votes: tuple[bool, ...] = ()
    confidence: float | None = None
    judge: str | None = None
    stance: str | None = None
    label: str | None = None


@with_config(ConfigDict(extra="ignore", allow_inf_nan=False))
@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The decision on one numbered text, at its place in the record.

    Attributes:
        number: the verdict's number in its record, from 1.
        about: the kind of text ("answer statement", "chunk", "sentence", ...).
        text: the text.
        supported: the decision; None if the judge gave none.
        label: the decision in words ("TP", "relevant", ...); "missing" without a decision.
        reason: the judge's reason.
        evidence: the judge's quotes.
        cosine: the cosine of the text, if the metric compares texts.
        overruled: the judge's own decision, if a person overruled it.
        votes: the votes, if the run asked several times or several judges. More than half decides; a tie is a
            "no".
        confidence: the judge's probability from 0 to 1 that the text is supported, if it gives one.
        judge: the sub-judge that decided, if the run's judge has several, as named in its step.
        path: the place of the verdict in the measurement.
    """

    number: int = 0
    about: str
    text: str
    supported: bool | None
    label: str = ""
    reason: str | None = None
    evidence: tuple[Evidence, ...] = ()
    cosine: float | None = None
    overruled: bool | None = None
    votes: tuple[bool, ...] = ()
    confidence: float | None = None
    judge: str | None = None
    path: str = ""

    @property
    def tally(self) -> str:
        """The votes in words: "2 of 3 votes"; "" for a single vote."""
        if not self.votes:
            return ""
        told = f"{sum(self.votes)} of {len(self.votes)} votes"
        return f"{told}, a tie" if 2 * sum(self.votes) == len(self.votes) else told

    @property
    def unsure(self) -> str:
        """A judge's probability near 0.5 in words: "unsure: probability 0.52"; "" for all other verdicts."""
        if self.supported is None or self.overruled is not None or self.confidence is None:
            return ""
        low, high = UNSURE
        return f"unsure: probability {self.confidence:.2f}" if low <= self.confidence <= high else ""

    @property
    def probability(self) -> str:
        """The judge's probability in words: "probability 0.92"; "" without one, and if `unsure` gives it."""
        return "" if self.confidence is None or self.unsure else f"probability {self.confidence:.2f}"


def majority(votes: Sequence[bool]) -> bool:
    """Whether more than half of the votes are positive; a tie is not.

    >>> majority([True, False, True]), majority([True, False])
    (True, False)
    """
    return 2 * sum(votes) > len(votes)


@dataclass(frozen=True)
class Judged:
    """The decisions on all items of one question, in the order of the items.

    Attributes:
        known: the decisions; None for a missing one.
        probabilities: each judge's probability that its decision is positive; None if it gave none, 1 or 0 if
            a person decided. Empty for derived decisions.
        why_missing: short code for the reason of missing decisions.
        stances: the decisions in three ways; None for a missing one and for one that a person made. Empty if
            the judge was not asked for them.
    """

    known: tuple[bool | None, ...] = ()
    probabilities: tuple[float | None, ...] = ()
    why_missing: str = "missing_verdicts"
    stances: tuple[str | None, ...] = ()

    def __len__(self) -> int:
        return len(self.known)

    @property
    def supported(self) -> int:
        """Number of positive decisions."""
        return self.known.count(True)

    @property
    def missing(self) -> int:
        """Number of items without a decision."""
        return self.known.count(None)

    @classmethod
    def derived(cls, known: Iterable[bool | None], *sources: "Judged") -> "Judged":
        """Decisions derived from others, with their reason for missing ones."""
        reasons = [each.why_missing for each in sources if each.missing]
        return cls(tuple(known), why_missing=reasons[0] if reasons else cls.why_missing)

    def filled(self, value: bool) -> tuple[bool, ...]:
        """The decisions, with missing ones replaced by `value`."""
        return tuple([value if known is None else known for known in self.known])


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The outcome of measuring one sample.

    It has a `value`, or `bounds` if verdicts are missing, or neither if the metric is undefined for the
    sample; `reason` then says why.

    Attributes:
        value: the score.
        bounds: lowest and highest possible value, given the missing verdicts.
        reason: short code for a missing value ("no_statements").
        counts: the numbers in the formula.
        formula: the formula with its numbers and its result, "2 / 3 = 0.667".
        parts: the combined measurements, by metric name.
    """

    value: float | None = None
    bounds: Bounds | None = None
    reason: str | None = None
    counts: Mapping[str, float] = field(default_factory=dict[str, float])
    formula: str = ""
    parts: Mapping[str, "Measurement"] = field(default_factory=dict[str, "Measurement"])

    @property
    def range(self) -> Bounds | None:
        """The value as a range of one point, else the bounds, else None."""
        return self.bounds if self.value is None else Bounds(self.value, self.value)


def undefined(reason: str, **counts: float) -> Measurement:
    """A measurement without a value; `reason` is a short code such as "no_statements"."""
    return Measurement(reason=reason, counts=counts)


@overload
def score(
    formula: Callable[[tuple[bool, ...]], float | None],
    judged: Judged,
    /,
    *,
    counts: Mapping[str, float],
    spelled: str,
    otherwise: str = "no_statements",
    bounds: Callable[[tuple[bool | None, ...]], tuple[float, float]] | None = None,
) -> Measurement: ...


@overload
def score(
    formula: Callable[..., float | None],
    *judged: Judged,
    counts: Mapping[str, float],
    spelled: str,
    otherwise: str = "no_statements",
    bounds: Callable[..., tuple[float | None, float | None]] | None = None,
) -> Measurement: ...


def score(
    formula: Callable[..., float | None],
    *judged: Judged,
    counts: Mapping[str, float],
    spelled: str,
    otherwise: str = "no_statements",
    bounds: Callable[..., tuple[float | None, float | None]] | None = None,
) -> Measurement:
    """Apply a formula to verdicts.

    Args:
        formula: takes the decisions of each `judged` as a sequence of bool; None means undefined.
        judged: the verdicts, one group for each argument of the formula.
        counts: the numbers of the formula, by name.
        spelled: the formula as text with names of counts in braces, "{supported} / {statements}".
        otherwise: the reason if the formula is undefined.
        bounds: computes the bounds from decisions that may be None. By default the formula is assumed to rise
            with every positive verdict, so its extremes are at "no" and at "yes" for all missing verdicts.
    """
    missing = sum([group.missing for group in judged])
    numbers = spelled.format(**counts)
    if not missing:
        value = formula(*[group.known for group in judged])
        if value is None:
            return undefined(otherwise, **counts)
        return Measurement(value=value, counts=counts, formula=f"{numbers} = {_short(value)}")
    counts = {**counts, "missing": missing}
    low, high = (
        bounds(*(group.known for group in judged))
        if bounds
        else (formula(*(group.filled(filler) for group in judged)) for filler in (False, True))
    )
    if low is None or high is None:
        return undefined(otherwise, **counts)
    text = f"{numbers}, {missing} missing: {_short(low)} to {_short(high)}"
    reason = next(group.why_missing for group in judged if group.missing)
    return Measurement(bounds=Bounds(low, high), reason=reason, counts=counts, formula=text)


def combine(
    formula: Callable[[Sequence[float]], float | None],
    parts: Mapping[str, Measurement],
    *,
    spelled: str,
    otherwise: str,
) -> Measurement:
    """Apply a formula to the values of parts, or to their bounds; it must rise with every part.

    Args:
        formula: takes the values of the parts in order; None means undefined.
        parts: the measurements, by name.
        spelled: the formula as text with names of parts in braces.
        otherwise: the reason if the formula is undefined for defined parts.
    """
    reasons = [f"{name}: {part.reason}" for name, part in parts.items() if part.range is None]
    if reasons:
        return Measurement(reason="; ".join(reasons), parts=parts)
    ranges = [part.range for part in parts.values() if part.range is not None]
    low, high = formula([each.low for each in ranges]), formula([each.high for each in ranges])
    if low is None or high is None:
        return Measurement(reason=otherwise, parts=parts)
    counts = {name: each.low for name, each in zip(parts, ranges, strict=True) if each.low == each.high}
    shown = {name: _short(each.low) if each.low == each.high else f"[{_short(each.low)}, {_short(each.high)}]"
             for name, each in zip(parts, ranges, strict=True)}  # fmt: skip
    numbers = spelled.format(**shown)
    if all(part.value is not None for part in parts.values()):
        return Measurement(value=low, counts=counts, formula=f"{numbers} = {_short(low)}", parts=parts)
    reason = "; ".join(f"{name}: {part.reason}" for name, part in parts.items() if part.value is None)
    text = f"{numbers}: {_short(low)} to {_short(high)}"
    return Measurement(bounds=Bounds(low, high), reason=reason, counts=counts, formula=text, parts=parts)


def valued(value: float, *, counts: Mapping[str, float], spelled: str) -> Measurement:
    """A value without verdicts, with its formula; see `score`."""
    return Measurement(value=value, counts=counts, formula=f"{spelled.format(**counts)} = {_short(value)}")


def _short(value: float) -> str:
    """Three decimals without trailing zeros; more if three would round to a whole number.

    >>> _short(2 / 3), _short(1.0), _short(0.9999), _short(-0.0001)
    ('0.667', '1', '0.9999', '-0.0001')
    """
    if value == int(value):
        return str(int(value))
    text = f"{value:.3f}"
    return (
        (f"{value:.3g}" if float(text) == 0 else f"{value:.7g}")
        if float(text).is_integer()
        else text.rstrip("0")
    )
