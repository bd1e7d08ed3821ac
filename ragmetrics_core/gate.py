"""The rule by which scores let an answer pass: one for every door that stops answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal, NamedTuple, get_args

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Metric, signature_of
from ragmetrics_core.parsers import Answer
from ragmetrics_core.prompts import Item, load
from ragmetrics_core.records import FAILED, Record, Status

__all__ = ["Gate", "GateDecision", "GateFinding", "OnFailure"]

OnFailure = Literal["reject", "pass"]

# What the application's model is told when it is asked again; nothing of ours reads what it replies.
_UNSUPPORTED = load("unsupported_answer", version=1, answer=Answer)
_REJECTED = load("rejected_answer", version=1, answer=Answer)
# How the verdicts of a record say that they are about a text of the answer.
_OF_THE_ANSWER = ("answer ", "sentence that cites ")


class GateFinding(NamedTuple):
    """What the gate found for one threshold.

    Attributes:
        metric: the metric, as the threshold names it.
        threshold: the worst value that passes.
        passed: whether the answer passes this threshold.
        reason: why, in words: "faithfulness is 0.5 (1 / 2 = 0.5), below 0.7".
        status: how the measurement ended; None when there is no record of it.
        value: the score.
        unsupported: texts of the answer for which no support was found.
        record: the proof.
    """

    metric: str
    threshold: float
    passed: bool
    reason: str
    status: Status | None
    value: float | None
    unsupported: tuple[str, ...]
    record: Record | None


class GateDecision(NamedTuple):
    """Whether an answer may leave, and why.

    Attributes:
        findings: one for each threshold, in the order of the thresholds.
    """

    findings: tuple[GateFinding, ...]

    @property
    def passed(self) -> bool:
        """Whether every threshold lets it pass."""
        return all(finding.passed for finding in self.findings)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it does not pass, one sentence for each threshold that rejects it."""
        return tuple(finding.reason for finding in self.findings if not finding.passed)

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Texts of the answer without support, of the thresholds that reject it; each once, in order."""
        texts = [text for finding in self.findings if not finding.passed for text in finding.unsupported]
        return tuple(dict.fromkeys(texts))

    @property
    def correction(self) -> str:
        """What to tell the model that gave a rejected answer, so that it answers again.

        A prompt of the library, with the statements without support, or else the reasons.
        """
        prompt = _UNSUPPORTED if self.unsupported else _REJECTED
        texts = self.unsupported or self.reasons
        items = tuple(Item(number, text) for number, text in enumerate(texts, start=1))
        return prompt.render({"items": items})[-1].content


class _Limit(NamedTuple):
    """A threshold and the metric that it is for."""

    asked: str
    threshold: float
    signature: str
    higher_is_better: bool

    def is_beyond(self, value: float) -> bool:
        return value < self.threshold if self.higher_is_better else value > self.threshold

    def compared(self, value: float, formula: str, hedge: str = "") -> tuple[bool, str]:
        """Whether a value passes, and why."""
        is_beyond = self.is_beyond(value)
        place = (
            f"{'' if is_beyond else 'not '}{'below' if self.higher_is_better else 'above'} {self.threshold:g}"
        )
        return not is_beyond, f"is {hedge}{value:.3g}{f' ({formula})' if formula else ''}, {place}"


@dataclass(frozen=True)
class Gate:
    """Thresholds that the scores of an answer must reach: a pure function from records to a decision.

    A score passes that is at least as good as its threshold: not below it, or, where lower is better, not
    above it. An incomplete score passes when even the worse of its bounds does, and is rejected when even the
    better one does not. What is undefined passes (a greeting, a refusal), and so does a metric that the
    sample has no fields for (nothing was retrieved); the finding says so. Where there is no score because
    something failed (`model_error`, `timeout`, `parse_error`, `cancelled`, bounds on both sides of
    the threshold, or no record at all), `on_failure` decides.

    Attributes:
        thresholds: the worst value that passes, by a metric's name, alias or signature.
        metrics: what is measured.
        on_failure: "reject" or "pass".

    Raises:
        ConfigError: no threshold, one that is no number in the metric's range, or a metric that is not
            measured.

    >>> from ragmetrics_core.metrics import resolve
    >>> gate = Gate({"faithfulness": 0.7}, resolve("faithfulness"))
    >>> gate.failed("no scores within 2 s").reasons
    ('faithfulness has no score: no scores within 2 s',)
    """

    thresholds: Mapping[str, float]
    metrics: Sequence[Metric[Any]]
    on_failure: OnFailure = "reject"
    _limits: "tuple[_Limit, ...]" = field(init=False, repr=False, default=())

    def __post_init__(self) -> None:
        if self.on_failure not in get_args(OnFailure):
            raise ConfigError(f"on_failure must be 'reject' or 'pass', not {self.on_failure!r}")
        if not self.thresholds:
            raise ConfigError('a gate needs a threshold, such as {"faithfulness": 0.7}')
        object.__setattr__(self, "_limits", tuple(self._limit(*each) for each in self.thresholds.items()))

    def decide(self, records: Iterable[Record]) -> GateDecision:
        """Whether the answer that these records are about may leave.

        Of several records of one metric each must let it pass.
        """
        listed = list(records)
        return GateDecision(tuple(self._worst(limit, listed) for limit in self._limits))

    def failed(self, reason: str) -> GateDecision:
        """The decision where there are no records at all: `on_failure` decides.

        Args:
            reason: why there are none, "no scores within 2 s".
        """
        return GateDecision(tuple(self._finding(limit, None, reason) for limit in self._limits))

    def _limit(self, asked: str, threshold: object) -> _Limit:
        name = signature_of(asked)
        found = [metric for metric in self.metrics if name in (metric.name, metric.signature)]
        measured = ", ".join(metric.signature for metric in self.metrics)
        if not found:
            raise ConfigError(f"the gate names {asked!r}, which is not measured; there is {measured}")
        if len(found) > 1:
            raise ConfigError(f"the gate's {asked!r} is measured more than once: name one of {measured}")
        metric = found[0]
        low, high = metric.range
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not isfinite(threshold):
            raise ConfigError(f"the gate's threshold for {asked} is a number, not {threshold!r}")
        if threshold < low or (threshold > high and not metric.exceeds):
            raise ConfigError(
                f"the gate's threshold for {asked} is a score, from {low:g} to {high:g}, not {threshold:g}"
            )
        return _Limit(asked, threshold, metric.signature, metric.higher_is_better)

    def _worst(self, limit: _Limit, records: Sequence[Record]) -> GateFinding:
        """The first finding that rejects, else the last one."""
        own = [record for record in records if record.signature == limit.signature]
        findings = [self._finding(limit, record, "it was not measured") for record in own or (None,)]
        return next((finding for finding in findings if not finding.passed), findings[-1])

    def _finding(self, limit: _Limit, record: Record | None, absent: str) -> GateFinding:
        passed, reason = self._unscored(absent) if record is None else self._outcome(limit, record)
        return GateFinding(
            metric=limit.asked,
            threshold=limit.threshold,
            passed=passed,
            reason=f"{limit.asked} {reason}",
            status=None if record is None else record.status,
            value=None if record is None else record.value,
            unsupported=() if record is None else _unsupported(record),
            record=record,
        )

    def _outcome(self, limit: _Limit, record: Record) -> tuple[bool, str]:
        """Whether a record lets the answer pass, and why."""
        if record.value is not None:
            return limit.compared(record.value, record.formula)
        if record.bounds is not None:
            worse, better = record.bounds if limit.higher_is_better else record.bounds[::-1]
            if limit.is_beyond(better):
                return limit.compared(better, record.formula, "at best ")
            if not limit.is_beyond(worse):
                return limit.compared(worse, record.formula, "at worst ")
        why = f"{record.status} ({record.formula or record.reason})"
        if record.status in FAILED or record.bounds is not None:
            return self._unscored(why)
        return True, f"has no score: {why}"

    def _unscored(self, why: str) -> tuple[bool, str]:
        return self.on_failure == "pass", f"has no score: {why}"


def _unsupported(record: Record) -> tuple[str, ...]:
    """The texts of the answer with a verdict against them and none for them, in any chunk."""
    about_answer = [verdict for verdict in record.verdicts if verdict.about.startswith(_OF_THE_ANSWER)]
    supported = {verdict.text for verdict in about_answer if verdict.supported}
    refused = [verdict.text for verdict in about_answer if verdict.supported is False]
    return tuple(dict.fromkeys(text for text in refused if text not in supported))
