"""A text is found in a request however it is written there, and its place is the text's own."""

import html
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.comparing import plain_form
from ragmetrics_core.samples import sought_in

WRITINGS = {
    "as it is": str,
    "JSON": json.dumps,
    "JSON in JSON": lambda text: json.dumps(json.dumps({"content": text})),
    "JSON with its characters": lambda text: json.dumps([text], ensure_ascii=False),
    "Python": repr,
    "HTML": html.escape,
    "quoted mail": lambda text: "> " + text.replace("\n", "\n> "),
    "other spaces": lambda text: re.sub(r"\s+", "\n   ", text),
}
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\u2028\u2029"),
    min_size=1,
).filter(lambda text: plain_form(text).strip() and not re.search(r"[\\&]", text))
LINES = st.lists(TEXTS, min_size=1, max_size=4).map("\n".join)


@pytest.mark.parametrize("writing", WRITINGS)
@given(text=LINES, before=st.sampled_from(["", "Use this:\n", "\t\\n \\\\ {", "&amp; "]))
def test_a_text_is_found_in_every_writing(writing: str, text: str, before: str):
    message = f"{before}{WRITINGS[writing](text)}\nQuestion?"
    ((sought,),) = sought_in(["Be kind.", message], [[text]])
    assert sought.shown == "verified"
    assert sought.place is not None
    assert sought.place.message in (1, 2)
    assert 0 <= sought.place.start < sought.place.end <= len(message)


@given(text=st.text("ab \n", min_size=1).filter(str.strip), message=st.text("ab \n"))
def test_what_is_verified_stands_there_and_what_stands_there_is_verified(text: str, message: str):
    def words(value: str) -> str:
        return re.sub(r"\s+", " ", value).strip()

    ((sought,),) = sought_in([message], [[text]])
    assert (sought.shown == "verified") == (words(text) in re.sub(r"\s+", " ", message))
    if sought.place is not None:
        assert words(message[sought.place.start : sought.place.end]) == words(sought.text)


def test_a_long_request_is_searched_in_moments():
    # 50 chunks of which none stands there, in a request of 160,000 characters
    message = "The mill grinds rye by the sea. " * 5_000
    chunks = [f"Chunk {number} is about something else, and says it at length. " * 20 for number in range(50)]
    (found,) = sought_in([message], [chunks], besides=["e", "The mill"])
    assert {sought.shown for sought in found} == {"absent"}
