"""Whether a mean that reaches its limit would do so on other samples too."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ragmetrics_core.runs.run import Run

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
    # by name, for the study stands above this package: an import statement would turn the layers round
    study: Any = import_module("ragmetrics_core.study")
    signature = run.mean(metric).metric
    higher = next(each.higher_is_better for each in run.metrics if each.signature == signature)
    held = study.Limit(signature, limit, "min" if higher else "max")
    return tuple(study.near(study.read_scores(run), held, cluster=cluster))
