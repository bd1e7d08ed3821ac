"""The words of a request are accounted for by the texts that they come from, in whatever form."""

import html
import json
import re
import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.samples import tile

SENTENCES = (
    "The Eiffel Tower is 330 metres tall.",
    "It opened in the spring of 1889.",
    "Some 2,500,000 rivets hold its iron.",
    "Il mesure trois cent trente mètres.",
    "塔は鉄でできています。",
)
WHOLE = " ".join(SENTENCES)
WRITINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": json.dumps,
    "JSON in JSON": lambda text: json.dumps(json.dumps({"content": text})),
    "JSON with its characters": lambda text: json.dumps([text], ensure_ascii=False),
    "Python": repr,
    "HTML": html.escape,
    "quoted mail": lambda text: "> " + text.replace("\n", "\n> "),
    "other spaces": lambda text: re.sub(r"\s+", "\n   ", text),
    "upper case": str.upper,
    "wrapped lines": lambda text: "\n".join(textwrap.wrap(text, 18)),
    "bold words": lambda text: re.sub(r"(\w+) (\w+)", r"**\1** \2", text),
    "tags": lambda text: f'<p class="a">{text.replace(" ", "<b> </b>")}</p>',
}
LISTS: dict[str, Callable[[tuple[str, ...]], str]] = {
    "bullets": lambda parts: "".join(f"- {part}\n" for part in parts),
    "numbers": lambda parts: "".join(f"{number}. {part}\n" for number, part in enumerate(parts, 1)),
    "numbers in a line": lambda parts: " ".join(f"({number}) {part}" for number, part in enumerate(parts, 1)),
    "line breaks": "<br/>".join,
    "cells": lambda parts: "| " + " | ".join(parts) + " |",
    "rows": lambda parts: "".join(f"| {number} | {part} |\n" for number, part in enumerate(parts, 1)),
    "items": lambda parts: "".join(f"<li>{part}</li>" for part in parts),
    "JSON": json.dumps,
    "another order": lambda parts: "\n".join(reversed(parts)),
}
WORDS = st.lists(st.text("abcdefgh", min_size=2, max_size=9), min_size=1, max_size=60).map(" ".join)


def share(message: str, text: str) -> float:
    return round(tile([message], [text]).share(0), 2)


@pytest.mark.parametrize("writing", WRITINGS)
@pytest.mark.parametrize("before", ["", "Use this:\n", "\t\\n \\\\ {", "&amp; "])
def test_a_text_is_there_in_every_writing(writing: str, before: str):
    tiling = tile(["Be kind.", f"{before}{WRITINGS[writing](WHOLE)}\nQuestion?"], [WHOLE])
    assert tiling.share(0) == 1
    assert {place.message for place in tiling.places(0)} == {2}


@pytest.mark.parametrize("form", LISTS)
def test_all_sentences_of_a_text_are_there_in_every_form_of_a_list(form: str):
    assert share(f"From this:\n{LISTS[form](SENTENCES)}\nQuestion?", WHOLE) == 1


def test_a_masked_text_is_there_but_for_what_was_masked():
    # 12 words; two are masked, and what stands between and behind them is there
    text = "Anna told the court on Monday that Bruno had left the house."
    masked = text.replace("Anna", "[NAME]").replace("Bruno", "[NAME]")
    tiling = tile([f"From this: {masked}"], [text])
    assert tiling.share(0) == 10 / 12
    assert tiling.unaccounted() == []


@pytest.mark.parametrize(("text", "there"), [("", 0.0), ("Paris", 0.0), ("The tower", 0.0)])
def test_a_short_text_is_not_there_because_its_words_are(text: str, there: float):
    assert share("The tower of cities such as Paris or Rome is high.", text) == there


@pytest.mark.parametrize(
    "message", ["Paris", "City:\nParis\n", '["Rome", "Paris"]', "| Rome | Paris |", "<b>Paris</b>"]
)
def test_a_short_text_is_there_where_it_stands_by_itself(message: str):
    assert share(message, "Paris") == 1


def test_words_that_two_texts_share_are_the_whole_ones():
    head = "Document of the harbour board, volume seven. "
    tiling = tile(
        [f"{head}It was built in 1893."], [head + "It leaves at seven.", head + "It was built in 1893."]
    )
    assert [tiling.share(number) for number in (0, 1)] == [0, 1]


def test_words_that_several_texts_share_prove_none_of_them():
    head = "Document of the harbour board, volume seven. "
    texts = [head + "It was built in the year 1893.", head + "It leaves every morning at seven."]
    only_head = tile([f"Never quote this: {head}"], texts)
    assert [only_head.share(number) for number in (0, 1)] == [0, 0]
    # with words of its own, the first one has its head as well: 7 and 7 words
    there = tile([f"{head}\n[NAME]\n{texts[0].removeprefix(head)}"], texts)
    assert [there.share(number) for number in (0, 1)] == [1, 0]


@pytest.mark.parametrize(
    ("message", "there"),
    [
        ("Answer as the handbook of the harbour board asks and be brief.", 0),
        ("Handbook of the harbour board: be brief.", 5),
        ("Context: The handbook of the harbour board ask", 6),
        ("The handbook of the harbour board says", 0),
    ],
)
def test_a_phrase_in_a_longer_sentence_does_not_count_where_phrases_do_not(message: str, there: int):
    text = "The handbook of the harbour board asks all visitors to leave at seven."
    assert tile([message], [text], phrases=False).share(0) == there / 13


def test_a_text_has_all_its_places():
    tiling = tile([SENTENCES[0], f"Again: {SENTENCES[0]}"], [SENTENCES[0]])
    assert [(place.message, place.start) for place in tiling.places(0)] == [(1, 0), (2, 7)]


def test_a_stretch_that_no_text_accounts_for_has_its_place():
    web = "Nobody has told this library where these ten words come from."
    tiling = tile([f"{SENTENCES[0]}\n{web}\nWhy?"], [SENTENCES[0]])
    (place,) = tiling.unaccounted()
    assert f"{SENTENCES[0]}\n{web}\nWhy?"[place.start : place.end] == web.removesuffix(".") + ".\nWhy"
    assert (tiling.words, tiling.accounted) == (19, 7)


@given(texts=st.lists(WORDS, min_size=1, max_size=6), shown=st.sets(st.integers(0, 5)))
def test_each_word_of_a_request_has_one_owner_and_every_shown_text_is_there(
    texts: list[str], shown: set[int]
):
    message = "\n".join(text for number, text in enumerate(texts) if number in shown)
    tiling = tile([message], texts)
    there = {text.casefold() for number, text in enumerate(texts) if number in shown}
    for number, text in enumerate(texts):
        if text in there and texts.index(text) == number and len(text.split()) >= 4 and len(text) > 12:
            assert tiling.share(number) > 0 or any(text in other for other in there if other != text)
    assert tiling.accounted <= tiling.words == len(message.split())


def test_words_that_two_masked_texts_share_are_in_both():
    end = "It has many bridges, and people like to walk there at night."
    texts = [f"Paris is the capital of France. {end}", f"The Seine is a river in France. {end}"]
    tiling = tile(["\n".join(texts).replace("France", "[PLACE]")], texts)
    # 18 and 19 words, and France is missing in both
    assert [round(tiling.share(number), 3) for number in (0, 1)] == [0.944, 0.947]


def test_the_end_of_a_text_is_there_whose_sentences_begin_alike():
    # 150 sentences share their first five words; the request begins in the last ones
    text = " ".join(f"The keeper of this tower sold {number + 1_000} maps." for number in range(150))
    tiling = tile([f"Below: {text[text.index('1130') :]}"], [text])
    # 19 whole sentences of 8 words, and 2 words of the first one: 1130 maps
    assert int(tiling.covered[0].sum()) == 19 * 8 + 2
    assert tiling.longest_gap == 1


def test_a_long_request_is_read_in_moments():
    # 50 chunks of which none stands there, in a request of 160,000 characters
    message = "The mill grinds rye by the sea. " * 5_000
    chunks = [f"Chunk {number} is about something else, and says it at length. " * 20 for number in range(50)]
    tiling = tile([message], [*chunks, "The mill"])
    assert {tiling.share(number) for number in range(50)} == {0}


@pytest.mark.parametrize(("every", "found"), [(3, 6 / 9), (4, 6 / 9), (5, 8 / 9)])
def test_a_short_text_of_which_every_few_words_are_masked_is_there_but_for_them(every: int, found: float):
    # of 9 words 6, 7 and 8 are left; a single one behind a mask is no proof
    words = ["Marta", "Weiss", "signed", "contract", "4711", "with", "Harbour", "Cranes", "Limited"]
    masked = " ".join("[NAME]" if place % every == 0 else word for place, word in enumerate(words, 1))
    assert share(f"Use this: {masked}\nWho signed?", " ".join(words)) == round(found, 2)


def test_a_letter_that_ends_a_wrapped_sentence_is_no_number_of_a_list():
    text = "The best mark in that school is an a. The worst one is an f."
    assert share(text.replace(" a.", "\na."), text) == 1


def test_a_text_without_spaces_is_more_than_one_word():
    # 280 characters are nine pieces of 30 and one of 10
    assert tile(["Read: " + "QmFzZTY0" * 35], ["Something else is known here."]).longest_gap == 11


def test_a_header_in_the_instructions_is_no_part_of_a_chunk_in_which_a_word_of_it_is_masked():
    header = "Handbook of the harbour works, issued by the board"
    text = f"{header}\nCranes lift forty tons."
    masked = text.replace(" by ", " [X] ")
    message = f"You know the {header}. {'Be kind and brief. ' * 4}\n{masked}"
    tiling = tile([message], [text])
    assert [len(tiling.places(0)), round(tiling.share(0), 2)] == [2, round(12 / 13, 2)]


@pytest.mark.parametrize(
    ("reply", "is_held"),
    [
        ('{"why": "the text says so", "answer": "It is 330 metres tall."}', True),
        ("I thought about it.\nIt is 330 metres tall.", True),
        ("yes, the text says that it is 330 metres tall", False),
        ("It is 330 metres tall as all the guides say", False),
    ],
)
def test_a_text_is_held_by_another_if_it_stands_there_by_itself(reply: str, is_held: bool):
    assert tile([reply], ["It is 330 metres tall."]).holds(0) is is_held
