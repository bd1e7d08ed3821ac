"""Samples as the items of an exam: which of them tell systems apart?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._item_response import fit_two_parameters
from ragmetrics_core.study._scores import Scores, measured_notes
from ragmetrics_core.study._tables import Column, Mark, StudyTable, table_of
from ragmetrics_core.texts.wording import number_of

__all__ = ["ExamItem", "ExamSystem", "ItemStudy", "item_tables", "study_items"]

FEWEST_SYSTEMS = 3
# Below this the order of the samples is of use and the numbers are not.
_FEW_SYSTEMS = 30


def _mark(item_rest: float | None) -> Mark:
    return "weak" if item_rest is not None and item_rest < 0 else ""


class ExamItem(NamedTuple):
    """One sample as an item.

    Attributes:
        sample_id: the sample.
        passed: share of the systems that pass it.
        item_rest: correlation, over the systems, of passing it with the share passed of all other samples;
            below 0 the better systems fail. None if it cannot be computed.
        discrimination: slope of the two-parameter model; None if all systems pass, or none does.
        difficulty: ability at which half of the systems pass, in standard deviations of ability.
        information: Fisher information of the sample about a system, averaged over the systems.
    """

    sample_id: Annotated[str, Column("sample")]
    passed: float
    item_rest: Annotated[float | None, Column("item-rest", "number", _mark)]
    discrimination: float | None
    difficulty: float | None
    information: float


class ExamSystem(NamedTuple):
    """One system: its share of passed samples, its ability and the standard deviation of that estimate."""

    system: str
    passed: float
    ability: float
    sd: float


@dataclass(frozen=True)
class ItemStudy:
    """Samples as items of an exam.

    Attributes:
        metric: signature of the metric.
        items: the samples, the most informative first.
        systems: the systems, the best first.
        same: number of samples that all systems pass, and that none passes: they tell no systems apart.
        notes: remarks for readers.
    """

    metric: str
    items: tuple[ExamItem, ...]
    systems: tuple[ExamSystem, ...]
    same: tuple[int, int]
    notes: tuple[str, ...] = ()


def study_items(systems: Sequence[Scores], *, metric: str, passing: float = 0.5) -> ItemStudy:
    r"""Fit the two-parameter logistic model to samples (items) and systems (examinees).

    .. math:: P(\text{system } j \text{ passes sample } i) =
        \frac{1}{1 + e^{-a_i (\theta_j - b_i)}}, \qquad \theta_j \sim N(0, 1)

    by marginal maximum likelihood. A sample that all systems pass, or none, has no estimate and is left out,
    as are samples without a value in some system.

    Args:
        systems: the scores of each system on the same samples.
        metric: a name or signature.
        passing: lowest passing score; if lower is better, the highest one.

    Raises:
        ConfigError: there are fewer than three systems, the metric is unknown, or no sample tells systems
            apart.

    References:
        Birnbaum (1968), in Lord and Novick, "Statistical Theories of Mental Test Scores", chapter 17; Bock
        and Aitkin (1981), Psychometrika 46. Guinet et al. (2024) use such models to improve generated exams
        for RAG: https://arxiv.org/abs/2405.13622
    """
    if len(systems) < FEWEST_SYSTEMS:
        raise ConfigError(
            f"items need {FEWEST_SYSTEMS} systems or more, and there {_are(len(systems))}: give more runs, "
            "or name with --by the label of one run that says which system answered"
        )
    signature = systems[0].metric(metric)
    columns = [system.values.get(signature, {}) for system in systems]
    ids = [each for each in columns[0] if all(each in column for column in columns)]
    if not ids:
        raise ConfigError(f"no sample has a value of {signature} in all systems")
    scores = np.array([[column[each] for each in ids] for column in columns])
    is_lower_better = signature in systems[0].lower_is_better
    passes = scores <= passing if is_lower_better else scores >= passing
    shares = passes.mean(axis=0)
    tells = (shares > 0) & (shares < 1)
    if not tells.any():
        raise ConfigError(
            f"no sample tells the systems apart: each is passed by all or by none, with {passing:g} to pass"
        )
    fitted = fit_two_parameters(passes[:, tells])
    rest = _item_rest(passes)
    parameters = iter(zip(fitted.discrimination, fitted.difficulty, fitted.information, strict=True))
    items: list[ExamItem] = []
    for place, sample_id in enumerate(ids):
        if not tells[place]:
            items.append(ExamItem(sample_id, float(shares[place]), None, None, None, 0.0))
            continue
        slope, difficulty, information = map(float, next(parameters))
        items.append(ExamItem(sample_id, float(shares[place]), rest[place], slope, difficulty, information))
    items.sort(key=lambda item: (-item.information, item.sample_id))
    rows = zip(systems, passes.mean(axis=1), fitted.ability, fitted.ability_sd, strict=True)
    ranked = [ExamSystem(of.name, float(share), float(mean), float(sd)) for of, share, mean, sd in rows]
    ranked.sort(key=lambda system: (-system.ability, system.system))
    return ItemStudy(
        signature,
        tuple(items),
        tuple(ranked),
        (int((shares == 1).sum()), int((shares == 0).sum())),
        tuple(_notes(systems, signature, len(ids), fitted.converged)),
    )


def _are(count: int) -> str:
    return f"is {count}" if count == 1 else f"are {count}"


def _item_rest(passes: NDArray[np.bool_]) -> list[float | None]:
    """For each sample, the correlation of passing it with the share passed of the others."""
    totals = passes.sum(axis=1)
    found: list[float | None] = []
    for column in passes.T:
        others = totals - column
        if column.std() == 0 or others.std() == 0:
            found.append(None)
        else:
            found.append(float(np.corrcoef(column, others)[0, 1]))
    return found


def _notes(systems: Sequence[Scores], metric: str, used: int, converged: bool) -> Iterator[str]:
    yield from measured_notes(systems, [metric])
    every = len({each for system in systems for each in system.samples})
    if left := every - used:
        yield f"left out: {number_of(left, 'sample')} without a value in every system"
    if len(systems) < _FEW_SYSTEMS:
        yield (
            f"{len(systems)} systems estimate a slope poorly: below {_FEW_SYSTEMS}, use the order of the "
            "samples and item-rest, not the numbers"
        )
    if not converged:
        yield "the fit was still moving when it was stopped: use the order, not the numbers"


def item_tables(study: ItemStudy, *, most: int | None = None) -> Iterator[StudyTable]:
    """The samples, the most informative first, then the systems."""
    passed, failed = study.same
    notes = [
        *study.notes,
        f"{number_of(passed, 'sample')} passed by all systems and {failed} by none tell no systems apart",
        "item-rest below 0: the better systems fail; check the reference",
    ]
    shown = study.items if most is None else study.items[:most]
    if len(shown) < len(study.items):
        notes.append(f"the first {len(shown)} of {len(study.items)} samples; --out writes all")
    title = f"Samples that tell systems apart, by {study.metric}"
    columns = "sample_id passed item_rest discrimination difficulty information"
    yield table_of("items", title, ExamItem, shown, columns, notes)
    yield table_of("systems", "Systems by ability", ExamSystem, study.systems, "system passed ability sd")
