"""Which of two systems' answers people prefer, against the difference of their scores; and whole systems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study.bootstrap import RESAMPLES, bootstrap, percentile_interval
from ragmetrics_core.study.ceiling import Ceiling, ceilings
from ragmetrics_core.study.consensus import consensus_of
from ragmetrics_core.study.correlations import Correlation, correlate, kendall, spearman
from ragmetrics_core.study.intervals import Estimate, wilson_interval
from ragmetrics_core.study.labels import Unit
from ragmetrics_core.study.scores import Scores, metrics_of_all, short
from ragmetrics_core.study.tables import Column, Table

__all__ = [
    "Preference",
    "PreferenceStudy",
    "compare_correlations",
    "pooled_correlation",
    "preference_tables",
    "study_preferences",
    "system_correlation",
]

Array = NDArray[np.float64]
Value = bool | float | str

_WORDS = {"a": -1.0, "first": -1.0, "b": 1.0, "second": 1.0, "tie": 0.0, "equal": 0.0, "same": 0.0}


class Preference(NamedTuple):
    """One metric's differences against people's preferences.

    Attributes:
        metric: its name.
        correlation: of the differences with the mean preference.
        same_side: how often the metric prefers the answer that people prefer; half where it prefers none.
            Without the questions where people are tied.
        decided: on how many questions people are not tied.
    """

    metric: str
    correlation: Correlation
    same_side: Estimate
    decided: int


@dataclass(frozen=True, kw_only=True)
class PreferenceStudy:
    """Everything about preferences between two systems.

    Attributes:
        first, second: the systems' names; a preference above zero is for the second.
        preferences: each metric.
        ceilings: each person against the others, and each metric against the same.
        n: how many questions people compared.
        ties: on how many of them their mean is no preference.
        notes: what a reader should know.
    """

    first: str
    second: str
    preferences: tuple[Preference, ...]
    ceilings: tuple[Ceiling, ...]
    n: int
    ties: int
    notes: tuple[str, ...] = ()


def study_preferences(
    first: Scores,
    second: Scores,
    preferences: Mapping[str, Mapping[str, Value]],
    *,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
) -> PreferenceStudy:
    """How well differences of scores go with preferences.

    Args:
        first: one system's run.
        second: the other's, on the same questions.
        preferences: for each question what each annotator said: a number above zero where the second
            system's answer is better, below where the first one's is, 0 for a tie; or a, b, tie.
        metrics: names or signatures; without it all that the runs share.
        seed: of the bootstrap.

    Raises:
        ConfigError: no compared question is in both runs, or a preference is neither number nor word.
    """
    chosen = metrics_of_all((first, second), metrics)
    said = {
        question: {name: _number(value) for name, value in values.items()}
        for question, values in preferences.items()
        if question in first.labels and question in second.labels
    }
    if not said:
        raise ConfigError(f"no compared question is in both {first.name} and {second.name}")
    units = {Unit(question): values for question, values in said.items()}
    means = {
        unit.sample_id: float(each.value)
        for unit, each in consensus_of(units, rule="mean").items()
        if each.value is not None and not isinstance(each.value, str)
    }
    found: list[Preference] = []
    columns: dict[str, dict[str, float]] = {}
    for metric in chosen:
        one, other = first.values[metric], second.values[metric]
        sign = -1.0 if metric in first.lower_is_better else 1.0
        differences = {
            each: sign * round(other[each] - one[each], 12) for each in means if each in one and each in other
        }
        columns[short(metric, chosen)] = differences
        x, y = list(differences.values()), [means[each] for each in differences]
        decided = [(a, b) for a, b in zip(x, y, strict=True) if b]
        right = sum(1.0 if a * b > 0 else 0.5 if a == 0 else 0.0 for a, b in decided)
        side = wilson_interval(round(right), len(decided))
        if decided:
            side = side._replace(value=right / len(decided))
        found.append(Preference(short(metric, chosen), correlate(x, y, seed=seed), side, len(decided)))
    notes: list[str] = []
    if lacking := len(preferences) - len(said):
        notes.append(f"{lacking} compared questions are not in both runs and are left out")
    return PreferenceStudy(
        first=first.name,
        second=second.name,
        preferences=tuple(found),
        ceilings=ceilings(units, columns, rule="mean", seed=seed),
        n=len(means),
        ties=sum(value == 0 for value in means.values()),
        notes=tuple(notes),
    )


def preference_tables(found: PreferenceStudy) -> Iterator[Table]:
    """The metrics against the mean preference, then people and metrics against all people but one."""
    yield Table(
        name="preferences",
        title=f"Preferences of people for {found.second} over {found.first}",
        columns=(
            Column("metric"),
            Column("spearman", "estimate"),
            Column("kendall", "estimate"),
            Column("same side", "estimate"),
            Column("n", "count"),
            Column("note"),
        ),
        rows=tuple(
            (
                each.metric,
                each.correlation.spearman,
                each.correlation.kendall,
                each.same_side,
                each.correlation.n,
                each.correlation.note,
            )
            for each in found.preferences
        ),
        notes=(
            f"differences of scores against the mean preference on {found.n} questions; on {found.ties} of "
            "them people are tied, which same side leaves out",
            *found.notes,
        ),
    )
    if found.ceilings:
        yield Table(
            name="ceiling",
            title="Each person, and each metric, against the other people",
            columns=(
                Column("who"),
                Column("spearman", "estimate"),
                Column("kendall", "estimate"),
                Column("n", "count"),
                Column("note"),
            ),
            rows=tuple(
                (each.who, *each.correlation[:2], each.correlation.n, each.correlation.note)
                for each in found.ceilings
            ),
            notes=("against the mean of all people but one, once for each that is left out",),
        )


def system_correlation(
    metric: ArrayLike, people: ArrayLike, *, level: float = 0.95, count: int = RESAMPLES, seed: int = 0
) -> Estimate:
    """Kendall's correlation of systems' mean scores with their means by people, over systems and questions.

    Args:
        metric: one row for each system, one column for each question.
        people: likewise; not a number where nobody labelled.
        level: confidence.
        count: how many resamples; systems and questions are drawn anew in each.
        seed: of the draws.

    Undefined (None) for fewer than three systems; with fewer than five there is no interval.
    """
    scores, labels = np.asarray(metric, dtype=float), np.asarray(people, dtype=float)
    systems, questions = (int(each) for each in scores.shape)
    if systems < 3:
        return Estimate(None)
    value = kendall(np.nanmean(scores, axis=1), np.nanmean(labels, axis=1))
    if value is None or systems < 5:
        return Estimate(value)
    generator = np.random.default_rng(seed)
    drawn: list[float] = []
    for _ in range(count):
        rows = generator.integers(0, systems, systems)
        columns = generator.integers(0, questions, questions)
        x = np.nanmean(scores[np.ix_(rows, columns)], axis=1)
        again = kendall(x, np.nanmean(labels[np.ix_(rows, columns)], axis=1))
        drawn.append(np.nan if again is None else again)
    return percentile_interval(value, np.array(drawn), n=systems, level=level)


def compare_correlations(
    one: ArrayLike, other: ArrayLike, people: ArrayLike, *, level: float = 0.95, seed: int = 0
) -> Estimate:
    """How much better one metric correlates with people than another, on the same samples (Spearman).

    The interval is of a paired bootstrap: samples are drawn with all three of their numbers.
    """
    x, y, z = (np.asarray(each, dtype=float) for each in (one, other, people))
    first, second = spearman(x, z), spearman(y, z)
    value = None if first is None or second is None else first - second

    def difference(rows: NDArray[np.intp]) -> Array:
        found: list[float] = []
        for row in rows:
            a, b = spearman(x[row], z[row]), spearman(y[row], z[row])
            found.append(np.nan if a is None or b is None else a - b)
        return np.array(found)

    return bootstrap(difference, len(x), value=value, level=level, seed=seed)


def pooled_correlation(
    sets: Sequence[tuple[ArrayLike, ArrayLike]],
    *,
    level: float = 0.95,
    count: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Spearman's correlation within sets, averaged with their sizes as weights.

    Samples are drawn within sets. Pooling the numbers themselves would take differences between sets for
    agreement. Sets without a correlation do not count; undefined (None) when none has one.
    """
    pairs = [(np.asarray(x, dtype=float), np.asarray(y, dtype=float)) for x, y in sets]
    pairs = [(x, y) for x, y in pairs if spearman(x, y) is not None]
    if not pairs:
        return Estimate(None)

    def mean(parts: Sequence[tuple[Array, Array]]) -> float:
        known = [(len(x), found) for x, y in parts if (found := spearman(x, y)) is not None]
        return sum(n * found for n, found in known) / sum(n for n, _ in known) if known else np.nan

    generator = np.random.default_rng(seed)
    drawn: list[float] = []
    for _ in range(count):
        rows = [generator.integers(0, len(x), len(x)) for x, _ in pairs]
        drawn.append(mean([(x[row], y[row]) for (x, y), row in zip(pairs, rows, strict=True)]))
    size = sum(len(x) for x, _ in pairs)
    return percentile_interval(mean(pairs), np.array(drawn), n=size, level=level)


def _number(value: Value) -> float:
    if isinstance(value, str):
        known = _WORDS.get(value.strip().casefold())
        if known is None:
            raise ConfigError(
                f"the preference {value!r} is none: write a number above or below 0, or a, b or tie"
            )
        return known
    return float(value)
