"""Concordance: how likely an answer is correct when metrics are high, and wrong when they are low.

Table 4 and equations (1) and (2) of Roychowdhury et al. (2024), https://arxiv.org/abs/2407.12873.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._clustering import clustering_of
from ragmetrics_core.study._parts import Estimate, share_of
from ragmetrics_core.study._scores import LeftOut, Scores, measured_notes, taken
from ragmetrics_core.study._tables import Column, StudyTable, counted, table_of

__all__ = ["Concordance", "Conditional", "by_bayes", "concordance_tables", "study_concordance"]

Flags = NDArray[np.bool_]


class Conditional(NamedTuple):
    """The share of correct (or wrong) answers among those whose metrics are above (or below) thresholds.

    Attributes:
        run: the run's name.
        probability: what the share estimates: "P(correct | above)".
        names: of the metrics, all of which must be above or below.
        at: the thresholds, one for each metric.
        share: of the selected answers, by direct count; None when nothing is selected.
        bayes: the same through Bayes' formula, as the paper writes it; None without a metric.
        selected: how many answers the thresholds select; None without a metric.
        n: how many answers there are.
    """

    run: str
    probability: str
    names: tuple[str, ...]
    at: tuple[float, ...]
    share: Estimate
    bayes: float | None
    selected: Annotated[int | None, Column("of")]
    n: int

    @property
    def metrics(self) -> str:
        """Their names: "faithfulness and factual_correctness"."""
        return " and ".join(self.names) or "no metric"

    @property
    def thresholds(self) -> str | None:
        """Their values: "0.7, 0.7"."""
        return ", ".join(f"{each:g}" for each in self.at) or None


@dataclass(frozen=True, kw_only=True)
class Concordance:
    """Everything about concordance.

    Attributes:
        run: the run's name.
        label: what says which answers are correct.
        metrics: the metrics' names.
        base: the share of correct answers.
        above: P(correct | above), for each metric and for all together.
        below: P(wrong | below), likewise.
        left_out: samples without a value or label, by cause.
        notes: what a reader should know.
    """

    run: str
    label: str
    metrics: tuple[str, ...]
    base: Estimate
    above: tuple[Conditional, ...]
    below: tuple[Conditional, ...]
    left_out: LeftOut
    notes: tuple[str, ...] = ()


def study_concordance(
    scores: Scores,
    correct: Mapping[str, bool],
    *,
    label: str = "correct",
    metrics: Sequence[str] = ("faithfulness", "factual_correctness"),
    above: Sequence[float] = (0.7,),
    below: Sequence[float] = (0.3,),
    cluster: str | None = None,
) -> Concordance:
    """How well metrics tell correct answers from wrong ones.

    Where lower is better, what is left to the other end of the range is held to the thresholds, and named so:
    "1 - hallucination" above 0.7 is a hallucination below 0.3. All figures are of the samples that have a
    label and a value of every metric, so that they compare.

    Args:
        scores: the run.
        correct: which answers are correct, by sample id.
        label: what that is called.
        metrics: one or several.
        above: thresholds that scores must exceed, one for all metrics or one for each.
        below: thresholds that scores must stay below, likewise.
        cluster: the label whose values say which samples belong together, or "none"; see `clustering_of`.

    Raises:
        ConfigError: a metric is unknown, the thresholds are not as many, or no sample has values and a label.
    """
    signatures = tuple(scores.metric(name) for name in metrics)
    columns = [scores.oriented(each, signatures) for each in signatures]
    names = tuple(each.name for each in columns)
    highs, lows = _for_each(above, names, "above"), _for_each(below, names, "below")
    ids, left_out = taken(scores, signatures, correct, f"label {label}")
    if not ids:
        raise ConfigError(
            f"no sample of {scores.name} has the label {label!r} and a value of {', '.join(names)}"
        )
    values = np.array([[column.values[each] for each in ids] for column in columns])
    is_correct = np.array([bool(correct[each]) for each in ids])
    clustering = clustering_of([scores], cluster)
    clusters = clustering.clusters(ids)
    notes = [*clustering.notes, *measured_notes([scores], signatures)]
    if is_correct.all() or not is_correct.any():
        kind = "correct" if is_correct.all() else "wrong"
        notes.append(f"all {len(ids)} answers are {kind}: nothing can be told apart")
    elif min(is_correct.sum(), (~is_correct).sum()) < 10:
        notes.append("fewer than 10 answers are on one side: the intervals are what counts")

    def conditional(what: str, at: Sequence[float], *, upwards: bool) -> Iterator[Conditional]:
        """Of each metric alone, then of all together."""
        wanted = is_correct if upwards else ~is_correct
        bounds = np.array(at)[:, None]
        beyond = values > bounds if upwards else values < bounds
        places = range(len(names))
        for part in [*([place] for place in places), *([[*places]] if len(names) > 1 else [])]:
            selected: Flags = np.asarray(beyond[part].all(axis=0))
            inside = [cluster for cluster, is_in in zip(clusters, selected, strict=True) if is_in]
            share, bayes = share_of(wanted[selected], inside), by_bayes(selected, wanted)
            # two ways to the same number: they may differ by rounding only
            assert (share.value is None) == (bayes is None)
            assert share.value is None or bayes is None or abs(share.value - bayes) < 1e-9
            of, limits = tuple(names[place] for place in part), tuple(at[place] for place in part)
            yield Conditional(scores.name, what, of, limits, share, bayes, int(selected.sum()), len(ids))

    return Concordance(
        run=scores.name,
        label=label,
        metrics=names,
        base=share_of(is_correct, clusters),
        above=tuple(conditional("P(correct | above)", highs, upwards=True)),
        below=tuple(conditional("P(wrong | below)", lows, upwards=False)),
        left_out=left_out,
        notes=tuple(notes),
    )


def by_bayes(selected: Flags, wanted: Flags) -> float | None:
    r"""Equation (1) of the paper: the share of wanted answers among the selected ones.

    .. math:: P(c \mid m_1 > \theta_1; m_2 > \theta_2)
        = \frac{P(m_1 > \theta_1; m_2 > \theta_2 \mid c) \, P(c)}{P(m_1 > \theta_1; m_2 > \theta_2)}

    Undefined (`None`) when nothing is selected. When nothing is wanted it is 0.
    """
    if not selected.any():
        return None
    if not wanted.any():
        return 0.0
    given = float(selected[wanted].mean())
    return given * float(wanted.mean()) / float(selected.mean())


def concordance_tables(studies: Sequence[Concordance]) -> Iterator[StudyTable]:
    """Of one or several runs: the conditional shares, as table 4 of the paper has them."""
    rows: list[Conditional] = []
    notes = [
        "share: by direct count, with Wilson's interval; bayes: through equations (1) and (2); of: answers "
        "that the thresholds select, of n"
    ]
    for each in studies:
        base = Conditional(each.run, f"P({each.label})", (), (), each.base, None, None, each.above[0].n)
        rows += (base, *each.above, *each.below)
        left_out = f"{each.run}: left out {counted(each.left_out)}"
        notes += [*each.notes, *([left_out] if each.left_out else [])]
    columns = "run probability metrics thresholds share bayes selected n"
    title = "Concordance with expert evaluation"
    yield table_of("concordance", title, Conditional, rows, columns, notes)


def _for_each(thresholds: Sequence[float], names: Sequence[str], what: str) -> tuple[float, ...]:
    if len(thresholds) not in (1, len(names)):
        raise ConfigError(
            f"{len(thresholds)} thresholds {what} are given for {len(names)} metrics: give one, or one each"
        )
    return tuple(thresholds) * (len(names) if len(thresholds) == 1 else 1)
