"""Checks on the answers of models, and their form in the journal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, cast

import numpy as np

from ragmetrics_core.errors import ModelError
from ragmetrics_core.journal import (
    decode_rating,
    decode_reply,
    decode_vector,
    encode_rating,
    encode_reply,
    encode_vector,
)
from ragmetrics_core.models._batched import Vectors
from ragmetrics_core.models.redactor import Redactor
from ragmetrics_core.protocol import Completion

__all__ = ["RATINGS", "REPLIES", "VECTORS", "AnswerKind", "checked_replies"]

T = TypeVar("T")


@dataclass(frozen=True)
class AnswerKind(Generic[T]):
    """The answers of one kind of model.

    Attributes:
        checked: validates an answer; takes the answer, the number of requested answers, the model's identity
            and a redactor.
        encode, decode: to and from the form stored in the journal.
    """

    checked: Callable[[Any, int, str, Redactor], Sequence[T]]
    encode: Callable[[T], bytes]
    decode: Callable[[bytes], T]


def checked_replies(given: Any, count: int, identity: str) -> Sequence[Completion]:
    """Between one and the requested number of replies.

    Raises:
        ModelError: there is none, or one is not text.
    """
    if not given:
        raise ModelError(f"the judge {identity} returned no reply")
    for reply in given:
        if not isinstance(reply, Completion) or not isinstance(cast("object", reply.text), str):
            kind = type(getattr(reply, "text", reply)).__name__
            raise ModelError(f"the judge {identity} replied with {kind}, not with text")
    replies: Sequence[Completion] = given[:count]
    return replies


def _replies(given: Any, count: int, identity: str, redactor: Redactor) -> Sequence[Completion]:
    return redactor.replies(checked_replies(given, count, identity))


def _vectors(given: Any, count: int, identity: str, _: Redactor) -> Sequence[Vectors]:
    """One vector for each text."""
    vectors = np.asarray(given)
    is_whole = vectors.ndim == 2 and len(vectors) == count and vectors.size
    if not is_whole or not np.isfinite(vectors).all():
        raise ModelError(
            f"the embedder {identity} gave an array of shape {vectors.shape} for {count} "
            "texts, or one with numbers that are not finite"
        )
    return list(vectors)


def _ratings(given: Any, count: int, identity: str, _: Redactor) -> Sequence[float]:
    """One number for each pair."""
    if len(given) != count or not np.isfinite(given).all():
        raise ModelError(
            f"the scorer {identity} gave {len(given)} ratings for {count} pairs, or "
            "numbers that are not finite"
        )
    return [float(rating) for rating in given]


REPLIES: Final = AnswerKind(_replies, encode_reply, decode_reply)
VECTORS: Final = AnswerKind(_vectors, encode_vector, decode_vector)
RATINGS: Final = AnswerKind(_ratings, encode_rating, decode_rating)
