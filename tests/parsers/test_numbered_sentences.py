"""Statements of numbered sentences: each sentence has statements, needs none, or is asked about again."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import prompts
from ragmetrics_core.parsers import Declined, Expected, split_sentences, stating_sentences
from ragmetrics_core.parsers._claims import Sources

PROMPT = prompts.STATEMENTS
SENTENCES = ("The tower is in Paris.", "It is 330 metres high.", "I hope this helps!")
QUESTION = "Where is the tower?"


def entry(sentence: int, *statements: str, kind: str = "claim") -> dict[str, Any]:
    return {"sentence": sentence, "kind": kind, "statements": list(statements)}


ALL = [entry(1, SENTENCES[0]), entry(2, "The tower is 330 metres high."), entry(3, kind="greeting")]


def read(*entries: Any, sentences: tuple[str, ...] = SENTENCES, known: Any = (), **fields: Any) -> Any:
    numbers = tuple(n for n in range(1, len(sentences) + 1) if n not in dict(known))
    items = tuple(sentences[n - 1] for n in numbers)
    expected = Expected(numbers, items, form=PROMPT.user, known=known, around=(QUESTION, *sentences))
    return PROMPT.answer.read(json.dumps({"sentences": entries, **fields}), expected)


def test_each_statement_names_its_sentence_and_each_other_sentence_its_kind():
    reading = read(*ALL, declined=False, reason="")
    assert reading.value.statements == (SENTENCES[0], "The tower is 330 metres high.")
    assert reading.value.sentences == (1, 2)
    assert reading.value.without == ((3, "greeting"),)
    assert (reading.objections, reading.dropped) == ((), ())


@pytest.mark.parametrize(
    ("second", "objection"),
    [
        ([], "your last reply lacks sentence 2"),
        ([entry(2)], "sentence 2: it is a claim without a statement"),
        ([{"sentence": 2}], "sentence 2: it is a claim without a statement"),
        ([entry(2, kind="question")], "sentence 2: it does not end with a question mark"),
        (
            [entry(2, "It is high.", kind="heading")],
            'a heading has no statements, but "It is high." is given',
        ),
        (
            [entry(2, "It is 330 metres high."), entry(2, kind="heading")],
            "as a claim and as a heading",
        ),
        ([entry(2, "None")], "write whole sentences"),
        ([entry(2, "statement 1")], "is a placeholder"),
        ([entry(2, kind="heading")], "it is a whole sentence and no heading"),
        ([entry(2, kind="greeting")], "it has the number 330, so it is no greeting"),
        ([entry(2, kind="filler")], '"filler" is none of the kinds claim, question'),
        (
            [entry(2, "It is high.", kind="refusal")],
            'a refusal has no statements, but "It is high." is given',
        ),
        ([entry(2, "The tower is high.")], "the number 330 is in none of its statements"),
        ([entry(2, "It is 330 metres high.", "It has 3 metres.")], "the number 3 of a statement is not in"),
        ([entry(2, SENTENCES[0])], "shares no word with the statement"),
        ([{**entry(2, "It is 330 metres high."), "exclude": True}], '"exclude" was not asked for'),
        ([{**entry(2), "statements": [{"a": 1}]}], '"statements", entry 1'),
        (
            [entry(2, "The moon is made of cheese.")],
            'it shares no word with the statement "The moon is',
        ),
    ],
)
def test_a_sentence_without_a_usable_entry_is_asked_about_again_and_the_others_stay(second, objection):
    reading = read(ALL[0], *second, ALL[2])
    assert objection in reading.objections[0]
    assert reading.value.answered() == {1: "claim", 3: "greeting"}


@pytest.mark.parametrize(
    ("entries", "objection"),
    [
        # they may be numbered from 0, or not at all: the others may be wrong, too
        ([{**each, "sentence": each["sentence"] - 1} for each in ALL], "sentence 0 was not asked about"),
        ([entry(1, SENTENCES[0]), entry(4, "The tower is old.")], "sentence 4 was not asked about"),
        (["The tower is in Paris."], 'entry 1: "sentence" is not a number'),
        ([], "your last reply lacks sentences 1, 2, 3"),
    ],
)
def test_a_reply_that_cannot_be_followed_is_not_read(entries, objection):
    reading = read(*entries)
    assert reading.value is None
    assert objection in reading.objections[0]


@pytest.mark.parametrize(
    "entries",
    [
        [ALL[2], ALL[1], ALL[0]],  # in another order
        [entry(1, SENTENCES[0]), entry(2, "It is high."), entry(2, "It is 330 metres high."), ALL[2]],
        [{**ALL[0], "sentence": "1"}, {**ALL[1], "kind": "Claim"}, {"sentence": 3, "kind": "greeting"}],
        [{"sentence": 1, "statements": [SENTENCES[0]]}, *ALL[1:]],  # what has statements is a claim
        [entry(1, SENTENCES[0], kind="fact"), *ALL[1:]],
        [{**ALL[0], "sentence": "[sentence 1]"}, {**ALL[1], "text": SENTENCES[1]}, ALL[2]],
        [{**ALL[0], "statements": SENTENCES[0]}, ALL[1], {**ALL[2], "statements": None, "reason": "thanks"}],
        [*ALL, entry(4, "The tower is old.")],  # nobody asked, and nothing is missing
    ],
)
def test_deviations_that_can_mean_only_one_thing_are_accepted(entries):
    reading = read(*entries)
    assert reading.objections == ()
    assert reading.value.answered() == {1: "claim", 2: "claim", 3: "greeting"}


def test_a_plain_list_is_accepted_where_the_text_has_one_sentence():
    def plain(sentences: tuple[str, ...], *listed: str, declined: bool = False) -> Any:
        expected = Expected(
            tuple(range(1, len(sentences) + 1)), sentences, form=PROMPT.user, around=(QUESTION,)
        )
        return PROMPT.answer.read(json.dumps({"statements": listed, "declined": declined}), expected)

    assert plain(SENTENCES[:1], SENTENCES[0]).value.sentences == (1,)
    assert plain(SENTENCES[:1], declined=True).value.without == ((1, "refusal"),)
    assert plain(SENTENCES[:1]).objections == ("your last reply lacks sentence 1",)
    assert plain(SENTENCES, SENTENCES[0]).objections == ('the object does not hold the list "sentences"',)


def test_a_follow_up_adds_what_was_missing_and_ignores_what_is_known():
    first = read(ALL[0], ALL[2], declined=True, reason="so")
    reply = read(*ALL, known=tuple(first.value.answered().items()), declined=False)
    assert reply.dropped == ("sentence 1 was answered before", "sentence 3 was answered before")
    assert read(entry(2, SENTENCES[1]), known=((1, "claim"), (3, "greeting")), declined=True).value.statements
    both = first.value.with_more(reply.value)
    assert both.statements == (SENTENCES[0], "The tower is 330 metres high.")
    assert both.answered() == {1: "claim", 2: "claim", 3: "greeting"}
    assert both.abstention() == Declined(True, "so")


def test_a_statement_is_not_that_of_another_sentence_unless_they_say_the_same():
    rome, paris = "The tower is in Rome.", "The tower is in Paris."
    copied = read(entry(1, paris), entry(2, paris), sentences=(paris, rome))
    assert copied.objections == (
        'sentence 2: the statement "The tower is in Paris." is that of another sentence',
    )
    before = read(entry(1, paris), entry(2, paris), sentences=(rome, paris))
    assert before.objections == (f'sentence 1: the statement "{paris}" is that of another sentence',)
    late = read(entry(1, paris), sentences=(rome, paris), known=((2, "claim"),))
    assert before.value.with_more(late.value).answered() == {2: "claim"}
    again = "In short, the tower stands in Paris."
    assert read(entry(1, paris), entry(2, paris), sentences=(paris, again)).objections == ()


def test_the_words_of_a_sentence_of_its_own_are_always_a_statement():
    assert read(entry(1, "None"), sentences=("None.",)).value.statements == ("None",)
    assert read(entry(1, "It is so."), sentences=("It is so.",)).objections == ()


@pytest.mark.parametrize("short", ["Yes, it is", "No", "The tea is hot", "It is red", "He ran"])
def test_a_statement_of_short_words_counts_if_it_stands_in_its_sentence_word_for_word(short):
    sentence = f"{short}, and the tower is in Paris."
    reading = read(entry(1, short, "The tower is in Paris."), sentences=(sentence,))
    assert (reading.value.statements, reading.objections) == ((short, "The tower is in Paris."), ())
    turned = read(entry(1, "It is wet", "The tower is in Paris."), sentences=(sentence,))
    assert "it shares no word with" in turned.objections[0]


def test_many_statements_of_a_long_sentence_are_read_in_time_linear_in_both():
    sentence = "Paris " * 10_000 + " ".join(map(str, range(1000)))
    assert read(entry(1, *(f"Paris is {n} high." for n in range(1000))), sentences=(sentence,)).value


def test_a_statement_of_two_sentences_counts_once_and_covers_both():
    reading = read(
        entry(1, "It is in Paris."), entry(2, "it is in  Paris"), sentences=("It is in Paris.",) * 2
    )
    assert reading.value.statements == ("It is in Paris.",)
    assert reading.value.answered() == {1: "claim", 2: "repeated"}
    assert reading.dropped == ("statement 2 repeats statement 1: it is in  Paris",)


@pytest.mark.parametrize("declined", ["No, the answer names the country.", "not declined", "否", "yes"])
def test_a_text_in_place_of_declined_says_nothing_and_costs_nothing(declined):
    reading = read(*ALL, declined=declined)
    assert (reading.value.abstention(), reading.objections) == (None, ())
    assert reading.dropped == (f'"declined" is neither true nor false: {declined}',)


@pytest.mark.parametrize(
    ("fields", "abstention"),
    [
        ({}, None),
        ({"declined": None, "reason": None}, None),
        ({"declined": False, "reason": "it answers"}, Declined(False)),
        ({"declined": "True", "reason": []}, Declined(True)),
        ({"declined": True, "reason": "it cannot tell"}, Declined(True, "it cannot tell")),
    ],
)
def test_whether_the_answer_declines_is_never_needed_for_the_score(fields, abstention):
    reading = read(*ALL, **fields)
    assert (reading.value.abstention(), reading.objections) == (abstention, ())


@pytest.mark.parametrize(
    ("entries", "statements"),
    [
        ([entry(1, kind="refusal")], ()),
        ([entry(1, "I do not know.")], ()),
        ([entry(1, "The year is not known.")], ("The year is not known.",)),
    ],
)
def test_a_refusal_is_no_statement(entries, statements):
    sentence = "The year is not known." if statements else "I do not know."
    reading = read(*entries, sentences=(sentence, "Ask Ada.") if statements else (sentence,), declined=True)
    assert reading.value.statements == statements


@pytest.mark.parametrize(
    ("statement", "sentence", "is_from_it"),
    [
        ("The tower is in Rome.", "It stands in Paris.", False),
        ("The tower is in Paris.", "It stands in Paris.", True),
        ("Der Turm steht in Paris.", "Er befindet sich dort seit 1889.", False),
        ("Der Turm steht dort seit 1889.", "Er befindet sich dort seit 1889.", True),
        ("塔は東京にあります。", "それは東京にあります。", True),
        ("塔は京都市に建つ。", "東京です。", False),
        ("The tower is open.", "Absolutely.", True),  # its words are those of the question
        ("The tower is closed on Mondays.", "Absolutely.", False),
        ("The tower is 330 m high.", "330", True),
        ("The EU has members.", "The EU.", True),
        ("A GPU is fast.", "- GPUs", True),
        ("It was in Ulm.", "Ada was born in cold Ulm.", True),
        ("It is Ulm.", "Ulm.", True),
        ("It costs 1000 euros.", "1,000 euros.", True),
        ("Es liegt in Zurich.", "Zürich.", True),
        ("파리에 탑이 있다.", "파리에 있습니다.", True),
        ("달은 희다.", "파리에 있습니다.", False),
        ("月はパリです。", "塔は大阪です。", False),
        ("It is so.", "It is in Paris.", False),
        ("It is so.", "It is.", True),  # it has no word by which to tell
    ],
)
def test_a_statement_shares_a_content_word_with_its_sentence(statement, sentence, is_from_it):
    sources = Sources(["Is the tower open?", sentence])
    assert bool(sources.sentence(sentence).objection([statement])) is not is_from_it


MARKDOWN = """# Towers
The tower is high.

Details
=======
| metres | year |
|--------|------|
| 330    | 1889 |

```python
height = 330
```
It is old."""


def stating(text: str) -> list[str]:
    places, end = [], 0
    for sentence in split_sentences(text):
        start = text.index(sentence, end)
        end = start + len(sentence)
        places.append((start, end))
    return [text[start:end] for start, end in stating_sentences(text, places)]


def test_headings_table_rules_and_code_are_not_sentences_and_a_table_row_is():
    rows = ["| metres | year |", "| 330    | 1889 |"]
    assert stating(MARKDOWN) == ["The tower is high.", *rows, "It is old."]


@pytest.mark.parametrize(
    "text",
    [
        "It is high (see [2])\n---\nIt is old.",
        "#\nThe tower is in Rome.",
        "Here it is:\n```markdown\nIt is high.\n```",
        "Here it is:\n```\nIt is high.\n```",
        "```python\nIt never ends.",
    ],
)
def test_what_may_be_the_answer_is_numbered(text):
    assert stating(text) == list(split_sentences(text))


@pytest.mark.parametrize("text", ["# Paris", "```\nParis\n```", "Paris\n====="])
def test_a_text_of_nothing_else_keeps_its_sentences(text):
    assert stating(text) == list(split_sentences(text))


@given(st.text(st.sampled_from("ab1.?! \n#`~=-|的"), max_size=200))
def test_only_whole_sentences_are_left_out(text):
    assert set(stating(text)) <= set(split_sentences(text))
    assert bool(stating(text)) == bool(split_sentences(text))
