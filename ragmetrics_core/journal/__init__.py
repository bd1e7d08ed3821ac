"""The journal: every answered call by content address, so that nothing is paid for twice."""

from ragmetrics_core.journal._bodies import (
    decode_rating,
    decode_reply,
    decode_vector,
    encode_rating,
    encode_reply,
    encode_vector,
)
from ragmetrics_core.journal._journal import IdentityStatistics, Journal, Pruned, call_address

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
