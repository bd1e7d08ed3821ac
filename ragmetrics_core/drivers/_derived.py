"""Derivations from a record without a model: its score, other variants, corrections, messages and votes."""

from contextlib import suppress
from typing import Any, cast

from ragmetrics_core.drivers._replay import Replay, metric_of, replayed
from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.metrics import catalogue
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.prompts import Message
from ragmetrics_core.records import Correction, GenerateStep, Record

__all__ = ["by_vote", "correct", "recompute", "rendered", "rescore", "self_contained", "useless_replies"]


def recompute(record: Record, *, metric: Metric[Any] | None = None) -> Record:
    """Recompute the score of a record from its raw replies alone.

    Args:
        record: a hydrated record (read from a run) or a self-contained one.
        metric: the metric, if it is not in the catalogue.

    Raises:
        RecordError: the record lacks its sample, a prompt or a reply; the message says which.
    """
    return replayed(record, metric)


def rescore(record: Record, *, variant: str | None = None, **settings: Any) -> Record:
    """Score of another variant or other settings for the same replies, without a call.

    Raises:
        ConfigError: the variant needs different prompts from the record's.
        RecordError: the record lacks its sample, a prompt or a reply.
    """
    own = {name: value for name, value in record.settings.items() if variant is None and name not in settings}
    metric = catalogue.metric_class(record.metric).from_settings(
        variant or record.variant, {**own, **settings}
    )
    return Replay(record, same_prompts=True).replay(metric)


def correct(
    record: Record, *, number: int, supported: bool, by: str | None = None, metric: Metric[Any] | None = None
) -> Record:
    """Overrule one verdict and recompute the score; the record keeps the judge's decision, too.

    Args:
        record: a hydrated or self-contained record.
        number: the verdict's number in the record.
        supported: the person's decision.
        by: who decided.
        metric: the metric, if it is not in the catalogue.

    Raises:
        ConfigError: there is no verdict with this number, or the decision is neither True nor False.
        RecordError: the verdict does not follow from the record's replies.
    """
    if not 1 <= number <= len(record.verdicts):
        raise ConfigError(
            f"{record.signature} of {record.sample_id} has verdicts 1 to {len(record.verdicts)}, not {number}"
        )
    if not isinstance(cast("object", supported), bool):
        raise ConfigError(f"a decision is True (supported) or False, not {supported!r}")
    verdict = record.verdicts[number - 1]
    place = verdict.path
    item = 1 + sum(each.path == place for each in record.verdicts[: number - 1])
    others = tuple(each for each in record.corrections if (each.path, each.item) != (place, item))
    correction = Correction(path=place, item=item, supported=supported, by=by)
    derived = replayed(record.model_copy(update={"corrections": (*others, correction)}), metric)
    if not any(
        (each.path, each.text) == (place, verdict.text) for each in derived.verdicts[number - 1 : number]
    ):
        raise RecordError(
            f"verdict {number} of {record.signature} of {record.sample_id} does not follow from its replies, "
            "so it cannot be corrected; ragmetrics audit RUN lists what was changed"
        )
    return derived.sealed()


def rendered(record: Record, step: GenerateStep, *, metric: Metric[Any] | None = None) -> tuple[Message, ...]:
    """The exact messages that a step of the record sent.

    Raises:
        RecordError: the record lacks data to render them.
    """
    sent = record.rendered_prompts
    if sent is None:
        replay = Replay(record)
        replay.replay(metric or metric_of(record))
        sent = replay.messages
    messages = sent.get(step.rendered_digest)
    if messages is None:
        raise RecordError(f"step {step.path} of {record.signature} sent a different prompt from its record's")
    return messages


def self_contained(record: Record, *, metric: Metric[Any] | None = None) -> Record:
    """The record including its sample, prompts and rendered messages."""
    replay = Replay(record)
    replay.replay(metric or metric_of(record))
    return record.model_copy(update={"rendered_prompts": replay.messages})


def by_vote(record: Record, *, metric: Metric[Any] | None = None) -> list[float | None]:
    """Score by each vote alone; one value if the verdicts have one vote.

    None if a vote lacks a verdict, or if the score is undefined.


    Raises:
        RecordError: the record lacks its sample, a prompt or a reply.
    """
    votes = max((len(verdict.votes) for verdict in record.verdicts), default=0)
    if votes < 2:
        return [record.value]
    own = metric or metric_of(record)
    return [Replay(record, vote=number).replay(own).value for number in range(votes)]


def useless_replies(record: Record, *, metric: Metric[Any] | None = None) -> list[GenerateStep]:
    """Useless replies of a failed score: truncated, unread, or without the requested content.

    Examples are ratings off the scale and verdicts with unknown numbers.


    Raises:
        RecordError: the record is not hydrated.
    """
    replay = Replay(record)
    # Of a metric that goes another way each time, only what no rule could read is known.
    with suppress(RecordError):
        replay.replay(metric or metric_of(record))
    failed = tuple(f"{prompt}." for prompt in replay.useless_prompts)  # a translation has one part more
    return [
        step
        for step in record.generate_steps
        if step.rule == "unread" or step.finish_reason == "length" or f"{step.prompt}.".startswith(failed)
    ]
