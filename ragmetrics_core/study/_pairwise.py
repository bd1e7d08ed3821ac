"""Preferences between two systems' answers, compared with the differences of their scores."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple, Unpack

import numpy as np

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._coefficients import Correlation, correlate
from ragmetrics_core.study._estimates import Estimate, share_of
from ragmetrics_core.study._frame import StudySettings, frame_of
from ragmetrics_core.study._human_labels import Value
from ragmetrics_core.study._label_vocabulary import reading_of
from ragmetrics_core.study._scores import Scores
from ragmetrics_core.study._tables import StudyTable, in_notebooks, short, table_of

__all__ = ["PreferenceFigures", "PreferenceStudy", "preference_tables", "study_preferences"]


class PreferenceFigures(NamedTuple):
    """One metric's differences against people's preferences.

    Attributes:
        metric: name of the metric.
        correlation: correlation of the differences with the mean preference.
        same_side: share of questions on which the metric prefers the answer that people prefer; a tie of the
            metric counts half. Questions on which people are tied are left out.
        decided: number of questions on which people are not tied.
    """

    metric: str
    correlation: Correlation
    same_side: Estimate
    decided: int


@dataclass(frozen=True)
class PreferenceStudy:
    """Preferences between two systems.

    Attributes:
        first, second: names of the systems; a preference above zero is for the second.
        preferences: figures of each metric.
        n: number of questions that people compared.
        ties: number of questions without a mean preference.
        notes: remarks for readers.
    """

    first: str
    second: str
    preferences: tuple[PreferenceFigures, ...]
    n: int
    ties: int
    notes: tuple[str, ...] = ()


def study_preferences(
    first: Scores,
    second: Scores,
    preferences: Mapping[str, Mapping[str, Value]],
    **studied: Unpack[StudySettings],
) -> PreferenceStudy:
    """Compare differences of scores with people's preferences.

    Args:
        first: run of one system.
        second: run of the other system, on the same questions.
        preferences: preferences by question and annotator: a number above 0 if the second system's answer is
            better, below 0 if the first one's is, 0 for a tie; or a, b, tie.
        studied: `metrics`, `cluster` and `seed`; see `StudySettings`.

    Raises:
        ConfigError: no compared question is in both runs, or a preference is neither number nor word.
    """
    frame = frame_of((first, second), **studied)
    said = [value for votes in preferences.values() for value in votes.values()]
    reading = reading_of("preference", said, kinds=["preference"])
    means: dict[str, float] = {}
    for question, votes in preferences.items():
        sides = [side for vote in votes.values() if (side := reading.value(vote)) is not None]
        if sides and question in first.labels and question in second.labels:
            means[question] = fmean(sides)
    if not means:
        raise ConfigError(f"no compared question is in both {first.name} and {second.name}")
    figures: list[PreferenceFigures] = []
    for metric in frame.metrics:
        one, other = first.values[metric], second.values[metric]
        sign, name = -1.0 if metric in first.lower_is_better else 1.0, short(metric, frame.metrics)
        both = [question for question in means if question in one and question in other]
        gains = {question: sign * round(other[question] - one[question], 12) for question in both}
        preferred, clusters = frame.columns(means, both)
        correlation = correlate([*gains.values()], preferred, clusters=clusters, seed=frame.seed)
        # half where the metric prefers none
        agreed = {name: (1 + np.sign(gains[name] * means[name])) / 2 for name in both if means[name]}
        same_side = share_of(*frame.columns(agreed))
        figures.append(PreferenceFigures(name, correlation, same_side, len(agreed)))
    notes, ties = [*frame.notes], sum(value == 0 for value in means.values())
    if lacking := len(preferences) - len(means):
        notes.append(f"{lacking} compared questions are not in both runs and are left out")
    return PreferenceStudy(first.name, second.name, tuple(figures), len(means), ties, tuple(notes))


@in_notebooks
def preference_tables(study: PreferenceStudy) -> Iterator[StudyTable]:
    """The metrics against the mean preference."""
    yield table_of(
        "preferences",
        f"Preferences of people for {study.second} over {study.first}",
        PreferenceFigures,
        study.preferences,
        "metric correlation.spearman correlation.kendall same_side correlation.n correlation.note",
        (
            f"differences of scores against the mean preference on {study.n} questions; on {study.ties} of "
            "them people are tied, which same side leaves out",
            *study.notes,
        ),
    )
