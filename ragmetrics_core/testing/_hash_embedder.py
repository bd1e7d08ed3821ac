"""An embedder without weights."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["HashEmbedder"]


@dataclass(frozen=True, kw_only=True)
class HashEmbedder:
    """Vectors from hashed words: equal texts have equal vectors, and shared words bring texts closer.

    Attributes:
        dimensions: length of the vectors.
        vectors: vectors to use instead of hashed ones, by text.
    """

    dimensions: int = 64
    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])

    @property
    def identity(self) -> str:
        """The kind and size of the vectors."""
        return f"hash-{self.dimensions}"

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """One row for each text; a text without a word has a zero vector."""
        return np.array([self.vectors.get(text) or self._hashed(text) for text in texts], dtype=np.float64)

    def _hashed(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for word in re.findall(r"\w+", text.casefold()):
            number = int.from_bytes(sha256(word.encode("utf-8", "surrogatepass")).digest()[:8])
            vector[number % self.dimensions] += 1.0 if number >> 63 else -1.0
        return vector
