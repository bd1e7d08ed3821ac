"""An assertion on means, which shows the worst score on failure."""

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Literal

from ragmetrics_core.boundary import checked

if TYPE_CHECKING:
    from ragmetrics_core import Record, Run
    from ragmetrics_core.runs import MetricEntry, Outcome

__all__ = ["assert_scores"]

# of the samples without a score
_SHOWN = 5
# of what a failed test says
_LONGEST = 20_000


@checked
def assert_scores(
    run: "Run",
    means: Mapping[str, float | str] | None = None,
    *,
    each: Mapping[str, float] | None = None,
    failures: int = 0,
    declined: float | None = None,
    fail_if: Literal["contradicted"] | None = None,
    beyond_doubt: bool = False,
    cluster: str | None = None,
    **limits: float | str,
) -> None:
    """Assert that means reach their limits: `assert_scores(run, faithfulness=0.8)`.

    If lower is better, as in `hallucination=0.1`, a limit is the highest passing mean. The error lists each
    mean that misses its limit, with n and the number of excluded samples, and shows the worst score: its
    formula, and every statement with its verdict, reason and evidence.

    Unknown values count as the worst: an incomplete score as its worse bound, an empty answer or one for
    which nothing was retrieved as the worst possible score. Only answers that decline, and samples without
    the expected texts that a metric needs, are excluded from the mean; limit the former with `declined`. An
    unfinished run fails.

    A text such as "0.8@p90" limits the expected mean, for a judge that gives probabilities: the worse end of
    its 90 % interval must reach the limit. Failed scores count as the worst there.

    Args:
        run: a finished run.
        means: limits by a metric's name or signature, for signatures that are not valid keywords.
        each: limits for every single score, likewise; an incomplete score counts as its worse bound. A sample
            without a score fails, except for failed scores, which `failures` limits.
        failures: maximum number of failed (model or parser) or missing scores of these metrics, including
            invalid rows. Default 0, because a mean over the successful rest proves nothing.
        declined: maximum share of answers that decline, by all metrics of the run; blank and undetermined
            answers and invalid rows count as declining. Fails if no metric of the run checks this.
        fail_if: "contradicted" fails on each statement that the contexts contradict, whatever the mean.
            Failed scores, those that lack a verdict and invalid rows may hide a contradiction and fail too,
            whatever `failures` allows. Requires three-way verdicts, as of `faithfulness/strict.2`.
        beyond_doubt: whether a mean's whole 95 % interval must reach its limit, which few samples rarely do.
            Failed scores count as the worst. Requires the extra `study`.
        cluster: label that groups dependent samples for the interval. Default: `session`, if samples have it;
            "none" treats all samples as independent.
        limits: limits for means by metric name.

    Raises:
        AssertionError: a limit is missed, or too many scores failed.
        ConfigError: the run has no such metric, or `fail_if` is given and no metric has three-way verdicts.
        RecordError: a file of the run was changed after it was written.
        ValueError: there is no limit, one that every score would pass, or another condition.
    """
    __tracebackhide__ = True
    given, single = [*(means or {}).items(), *limits.items()], list((each or {}).items())
    asked = [(metric, limit) for metric, limit in given if not isinstance(limit, str)]
    if not given and not single and declined is None and fail_if is None:
        raise ValueError("assert_scores needs a limit: assert_scores(run, faithfulness=0.8)")
    if fail_if not in (None, "contradicted"):
        raise ValueError(f'fail_if takes "contradicted", not {fail_if!r}')
    run.refuse_altered()
    _check(run, [*asked, *single], failures)
    if declined is not None and not 0 <= declined <= 1:
        raise ValueError(f"declined must be a share of the answers, from 0 to 1, not {declined!r}")
    found = [] if run.finished else [f"the run is not finished: it has {len(run)} samples so far"]
    found += [
        *(problem for metric, limit in asked for problem in _mean_beyond(run, metric, limit)),
        *(problem for metric, limit in single for problem in _scores_beyond(run, metric, limit)),
        *(() if declined is None else _declined_beyond(run, declined)),
        *(() if fail_if is None else _contradicted(run)),
        *_failed(run, dict.fromkeys(metric for metric, _ in (*given, *single)), failures),
    ]
    if len(asked) < len(given):
        from ragmetrics_core.study import missed_limit  # here, for few tests need it

        for metric, limit in given:
            found += missed_limit(run, metric, limit) if isinstance(limit, str) else ()
    if beyond_doubt and not found:
        from ragmetrics_core.study import doubts_of_mean  # here, for few tests need it

        asked += [] if declined is None else [("declined", declined)]
        found = [
            told for metric, limit in asked for told in doubts_of_mean(run, metric, limit, cluster=cluster)
        ]
    if found:
        from ragmetrics_core.texts import visible  # here, for pytest loads this module in every project

        told = "\n\n".join(found)
        # an answer may have megabytes
        more = f"\n... ({len(told) - _LONGEST:,} more characters)" if len(told) > _LONGEST else ""
        raise AssertionError(visible(told[:_LONGEST] + more))


def _check(run: "Run", limits: Iterable[tuple[str, object]], failures: object) -> None:
    """Reject limits that no run could miss."""
    if isinstance(failures, bool) or not isinstance(failures, int) or failures < 0:
        raise ValueError(f"failures must be the number of scores that may fail, not {failures!r}")
    for metric, limit in limits:
        entry = _entry(run, run.mean(metric).metric)
        value = limit if isinstance(limit, int | float) and not isinstance(limit, bool) else float("nan")
        if not (entry.low <= value <= (float("inf") if entry.exceeds else entry.high)) or not isfinite(value):
            ends = f"from {entry.low:g} to {entry.high:g}"
            raise ValueError(f"a limit of {metric} is a number {ends}, not {limit!r}")


def _mean_beyond(run: "Run", metric: str, limit: float) -> Iterator[str]:
    mean = run.averaged(metric)
    entry = _entry(run, mean.metric)
    sure = _sure(run, entry)
    if mean.value is None:
        yield f"{metric} has no mean: {mean}"
    elif side := _beyond(mean.value, limit, entry):
        worst = min(_scores(run, entry), key=lambda each: _goodness(each[1], entry))
        times = len(run.repetitions(entry.signature))
        of = f", each score that of {times} whole measurements" if times > 1 else ""
        yield f"the mean of {metric} is {mean}{of}, {side} {limit:g}{_opened(run, entry, worst[0])}"
    elif side := _beyond(at_worst := sum(sure) / len(sure), limit, entry):
        told = f"the mean of {metric} is {mean}, and with incomplete scores and answers that say nothing"
        yield f"{told} counted as the worst {at_worst:.3f} over {len(sure)} samples, {side} {limit:g}"


def _declined_beyond(run: "Run", limit: float) -> Iterator[str]:
    from ragmetrics_core.texts import number_of  # here, for pytest loads this module in every project

    counts, rows = run.declines, len(run.rejected)
    if not counts.asked:
        hint = "measure abstention, faithfulness or answer_relevance too"
        yield f"declined={limit:g}: no metric of the run asks whether an answer declines; {hint}"
    elif (declining := counts.declined + counts.undecided + rows) > limit * (total := len(run) + rows):
        ids = [sample_id for sample_id, declines in run.declining().items() if declines is not False]
        shown = ", ".join(ids[:_SHOWN]) + (", ..." if len(ids) > _SHOWN else "")
        invalid = f", {number_of(rows, 'invalid row')}" if rows else ""
        listed = f"{counts}{invalid}" + (f" ({shown})" if shown else "")
        yield f"{declining} of {total} answers decline or may do so, above {limit:g}: {listed}"


def _contradicted(run: "Run") -> Iterator[str]:
    from ragmetrics_core.study import contradictions  # here, for few tests need it

    for _, why in contradictions(run):
        yield why


def _sure(run: "Run", entry: "MetricEntry") -> list[float]:
    """The values of a mean with unknown ones at their worst; for failed scores see `_failed`."""
    from ragmetrics_core.records import FAILED  # as below

    return [
        value
        for key, outcome in run.averaged_outcomes()
        if key.signature == entry.signature and outcome.status not in FAILED
        if (value := outcome.sure(worst=entry.worst, best=entry.best)) is not None
    ]


def _scores_beyond(run: "Run", metric: str, limit: float) -> Iterator[str]:
    entry = _entry(run, run.mean(metric).metric)
    yield from _without_score(run, metric, entry)
    beyond = [each for each in _scores(run, entry, bounds=True) if _beyond(each[1], limit, entry)]
    if beyond:
        count = "1 sample is" if len(beyond) == 1 else f"{len(beyond)} samples are"
        worst, value = min(beyond, key=lambda each: _goodness(each[1], entry))
        yield f"{count} {_beyond(value, limit, entry)} {limit:g} in {metric}{_opened(run, entry, worst)}"


def _without_score(run: "Run", metric: str, entry: "MetricEntry") -> Iterator[str]:
    """The samples without a value that no model or parser failed on."""
    from ragmetrics_core.records import FAILED  # here, for pytest loads this module in every project

    lacking: list[str] = []
    scored = 0
    outcomes = _outcomes(run, entry)
    for sample_id in run.sample_ids:
        score = outcomes.get(sample_id)
        if score is None:
            lacking.append(f"{sample_id} (not measured)")
        elif _worst_value(score, entry) is not None:
            scored += 1
        elif score.status not in FAILED:
            lacking.append(f"{sample_id} ({score.status}{f': {score.reason}' if score.reason else ''})")
    if lacking:
        count = "1 sample has" if len(lacking) == 1 else f"{len(lacking)} samples have"
        shown = ", ".join(lacking[:_SHOWN]) + (", ..." if len(lacking) > _SHOWN else "")
        yield f"{count} no score of {metric}: {shown}"
    elif not scored:
        yield f"no sample has a score of {metric}"


def _failed(run: "Run", metrics: Mapping[str, None], allowed: int) -> Iterator[str]:
    from ragmetrics_core.records import FAILED  # as above

    # a metric may be asked for by its name and by its signature
    means = {mean.metric: mean for mean in map(run.averaged, metrics)}.values()
    counts: dict[str, int] = {
        status: sum(mean.statuses.get(status, 0) for mean in means) for status in sorted(FAILED)
    }
    counts["not measured"] = sum(len(run) - mean.total for mean in means)
    bad = run.rejected
    if sum(counts.values()) + len(bad) <= allowed:
        return
    if scores := sum(counts.values()):
        told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        left = "1 score failed" if scores == 1 else f"{scores} scores failed"
        yield f"{left} ({told}), and {allowed} may: the means leave {'it' if scores == 1 else 'them'} out"
    if bad:
        rows = "1 row was invalid" if len(bad) == 1 else f"{len(bad)} rows were invalid"
        yield f"{rows} ({bad[0].where}: {bad[0].message}): correct the data and evaluate again"


def _entry(run: "Run", signature: str) -> "MetricEntry":
    return next(each for each in run.metrics if each.signature == signature)


def _goodness(value: float, entry: "MetricEntry") -> float:
    return value if entry.higher_is_better else -value


def _beyond(value: float, limit: float, entry: "MetricEntry") -> str:
    """The side of the limit on which a value is worse; "" if it reaches the limit."""
    if _goodness(value, entry) >= _goodness(limit, entry):
        return ""
    return "below" if entry.higher_is_better else "above"


def _outcomes(run: "Run", entry: "MetricEntry") -> "dict[str, Outcome]":
    """Each sample's result by id, combined over repeated measurements."""
    return {key.sample_id: each for key, each in run.averaged_outcomes() if key.signature == entry.signature}


def _scores(run: "Run", entry: "MetricEntry", *, bounds: bool = False) -> Iterator[tuple[str, float]]:
    """The samples with a value; with `bounds`, an incomplete one has the worse of its bounds."""
    outcomes = _outcomes(run, entry)
    for sample_id in run.sample_ids:
        if (score := outcomes.get(sample_id)) is not None:
            value = _worst_value(score, entry) if bounds else score.value
            if value is not None:
                yield sample_id, value


def _worst_value(score: "Outcome | Record", entry: "MetricEntry") -> float | None:
    if score.value is not None or score.bounds is None:
        return score.value
    return min(score.bounds, key=lambda each: _goodness(each, entry))


def _opened(run: "Run", entry: "MetricEntry", sample_id: str) -> str:
    """The proof of a sample's score, the worst of several, indented."""
    of_sample, several = run.scores(sample_id), {each.signature for each in run.repetitions(entry.signature)}
    known = [
        (value, score)
        for signature, score in of_sample.items()
        if signature in several and (value := _worst_value(score, entry)) is not None
    ]
    _, score = min(known, key=lambda each: _goodness(each[0], entry))
    sample = score.sample
    lines = [f"the worst score, of sample {score.sample_id!r}:"]
    if sample is not None:
        lines += [f"  question: {sample.question}", f"  answer:   {sample.answer}"]
    lines += [f"  {line}" for line in score.explain().splitlines()]
    return "\n" + "\n".join(f"  {line}" for line in lines)
