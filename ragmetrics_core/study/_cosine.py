"""What a cosine is worth: its place among shuffled pairs of the same run.

Embedders differ in how close texts are that have nothing to do with each other: Ethayarajh (2019),
https://arxiv.org/abs/1909.00512; Roychowdhury et al. (2024), section 4.1, for why AnsRel and AnsSim mislead.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.prompts import digest_of
from ragmetrics_core.records import CompareStep, Record
from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.study._resampling import bootstrap_mean
from ragmetrics_core.study._tables import Column, Mark, StudyTable, table_of

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


def _percentile_mark(share: float) -> Mark:
    return "weak" if share < 0.95 else ""


class Placed(NamedTuple):
    """A sample's cosine, and the share of shuffled pairs that are below it."""

    metric: str
    sample_id: Annotated[str, Column("sample")]
    cosine: float
    percentile: Annotated[float, Column(mark=_percentile_mark)]


@dataclass(frozen=True, kw_only=True)
class CosineStudy:
    """What the cosines of a metric are worth.

    Attributes:
        metric: its signature.
        embedder: whose vectors they are.
        own: mean cosine of the run's own pairs, with its interval.
        shuffled: mean cosine of pairs from different samples.
        low, high: quantiles 0.05 and 0.95 of the shuffled pairs.
        above: the chance that an own pair is closer than a shuffled one: 0.5 is worthless.
        placed: each sample.
        pairs: how many own pairs.
        shuffled_pairs: how many shuffled ones.
        left_out: pairs whose vectors are not known or zero.
        values: own and shuffled cosines, for a plot.
    """

    metric: str
    embedder: str
    own: Annotated[Estimate, Column("own pairs")]
    shuffled: float | None
    low: Annotated[float | None, Column("5 %")]
    high: Annotated[float | None, Column("95 %")]
    above: Annotated[float | None, Column("above shuffled")]
    placed: tuple[Placed, ...]
    pairs: Annotated[int, Column("n")]
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
    lengths = {digest: float(np.linalg.norm(vector)) for digest, vector in vectors.items()}
    known = {digest: np.asarray(vectors[digest]) / length for digest, length in lengths.items() if length > 0}
    pairs = [pair for pair in compared.pairs if pair[1] in known and pair[2] in known]
    own = np.array([float(known[anchor] @ known[text]) for _, anchor, text in pairs])
    ordered = np.sort(_shuffled(pairs, known, seed))
    by_sample: dict[str, list[float]] = {}
    for (sample_id, _, _), cosine in zip(pairs, own.tolist(), strict=True):
        by_sample.setdefault(sample_id, []).append(cosine)
    means = {sample_id: fmean(cosines) for sample_id, cosines in by_sample.items()}
    some = len(ordered) > 0
    low, high = np.quantile(ordered, [0.05, 0.95]).tolist() if some else (None, None)
    return CosineStudy(
        metric=compared.metric,
        embedder=embedder,
        own=bootstrap_mean(list(means.values()), seed=seed),
        shuffled=float(ordered.mean()) if some else None,
        low=low,
        high=high,
        above=float(np.mean([_below(each, ordered) for each in own.tolist()])) if some else None,
        placed=tuple(
            Placed(compared.metric, sample_id, mean, _below(mean, ordered))
            for sample_id, mean in means.items()
            if some
        ),
        pairs=len(pairs),
        shuffled_pairs=len(ordered),
        left_out=len(compared.pairs) - len(pairs),
        values=(own, ordered),
    )


def cosine_tables(studies: Sequence[CosineStudy], *, most: int | None = None) -> Iterator[StudyTable]:
    """What the cosines of each metric are worth, and where each sample stands."""
    senses = (
        f"{each.metric}: {_sense(each, each.shuffled)}" for each in studies if each.shuffled is not None
    )
    yield table_of(
        "cosines",
        "Cosines beside those of shuffled pairs",
        CosineStudy,
        studies,
        "metric own shuffled low high above pairs left_out",
        (
            "shuffled: the same texts paired across samples; above shuffled: the chance that an own pair is "
            "closer than a shuffled one, 0.5 is worthless",
            *senses,
        ),
    )
    rows = [
        placed
        for each in studies
        for placed in sorted(each.placed, key=lambda placed: placed.percentile)[:most]
    ]
    hidden = sum(len(each.placed) for each in studies) - len(rows)
    yield table_of(
        "samples",
        "Samples, the least telling first",
        Placed,
        rows,
        "metric sample_id cosine percentile",
        (
            "percentile: the share of shuffled pairs that are further apart",
            *([f"{hidden} more samples in the files"] if hidden else []),
        ),
    )


def _sense(study: CosineStudy, shuffled: float) -> str:
    """What a mean cosine means, in a sentence."""
    sense = f"texts that have nothing to do with each other score {shuffled:.2f} here"
    if study.own.value is None:
        return sense
    share = (study.own.value - shuffled) / (1 - shuffled) if shuffled < 1 else 0.0
    return f"{sense}, so that {study.own.value:.2f} is {share:.0%} of the way from there to 1"


def _texts(record: Record) -> dict[str, str]:
    sample = record.sample
    texts = [verdict.text for verdict in record.verdicts]
    if sample is not None:
        texts += [text for text in (sample.question, sample.answer, sample.reference) if text is not None]
        texts += sample.references or ()
    return {digest_of(text): text for text in texts}


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
    cosines = [
        float(known[pairs[i][1]] @ known[pairs[j][2]])
        for i, j in zip(left.tolist(), right.tolist(), strict=True)
        if pairs[i][0] != pairs[j][0] and pairs[i][1] != pairs[j][1] and pairs[i][2] != pairs[j][2]
    ]
    return np.array(cosines)


def _below(value: float, ordered: Array) -> float:
    """The share of values below one; half of those that are equal count."""
    low, high = np.searchsorted(ordered, value, "left"), np.searchsorted(ordered, value, "right")
    return float(low + high) / 2 / len(ordered)
