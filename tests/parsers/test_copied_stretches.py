"""How far a reply and a document are the same around a place: what a judge only copied is no verdict."""

from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.parsers._quoting import _same_after, _same_before

_TEXT = st.lists(st.sampled_from(["a", "b", "\n", "a" * 40]), max_size=8).map("".join)


@given(_TEXT, _TEXT, _TEXT, st.data())
def test_stretches_are_the_same_up_to_a_difference_or_the_end_of_a_line(before, shared, after, data):
    text, source = before + shared + after, after + shared + before
    at = data.draw(st.integers(0, len(text)))
    place = data.draw(st.integers(0, len(source)))

    right = 0
    for one, other in zip(text[at:], source[place:], strict=False):
        if one != other or one == "\n":
            break
        right += 1
    left = 0
    for one, other in zip(reversed(text[:at]), reversed(source[:place]), strict=False):
        if one != other or one == "\n":
            break
        left += 1

    assert _same_after(text, at, source, place) == right
    assert _same_before(text, at, source, place) == left
