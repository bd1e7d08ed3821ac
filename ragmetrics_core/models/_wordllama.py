"""Static word vectors from a package: an embedder without a key, a network or a large runtime."""

import asyncio
import importlib.metadata
import importlib.util
import logging
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError, ModelRefused
from ragmetrics_core.models._openai_endpoint import encodable

__all__ = ["WordLlamaEmbedder", "WordVectors"]

_DIMENSIONS = 256
_LARGEST_BATCH = 64
# wordllama pads a batch to its longest text and looks up all its vectors at once: about 1 kB for each
# token, so this keeps a batch near 100 MB.
_BATCH_CHARACTERS = 400_000

# A word's vector takes 1 kB.
_MOST_WORDS = 20_000

_LOADING = threading.Lock()


@dataclass(frozen=True)
class WordLlamaEmbedder:
    """The mean of a text's word vectors (256 numbers each); a blank text has the zero vector.

    Fast and reproducible, but word order is ignored: "A sent B" and "B sent A" are equal.

    Attributes:
        asked: False to report a missing package only on first use.

    Raises:
        ConfigError: the wordllama package is missing.
    """

    asked: bool = field(default=True, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.asked and importlib.util.find_spec("wordllama") is None:
            raise ConfigError(
                "WordLlamaEmbedder needs the wordllama package: pip install 'ragmetrics-core[embedded]'"
            )

    @property
    def identity(self) -> str:
        """The vectors, and the version of their package."""
        try:
            installed = importlib.metadata.version("wordllama")
        except importlib.metadata.PackageNotFoundError:
            installed = "absent"
        return f"wordllama:l2_supercat_{_DIMENSIONS}@{installed}"

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One row per text.

        Raises:
            ModelRefused: the package's vectors are missing.
        """
        return await asyncio.to_thread(_embed, [encodable(text) for text in texts])


class WordVectors:
    """The vectors of single words, for models that compare word by word.

    Raises:
        ConfigError: the wordllama package is missing.
        ModelRefused: the package's vectors are missing.
    """

    def __init__(self) -> None:
        WordLlamaEmbedder()
        with _LOADING:
            self._model = _model()
        self._known: dict[str, NDArray[np.float32]] = {}

    def rows(self, words: Sequence[str]) -> NDArray[np.float32]:
        """A unit row per word, the mean of its pieces; a zero row for a word without pieces."""
        if len(self._known) > _MOST_WORDS:
            self._known.clear()
        rows = np.zeros((len(words), _DIMENSIONS), np.float32)
        for row, word in zip(rows, words, strict=True):
            vector = self._known.get(word)
            if vector is None:
                vector = self._known[word] = self._vector(word)
            row[:] = vector
        return rows

    def _vector(self, word: str) -> NDArray[np.float32]:
        pieces = self._model.tokenizer.encode(encodable(word), add_special_tokens=False).ids
        vector = np.zeros(_DIMENSIONS, np.float32)
        if pieces:
            vector += self._model.embedding[pieces].mean(axis=0)
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector


def _embed(texts: Sequence[str]) -> NDArray[np.float64]:
    with _LOADING:
        model = _model()
    rows = np.zeros((len(texts), _DIMENSIONS))
    for batch in _batches(texts):
        rows[batch] = model.embed([texts[position] for position in batch])
    return rows


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """Positions of the texts that are not blank, of similar length within a batch."""
    batch: list[int] = []
    for position in sorted(range(len(texts)), key=lambda position: len(texts[position])):
        if not texts[position].strip():
            continue
        padded = len(texts[position]) * (len(batch) + 1)
        if batch and (len(batch) == _LARGEST_BATCH or padded > _BATCH_CHARACTERS):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


@cache
def _model() -> Any:
    try:
        with _logging_left_alone():
            import wordllama
    except ModuleNotFoundError as error:
        raise ModelRefused(f"{error}: pip install 'ragmetrics-core[embedded]'") from error
    # It looks for its own tokenizer file in a folder that it does not have; as a cache, its package has it.
    package = Path(wordllama.__file__).parent
    try:
        return wordllama.WordLlama.load(dim=_DIMENSIONS, cache_dir=package, disable_download=True)
    except FileNotFoundError as error:
        raise ModelRefused(f"wordllama's vectors are missing ({error}): reinstall the package") from error


@contextmanager
def _logging_left_alone() -> Generator[None]:
    """Undo changes of an import to the root logger: wordllama adds a handler and a level."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
