"""Each answer type: its form read to the letter, and what the judge is told of a reply that is not of it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import prompts
from ragmetrics_core.parsers import LONGEST, Answer, Declined, Expected, Rating, Scale, VerdictList
from ragmetrics_core.prompts import Prompt

ITEMS = ("The tower is high in the air.", "It is old and white.", "It was built in 1653.")
LINES = prompts.load_version("verdicts.v6", usual=prompts.VERDICTS)
# Prompts that do not number the sentences.
PLAIN = prompts.load_version("statements.v4", usual=prompts.STATEMENTS)
PLAIN_REFERENCE = prompts.load_version("reference_statements.v3", usual=prompts.REFERENCE_STATEMENTS)
PROMPTS = [*(value for value in vars(prompts).values() if isinstance(value, Prompt)), LINES, PLAIN]
WORDS = st.text(st.sampled_from("abzÄ 是9.,;:'()-"), min_size=3).map(
    lambda text: " ".join(f"a {text} b".split())
)
ONE = {"number": 1, "reason": "so", "evidence": "a tower", "verdict": "yes"}


def read(prompt: Prompt[Any], reply: str, **more: Any) -> Any:
    usual = {"numbers": (1, 2, 3), "items": ITEMS, "scale": Scale(0, 10)}
    return prompt.answer.read(reply, Expected(**usual | more, form=prompt.user))


def verdicts(*entries: dict[str, Any]) -> str:
    return json.dumps({"verdicts": entries})


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.id)
@pytest.mark.parametrize("is_graded", [False, True])
def test_what_is_laid_out_in_a_form_is_read_in_it_and_laid_out_again(prompt, is_graded):
    size = 1 if prompt is prompts.PAPER_QUESTION else 4
    expected = Expected((2, 3, 5), ITEMS, size, Scale(0, 4, 2), prompt.user, is_graded)
    reply = prompt.answer.filled(expected)
    reading = prompt.answer.read(reply, expected)

    assert reading.objections == reading.dropped == ()
    assert reading.rule == ("json" if is_graded or prompt.as_json else "lines")
    if prompt.numbered is None:
        written = reading.value.written()
        assert prompt.answer.read(prompt.answer.laid_out(written, expected), expected) == reading


@given(texts=st.lists(WORDS, min_size=1, unique_by=lambda text: text.rstrip(" .").casefold()))
def test_whatever_the_statements_are_they_are_read_as_they_were_laid_out(texts):
    for prompt in (PLAIN_REFERENCE, prompts.PAPER_STATEMENTS):
        expected = Expected(form=prompt.user)
        reply = prompt.answer.laid_out({"statements": texts}, expected)
        assert prompt.answer.read(reply, expected).value.statements == tuple(texts)


@given(said=st.dictionaries(st.integers(1, 40), st.sampled_from(["yes", "no"]), min_size=1), reason=WORDS)
def test_whatever_the_verdicts_are_they_are_read_as_they_were_laid_out(said, reason):
    value = {"verdicts": [{"number": n, "reason": reason, "verdict": verdict} for n, verdict in said.items()]}
    for prompt in (prompts.VERDICTS, prompts.PAPER_VERDICTS, LINES):
        expected = Expected(tuple(said), form=prompt.user)
        reading = prompt.answer.read(prompt.answer.laid_out(value, expected), expected)
        assert {each.number: each.verdict for each in reading.value.verdicts} == said
        assert not reading.objections


@pytest.mark.parametrize(
    ("prompt", "reply", "objection"),
    [
        (LINES, "1. yes\n2. perhaps", "this line is not of the form: 2. perhaps"),
        (LINES, "1. yes\n2. no\n2. no", "number 2 stands there twice"),
        (LINES, "0. yes\n1. no\n2. yes", "number 0 was not asked about"),
        (prompts.PAPER_VERDICTS, "1. So. Verdict: Yes.", 'the last line is not "Final verdicts: ", as'),
        (
            prompts.PAPER_VERDICTS,
            "1. So. Verdict: Yes. Verdict: No.\nFinal verdicts: 1. Yes.",
            "as the lines",
        ),
        (
            prompts.PAPER_STATEMENTS,
            "1. A is B.\n3. C is D.\nEND",
            'line 2 does not begin with "2. ": 3. C is D.',
        ),
        (prompts.PAPER_STATEMENTS, "1. A is B.", "the last line is not END"),
        (prompts.PAPER_STATEMENTS, "1. <statement 1>\nEND", "it leaves <statement 1> as the form has it"),
        (prompts.PAPER_SENTENCES, "A b.\nInsufficient Information\nEND", "neither sentences alone nor"),
        (prompts.PAPER_QUESTION, "Why? How?", "not one line with one sentence"),
        (prompts.VERDICTS, verdicts({**ONE, "verdict": "maybe"}), 'neither "yes" nor "no", but "maybe"'),
        (prompts.VERDICTS, verdicts({**ONE, "supported": False}), 'number 1: "supported" was not asked for'),
        (prompts.VERDICTS, verdicts({**ONE, "evidence": {"a": "b"}}), '"evidence"'),
        (prompts.VERDICTS, verdicts({**ONE, "number": "one"}), 'no "number" that is an integer, but "one"'),
        (prompts.VERDICTS, verdicts({**ONE, "statement": ITEMS[2]}), "stands with the text of number 3"),
        (prompts.VERDICTS, verdicts({**ONE, "statement": "It is high."}), '"statement" was not asked for'),
        (prompts.VERDICTS, verdicts(ONE, {**ONE, "number": 4}), "number 4 was not asked about"),
        (prompts.VERDICTS, verdicts({**ONE, "reason": "2. It is OLD and white!"}), "the text of number 2"),
        (prompts.VERDICTS, verdicts({**ONE, "reason": "<why>"}), "it leaves <why> as the form has it"),
        (prompts.ANSWER_RATING, '{"rating": 11}', '"rating" is 11, which is none of 0 to 10'),
        (prompts.ANSWER_RATING, '{"rating": "seven"}', 'a valid number, but "seven"'),
        (prompts.ANSWER_RATING, '{"reason": "so"}', '"rating": field required'),
        (prompts.ANSWER_RATING, '{"rating": 4, "max": 5}', '"max" was not asked for'),
        (prompts.ANSWER_RATING, '{"rating": 8, "rating": 3}', '"rating" stands twice in one object'),
        (prompts.ANSWER_RATING, '{"rating": 8} or {"rating": 3}', "text stands behind the JSON object: or {"),
        (prompts.ANSWER_RATING, '[3] {"rating": 8}', 'text stands behind the JSON object: {"rating": 8}'),
        (prompts.ANSWER_RATING, '{"rating": NaN}', "NaN is no number"),
        (prompts.ANSWER_RATING, '{"rating": 8', "it holds no whole JSON object: expecting"),
        (prompts.ANSWER_RATING, f'{{"rating": {"1" * 21}}}', "a number of more than 20 digits"),
        (prompts.ANSWER_RATING, '{"a":' * 30_000, "nested too deeply"),
        (prompts.ANSWER_RATING, json.dumps(dict.fromkeys(map(str, range(101)))), "more than 100 fields"),
        (prompts.ANSWER_RATING, "<think>8", "it ends within its reasoning"),
        (prompts.ANSWER_RATING, "8" * (LONGEST + 1), "it has more than 200,000 characters"),
        (prompts.PAPER_STATEMENTS, "1. a\n" * 10_000, "it has more than 40,000 characters"),
        (prompts.RELEVANT_SENTENCES, '{"relevant": [1, 4]}', "there is no sentence 4"),
        (prompts.RELEVANT_SENTENCES, '{"relevant": [1, 1]}', "sentence 1 stands there twice"),
        (PLAIN, '{"statements": [], "declined": 1}', '"declined"'),
        (prompts.ENTITIES, '{"entities": ["Ulm\\n1879"]}', '"entities", entry 1: it is not one line with a'),
        (prompts.PAPER_FACTS, '{"TP": ["A."], "FP": ["a"], "FN": []}', "stands in TP and in FP: a"),
        (prompts.QUESTIONS, '{"questions": [{"question": "Why?"}]}', "there are 1 questions, where 2 were"),
        (prompts.QUESTIONS, '{"questions": [{"question": "Why?"}]}', '"noncommittal" is missing'),
    ],
)
def test_the_judge_is_told_what_is_wrong(prompt, reply, objection):
    reading = read(prompt, reply, size=2)
    assert any(objection in each for each in reading.objections), reading.objections


def test_verdicts_that_were_read_stay_and_the_others_are_asked_for_by_number():
    reading = read(prompts.VERDICTS, verdicts(ONE, {"number": 3, "verdict": "yes indeed"}))
    assert [each.number for each in reading.value.verdicts] == [1]
    assert reading.objections == (
        'number 3: its verdict is neither "yes" nor "no", but "yes indeed"',
        "your last reply lacks a verdict on 2, 3",
    )


@pytest.mark.parametrize(
    "reason",
    [
        "It is old and white, as the page says of the tower.",
        "It is old and white",  # its own text, of number 2
        "Number 1 says the same: The tower is high in the air.",
    ],
)
def test_a_reason_that_names_another_statement_is_a_reason(reason):
    number = 2 if reason == "It is old and white" else 3
    entry = {"number": number, "reason": reason, "verdict": "yes"}
    assert not read(
        prompts.VERDICTS, verdicts(entry), numbers=(1, number)[1:], items=ITEMS[number - 1 :]
    ).objections
    assert read(prompts.VERDICTS, verdicts(entry)).value.verdicts[0].number == number


@pytest.mark.parametrize(
    ("again", "read_again", "says"),
    [
        ("yes", [2, 3], ("number 1 repeats a known verdict: yes",)),
        ("no", None, ('the verdict on number 1 was "yes" before and is "no" now',)),
        ("maybe", None, ('the verdict on number 1 was "yes" before and is "maybe" now',)),
    ],
)
def test_a_second_reply_may_repeat_a_verdict_and_not_change_it(again, read_again, says):
    second = {"numbers": (2, 3), "items": ITEMS[1:], "known": ((1, "yes"),)}
    others = [{"number": number, "reason": "so", "verdict": "no"} for number in (2, 3)]
    reading = read(prompts.VERDICTS, verdicts({**ONE, "verdict": again}, *others), **second)

    assert (reading.dropped or reading.objections) == says
    assert (reading.value and [each.number for each in reading.value.verdicts]) == read_again


def test_a_document_may_hold_what_the_form_of_the_prompt_holds():
    assert not read(prompts.VERDICTS, verdicts({**ONE, "evidence": "<why>"}), numbers=(1,)).objections


def test_statements_that_repeat_each_other_count_once_and_say_so():
    reading = read(PLAIN, '{"statements": ["A is B.", "a is  B", "C."], "declined": false}')
    assert reading.value.statements == ("A is B.", "C.")
    assert reading.dropped == ("statement 2 repeats statement 1: a is  B",)


NOTHINGS = [
    "None",
    "none.",
    "N/A",
    "n.a.",
    "(none)",
    "[None]",
    "<none>",
    "null",
    "Not applicable",
    "- None -",
]
LISTS = [
    (prompts.ENTITIES, '{"entities": %s}', "entities", "entity"),
    (PLAIN_REFERENCE, '{"statements": %s}', "statements", "statement"),
    (prompts.PAPER_FACTS, '{"TP": [], "FP": [], "FN": %s}', "fn", "FN statement"),
]


@pytest.mark.parametrize("nothing", NOTHINGS)
@pytest.mark.parametrize(("prompt", "form", "field", "what"), [LISTS[0], LISTS[2]])
def test_a_text_that_says_there_is_no_entry_is_no_entry(prompt, form, field, what, nothing):
    alone = read(prompt, form % json.dumps([nothing]))
    beside = read(prompt, form % json.dumps(["Nonesuch is in Ulm.", nothing]))

    assert (getattr(alone.value, field), alone.dropped) == ((), (f"{what} 1 is not an entry: {nothing}",))
    assert getattr(beside.value, field) == ("Nonesuch is in Ulm.",)
    noun = f"{what.rpartition(' ')[2]}s".replace("ys", "ies")
    assert getattr(read(prompt, form % json.dumps([f"No {noun} found."])).value, field) == ()


@pytest.mark.parametrize(("prompt", "form", "field", "what"), LISTS)
def test_a_placeholder_is_asked_for_again_and_a_text_that_only_resembles_one_is_read(
    prompt, form, field, what
):
    noun = what.rpartition(" ")[2]
    for text in (noun, f"{noun.title()} 1", f"[{noun} 2]", f"<{noun}>"):
        assert read(prompt, form % json.dumps([text])).value is None, text
    for text in (
        "Nil Lodge",
        "NA",
        "Na",
        "No",
        "None of them won.",
        f"The {noun} is old.",
        f"No {noun} is old.",
    ):
        assert getattr(read(prompt, form % json.dumps([text])).value, field) == (text,)


def test_none_as_a_statement_is_asked_again_except_of_a_judge_of_this_library():
    # the answer to "How much caffeine does it contain?" may be "None."
    reply = '{"statements": ["None."]}'
    assert "write whole sentences" in read(PLAIN_REFERENCE, reply).objections[0]
    assert read(PLAIN_REFERENCE, reply, graded=True).value.statements == ("None.",)


def test_a_sentence_that_is_copied_twice_counts_once():
    reading = read(prompts.PAPER_SENTENCES, "The limit is 5 MHz.\nIt holds.\nThe limit is 5 MHz.\nEND")
    assert reading.value.sentences == ("The limit is 5 MHz.", "It holds.")
    assert read(prompts.PAPER_SENTENCES, "None\nEND").value is None


@pytest.mark.parametrize("reply", ['{"rating": 3}', '```json\n{"rating":  3}\n```', '{\n "rating": 3\n}'])
def test_an_example_that_is_a_whole_reply_is_not_read_when_it_is_repeated(reply):
    form = 'Reply with JSON only, in this form:\n{"rating": 3}\n\n{{ answer }}'
    assert Rating.read(reply, Expected(form=form)).objections == ("it repeats the form and fills in nothing",)


def test_a_reply_in_half_a_hundred_thousand_wrong_entries_has_few_objections():
    reading = read(prompts.RELEVANT_SENTENCES, json.dumps({"relevant": list(range(4, 30_000))}))
    assert len(reading.objections) == 10


@pytest.mark.parametrize("value", [0.25, 0, 1])
def test_a_judge_of_this_library_gives_probabilities_and_passes_on(value):
    expected = Expected((1, 2), form=LINES.user, graded=True)
    entries = (
        {**ONE, "evidence": ["a tower", ""], "probability": value},
        {"number": 2, "verdict": "passed on"},
    )
    reading = VerdictList.read(verdicts(*entries), expected)
    assert (reading.value.passed_on, reading.value.verdicts[0].probability) == ((2,), value)
    assert reading.value.verdicts[0].quotes == ("a tower",)
    assert VerdictList.read(verdicts(entries[1]), expected._replace(graded=False)).value is None


@pytest.mark.parametrize(
    ("prompt", "reply", "declined"),
    [
        (PLAIN, '{"statements": [], "declined": false}', Declined(declined=False)),
        (PLAIN, '{"statements": [], "declined": true}', Declined(declined=True)),
        (PLAIN, '{"statements": [], "declined": "It is lost."}', None),
        (PLAIN, '{"statements": []}', None),
        (PLAIN_REFERENCE, '{"statements": []}', None),
        (prompts.DECLINING, verdicts(ONE), Declined(True, "so")),
        (prompts.VERDICTS, verdicts(ONE), None),
    ],
)
def test_a_reply_says_whether_the_answer_declines_or_does_not_say(prompt, reply, declined):
    assert read(prompt, reply).value.abstention() == declined


@pytest.mark.parametrize(("flags", "declined"), [("tt", True), ("tf", False), ("ff", False)])
def test_an_answer_declines_when_every_question_is_noncommittal(flags, declined):
    questions = [
        {"question": f"Why {place}?", "noncommittal": flag == "t"} for place, flag in enumerate(flags)
    ]
    reply = json.dumps({"questions": questions})
    assert read(prompts.QUESTIONS, reply, size=2).value.abstention() == Declined(declined)


class Politeness(Answer):
    """An answer type of a user's own."""

    polite: bool
    words: tuple[str, ...] = ()

    def objections(self, expected: Expected) -> Any:
        if self.polite and self.words:
            yield "a polite answer has no rude words"


def test_an_answer_type_of_ones_own_is_its_fields_and_its_objections():
    form = Expected(form='Reply with JSON: {"polite": <true or false>, "words": ["<rude word>", ...]}')
    assert Politeness.read('{"polite": false, "words": ["damn"]}', form).value.words == ("damn",)
    assert Politeness.read('{"polite": true, "words": ["damn"]}', form).objections == (
        "a polite answer has no rude words",
    )
    assert Politeness.read("1. yes", form._replace(form="Reply with a line.")).value is None
    assert Politeness.read(Politeness.filled(form), form).value is not None
