"""Whether a mean that reaches its limit would do so on other samples too."""

from collections.abc import Sequence

from ragmetrics_core.runs import Run
from ragmetrics_core.study._limits import Limit, near
from ragmetrics_core.study._scores import read_scores

__all__ = ["doubts_of_mean"]


def doubts_of_mean(run: Run, metric: str, limit: float, *, cluster: str | None = None) -> Sequence[str]:
    """Why it cannot be told: a sentence, or none where the 95 % interval of the mean reaches the limit.

    Scores that failed, and answers that say nothing, count as the worst.

    Args:
        run: the run.
        metric: a name that is unique in the run, or a signature.
        limit: what the mean must reach; what it must not exceed where lower is better.
        cluster: the label whose values say which samples belong together, or "none"; without it `session`,
            where samples carry it.

    Raises:
        ConfigError: there is no such metric or label, or scipy is not installed.
    """
    signature = run.mean(metric).metric
    higher = next(each.higher_is_better for each in run.metrics if each.signature == signature)
    held = Limit(signature, limit, "min" if higher else "max")
    return tuple(near(read_scores(run), held, cluster=cluster))
