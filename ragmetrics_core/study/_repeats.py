"""Repeats: the judge's share of the variance of scores, and verdicts with divided votes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.drivers import by_vote
from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.runs import Run
from ragmetrics_core.study._estimates import Estimate, share_of
from ragmetrics_core.study._resampling import bootstrap, divided
from ragmetrics_core.study._tables import Column, StudyTable, in_notebooks, short, table_of
from ragmetrics_core.texts.wording import number_of

__all__ = [
    "JudgeRepeats",
    "RepeatStudy",
    "Straddling",
    "judge_share",
    "repeat_tables",
    "repeats_needed",
    "study_repeats",
]

Array = NDArray[np.float64]

# With fewer samples the quantiles of resamples mean nothing.
FEWEST_SAMPLES = 10


class Straddling(NamedTuple):
    """A verdict on which the votes differ: `yes` of `votes` say yes."""

    metric: str
    sample_id: Annotated[str, Column("sample")]
    number: int
    statement: str
    yes: int
    votes: Annotated[int, Column("of")]


class JudgeRepeats(NamedTuple):
    """Repeats of one metric: votes on a verdict (`repeats`), or whole scores (`full_repeats`).

    Attributes:
        metric: name of the metric.
        repeated: what was repeated: votes or scores.
        n: number of verdicts with several votes, or of samples with several scores.
        straddle: share of these on which votes or scores differ, with an interval by sample.
        share: the judge's share of the variance of a score with one vote per verdict, or of one whole score,
            for which the judge also extracts the statements again.
        samples: number of samples behind that share.
        times: largest number of votes per verdict or scores per sample.
        needed: number needed so that at most 5 % of the variance comes from the judge.
        note: why there is no share.
    """

    metric: str
    repeated: Literal["verdicts", "scores"]
    n: int
    straddle: Estimate
    share: Annotated[Estimate, Column("judge's share")]
    samples: int
    times: int
    needed: Annotated[int | None, Column("times needed")]
    note: str = ""


@dataclass(frozen=True)
class RepeatStudy:
    """Everything about a run's repeats.

    Attributes:
        repeats: each metric whose verdicts have several votes, or which was measured several times.
        straddling: every verdict on which votes differ, the most divided first.
        notes: what a reader should know.
    """

    repeats: tuple[JudgeRepeats, ...]
    straddling: tuple[Straddling, ...]
    notes: tuple[str, ...] = ()


def study_repeats(run: Run, *, metrics: Sequence[str] | None = None, seed: int = 0) -> RepeatStudy:
    """Analyze the repeats of a run.

    Args:
        run: a run with `repeats` or `full_repeats` of two or more, or a panel of judges.
        metrics: signatures. Default: all.
        seed: random seed of the intervals.

    Raises:
        ConfigError: no verdict has two votes, and no metric was measured twice.
    """
    signatures = [each.signature for each in run.metrics if each.repetition == 1]
    chosen = [each for each in signatures if metrics is None or each in metrics]
    repeats: dict[str, list[JudgeRepeats]] = {short(each, chosen): [] for each in chosen}
    straddling: list[Straddling] = []
    for signature, (name, rows) in zip(chosen, repeats.items(), strict=True):
        rows += [*_votes(run, signature, name, straddling, seed), *_scores(run, signature, name, seed)]
    if not any(repeats.values()):
        raise ConfigError(
            "no verdict has several votes, and no metric was measured several times: evaluate with "
            "--repeats 3, --full-repeats 3 or a panel of judges, to see how a judge decides again"
        )
    straddling.sort(key=lambda each: abs(2 * each.yes - each.votes) / each.votes)
    without = ", ".join(name for name, rows in repeats.items() if not rows)
    notes = (f"without repeats: {without}",) if without else ()
    return RepeatStudy(tuple(row for rows in repeats.values() for row in rows), tuple(straddling), notes)


def _votes(
    run: Run, signature: str, name: str, straddling: list[Straddling], seed: int
) -> Iterator[JudgeRepeats]:
    """The votes on verdicts, of the first measurement; what straddles is added to the list."""
    flags, voted, most, note = list[tuple[str, bool]](), list[list[float]](), 0, ""
    for record in run.voted(signature):
        several = [verdict for verdict in record.verdicts if len(verdict.votes) > 1]
        for verdict in several:
            yes, of = sum(verdict.votes), len(verdict.votes)
            most = max(most, of)
            flags.append((record.sample_id, 0 < yes < of))
            if 0 < yes < of:
                straddling.append(Straddling(name, record.sample_id, verdict.number, verdict.text, yes, of))
        if several and not note:
            try:
                voted.append([value for value in by_vote(record) if value is not None])
            except RecordError as error:
                note = str(error)
    if flags:
        yield _judged(name, "verdicts", flags, voted, most, note, seed)


def _scores(run: Run, signature: str, name: str, seed: int) -> Iterator[JudgeRepeats]:
    """The scores of whole measurements; a sample counts where two of them have a value."""
    several = {entry.signature for entry in run.repetitions(signature)}
    of_sample: dict[str, list[float]] = {}
    for key, outcome in run.outcomes() if len(several) > 1 else ():
        if key.signature in several and outcome.value is not None:
            of_sample.setdefault(key.sample_id, []).append(outcome.value)
    scored = {each: values for each, values in of_sample.items() if len(values) > 1}
    flags = [(each, max(values) - min(values) > 1e-12) for each, values in scored.items()]
    if len(several) > 1:
        yield _judged(name, "scores", flags, [*scored.values()], len(several), "", seed)


def _judged(
    name: str,
    repeated: Literal["verdicts", "scores"],
    flags: Sequence[tuple[str, bool]],
    values: Sequence[Sequence[float]],
    times: int,
    note: str,
    seed: int,
) -> JudgeRepeats:
    """Repeated units: their samples, whether they differ, and their values."""
    share, known = judge_share(values, seed=seed), sum(len(each) > 1 for each in values)
    if note:
        share = Estimate(None)
    elif share.value is None:
        what = "votes" if repeated == "verdicts" else "scores"
        note = f"fewer than two samples with several {what}, or no score varies"
    elif known < FEWEST_SAMPLES:
        share, note = Estimate(share.value), f"{number_of(known, 'sample')}: too few for an interval"
    needed = None if share.value is None else repeats_needed(share.value)
    straddle = share_of([differ for _, differ in flags], [sample for sample, _ in flags])
    return JudgeRepeats(name, repeated, len(flags), straddle, share, known, times, needed, note)


def judge_share(voted: Sequence[Sequence[float]], *, level: float = 0.95, seed: int = 0) -> Estimate:
    r"""The judge's share of the scores' variance: the part that another vote would change.

    .. math:: \frac{\sigma^2_w}{\sigma^2_w + \sigma^2_b}, \quad \sigma^2_w = \overline{s^2_v(y_{iv})}, \quad
        \sigma^2_b = \max(0, s^2_i(\bar y_i) - \sigma^2_w / B)

    for the score :math:`y_{iv}` that vote v alone would have given sample i, and B votes (where samples have
    not the same number, their harmonic mean). It is one less the intraclass correlation ICC(1). The interval
    draws samples.

    Args:
        voted: for each sample, the score by each vote; samples with fewer than two are left out.
        level: confidence.
        seed: of the bootstrap.

    Undefined (None) for fewer than two samples, and where no score varies.

    References:
        Searle, Casella, McCulloch (1992), "Variance Components", section 3.6.

    >>> round(judge_share([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]).value, 9)  # within 1/6, between 1/4 - 1/12
    0.5
    """
    known = [np.asarray(each, dtype=float) for each in voted if len(each) > 1]
    if len(known) < 2:
        return Estimate(None)
    within, means = np.array([each.var(ddof=1) for each in known]), np.array([each.mean() for each in known])
    inverse = np.array([1 / len(each) for each in known])

    centre = means - means.mean()

    def shares(weights: Array) -> Array:
        n = weights.sum(axis=1)
        own, mean = weights @ within / n, weights @ centre / n
        spread = (weights @ centre**2 - n * mean**2) / (n - 1)
        between = np.maximum(spread - own * (weights @ inverse / n), 0.0)
        return divided(own, own + between)

    return bootstrap(shares, range(len(known)), level=level, seed=seed)


def repeats_needed(share: float, *, left: float = 0.05) -> int | None:
    """Number of votes per verdict so that the judge's variance is at most a share of the total variance.

    The mean of r votes has 1/r of one vote's variance. Every interval already includes the judge's variance:
    repeats make intervals narrower, not more honest. Undefined (`None`) if all variance comes from the judge,
    because no number is enough.

    >>> repeats_needed(0.2), repeats_needed(0.01)
    (5, 1)
    """
    if share <= left:
        return 1
    # share / r of what is left of the variance: s/r <= left * (1 - s + s/r)
    return ceil(share * (1 - left) / (left * (1 - share)) - 1e-9) if share < 1 else None


@in_notebooks
def repeat_tables(study: RepeatStudy, *, most: int | None = None) -> Iterator[StudyTable]:
    """Each metric's judge, then the verdicts on which votes differ, or the `most` divided of them."""
    notes = [
        "straddle: the share of verdicts on which votes differ, or of samples whose whole scores differ",
        "judge's share: of the variance of a score that rests on one vote a verdict, or of one whole "
        "score; it is already inside every interval",
        "times needed: so that the judge's own share is 5 % at most, if they were averaged",
        *study.notes,
    ]
    columns = "metric repeated n times straddle share samples needed note"
    yield table_of("repeats", "Repeated decisions of the judge", JudgeRepeats, study.repeats, columns, notes)
    rest = 0 if most is None else len(study.straddling) - most
    notes = [f"{rest} more: --table straddling"] if rest > 0 else []
    columns, title = "metric sample_id number statement yes votes", "Verdicts on which votes differ"
    yield table_of("straddling", title, Straddling, study.straddling[:most], columns, notes)
