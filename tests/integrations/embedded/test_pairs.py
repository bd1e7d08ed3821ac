"""Texts that are data, read as pairs of a key and a value."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_embedded._support.pairs import Pair, parts_of
from ragmetrics_embedded._support.quantities import readings
from ragmetrics_embedded._support.words import read_words

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
)
DATA = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


def words_of(text: str) -> list[str]:
    return [part.words for part in parts_of(text) if isinstance(part, Pair)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"outdoorSeating": true}', ["outdoor Seating outdoorSeating"]),
        ('{"happy_hour": false}', ["not happy hour happy_hour"]),
        ('{"price": null}', []),  # what nobody knows says nothing
        ('{"name": "Astra", "rooms": [{"beds": 2}, {"beds": 3}]}',
         ["name: Astra", "Astra: rooms beds: 2", "Astra: rooms beds: 3"]),
        ('[{"name": "A", "x": 1}, {"x": 2}]', ["name: A", "A: x: 1", "x: 2"]),  # a name holds for its object
        ("| City | Founded |\n|---|---|\n| Lund | 990 |", ["City: Lund", "Lund: Founded: 990"]),
        ("Product: Kettle\nColour: red\nCordless: no",
         ["Product: Kettle", "Kettle: Colour: red", "Kettle: not Cordless"]),
    ],
)  # fmt: skip
def test_each_value_is_said_with_its_key_and_its_name(text: str, words: list[str]):
    assert words_of(text) == words


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1',
        "Note: this is prose.\nIt goes on.",
        "a | b\nc | d",
        "He said: no.\nShe said: yes.",
        '"alone"',
    ],
)
def test_what_is_not_quite_data_is_read_as_prose(text: str):
    assert list(parts_of(text)) == [text]


def test_prose_around_a_table_stays_prose():
    parts = list(parts_of("Two towns.\n| a | b |\n|---|---|\n| x | y |\nThat is all."))

    assert [parts[0], parts[-1]] == ["Two towns.\n", "That is all."]


@given(DATA.filter(lambda value: isinstance(value, dict | list)))
def test_every_value_of_any_json_is_a_pair_and_quoted_as_it_stands(data: object):
    text = json.dumps(data)
    pairs = [part for part in parts_of(text) if isinstance(part, Pair)]

    def leaves(value: object) -> int:
        if isinstance(value, dict):
            return sum(map(leaves, value.values()))
        return sum(map(leaves, value)) if isinstance(value, list) else value is not None

    assert len(pairs) == leaves(data)
    assert all(pair.text in text for pair in pairs)


@pytest.mark.parametrize(
    ("one", "other"),
    [("8 AM", "8:00"), ("5:30 p.m.", "17:30"), ("12 am", "0:00"), ("12pm", "12:00"), ("9:0", "9:00")],
)
def test_a_time_of_the_day_is_the_same_however_it_is_written(one: str, other: str):
    keys = [{token.key for token in read_words(f"at {text}").tokens} - {"at"} for text in (one, other)]

    assert keys[0] == keys[1] == set(readings(other))
