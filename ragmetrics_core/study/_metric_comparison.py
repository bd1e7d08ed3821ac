"""Two metrics of a run, or of two runs, compared sample by sample."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._comparison import RunComparison, compare_runs
from ragmetrics_core.study._frame import StudySettings
from ragmetrics_core.study._scores import Scores

__all__ = ["compare_metrics"]


class ComparisonSettings(StudySettings, total=False):
    """Settings of a comparison: those of most studies, and those of `compare_runs`."""

    threshold: float
    alpha: float
    margin: float | None


def compare_metrics(
    first: str,
    second: str,
    before: Scores,
    after: Scores | None = None,
    **how: Unpack[ComparisonSettings],
) -> RunComparison:
    """Compare two metrics of a run, or of two runs, paired by sample.

    For example, `faithfulness` and `faithfulness(verify=verdicts.v4)` show the effect of a prompt version.
    The comparison is that of `compare_runs`, with the signatures in place of the runs.

    Args:
        first: a name or signature; an ambiguous name means the metric without settings.
        second: another name or signature.
        before: run of the first metric.
        after: run of the second metric. Default: the same run.
        how: settings of `compare_runs`.

    Raises:
        ConfigError: both are the same metric of one run, they have different ranges or directions, or as
            `compare_runs`.
    """
    other = before if after is None else after
    one, two = _named(before, first), _named(other, second)
    if one == two and other is before:
        raise ConfigError(f"{one} is one metric of one run: name two, such as two variants or settings of it")
    known = before.ranges.get(one), one in before.lower_is_better
    if known != (other.ranges.get(two), two in other.lower_is_better):
        raise ConfigError(
            f"{one} and {two} have other ranges or directions: their scores cannot be set against each other"
        )
    names = [signature.partition("/")[0] for signature in (one, two)]
    metric = names[0] if names[0] == names[1] else f"{names[1]} less {names[0]}"
    compared = compare_runs(
        _alone(before, one, metric, called=one if after is None else f"{before.name}: {one}"),
        _alone(other, two, metric, called=two if after is None else f"{other.name}: {two}"),
        **how,
    )
    note = "two ways to measure were compared: a higher score is no better measure"
    return replace(compared, notes=(note, *compared.notes))


def _named(scores: Scores, name: str) -> str:
    """The signature of a metric; an ambiguous name means the metric without settings."""
    plain = [each for each in scores.metrics if each.partition("/")[0] == name and "(" not in each]
    return plain[0] if len(plain) == 1 else scores.metric(name)


def _alone(scores: Scores, signature: str, name: str, *, called: str) -> Scores:
    """One metric's scores under a new name, in a renamed run."""
    kept: dict[str, Any] = {}
    for field in ("values", "absent", "sure", "ranges", "corrected", "repetitions"):
        of_metrics: Mapping[str, Any] = getattr(scores, field)
        kept[field] = {name: of_metrics[signature]} if signature in of_metrics else {}
    for field in ("lower_is_better", "exceeds", "of_answers", "by_reference"):
        kept[field] = frozenset({name} if signature in getattr(scores, field) else ())
    return replace(scores, name=called, **kept)
