"""What a measurement finds: verdicts on numbered texts, and the value that a formula gives for them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, overload

from pydantic import ConfigDict, with_config

from ragmetrics_core.parsers import Span
from ragmetrics_core.scoring import Bounds

__all__ = [
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


class Labels(NamedTuple):
    """What a verdict is called when it is positive and when it is not."""

    yes: str
    no: str

    def of(self, supported: bool | None) -> str:
        """The name of a decision; "missing" when there is none."""
        return "missing" if supported is None else self.yes if supported else self.no


# A record keeps the fields of a later version; there is no place for them in here, where they are left out.
# Not frozen, as places in the contexts are not: one is made of every quote, and freezing takes time.
@with_config(ConfigDict(extra="ignore"))
@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Evidence:
    """Words that a judge quoted, and where they stand.

    Attributes:
        quote: the words.
        source: the field of the sample in which they were looked up.
        span: their place in it; None when they stand nowhere there.
    """

    quote: str
    source: str = "contexts"
    span: Span | None = None


class Decision(NamedTuple):
    """What a metric hands in about one text; the driver makes a `Verdict` of it.

    Attributes:
        text: the text.
        supported: the decision; None when the judge gave none.
        reason: why, in the judge's words.
        evidence: what the judge quoted.
        cosine: the similarity that belongs to the text, where the metric compares texts.
        votes: what each said, where the run asked several times or several judges.
        confidence: the judge's probability that it is supported, where it gives one.
        judge: who decided, where the run's judge is made of several.
    """

    text: str
    supported: bool | None
    reason: str | None = None
    evidence: tuple[Evidence, ...] = ()
    cosine: float | None = None
    votes: tuple[bool, ...] = ()
    confidence: float | None = None
    judge: str | None = None


@with_config(ConfigDict(extra="ignore", allow_inf_nan=False))
@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was decided about one numbered text, at its place in the record.

    Attributes:
        number: the verdict's number in its record, from 1.
        about: what kind of text it is about ("answer statement", "chunk", "sentence", ...).
        text: the text.
        supported: the decision; None when the judge gave none.
        label: the decision in words ("TP", "relevant", ...); "missing" when there is none.
        reason: why, in the judge's words.
        evidence: what the judge quoted.
        cosine: the similarity that belongs to the text, where the metric compares texts.
        overruled: the judge's own decision, when a person has overruled it.
        votes: where the run asked several times or several judges: what each said; more than half decides,
            so that a tie is a "no".
        confidence: the judge's probability that it is supported, from 0 to 1, where it gives one.
        judge: who decided, where the run's judge is made of several, as its step has it.
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
        """The votes in words: "2 of 3 votes"; "" when it was asked for once."""
        if not self.votes:
            return ""
        told = f"{sum(self.votes)} of {len(self.votes)} votes"
        return f"{told}, a tie" if 2 * sum(self.votes) == len(self.votes) else told


def majority(votes: Sequence[bool]) -> bool:
    """Whether more than half of the votes are positive; a tie is not.

    >>> majority([True, False, True]), majority([True, False])
    (True, False)
    """
    return 2 * sum(votes) > len(votes)


@dataclass(frozen=True)
class Judged:
    """The decisions on all items of one question, in the items' order; none is left out.

    Attributes:
        known: the decisions, None where there is none.
        probabilities: that each is positive, as its judge says; None where no judge gave one. Where a person
            decided it is 1 or 0. Empty where the decisions are derived from others.
    """

    known: tuple[bool | None, ...] = ()
    probabilities: tuple[float | None, ...] = ()

    def __len__(self) -> int:
        return len(self.known)

    @property
    def supported(self) -> int:
        """How many decisions are positive."""
        return self.known.count(True)

    @property
    def missing(self) -> int:
        """How many items have no decision."""
        return self.known.count(None)

    def filled(self, value: bool) -> tuple[bool, ...]:
        """The decisions, with `value` in place of missing ones."""
        return tuple([value if known is None else known for known in self.known])


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The outcome of measuring one sample.

    Exactly one of three holds: there is a `value`; there are `bounds`, because verdicts are missing; or
    there is neither, and `reason` says why the metric is undefined for the sample.

    Attributes:
        value: the score.
        bounds: lowest and highest value that the missing verdicts leave open.
        reason: why there is no value, as a short code ("no_statements").
        counts: the numbers that entered the formula.
        formula: the formula with its numbers and its result, "2 / 3 = 0.667".
        parts: the measurements that this one combines, by metric name.
    """

    value: float | None = None
    bounds: Bounds | None = None
    reason: str | None = None
    counts: Mapping[str, float] = field(default_factory=dict[str, float])
    formula: str = ""
    parts: Mapping[str, "Measurement"] = field(default_factory=dict[str, "Measurement"])

    @property
    def range(self) -> Bounds | None:
        """The value as a range of one point, or the bounds, or None when undefined."""
        return self.bounds if self.value is None else Bounds(self.value, self.value)


def undefined(reason: str, **counts: float) -> Measurement:
    """The metric has no value for this sample; `reason` is a short code such as "no_statements"."""
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
    bounds: Callable[..., tuple[float, float]] | None = None,
) -> Measurement: ...


def score(
    formula: Callable[..., float | None],
    *judged: Judged,
    counts: Mapping[str, float],
    spelled: str,
    otherwise: str = "no_statements",
    bounds: Callable[..., tuple[float, float]] | None = None,
) -> Measurement:
    """Apply a formula to verdicts.

    Args:
        formula: takes the decisions of each `judged` as a sequence of bool; None means undefined.
        judged: the verdicts, one group for each argument of the formula.
        counts: the numbers of the formula, by name.
        spelled: the formula as text with the counts' names in braces, "{supported} / {statements}".
        otherwise: the reason when the formula is undefined.
        bounds: gives the bounds from decisions that may be None; by default the formula is taken to
            rise with every positive verdict, so that its extremes are all missing "no" and all "yes".
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
    return Measurement(bounds=Bounds(low, high), reason="missing_verdicts", counts=counts, formula=text)


def combine(
    formula: Callable[[Sequence[float]], float | None],
    parts: Mapping[str, Measurement],
    *,
    spelled: str,
    otherwise: str,
) -> Measurement:
    """Apply a formula that rises with every part to the parts' values, or to their bounds.

    Args:
        formula: takes the parts' values in order; None means undefined.
        parts: the measurements, by name.
        spelled: the formula as text with the parts' names in braces.
        otherwise: the reason when the formula is undefined for defined parts.
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
    """A value that does not rest on verdicts, with its formula; see `score`."""
    return Measurement(value=value, counts=counts, formula=f"{spelled.format(**counts)} = {_short(value)}")


def _short(value: float) -> str:
    """Three decimals, without trailing zeros; more where three would say a whole number that it is not.

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
