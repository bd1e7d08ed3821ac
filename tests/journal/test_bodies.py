"""What is stored of an answer is the answer, to the last bit."""

import json
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ragmetrics_core.errors import RecordError
from ragmetrics_core.journal import (
    decode_rating,
    decode_reply,
    decode_vector,
    encode_rating,
    encode_reply,
    encode_vector,
)
from ragmetrics_core.protocol import Completion, Usage

# Lone surrogates included, which broken decoding leaves behind.
TEXTS = st.text(st.characters(codec=None, exclude_categories=()))
TOKENS = st.none() | st.builds(Usage, st.integers(0, 10**6), st.integers(0, 10**6))


@given(st.builds(Completion, TEXTS, TEXTS, TOKENS, st.none() | TEXTS))
def test_a_reply_survives(reply: Completion):
    assert decode_reply(encode_reply(reply)) == reply


def test_other_tools_can_read_a_stored_reply():
    body = encode_reply(Completion('{"größe": 1}', "gpt", Usage(12, 3), "stop"))

    assert json.loads(body) == {
        "kind": "reply",
        "text": '{"größe": 1}',
        "model": "gpt",
        "finish_reason": "stop",
        "usage": [12, 3],
    }
    assert "größe" in body.decode()


def test_a_lone_surrogate_is_stored_as_valid_utf_8():
    body = encode_reply(Completion("\ud800"))
    assert json.loads(body.decode("utf-8"))["text"] == "\ud800"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_rating_survives_to_the_last_bit(rating: float):
    assert decode_rating(encode_rating(rating)).hex() == rating.hex()


@pytest.mark.parametrize("rating", [float("nan"), float("inf")])
def test_a_rating_that_is_no_number_is_not_stored(rating: float):
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode_rating(rating)


@given(
    arrays.arrays(
        st.sampled_from([np.float16, np.float32, np.float64]),
        st.integers(0, 20),
        elements={"allow_nan": False},
    )
)
def test_a_vector_keeps_its_numbers_and_its_dtype(vector: np.ndarray[Any, Any]):
    found = decode_vector(encode_vector(vector))

    assert found.dtype == vector.dtype
    assert found.tobytes() == vector.tobytes()


def test_numbers_that_fit_float32_take_4_bytes_each():
    # 1000 numbers a server sent as float32, which the client widened: 4 bytes each and a short head
    vector = np.linspace(0, 1, 1000, dtype=np.float32).astype(np.float64)
    assert 4000 <= len(encode_vector(vector)) < 4050


def test_whole_numbers_are_stored_as_a_vector_of_floats():
    assert decode_vector(encode_vector(np.array([1, 2]))).tolist() == [1.0, 2.0]


BODIES = {
    decode_reply: encode_reply(Completion("yes")),
    decode_rating: encode_rating(0.5),
    decode_vector: encode_vector(np.ones(2)),
}


@pytest.mark.parametrize("decode", BODIES, ids=lambda decode: decode.__name__)
def test_an_answer_of_another_kind_is_refused(decode: Any):
    for other, body in BODIES.items():
        if other is not decode:
            with pytest.raises(RecordError, match="the journal holds an entry that is not a"):
                decode(body)


@pytest.mark.parametrize("decode", BODIES, ids=lambda decode: decode.__name__)
@given(body=st.binary() | st.binary().map(lambda tail: b"vector <f8 <f4\n" + tail))
def test_any_bytes_are_an_answer_or_a_record_error(decode: Any, body: bytes):
    with suppress(RecordError):
        decode(body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"kind":"reply"}',
        b'{"kind":"reply","text":1}',
        b'{"kind":"reply","text":"a","usage":[1]}',
        b'{"kind":"reply","text":"a","usage":1}',
    ],
)
def test_a_reply_without_its_parts_is_refused(body: bytes):
    with pytest.raises(RecordError, match="not a reply"):
        decode_reply(body)


def test_a_body_with_a_signalling_nan_is_read_without_a_warning():
    # written by nobody: the second float32 is 0x7f810000, which a processor takes for an invalid operation
    body = b"vector <f8 <f4\n" + bytes.fromhex("00000000 0000817f")
    vector = decode_vector(body)
    assert vector[0] == 0.0
    assert np.isnan(vector[1])
