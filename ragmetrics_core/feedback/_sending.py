"""Sending the scores of a finished run."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import ge, le
from typing import NamedTuple

from ragmetrics_core.boundary.redaction import Redact, redacted
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.feedback._receivers import Receiver, Refused, Unreachable, failure_of
from ragmetrics_core.records import SentScore, sent_score
from ragmetrics_core.runs import Run

__all__ = ["Sent", "send"]

# As many as fit a request of any of the tools; the scores of a sample stay together.
_BATCH = 100


class Sent(NamedTuple):
    """The outcome of sending a run's scores.

    Attributes:
        sent: number of accepted scores.
        left_out: number of scores that were not sent or not accepted, by reason.
        stopped: why sending stopped before the end; None if it did not. Send again: scores that the tool has
            are replaced by themselves.
    """

    sent: int
    left_out: dict[str, int]
    stopped: str | None = None


def send(
    run: Run,
    to: Receiver,
    *,
    thresholds: Mapping[str, float] | None = None,
    redact: Redact | None = None,
) -> Sent:
    """Send the scores of a run to a tool that holds the traces of its samples.

    The samples' labels "trace" and "span" name the scored spans. Metrics that a sample lacks fields for
    ("skipped") are not sent. A score that was sent before, was measured again or was corrected since then
    replaces the earlier one, so the same command resumes after a failure.

    Args:
        run: the run.
        to: the receiver.
        thresholds: worst passing value by metric name or signature; such scores are labelled "pass" or
            "fail".
        redact: takes each text of a score, and returns it without its private parts.

    Raises:
        ConfigError: there is no such metric, or `redact` failed.
    """
    passes = _thresholds_of(run, thresholds or {})
    left_out: Counter[str] = Counter()
    sent = 0
    for batch in _batches(_scores(run, passes, redact), to, left_out):
        try:
            sent += _send(batch, to, left_out)
        except _Stopped as stopped:
            return Sent(sent + stopped.sent, dict(left_out), str(stopped.reason))
    return Sent(sent, dict(left_out))


class _Stopped(Exception):
    def __init__(self, reason: Unreachable, sent: int) -> None:
        super().__init__(reason, sent)
        self.reason = reason
        self.sent = sent


def _scores(
    run: Run, passes: Mapping[str, Callable[[float], bool]], redact: Redact | None
) -> Iterator[SentScore]:
    names = Counter(entry.name for entry in run.metrics)
    folder = None if run.path is None else run.path.resolve().name
    for record in run.records():
        if record.status == "skipped":
            continue
        passing = passes.get(record.signature)
        score = sent_score(
            record,
            name=record.metric if names[record.metric] == 1 else record.signature,
            passed=None if passing is None or record.value is None else passing(record.value),
            run=folder,
            made=run.manifest.started,
        )
        yield score if redact is None else score.redacted(lambda text: redacted(redact, text))


def _batches(scores: Iterator[SentScore], to: Receiver, left_out: Counter[str]) -> Iterator[list[SentScore]]:
    """The scores that the tool can take, those of a sample together."""
    batch: list[SentScore] = []
    for _, of_sample in groupby(scores, key=lambda score: score.sample_id):
        for score in of_sample:
            if problem := to.problem_with(score):
                left_out[problem] += 1
            else:
                batch.append(score)
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _send(batch: Sequence[SentScore], to: Receiver, left_out: Counter[str]) -> int:
    """Send a batch; if the tool refuses it, send its samples alone, so that a bad one costs only itself."""
    failure = _failure(batch, to)
    if failure is None:
        return len(batch)
    samples = [list(scores) for _, scores in groupby(batch, key=lambda score: score.sample_id)]
    if isinstance(failure, Unreachable):
        raise _Stopped(failure, 0)
    sent = 0
    for scores in samples:
        failure = failure if len(samples) == 1 else _failure(scores, to)
        if isinstance(failure, Unreachable):
            raise _Stopped(failure, sent)
        if failure is None:
            sent += len(scores)
        else:
            left_out[f"{to.name} refused it: {failure}"] += len(scores)
    return sent


def _failure(scores: Sequence[SentScore], to: Receiver) -> Refused | Unreachable | None:
    try:
        to.send(scores)
    except ConfigError:
        raise
    except Exception as error:  # the boundary to the tool's client, which may raise anything
        return failure_of(error)
    return None


def _thresholds_of(run: Run, thresholds: Mapping[str, float]) -> dict[str, Callable[[float], bool]]:
    """For each signature with a threshold, whether a value passes."""
    passes: dict[str, Callable[[float], bool]] = {}
    for name, worst in thresholds.items():
        entries = [entry for entry in run.metrics if name in (entry.name, entry.signature)]
        if not entries:
            names = ", ".join(entry.signature for entry in run.metrics)
            raise ConfigError(f"the run has no metric {name!r}; it has {names}")
        for entry in entries:
            passes[entry.signature] = partial(le if entry.higher_is_better else ge, worst)
    return passes
