"""Quotes are found word for word, whatever the writing, and in whatever chunks."""

import pytest

from ragmetrics_core.questions import (
    Document,
    find_quote,
)

TEXT = "# Power\n\nThe limit is 3.5 W, they said.\nIn the exam-\nple “it” is −5 °C.\n\nYes.\n"
DOCUMENT = Document(id="a", text=TEXT)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("The limit is 3.5 W", "The limit is 3.5 W"),
        ("the  limit\nis **3.5 W**.", "The limit is 3.5 W"),
        ("limit is 3.5 W, they said.", "limit is 3.5 W, they said."),
        ('the example "it" is -5 °C.', "the exam-\nple “it” is −5 °C."),
        ("the exam- ple 'it' is", "the exam-\nple “it” is"),
        ("Yes.", "Yes."),
        ("Power", "Power"),
        ("limit is 5 W", None),
        ("limit is 35 W", None),
        ("imit is 3.5 W", None),
        ("it is 5 °C", None),
        ("3.5 W", None),
        ("limit", None),
        ("", None),
        ("...", None),
    ],
)
def test_a_quote_is_found_if_its_words_and_numbers_are_there(quote, found):
    place = find_quote(quote, DOCUMENT)
    assert (place and place.text) == found
    assert place is None or TEXT[place.start : place.end] == found
