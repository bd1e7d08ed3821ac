"""Formulas over embedding vectors."""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Vector", "cosine", "mean_cosine"]

Vector: TypeAlias = Sequence[float] | NDArray[np.floating]


def cosine(a: Vector, b: Vector) -> float | None:
    r"""Cosine of the angle between two vectors.

    .. math:: \cos(a, b) = \frac{a \cdot b}{\lVert a \rVert\, \lVert b \rVert}

    Range [-1, 1], higher is more alike; negative values are kept. Undefined (`None`) when a vector is zero.
    The result is clipped to [-1, 1] only against rounding errors.

    Raises:
        ValueError: the vectors differ in length, are empty, are not flat lists of numbers, or contain a
            number that is not finite.

    References:
        Roychowdhury et al. (2024), equation 6: answer similarity. https://arxiv.org/abs/2407.12873

    Examples:
        >>> cosine([1, 0], [1, 1])
        0.7071067811865475
        >>> cosine([1, 0], [-2, 0])
        -1.0
        >>> cosine([0, 0], [1, 0]) is None
        True
    """
    left, right = _scaled(a), _scaled(b)
    if left.shape != right.shape:
        raise ValueError(f"vectors must have the same length, got {left.size} and {right.size}")
    # one root of the product, not two roots: a vector's cosine with itself is then exactly 1
    norms = math.sqrt(float(left @ left) * float(right @ right))
    if norms == 0:
        return None
    return min(1.0, max(-1.0, float(left @ right) / norms))


def mean_cosine(question_vector: Vector, vectors: Sequence[Vector] | NDArray[np.floating]) -> float | None:
    r"""Mean cosine between one vector and several others, such as a question and generated questions.

    .. math:: \frac{1}{N} \sum_{i=1}^{N} \cos(E(q), E(q_i))

    Range [-1, 1], higher is better; never clipped at 0, which would hide how far off a question is. Undefined
    (`None`) when there are no vectors or any vector is zero. Zero vectors are not left out of the mean,
    because scores over fewer questions would look like the others.

    Raises:
        ValueError: as `cosine`.

    References:
        Es et al. (2023), section 3, answer relevance. https://arxiv.org/abs/2309.15217
        Roychowdhury et al. (2024), equation 4. https://arxiv.org/abs/2407.12873

    Examples:
        >>> mean_cosine([1, 0], [[1, 0], [0, 1]])
        0.5
        >>> mean_cosine([1, 0], [[-1, 0]])
        -1.0
        >>> mean_cosine([1, 0], []) is None
        True
    """
    cosines = [cosine(question_vector, vector) for vector in vectors]
    defined = [value for value in cosines if value is not None]
    if not defined or len(defined) < len(cosines):
        return None
    return math.fsum(defined) / len(defined)


def _scaled(vector: Vector) -> NDArray[np.float64]:
    """Scale a vector by a power of two, so that its squares neither overflow nor underflow."""
    array = np.asarray(vector, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"a vector must be a flat list of at least one number, got the shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("a vector must contain finite numbers only")
    exponent = int(np.frexp(np.abs(array).max())[1])
    return np.ldexp(array, -exponent)
