"""A reply in the form of its prompt is read in a short way; the long way, which reads any, gives the same."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.parsers import (
    Answer,
    EntityList,
    ExtractedSentences,
    FactLists,
    Hints,
    QuestionList,
    Rating,
    RelevantSentences,
    StatementList,
    VerdictList,
)
from ragmetrics_core.parsers._exact import JsonAnswer
from tests.parsers.test_corpus import CASES, PARSERS

WORDS = st.text(alphabet='ab 1.,:"\\{}[]\n\r\u200b\ud800é„“…<>/-', max_size=12)
TEXTS = st.lists(
    WORDS | st.sampled_from(["It is so.", "none", "...", "", "No. 5", "N/A", "unknown"]), max_size=4
)
NUMBERS = st.integers(-3, 30) | st.sampled_from([10**6, 10**6 + 1, 10**25, 10_000])
VERDICTS = st.fixed_dictionaries(
    {
        "number": NUMBERS | st.booleans() | st.just("2"),
        "verdict": st.sampled_from(["yes", "no", "Yes", True]),
    },
    optional={
        "reason": WORDS | st.none(),
        "evidence": WORDS | st.just("N/A") | st.lists(WORDS, max_size=2),
        "probability": st.just(0.5),
    },
)
QUESTIONS = st.fixed_dictionaries(
    {"question": WORDS | st.none()}, optional={"noncommittal": st.booleans() | WORDS | st.none()}
)
FORMS: dict[type[JsonAnswer], st.SearchStrategy[dict[str, Any]]] = {
    EntityList: st.fixed_dictionaries({"entities": TEXTS | st.lists(st.none() | NUMBERS) | WORDS}),
    ExtractedSentences: st.fixed_dictionaries({"sentences": TEXTS}),
    FactLists: st.fixed_dictionaries({"TP": TEXTS, "FP": TEXTS, "FN": TEXTS}),
    QuestionList: st.fixed_dictionaries({"questions": st.lists(QUESTIONS, max_size=4)}),
    Rating: st.fixed_dictionaries(
        {"rating": NUMBERS | st.floats(allow_nan=False) | st.just("7")},
        optional={"reason": WORDS | st.lists(WORDS)},
    ),
    RelevantSentences: st.fixed_dictionaries(
        {
            "relevant": st.lists(NUMBERS, max_size=5)
            | st.sampled_from(["Insufficient Information", "none"])
            | WORDS
        }
    ),
    StatementList: st.fixed_dictionaries(
        {"statements": TEXTS}, optional={"declined": st.booleans() | st.none() | WORDS | st.just("it evades")}
    ),
    VerdictList: st.fixed_dictionaries({"verdicts": st.lists(VERDICTS, max_size=4)}),
}
ORDINARY: dict[type[JsonAnswer], dict[str, Any]] = {
    EntityList: {"entities": ["Ada Lovelace", "Ulm"]},
    ExtractedSentences: {"sentences": ["It is in Ulm."]},
    FactLists: {"TP": ["It is in Ulm."], "FP": [], "FN": ["It is old."]},
    QuestionList: {"questions": [{"question": "Where is it?", "noncommittal": False}]},
    Rating: {"rating": 7, "reason": "It says most of it."},
    RelevantSentences: {"relevant": [1, 4, 7]},
    StatementList: {"statements": ["It is in Ulm.", "It is old."], "declined": False},
    VerdictList: {
        "verdicts": [{"number": 1, "reason": "It says so.", "evidence": "in Ulm", "verdict": "yes"}]
    },
}
HINTS = (
    Hints.counting(2, ("Is it in Ulm?", "It is in Ulm."), ("It is in Ulm.", "It is old.")),
    Hints.counting(1),
    Hints.counting(3, ('It says {"relevant": [1]} and "yes", too.', "It is so.")),
    Hints((), (), (), (), ('Reply with JSON only: {"verdicts": [{"number": 1, "verdict": "yes"}]}',)),
)


def test_every_answer_that_is_asked_for_as_json_is_compared():
    assert set(FORMS) == set(ORDINARY) == {each for each in PARSERS.values() if issubclass(each, JsonAnswer)}


@pytest.mark.parametrize("kind", ORDINARY, ids=lambda kind: kind.__name__)
def test_an_ordinary_reply_is_read_in_the_short_way(kind):
    value = ORDINARY[kind]
    fit = kind.in_form(value)

    assert fit is not None
    assert kind.read(json.dumps(value), HINTS[0]).value == fit.value


@pytest.mark.parametrize("kind", FORMS, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_a_reply_that_is_nearly_of_the_form_is_read_alike(kind, data):
    value = data.draw(FORMS[kind])
    text = json.dumps(
        value, ensure_ascii=data.draw(st.booleans()), indent=data.draw(st.sampled_from([None, 2]))
    )

    for hints in HINTS:
        assert kind.read(text, hints) == kind.read_freely(text, hints)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_reply_of_the_corpus_and_what_becomes_of_it_is_read_alike(case):
    kind: type[Answer] = PARSERS[case["parser"]]
    assert issubclass(kind, JsonAnswer)
    hints = Hints.counting(case.get("count") or 0, sample=tuple(case.get("sample", ())))
    chance = random.Random(case["id"])
    for text in (case["reply"], *(_mutated(case["reply"], chance) for _ in range(5))):
        assert kind.read(text, hints) == kind.read_freely(text, hints)


@pytest.mark.parametrize("kind", ORDINARY, ids=lambda kind: kind.__name__)
def test_an_ordinary_reply_that_is_changed_is_read_alike(kind):
    chance = random.Random(kind.__name__)
    for _ in range(300):
        text = _mutated(json.dumps(ORDINARY[kind]), chance)
        for hints in HINTS:
            assert kind.read(text, hints) == kind.read_freely(text, hints), text


def test_a_character_that_nobody_sees_does_not_end_a_number():
    # between the two figures stands a space of no width
    reading = RelevantSentences.read('{"relevant": "1\u200b1"}', HINTS[0])
    assert reading.value == RelevantSentences(numbers=(11,), insufficient=False)


def test_a_key_with_two_values_is_not_read_in_the_short_way():
    reply = '{"verdicts": [{"number": 1, "number": 2, "verdict": "yes"}]}'

    assert VerdictList.read(reply, HINTS[0]).rule != "json"


def _mutated(text: str, chance: random.Random) -> str:
    """The text with a few characters left out, doubled, moved or replaced."""
    characters = list(text)
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(characters) + 1)
        change = chance.choice(["drop", "double", "insert", "repeat"])
        if change == "drop":
            del characters[place : place + 1]
        elif change == "double":
            characters[place:place] = characters[place : place + 1]
        elif change == "repeat":
            end = place + chance.randint(1, 25)
            characters[end:end] = characters[place:end]
        else:
            characters.insert(place, chance.choice('"{}[],:\\ \n\ufeff\u00a0071-eE.'))
    return "".join(characters)
