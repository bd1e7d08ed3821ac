"""What a cosine is worth: its place among shuffled pairs of the same run, and the embedder's anisotropy.

Embedders differ in how close texts are that have nothing to do with each other: Ethayarajh (2019),
https://arxiv.org/abs/1909.00512; Roychowdhury et al. (2024), section 4.1, for why AnsRel and AnsSim mislead.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.prompts import digest_of
from ragmetrics_core.record import CompareStep, Record
from ragmetrics_core.study._bootstrap import bootstrap_mean
from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.study._tables import Cell, Marked, StudyTable, TableColumn

__all__ = ["ComparedTexts", "CosineStudy", "Placed", "compared_texts", "cosine_tables", "study_cosines"]

Array = NDArray[np.float64]

_MOST_PAIRS = 20_000


class ComparedTexts(NamedTuple):
    """The comparisons of a metric: for each sample the digests of an anchor and of the texts beside it.

    Attributes:
        metric: its signature.
        pairs: sample id, anchor and text, as digests.
        texts: the texts, as far as the records hold them, by digest.
        vectors: the vectors, as far as the records hold them, by digest.
    """

    metric: str
    pairs: tuple[tuple[str, str, str], ...]
    texts: Mapping[str, str]
    vectors: Mapping[str, tuple[float, ...]]


class Placed(NamedTuple):
    """A sample's cosine, and the share of shuffled pairs that are below it."""

    sample_id: str
    cosine: float
    percentile: float


@dataclass(frozen=True, kw_only=True)
class CosineStudy:
    """What the cosines of a metric are worth.

    Attributes:
        metric: its signature.
        embedder: whose vectors they are.
        own: mean cosine of the run's own pairs, with its interval.
        shuffled: mean cosine of pairs from different samples.
        spread: quantiles 0.05, 0.5 and 0.95 of the shuffled pairs.
        above: the chance that an own pair is closer than a shuffled one: 0.5 is worthless.
        anisotropy: mean cosine of two different texts of any kind: 0 for an embedder that uses all
            directions.
        main_direction: the share of the vectors' length that lies along one direction.
        placed: each sample.
        pairs: how many own pairs.
        shuffled_pairs: how many shuffled ones.
        left_out: pairs whose vectors are not known or zero.
        values: own and shuffled cosines, for a plot.
    """

    metric: str
    embedder: str
    own: Estimate
    shuffled: float | None
    spread: tuple[float, float, float] | None
    above: float | None
    anisotropy: float | None
    main_direction: float | None
    placed: tuple[Placed, ...]
    pairs: int
    shuffled_pairs: int
    left_out: int
    values: tuple[Array, Array]


def compared_texts(records: Iterable[Record]) -> list[ComparedTexts]:
    """What the records of a run compare by cosine, metric by metric; other metrics are left out."""
    pairs: dict[str, list[tuple[str, str, str]]] = {}
    texts: dict[str, dict[str, str]] = {}
    vectors: dict[str, dict[str, tuple[float, ...]]] = {}
    for record in records:
        for step in record.steps:
            if isinstance(step, CompareStep) and step.text_digests:
                anchor, *others = step.text_digests
                pairs.setdefault(record.signature, []).extend(
                    (record.sample_id, anchor, each) for each in others
                )
                known = vectors.setdefault(record.signature, {})
                known.update(zip(step.text_digests, step.vectors or (), strict=False))
                texts.setdefault(record.signature, {}).update(_texts(record))
    return [
        ComparedTexts(metric, tuple(found), texts[metric], vectors[metric]) for metric, found in pairs.items()
    ]


def study_cosines(
    compared: ComparedTexts, vectors: Mapping[str, Sequence[float]], *, embedder: str, seed: int = 0
) -> CosineStudy:
    """Set each cosine beside those of shuffled pairs.

    Args:
        compared: the pairs.
        vectors: by digest of the text.
        embedder: whose they are.
        seed: of the shuffling.
    """
    units = {digest: _unit(vector) for digest, vector in vectors.items()}
    known = {digest: unit for digest, unit in units.items() if unit is not None}
    pairs = [each for each in compared.pairs if each[1] in known and each[2] in known]
    own = np.array([float(known[anchor] @ known[text]) for _, anchor, text in pairs])
    shuffled = _shuffled(pairs, known, seed)
    by_sample: dict[str, list[float]] = {}
    for (sample_id, _, _), cosine in zip(pairs, own.tolist(), strict=True):
        by_sample.setdefault(sample_id, []).append(cosine)
    means = {sample_id: sum(found) / len(found) for sample_id, found in by_sample.items()}
    ordered = np.sort(shuffled)
    used = {digest for pair in pairs for digest in pair[1:]}
    return CosineStudy(
        metric=compared.metric,
        embedder=embedder,
        own=bootstrap_mean(list(means.values()), seed=seed),
        shuffled=float(shuffled.mean()) if len(shuffled) else None,
        spread=_quantiles(shuffled),
        above=_above(own, ordered),
        anisotropy=_anisotropy([known[each] for each in sorted(used)]),
        main_direction=_main_direction([known[each] for each in sorted(used)]),
        placed=tuple(
            Placed(sample_id, mean, _below(mean, ordered))
            for sample_id, mean in means.items()
            if len(ordered)
        ),
        pairs=len(pairs),
        shuffled_pairs=len(shuffled),
        left_out=len(compared.pairs) - len(pairs),
        values=(own, shuffled),
    )


def cosine_tables(found: Sequence[CosineStudy], *, most: int | None = None) -> Iterator[StudyTable]:
    """What the cosines of each metric are worth, and where each sample stands."""
    yield StudyTable(
        name="cosines",
        title="Cosines beside those of shuffled pairs",
        columns=(
            TableColumn("metric"),
            TableColumn("own pairs", "estimate"),
            TableColumn("shuffled", "number"),
            TableColumn("5 %", "number"),
            TableColumn("95 %", "number"),
            TableColumn("above shuffled", "number"),
            TableColumn("n", "count"),
            TableColumn("left out", "count"),
        ),
        rows=tuple(
            (
                each.metric,
                each.own,
                each.shuffled,
                each.spread[0] if each.spread else None,
                each.spread[2] if each.spread else None,
                each.above,
                each.pairs,
                each.left_out,
            )
            for each in found
        ),
        notes=(
            "shuffled: the same texts paired across samples; above shuffled: the chance that an own pair "
            "is closer than a shuffled one, 0.5 is worthless",
            *(f"{each.metric}: {_sense(each)}" for each in found if each.shuffled is not None),
        ),
    )
    yield StudyTable(
        name="vectors",
        title="The vectors",
        columns=(
            TableColumn("metric"),
            TableColumn("anisotropy", "number"),
            TableColumn("one direction", "number"),
            TableColumn("embedder"),
        ),
        rows=tuple((each.metric, each.anisotropy, each.main_direction, each.embedder) for each in found),
        notes=(
            "anisotropy: mean cosine of two different texts; one direction: the share of the vectors' length "
            "that lies along a single one",
        ),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            each.metric,
            one.sample_id,
            one.cosine,
            Marked(one.percentile, "weak" if one.percentile < 0.95 else ""),
        )
        for each in found
        for one in sorted(each.placed, key=lambda one: one.percentile)[:most]
    ]
    hidden = sum(len(each.placed) for each in found) - len(rows)
    yield StudyTable(
        name="samples",
        title="Samples, the least telling first",
        columns=(
            TableColumn("metric"),
            TableColumn("sample"),
            TableColumn("cosine", "number"),
            TableColumn("percentile", "number"),
        ),
        rows=tuple(rows),
        notes=(
            "percentile: the share of shuffled pairs that are further apart",
            *((f"{hidden} more samples in the files",) if hidden else ()),
        ),
    )


def _sense(each: CosineStudy) -> str:
    """What a mean cosine means, in a sentence."""
    assert each.shuffled is not None
    told = f"texts that have nothing to do with each other score {each.shuffled:.2f} here"
    if each.own.value is None:
        return told
    room = 1 - each.shuffled
    share = (each.own.value - each.shuffled) / room if room > 0 else 0.0
    return f"{told}, so that {each.own.value:.2f} is {share:.0%} of the way from there to 1"


def _texts(record: Record) -> dict[str, str]:
    sample = record.sample
    found = [verdict.text for verdict in record.verdicts]
    if sample is not None:
        found += [each for each in (sample.question, sample.answer, sample.reference) if each is not None]
        found += sample.references or ()
    return {digest_of(text): text for text in found}


def _unit(vector: Sequence[float]) -> Array | None:
    array = np.asarray(vector, dtype=float)
    length = float(np.linalg.norm(array))
    return array / length if length > 0 else None


def _shuffled(pairs: Sequence[tuple[str, str, str]], known: Mapping[str, Array], seed: int) -> Array:
    """Cosines of anchors with texts of other samples: all of them, or as many as can be looked at."""
    generator = np.random.default_rng(seed)
    n = len(pairs)
    if n < 2:
        return np.zeros(0)
    if n * n <= _MOST_PAIRS:
        left, right = (each.ravel() for each in np.meshgrid(np.arange(n), np.arange(n)))
    else:
        left, right = generator.integers(0, n, size=(2, _MOST_PAIRS))
    found = [
        float(known[pairs[i][1]] @ known[pairs[j][2]])
        for i, j in zip(left.tolist(), right.tolist(), strict=True)
        if pairs[i][0] != pairs[j][0] and pairs[i][1] != pairs[j][1] and pairs[i][2] != pairs[j][2]
    ]
    return np.array(found)


def _anisotropy(units: Sequence[Array]) -> float | None:
    r"""Mean cosine of two different texts: :math:`(|\sum_i u_i|^2 - n) / (n(n-1))` for unit vectors u."""
    n = len(units)
    if n < 2:
        return None
    total = np.sum(units, axis=0)
    return (float(total @ total) - n) / (n * (n - 1))


def _main_direction(units: Sequence[Array]) -> float | None:
    """The share of squared length along the first singular vector: 1 when all vectors are parallel."""
    if len(units) < 2:
        return None
    values = np.linalg.svd(np.array(units[:2000]), compute_uv=False)
    return float(values[0] ** 2 / (values**2).sum())


def _quantiles(values: Array) -> tuple[float, float, float] | None:
    if not len(values):
        return None
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95]).tolist()
    return low, middle, high


def _above(own: Array, ordered: Array) -> float | None:
    if not len(own) or not len(ordered):
        return None
    return float(np.mean([_below(each, ordered) for each in own.tolist()]))


def _below(value: float, ordered: Array) -> float:
    """The share of values below one; half of those that are equal count."""
    low, high = np.searchsorted(ordered, value, "left"), np.searchsorted(ordered, value, "right")
    return float(low + high) / 2 / len(ordered)
