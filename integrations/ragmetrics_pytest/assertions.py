"""The assertion: means at or above what is asked, or an error that opens the worst score."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ragmetrics_core import Run, Score

__all__ = ["assert_scores"]

_FAILED: tuple[Literal["parse_error", "model_error", "timeout", "cancelled"], ...] = (
    "parse_error",
    "model_error",
    "timeout",
    "cancelled",
)


def assert_scores(
    run: "Run",
    means: Mapping[str, float] | None = None,
    *,
    each: Mapping[str, float] | None = None,
    failures: int = 0,
    **minimum: float,
) -> None:
    """Assert that means are at least what is asked: `assert_scores(run, faithfulness=0.8)`.

    The error tells each mean that is too low, with n and what was left out, and opens the lowest score: its
    formula, every statement and its verdict with reason and evidence.

    Args:
        run: a finished run.
        means: minima by a metric's name or signature, for signatures that are no keyword.
        each: likewise, but every single sample's score must reach it.
        failures: how many scores of these metrics may have failed (a model or a parser did); a mean over what
            happened to succeed proves nothing.
        minimum: minima of means by a metric's name.

    Raises:
        AssertionError: something is below its minimum, or too much failed.
        ConfigError: the run has no such metric.
        ValueError: nothing is asked.
    """
    __tracebackhide__ = True
    asked, single = {**(means or {}), **minimum}, each or {}
    if not asked and not single:
        raise ValueError("assert_scores needs a minimum: assert_scores(run, faithfulness=0.8)")
    found = [
        *(problem for metric, least in asked.items() for problem in _mean_below(run, metric, least)),
        *(problem for metric, least in single.items() for problem in _scores_below(run, metric, least)),
        *_failed(run, dict.fromkeys((*asked, *single)), failures),
    ]
    if found:
        raise AssertionError("\n\n".join(found))


def _mean_below(run: "Run", metric: str, least: float) -> Iterator[str]:
    mean = run.mean(metric)
    if mean.value is None:
        yield f"{metric} has no mean: {mean}"
    elif mean.value < least:
        yield f"the mean of {metric} is {mean}, below {least:g}{_opened(_worst(run, metric))}"


def _scores_below(run: "Run", metric: str, least: float) -> Iterator[str]:
    below = [score for score in _scores(run, metric) if (score.value or 0.0) < least]
    if below:
        count = "1 sample is" if len(below) == 1 else f"{len(below)} samples are"
        worst = min(below, key=lambda score: score.value or 0.0)
        yield f"{count} below {least:g} in {metric}{_opened(worst)}"


def _failed(run: "Run", metrics: Mapping[str, None], allowed: int) -> Iterator[str]:
    means = [run.mean(metric) for metric in metrics]
    counts = {status: sum(mean.statuses.get(status, 0) for mean in means) for status in _FAILED}
    if sum(counts.values()) > allowed:
        told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        yield f"{sum(counts.values())} scores failed ({told}), and {allowed} may: the means leave them out"


def _scores(run: "Run", metric: str) -> Iterator["Score"]:
    for sample_id in run.sample_ids:
        signature = run.mean(metric).metric if "/" not in metric else metric
        score = run.scores(sample_id).get(signature)
        if score is not None and score.value is not None:
            yield score


def _worst(run: "Run", metric: str) -> "Score | None":
    return min(_scores(run, metric), key=lambda score: score.value or 0.0, default=None)


def _opened(score: "Score | None") -> str:
    """The proof of a score, set in below what it proves."""
    if score is None:
        return ""
    sample = score.record.sample
    lines = [f"the lowest score, of sample {score.record.sample_id!r}:"]
    if sample is not None:
        lines += [f"  question: {sample.question}", f"  answer:   {sample.answer}"]
    lines += [f"  {line}" for line in score.explain().splitlines()]
    return "\n" + "\n".join(f"  {line}" for line in lines)
