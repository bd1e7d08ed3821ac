"""Quotes are found word for word, whatever the writing, and in whatever chunks."""

import itertools
import re
import textwrap
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.questions import (
    Document,
    Question,
    chunks_with,
    find_quote,
    find_quotes,
    located,
    read_corpus,
    uncovered,
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


WRITINGS = {
    "as it is": str,
    "wrapped": lambda text: "\n".join(textwrap.wrap(text, 20)),
    "indented": lambda text: re.sub(r"\s+", "\n\t  ", text),
    "upper case": str.upper,
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "bold": lambda text: re.sub(r"\b([a-z]{3,})\b", r"**\1**", text),
    "curly quotes": lambda text: text.replace('"', "”").replace("'", "’"),
    "long dashes": lambda text: text.replace(" - ", " — "),
    "soft hyphens": lambda text: text.replace("an", "a\u00adn"),
    "hyphenated": lambda text: text.replace("an", "a-\nn"),
    "quoted mail": lambda text: text.replace(" ", "\n> ", 5),
}
SENTENCES = (
    'The band between 3.4 - 3.8 GHz is "shared", isn\'t it - by all licensees since 2019.',
    "Die Grenze beträgt −5 °C oder 1.000 € für höchstens 20 % der Anlagen in Österreich.",
    "周波数は3.5GHzで、2019年に免許が与えられた。",
    "Ограничение вступило в силу в 2021 году для всех операторов связи страны.",
)


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("rewrite", WRITINGS.values(), ids=WRITINGS)
def test_a_quote_is_found_in_any_writing_of_it_and_in_no_other_number(rewrite, sentence):
    text = f"Before it.\n{rewrite(sentence)}\nBehind it."
    document = Document(id="a", text=text)
    place = find_quote(sentence, document)
    assert place is not None
    assert place.text == text[place.start : place.end]
    assert find_quote(rewrite(sentence), Document(id="b", text=f"Before. {sentence} Behind.")) is not None
    other = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), sentence)
    assert find_quote(other, document) is None


def test_of_several_places_the_document_at_hand_is_preferred_then_the_case_then_the_first():
    first = Document(id="1", text="a red fox ran. A red fox ran.")
    second = Document(id="2", text="So a red fox ran.")
    corpus = read_corpus([first, second])

    def place(text, near=()):
        (quote,), _ = find_quotes([text], corpus, near)
        return quote.document, quote.start

    assert place("A red fox ran") == ("1", 15)
    assert place("a red fox ran") == ("1", 0)
    assert place("A RED FOX ran") == ("1", 0)
    assert place("A red fox ran", near=["absent", "2"]) == ("2", 3)
    assert place("So a red fox ran", near=["1"]) == ("2", 0)


@pytest.mark.parametrize("ellipsis", ["...", " … ", " [...] ", " (…) "])
def test_a_quote_with_an_ellipsis_is_two_quotes(ellipsis):
    corpus = read_corpus([DOCUMENT])
    quotes, missing = find_quotes(
        [f"The limit is 3.5 W{ellipsis}the example “it” is", f"The limit is{ellipsis}no such words"], corpus
    )
    assert [quote.text for quote in quotes] == ["The limit is 3.5 W", "the exam-\nple “it” is"]
    assert missing == [f"The limit is{ellipsis}no such words"]


def test_a_short_quote_must_be_a_whole_sentence_heading_or_line():
    document = Document(id="a", text="Power is power. No. The power, no.\n\nPower\n\n- no power\n")
    assert find_quote("Power", document).start == document.text.index("Power\n")
    assert find_quote("No.", document).start == 16
    assert find_quote("no power", document).start == document.text.index("no power")
    assert find_quote("The power", document) is None


WORDS = st.lists(st.text("abcde", min_size=1, max_size=6), min_size=12, max_size=60)


@given(words=WORDS, borders=st.sets(st.integers(1, 40)), overlap=st.integers(0, 8))
def test_chunks_with_a_quote_together_have_all_of_it(words, borders, overlap):
    text = " ".join(f"{word}{number}" for number, word in enumerate(words))
    edges = sorted({0, len(text), *(9 * border for border in borders if 9 * border < len(text))})
    ranges = {
        f"c{number}": range(max(start - overlap, 0), end)
        for number, (start, end) in enumerate(itertools.pairwise(edges))
    }
    chunks = {id: text[each.start : each.stop].replace(" ", "\n ") for id, each in ranges.items()}
    quote = find_quote(" ".join(text.split()[3:9]), Document(id="a", text=text))
    ids = chunks_with([quote], chunks)
    held = {place for id in ids for place in ranges[id]}
    assert all(place in held for place in range(quote.start, quote.end) if text[place] != " ")
    assert all(set(ranges[id]) & set(range(quote.start, quote.end)) for id in ids)


def test_one_chunk_with_both_quotes_is_enough():
    texts = ["The limit is 3.5 W.", "They met in May 2019."]
    document = Document(id="a", text=" ".join(texts))
    quotes, _ = find_quotes(texts, read_corpus([document]))
    chunks = {"one": texts[0], "other": texts[1], "both": document.text}
    assert chunks_with(quotes, chunks) == ("both",)
    assert chunks_with(quotes[:1], chunks) == ("one",)


@pytest.mark.parametrize("order", [("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")])
def test_a_quote_that_borders_cut_is_held_by_all_its_parts_in_any_order(order):
    pieces = {"a": "Before. The limit of", "b": "the licensed power", "c": "is 3.5 W everywhere. Behind."}
    document = Document(id="d", text=" ".join(pieces.values()))
    quote = find_quote("The limit of the licensed power is 3.5 W everywhere", document)
    chunks = {id: pieces[id] for id in order}
    assert set(chunks_with([quote], chunks)) == {"a", "b", "c"}
    del chunks["b"]
    question = Question(id="q", question="?", quotes=(quote,))
    assert located([question], chunks).missing == {"q": (quote.text,)}


def test_quotes_are_located_in_a_changed_corpus_or_reported():
    (kept, lost), _ = find_quotes(["The limit is 3.5 W", "the example “it” is"], read_corpus([DOCUMENT]))
    question = Question(id="q", question="?", quotes=(kept, lost))
    changed = read_corpus([Document(id="new", text="Now: the limit is\n3.5 W.")])
    found = located([question], changed)
    assert [(quote.document, quote.text) for quote in found.questions[0].quotes] == [
        ("new", "the limit is\n3.5 W")
    ]
    assert found.missing == {"q": (lost.text,)}
    assert located([question], read_corpus([DOCUMENT])).questions == (question,)


def test_passages_without_a_quote_are_uncovered_longest_first():
    text = "\n\n".join(
        f"# Part {name}\n\n{'Some words of it. ' * size}".strip()
        for name, size in (("A", 5), ("B", 4), ("C", 6))
    )
    corpus = read_corpus([Document(id="a", text=text)])
    quote = find_quote("Part A Some words of it", corpus.documents["a"])
    untouched = uncovered([Question(id="q", question="?", quotes=(quote,))], corpus, words=30)
    assert [passage.text[:8] for passage in untouched] == ["# Part C", "# Part B"]


def test_the_order_of_the_documents_does_not_choose_the_place_of_a_quote():
    text = "The tower of Oslo has nine bells."
    rows = [{"id": id, "text": text, "copy": id} for id in "cab"]
    places = {
        find_quotes([text], read_corpus(order))[0][0].document for order in itertools.permutations(rows)
    }
    assert places == {"a"}
