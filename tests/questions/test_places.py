"""Quotes in place: within their passages, and never where the document does not have them."""

from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.questions import Document, Passage, Quote
from ragmetrics_core.questions._places import FURTHEST, places_of

TEXT = "One sentence. Another one.\n\nA third one. The last."
DOCUMENTS = {"d": Document(id="d", text=TEXT)}


def passage(start, end, text=TEXT, kind=Passage):
    return kind(document="d", start=start, end=end, text=text[start:end])


PASSAGES = {"d": [passage(0, 26), passage(28, 50)]}


def quote(words, text=TEXT):
    start = text.index(words)
    return passage(start, start + len(words), text, Quote)


def test_quotes_of_one_passage_share_its_place():
    (place,) = places_of([quote("Another one."), quote("One")], DOCUMENTS, PASSAGES)
    assert place.text == "One sentence. Another one."
    assert sorted(place.quotes) == [(0, 3, 2), (14, 26, 1)]
    assert (place.is_start, place.is_end, place.is_found) == (True, False, True)


def test_places_stand_in_the_order_of_the_quotes():
    places = places_of([quote("The last."), quote("One")], DOCUMENTS, PASSAGES)
    assert [place.text for place in places] == ["A third one. The last.", "One sentence. Another one."]


def test_a_quote_across_passages_shows_both():
    (place,) = places_of([quote("one.\n\nA")], DOCUMENTS, PASSAGES)
    assert place.text == TEXT


def test_a_quote_that_the_document_does_not_have_there_shows_only_itself():
    moved = Quote(document="d", start=1, end=4, text="One")
    unknown = Quote(document="e", start=0, end=3, text="One")
    places = places_of([moved, unknown], DOCUMENTS, PASSAGES)
    assert [(place.document, place.text, place.is_found) for place in places] == [
        ("d", "One", False),
        ("e", "One", False),
    ]


def test_a_huge_passage_is_cut_around_its_quote():
    text = "x" * 10_000 + "word" + "y" * 10_000
    document = {"d": Document(id="d", text=text)}
    (place,) = places_of([quote("word", text)], document, {"d": [passage(0, len(text), text)]})
    assert len(place.text) == 2 * FURTHEST + 4
    assert (place.quotes, place.is_start) == (((FURTHEST, FURTHEST + 4, 1),), False)


@given(st.lists(st.tuples(st.integers(0, 49), st.integers(1, 10)), min_size=1, max_size=6))
def test_every_quote_is_shown_once_with_its_own_text(spans):
    quotes = [passage(start, min(start + length, 50), kind=Quote) for start, length in spans]
    places = places_of(quotes, DOCUMENTS, PASSAGES)
    shown = {number: place.text[a:b] for place in places for a, b, number in place.quotes}
    assert shown == {number: each.text for number, each in enumerate(quotes, start=1)}
