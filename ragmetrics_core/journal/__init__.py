"""The journal: every answered call by content address, so that nothing is paid for twice."""

from ragmetrics_core.journal._bodies import (
    decode_rating,
    decode_reply,
    decode_vector,
    encode_rating,
    encode_reply,
    encode_vector,
)
from ragmetrics_core.journal._journal import Journal, Pruned, call_address
from ragmetrics_core.journal._statistics import IdentityStatistics

__all__ = [
    "IdentityStatistics",
    "Journal",
    "Pruned",
    "call_address",
    "decode_rating",
    "decode_reply",
    "decode_vector",
    "encode_rating",
    "encode_reply",
    "encode_vector",
]
