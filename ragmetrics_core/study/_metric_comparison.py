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
    """How two runs are compared: what can be said of most studies, and `compare_runs` takes beside it."""

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

    Such as `faithfulness` with `faithfulness(verify=verdicts.v4)`: what another version of a prompt does to
    the scores. The comparison is that of `compare_runs`, with the signatures in the places of the runs.

    Args:
        first: a name or signature; of several metrics of a name that without settings.
        second: another one.
        before: the run of the first.
        after: the run of the second; without it the same.
        how: as `compare_runs` takes it.

    Raises:
        ConfigError: it is one metric of one run, the two have other ranges or directions, or what
            `compare_runs` raises.
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
    """The signature of a metric; of several of its name that which has no settings."""
    plain = [each for each in scores.metrics if each.partition("/")[0] == name and "(" not in each]
    return plain[0] if len(plain) == 1 else scores.metric(name)


def _alone(scores: Scores, signature: str, name: str, *, called: str) -> Scores:
    """One metric's scores under another name, in a run that is called otherwise."""
    kept: dict[str, Any] = {}
    for field in ("values", "absent", "sure", "ranges", "corrected", "repetitions"):
        of_metrics: Mapping[str, Any] = getattr(scores, field)
        kept[field] = {name: of_metrics[signature]} if signature in of_metrics else {}
    for field in ("lower_is_better", "exceeds", "of_answers"):
        kept[field] = frozenset({name} if signature in getattr(scores, field) else ())
    return replace(scores, name=called, **kept)
