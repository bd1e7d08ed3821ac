"""The rule by which scores let an answer pass, the same at every entry point."""

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
    """The gate's finding for one threshold.

    Attributes:
        metric: the metric, as the threshold names it.
        threshold: the worst passing value.
        passed: whether the answer passes this threshold.
        reason: the reason in words: "faithfulness is 0.5 (1 / 2 = 0.5), below 0.7".
        status: the status of the record; None if there is no record.
        value: the score.
        unsupported: texts of the answer without support.
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
    """Whether an answer passes, with the reasons.

    Attributes:
        findings: one for each threshold, in the order of the thresholds.
    """

    findings: tuple[GateFinding, ...]

    @property
    def passed(self) -> bool:
        """Whether the answer passes every threshold."""
        return all(finding.passed for finding in self.findings)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons for a rejection, one sentence for each threshold that rejects the answer."""
        return tuple(finding.reason for finding in self.findings if not finding.passed)

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Distinct texts of the answer without support, from the rejecting thresholds, in order."""
        texts = [text for finding in self.findings if not finding.passed for text in finding.unsupported]
        return tuple(dict.fromkeys(texts))

    @property
    def correction(self) -> str:
        """Message that asks the model for a better answer after a rejection.

        It fills a prompt of the library with the unsupported statements, or else with the reasons.
        """
        prompt = _UNSUPPORTED if self.unsupported else _REJECTED
        texts = self.unsupported or self.reasons
        items = tuple(Item(number, text) for number, text in enumerate(texts, start=1))
        return prompt.render({"items": items})[-1].content


class _Limit(NamedTuple):
    """A threshold and its metric."""

    asked: str
    threshold: float
    signature: str
    higher_is_better: bool

    def is_beyond(self, value: float) -> bool:
        return value < self.threshold if self.higher_is_better else value > self.threshold

    def compared(self, value: float, formula: str, hedge: str = "") -> tuple[bool, str]:
        """Whether a value passes, with the reason."""
        is_beyond = self.is_beyond(value)
        place = (
            f"{'' if is_beyond else 'not '}{'below' if self.higher_is_better else 'above'} {self.threshold:g}"
        )
        return not is_beyond, f"is {hedge}{value:.3g}{f' ({formula})' if formula else ''}, {place}"


@dataclass(frozen=True)
class Gate:
    """Thresholds for the scores of an answer: a pure function from records to a decision.

    A score passes if it is at least as good as its threshold: not below it or, if lower is better, not above
    it. An incomplete score passes if even its worse bound passes, and is rejected if even its better bound
    fails. Undefined scores pass (a greeting, a refusal), and so do metrics for which the sample lacks fields
    (nothing was retrieved); the finding says so. `on_failure` decides if there is no score because of a
    failure (`model_error`, `timeout`, `parse_error`, `cancelled`), the bounds are on both sides of the
    threshold, or there is no record.

    Attributes:
        thresholds: the worst passing value, by metric name, alias or signature.
        metrics: the measured metrics.
        on_failure: "reject" or "pass".

    Raises:
        ConfigError: there is no threshold, a threshold is not a number in the metric's range, or its metric
            is not measured.

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
        """Decide whether the answer of these records passes.

        With several records of one metric, all must pass.
        """
        listed = list(records)
        return GateDecision(tuple(self._worst(limit, listed) for limit in self._limits))

    def failed(self, reason: str) -> GateDecision:
        """The decision without any records, by `on_failure`.

        Args:
            reason: the reason for the missing records, such as "no scores within 2 s".
        """
        return GateDecision(tuple(self._finding(limit, None, reason) for limit in self._limits))

    def _limit(self, asked: str, threshold: object) -> _Limit:
        name = signature_of(asked)
        found = [metric for metric in self.metrics if name in (metric.name, metric.signature)]
        measured = ", ".join(metric.signature for metric in self.metrics)
        if not found:
            raise ConfigError(f"the gate's {asked!r} is not measured; name one of {measured}")
        if len(found) > 1:
            raise ConfigError(f"the gate's {asked!r} is measured more than once; name one of {measured}")
        metric = found[0]
        low, high = metric.range
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not isfinite(threshold):
            raise ConfigError(f"the gate's threshold for {asked} must be a number, not {threshold!r}")
        if threshold < low or (threshold > high and not metric.exceeds):
            raise ConfigError(
                f"the gate's threshold for {asked} must be from {low:g} to {high:g}, not {threshold:g}"
            )
        return _Limit(asked, threshold, metric.signature, metric.higher_is_better)

    def _worst(self, limit: _Limit, records: Sequence[Record]) -> GateFinding:
        """The first rejecting finding, else the last one."""
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
        """Whether a record lets the answer pass, with the reason."""
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
    """Texts of the answer with a negative verdict and without a positive one."""
    about_answer = [verdict for verdict in record.verdicts if verdict.about.startswith(_OF_THE_ANSWER)]
    supported = {verdict.text for verdict in about_answer if verdict.supported}
    refused = [verdict.text for verdict in about_answer if verdict.supported is False]
    return tuple(dict.fromkeys(text for text in refused if text not in supported))
