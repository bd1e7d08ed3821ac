"""LangChain embeddings as an embedder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from ragmetrics_core.adapting import ForeignModel, ForeignName
from ragmetrics_core.boundary import checked
from ragmetrics_core.models import foreign_answer
from ragmetrics_langchain._calling import (
    ModelPerLoop,
    answered_apart,
    as_model_error,
    is_asynchronous_only,
    name_of,
)

__all__ = ["LangChainEmbedder"]


@checked
@dataclass(frozen=True, eq=False, repr=False)
class LangChainEmbedder(ForeignModel):
    """LangChain embeddings as an embedder; all texts are embedded as documents.

    Called through their synchronous interface, in threads, like the model of `LangChainJudge`.

    Attributes:
        embeddings: the embeddings, or a function without arguments that makes them, called once per event
            loop. Embeddings without a synchronous interface are called on the running loop.
        name: the model's name in records. Default: its class, model, server and settings.

    Raises:
        ConfigError: `embeddings` is neither embeddings nor a function.
    """

    embeddings: Embeddings | Callable[[], Embeddings]
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _ = self._models

    @cached_property
    def is_asynchronous_only(self) -> bool:
        """Whether there is no synchronous interface, which live scoring needs."""
        return is_asynchronous_only(self._models.first)

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """One row per text.

        Raises:
            ModelError: the model failed.
        """
        is_bound = self.is_asynchronous_only
        embeddings = self._models.here() if is_bound else self._models.first
        ask = None if is_bound else partial(embeddings.embed_documents, list(texts))
        call = answered_apart(ask, partial(embeddings.aembed_documents, list(texts)))
        rows = await foreign_answer(call, lambda error: as_model_error(error, self.identity, embeddings))
        return np.asarray(rows, dtype=np.float64)

    @cached_property
    def _models(self) -> ModelPerLoop[Embeddings]:
        return ModelPerLoop(self.embeddings, Embeddings)

    @cached_property
    def foreign_name(self) -> ForeignName:
        """Class, model, server and settings."""
        return name_of(self._models.first, {})
