"""Quotes are found where they stand, with offsets into the original text."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ragmetrics_core.parsers import Span, locate

CONTEXTS = [
    "A dog ran home.",
    'The AMF  handles\nregistration – and the "UE context" – since release 15.',
    "带宽不应超过5MHz。",
]


def words_at(span: Span) -> str:
    return CONTEXTS[span.chunk - 1][span.start : span.end]


def test_an_exact_quote_is_found_with_its_offsets():
    # "dog ran" begins behind "A "
    assert locate("dog ran", CONTEXTS) == Span(chunk=1, start=2, end=9, exact=True)


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("the amf handles registration", "The AMF  handles\nregistration"),
        ("registration - and the “UE context”", 'registration – and the "UE context"'),
        ('"A dog ran home."', "A dog ran home."),
        ("[12] A dog ran home.", "A dog ran home."),
        ("…dog ran…", "dog ran"),
        ("... handles registration ...", "handles\nregistration"),
        ("**dog ran home**", "dog ran home"),
        ("A dog ... since release 15", "since release 15"),
        ("A dog ran home today ... since release 15", None),
        ("不应超过5MHz", "不应超过5MHz"),
        ("since release 15!", None),
    ],
)
def test_a_quote_that_differs_in_form_is_found_in_the_original_words(quote, words):
    span = locate(quote, CONTEXTS)

    assert (None if span is None else words_at(span)) == words


@pytest.mark.parametrize("quote", ["", "a", "...", "A cat ran home.", "it", "—", "og r"])
def test_a_quote_that_is_not_there_or_says_too_little_is_not_found(quote):
    assert locate(quote, CONTEXTS) is None


def test_a_short_quote_is_not_found_inside_a_longer_word():
    assert locate("rat", ["We generate it.", "The rat ate."]) == Span(chunk=2, start=4, end=7, exact=True)


def test_offsets_are_right_where_folding_lengthens_the_text():
    # "ß" folds to "ss": the offsets are those of the original
    context = "Die Straße ist naß und lang."
    span = locate("STRASSE IST NASS", [context])

    assert context[span.start : span.end] == "Straße ist naß"


LONG = st.text(st.sampled_from("abcdefghij klmnop ABC ß'\"“-–\n\t.,ﬁ是"), min_size=24, max_size=60)
TEXT = st.text(st.sampled_from("abc ABC ß'\"“-–\n\t.,ﬁ\u200b是"), min_size=1, max_size=60)


def folded(text: str) -> str:
    """An independent, slower normal form to compare by."""
    pairs = {"“": '"', "'": '"', "–": "-", "ﬁ": "fi", "\u200b": ""}
    return " ".join("".join(pairs.get(char, char) for char in text).casefold().split())


@given(LONG, st.integers(0, 4), st.integers(0, 4))
def test_a_long_piece_of_a_context_is_always_found_again(context, before, after):
    quote = context[before : len(context) - after]
    assume(sum(char.isalnum() for char in quote) >= 8)

    span = locate(quote.upper().replace("ﬁ", "FI").replace(" ", "  "), [context])

    assert span is not None
    assert folded(context[span.start : span.end]).strip() == folded(quote).strip()


@given(TEXT, TEXT)
def test_what_is_found_reads_like_the_quote(quote, context):
    span = locate(quote, [context])

    if span is not None:
        found = "".join(char for char in folded(context[span.start : span.end]) if char.isalnum())
        assert found in "".join(char for char in folded(quote) if char.isalnum())
        assert len(found) >= 3


@pytest.mark.parametrize("spaces", [19_000, 100_000])
def test_spaces_within_a_quote_are_passed_once(spaces):
    # from each of the spaces the rest of them was searched: 100,000 took minutes
    quote = "Where" + " " * spaces + "is it"

    assert locate(quote, ["So, where is it?"]) == Span(1, 4, 15, exact=False)


def test_ellipses_with_spaces_around_them_part_a_quote():
    assert locate("is … ... the tower of Pisa  [...] x", ["See the tower of Pisa."]) == Span(
        1, 4, 21, exact=False
    )
