"""What a cosine is worth: each beside those of shuffled pairs of the same run.

    python examples/cosines.py RUN [EMBEDDER]

0.9 means little from an embedder whose shuffled pairs score 0.88: embedders differ in how close texts are
that have nothing to do with each other (Ethayarajh 2019, https://arxiv.org/abs/1909.00512; Roychowdhury et
al. 2024, section 4.1). Vectors are those of a run that kept them (`keep_vectors`), else EMBEDDER makes them
anew. It needs scipy.
"""

import argparse
import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ragmetrics_core import Run
from ragmetrics_core.models import as_embedder
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.records import CompareStep, Record
from ragmetrics_core.study import Estimate, mean_of

MOST_PAIRS = 20_000


class Worth(NamedTuple):
    """What a metric's cosines are worth: the mean of its own pairs, beside shuffled ones.

    `above` is the chance that an own pair is closer than a shuffled one: 0.5 is worthless. `percentiles` has
    of each own pair the share of shuffled ones below it.
    """

    own: Estimate
    shuffled: float
    above: float
    percentiles: dict[str, float]

    def __str__(self) -> str:
        """In a sentence."""
        way = ((self.own.value or 0.0) - self.shuffled) / (1 - self.shuffled) if self.shuffled < 1 else 0.0
        return (
            f"{self.own}; texts that have nothing to do with each other score {self.shuffled:.2f} here, so "
            f"that it is {way:.0%} of the way from there to 1; in {self.above:.0%} an own pair is closer"
        )


def worth_of(
    pairs: Sequence[tuple[str, str, str]], vectors: Mapping[str, ArrayLike], *, seed: int = 0
) -> Worth | None:
    """Set each pair of a sample's texts beside pairs of texts of different samples; None without two pairs.

    Args:
        pairs: sample id, and what its two texts are called.
        vectors: of the texts.
        seed: of the pairs that are drawn where there are very many.
    """
    arrays = {name: np.asarray(vector, dtype=float) for name, vector in vectors.items()}
    units = {name: array / np.linalg.norm(array) for name, array in arrays.items() if array.any()}
    known = [pair for pair in pairs if pair[1] in units and pair[2] in units]
    n = len(known)
    left, right = np.divmod(np.arange(n * n), max(n, 1))
    if n * n > MOST_PAIRS:
        left, right = np.random.default_rng(seed).integers(0, n, size=(2, MOST_PAIRS))
    places: Iterable[tuple[int, int]] = zip(left.tolist(), right.tolist(), strict=True)
    others = ((known[i], known[j]) for i, j in places)
    shuffled = np.sort(
        [
            units[pair[1]] @ units[other[2]]
            for pair, other in others
            if all(one != two for one, two in zip(pair, other, strict=True))
        ]
    )
    if not len(shuffled):
        return None
    own = np.array([units[one] @ units[other] for _, one, other in known])
    # half of those that are equal count
    low, high = (np.searchsorted(shuffled, own, side) for side in ("left", "right"))
    below = (low + high) / 2 / len(shuffled)
    samples = [sample for sample, _, _ in known]
    percentiles = dict(zip(samples, below.tolist(), strict=True))
    return Worth(mean_of(own, samples), float(shuffled.mean()), float(below.mean()), percentiles)


def texts_of(record: Record) -> list[str]:
    """All texts of a record that may be compared."""
    sample = record.sample
    texts = [sample.question, sample.answer, sample.reference, *(sample.references or ())] if sample else []
    return [text for text in (*texts, *(verdict.text for verdict in record.verdicts)) if text is not None]


async def embedded(texts: Sequence[str], embedder: str) -> list[list[float]]:
    """The vectors that an embedder makes."""
    made: list[list[float]] = (await as_embedder(embedder).aembed(texts)).tolist()
    return made


def main() -> None:
    """Print a sentence for each metric that compares by cosine, and its least telling pairs."""
    parser = argparse.ArgumentParser(description="What the cosines of a run are worth.")
    parser.add_argument("run", type=Path)
    parser.add_argument("embedder", nargs="?")
    given = parser.parse_args()
    pairs: dict[str, list[tuple[str, str, str]]] = {}
    texts: dict[str, str] = {}
    vectors: dict[str, Sequence[float]] = {}
    for record in Run.load(given.run).records():
        for step in record.steps:
            if isinstance(step, CompareStep) and step.text_digests:
                anchor, *others = step.text_digests
                of_metric = pairs.setdefault(record.signature, [])
                of_metric += [(record.sample_id, anchor, other) for other in others]
                vectors.update(zip(step.text_digests, step.vectors or (), strict=False))
                texts.update((digest_of(text), text) for text in texts_of(record))
    if given.embedder is not None:
        lacking = {digest: text for digest, text in texts.items() if digest not in vectors}
        made = asyncio.run(embedded([*lacking.values()], given.embedder))
        vectors.update(zip(lacking, made, strict=True))
    for metric, of_metric in pairs.items():
        worth = worth_of(of_metric, vectors)
        print(f"{metric}: {worth or 'no two pairs have vectors: name the embedder of the run'}")
        least = sorted(worth.percentiles.items(), key=lambda item: item[1])[:5] if worth else []
        for sample_id, share in least:
            print(f"  {sample_id}: closer than {share:.0%} of the shuffled pairs")


if __name__ == "__main__":
    main()
