"""Stored form of answers in the journal: replies and ratings (JSON) and vectors.

| kind   | body                                                                                          |
| ------ | --------------------------------------------------------------------------------------------- |
| reply  | `{"kind":"reply","text":"...","model":"...","finish_reason":"stop","usage":[120,30]}`         |
| rating | `{"kind":"rating","rating":0.25}`                                                             |
| vector | `vector <f8 <f4`, a line break, and the numbers: given as float64, stored as float32 (below)  |

Unknown fields of a reply are left out. The JSON is UTF-8; a text with an unpaired surrogate is written with
escapes.
"""

import json
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from pydantic_core import PydanticSerializationError, to_json

from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.errors import ModelError, RecordError
from ragmetrics_core.protocol import Completion, Usage

__all__ = [
    "decode_rating",
    "decode_reply",
    "decode_vector",
    "encode_rating",
    "encode_reply",
    "encode_vector",
    "usage_of",
]

_WHERE_KNOWN = ("model", "finish_reason", "held_to", "usage")
_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_escaped = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode


def encode_reply(completion: Completion) -> bytes:
    """Encode a reply for the journal.

    Raises:
        ModelError: the reply is not text.
    """
    if not isinstance(cast("object", completion.text), str):
        raise ModelError(f"the judge replied with {type(completion.text).__name__}, not with text")
    told = {name: getattr(completion, name) for name in _WHERE_KNOWN}
    known = {name: value for name, value in told.items() if value is not None}
    fields = {"kind": "reply", "text": completion.text, **known}
    if not completion.model:
        del fields["model"]
    try:
        return to_json(fields)
    except PydanticSerializationError:
        return _escaped(fields).encode()


def decode_reply(body: bytes) -> Completion:
    """Decode a reply.

    Raises:
        RecordError: the body is not a reply.
    """
    fields = _fields(body, "reply")
    text, usage = fields.get("text"), fields.get("usage")
    if not isinstance(text, str):
        raise _no("reply")
    try:
        tokens = None if usage is None else Usage(*usage)
    except TypeError as error:
        raise _no("reply") from error
    return Completion(
        text, fields.get("model", ""), tokens, fields.get("finish_reason"), fields.get("held_to")
    )


def encode_rating(rating: float) -> bytes:
    """Encode a scorer's number for the journal.

    Raises:
        ValueError: it is not finite.
    """
    return _compact({"kind": "rating", "rating": float(rating)}).encode()


def decode_rating(body: bytes) -> float:
    """Decode a scorer's number exactly.

    Raises:
        RecordError: the body is not a rating.
    """
    rating = _fields(body, "rating").get("rating")
    if not isinstance(rating, float):
        raise _no("rating")
    return rating


def encode_vector(vector: NDArray[Any]) -> bytes:
    """Encode a vector for the journal: 4 bytes per number if that is exact, else 8.

    Most servers send float32, which clients widen to float64, so this halves the space without loss.
    """
    given = vector if vector.dtype in _FLOATS else vector.astype(np.float64)
    given = given.astype(given.dtype.newbyteorder("<"), copy=False)
    data, dtype = given.tobytes(), given.dtype
    if dtype == np.float64:
        with np.errstate(over="ignore"):  # a number beyond float32 becomes infinite, and is seen to differ
            narrow = given.astype("<f4")
        if narrow.astype("<f8").tobytes() == data:
            data, dtype = narrow.tobytes(), narrow.dtype
    return b"vector %b %b\n%b" % (given.dtype.str.encode(), dtype.str.encode(), data)


def decode_vector(body: bytes) -> NDArray[Any]:
    """Decode a vector exactly, in its original dtype.

    Raises:
        RecordError: the body is not a vector.
    """
    head, _, data = body.partition(b"\n")
    kind, *dtypes = head.decode("ascii", "replace").split(" ")
    if kind != "vector" or len(dtypes) != 2 or not _DTYPES.issuperset(dtypes):
        raise _no("vector")
    given, stored = dtypes
    try:
        # what this package wrote never warns; other bytes may hold a signalling NaN
        with np.errstate(invalid="ignore", over="ignore"):
            return np.frombuffer(data, dtype=stored).astype(given)
    except ValueError as error:
        raise _no("vector") from error


def usage_of(body: bytes) -> Usage | None:
    """Tokens that a reply used; None if unknown or if the body is not a reply."""
    if not body.startswith(b"{"):
        return None
    try:
        return decode_reply(body).usage
    except RecordError:
        return None


_FLOATS = frozenset({np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)})
_DTYPES = frozenset({"<f2", "<f4", "<f8"})


def _fields(body: bytes, kind: str) -> dict[str, Any]:
    try:
        fields: Json = json.loads(body.decode())  # told the encoding, it need not guess
    except (ValueError, RecursionError) as error:
        raise _no(kind) from error
    if not isinstance(fields, dict) or fields.get("kind") != kind:
        raise _no(kind)
    return fields


def _no(kind: str) -> RecordError:
    return RecordError(
        f"the journal holds an entry that is not a {kind}; another version of "
        "ragmetrics may have written it: update ragmetrics, or move the journal aside"
    )
