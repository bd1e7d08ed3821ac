"""Rows of vectors, as wrappers of embedders put them together from several calls."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Vectors", "of_one_length"]

Vectors = NDArray[np.floating[Any]]
"""One vector, or one in each row."""


def of_one_length(vectors: Sequence[Vectors]) -> Sequence[Vectors]:
    """The vectors; a zero vector gets the length of the longest.

    An embedder that asks no server about blank texts cannot know the length when a call has no other text.
    """
    longest = max(map(len, vectors))
    return [
        each if len(each) == longest or each.any() else np.zeros(longest, dtype=each.dtype)
        for each in vectors
    ]
