"""Deviations that are accepted, as docs/judge_kinds.md lists them: each is read as the value of the form."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import prompts
from ragmetrics_core.parsers import Expected, Scale
from ragmetrics_core.prompts import Prompt

ITEMS = ("The tower is high in the air.", "It is old and white.", "It was built in 1653.")
SAID = {1: "no", 2: "yes", 3: "no"}
ENTRIES = [{"number": number, "verdict": verdict} for number, verdict in SAID.items()]
FORM = {"verdicts": ENTRIES}
PAGE = Path(__file__).parents[2] / "docs" / "judge_kinds.md"


def each(**fields: Any) -> str:
    """The verdicts with more fields; a function gives the field of an entry."""
    return json.dumps(
        {"verdicts": [{**e, **{name: field(e) for name, field in fields.items()}} for e in ENTRIES]}
    )


def read(prompt: Prompt[Any], reply: str, **more: Any) -> Any:
    usual: dict[str, Any] = {"numbers": (1, 2, 3), "items": ITEMS, "scale": Scale(0, 10)}
    return prompt.answer.read(reply, Expected(**usual | more, form=prompt.user))


WHOLE = json.dumps(FORM)
SPLIT = [
    {"sentence": number, "kind": "claim", "statements": [text]} for number, text in enumerate(ITEMS, start=1)
]
SENTENCES = json.dumps({"sentences": SPLIT})
# Of each row of the table: replies that say the same as the form, with the prompt and the form.
SAME: dict[str, list[tuple[Prompt[Any], str, str]]] = {
    "one code fence": [(prompts.VERDICTS, f"```json\n{WHOLE}\n```", WHOLE)],
    "one pair of answer tags": [
        (prompts.VERDICTS, f"<answer>{WHOLE}</answer>", WHOLE),
        (prompts.VERDICTS, f"<answer>\n```json\n{WHOLE}\n```\n</answer>", WHOLE),
        (prompts.VERDICTS, f"<|begin_of_box|>{WHOLE}<|end_of_box|>", WHOLE),
    ],
    "a token that ends the turn": [
        (prompts.VERDICTS, WHOLE + token, WHOLE)
        for token in ("<|im_end|>", "</s>", "\n<|eot_id|>\n", "<end_of_turn>", "<|end|><|endoftext|>")
    ],
    "a bare list": [
        (prompts.VERDICTS, json.dumps(ENTRIES), WHOLE),
        (prompts.ENTITIES, '["Ulm", "Bern"]', '{"entities": ["Ulm", "Bern"]}'),
        (prompts.RELEVANT_SENTENCES, "[1, 3]", '{"relevant": [1, 3]}'),
    ],
    "capitals and a full stop in a fixed word": [
        (prompts.VERDICTS, each(verdict=lambda e: e["verdict"].title() + "."), WHOLE),
        (prompts.VERDICTS, each(verdict=lambda e: e["verdict"].upper() + " "), WHOLE),
        (
            prompts.RELEVANT_SENTENCES,
            '{"relevant": "insufficient information."}',
            '{"relevant": "Insufficient Information"}',
        ),
        (
            prompts.QUESTIONS,
            '{"questions": [{"question": "Why?", "noncommittal": "False"}]}',
            '{"questions": [{"question": "Why?", "noncommittal": false}]}',
        ),
    ],
    "a whole number in other writing": [
        (prompts.VERDICTS, each(number=lambda e: str(e["number"])), WHOLE),
        (prompts.VERDICTS, each(number=lambda e: float(e["number"])), WHOLE),
        (prompts.ANSWER_RATING, '{"rating": "7"}', '{"rating": 7}'),
        (prompts.RELEVANT_SENTENCES, '{"relevant": ["1", "3"]}', '{"relevant": [1, 3]}'),
    ],
    "empty or null reason or evidence": [
        (prompts.VERDICTS, each(evidence=empty, reason=empty), WHOLE)
        for empty in (lambda _: None, lambda _: "", lambda _: [])
    ],
    "evidence as a list": [
        (prompts.VERDICTS, each(evidence=lambda _: ["a tower"]), each(evidence=lambda _: "a tower")),
    ],
    "a kind that the form does not have, with statements": [
        (
            prompts.STATEMENTS,
            json.dumps({"sentences": [{**SPLIT[0], "kind": "fact"}, *SPLIT[1:]]}),
            SENTENCES,
        ),
    ],
    "the number of a sentence with its noun": [
        (
            prompts.STATEMENTS,
            json.dumps({"sentences": [{**SPLIT[0], "sentence": "[sentence 1]"}, *SPLIT[1:]]}),
            SENTENCES,
        ),
    ],
    "one statement in place of a list": [
        (
            prompts.STATEMENTS,
            json.dumps({"sentences": [{**SPLIT[0], "statements": ITEMS[0]}, *SPLIT[1:]]}),
            SENTENCES,
        ),
    ],
    "several entries for one sentence": [
        (
            prompts.STATEMENTS,
            json.dumps({"sentences": [{**SPLIT[0], "statements": ["The tower is high."]}, *SPLIT]}),
            json.dumps(
                {"sentences": [{**SPLIT[0], "statements": ["The tower is high.", ITEMS[0]]}, *SPLIT[1:]]}
            ),
        ),
    ],
    "no `declined`, or a text in its place": [
        (prompts.STATEMENTS, json.dumps({"sentences": SPLIT, "declined": said}), SENTENCES)
        for said in ("No, it answers.", "not declined", None)
    ],
    "the item's own text": [
        (prompts.VERDICTS, each(statement=lambda e: ITEMS[e["number"] - 1]), WHOLE),
        (
            prompts.VERDICTS,
            each(statement=lambda e: f"{e['number']}. {ITEMS[e['number'] - 1].lower()[:-1]}"),
            WHOLE,
        ),
    ],
}


# Tested with the follow-ups, and with a text of one sentence.
ELSEWHERE = {
    "a verdict that is known",
    "an answer about a sentence that is known",
    "an entry for a sentence that does not exist",
    "a plain list of statements for a text of one sentence",
    "a statement of short words that is a part of its sentence",
}


@pytest.mark.parametrize(("prompt", "reply", "form"), [case for cases in SAME.values() for case in cases])
def test_a_deviation_is_read_as_the_form(prompt, reply, form):
    reading = read(prompt, reply, size=1)
    assert reading.objections == ()
    assert reading.value == read(prompt, form, size=1).value


def test_the_page_lists_every_accepted_deviation():
    table = PAGE.read_text(encoding="utf-8").partition("| deviation |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    assert {*rows} == {*SAME, *ELSEWHERE}


@pytest.mark.parametrize(
    ("prompt", "reply", "quoted"),
    [
        (prompts.VERDICTS, each(verdict=lambda _: "yes indeed"), "yes indeed"),
        (prompts.VERDICTS, each(verdict=lambda _: True), "true"),
        (prompts.VERDICTS, each(verdict=lambda _: ["yes"]), "yes"),
        (prompts.VERDICTS, each(verdict=lambda _: "not yes"), "not yes"),
        (prompts.VERDICTS, each(number=lambda e: f"#{e['number']}"), "#1"),
        (prompts.VERDICTS, each(number=lambda e: e["number"] + 0.5), "1.5"),
        (prompts.ANSWER_RATING, '{"rating": "7/10"}', "7/10"),
        (prompts.ANSWER_RATING, '{"rating": "1e1"}', "1e1"),
        (prompts.ANSWER_RATING, '{"rating": true}', "true"),
        (prompts.ANSWER_RATING, "[7]", "it is a list"),
        (prompts.RELEVANT_SENTENCES, '{"relevant": ["one"]}', "one"),
        (prompts.PAPER_FACTS, '["A is B."]', "it is a list"),
        (prompts.ENTITIES, "[]", "it is a list"),
        (prompts.VERDICTS, f"<answer>{WHOLE}</answer> or not", "<answer>"),
        (prompts.VERDICTS, f"<answer>{WHOLE}", "<answer>"),
    ],
)
def test_other_deviations_are_asked_again_with_the_word_in_question(prompt, reply, quoted):
    reading = read(prompt, reply)
    assert reading.value is None
    assert any(quoted in objection for objection in reading.objections), reading.objections


PIECES = st.sampled_from([*'"{}[],:.123 \n\\', "yes", "no", "Yes.", "null", '"1"', "<answer>", "</answer>",
                          "</s>", "```", "not ", "<think>", "</think>",
                          '"verdict": "yes", ', WHOLE])  # fmt: skip


@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 4), PIECES | st.just("")), min_size=1, max_size=2)
)
def test_no_mutated_reply_says_what_the_reply_does_not_say(edits):
    """A verdict is read as said, unless the mutation replaced the word itself or a number."""
    reply = each(reason=lambda e: f"It says so of {e['number']}.", evidence=lambda _: None)
    mutated = reply
    for at, length, piece in edits:
        mutated = mutated[:at] + piece + mutated[at + length :]
    value = read(prompts.VERDICTS, mutated).value
    for verdict in value.verdicts if value is not None else ():
        written = (
            rf'"number":\s*"?{verdict.number}(\.0)?"?\s*[,}}].{{0,400}}"verdict":\s*"{verdict.verdict}\.?"'
        )
        assert re.search(written, mutated, re.IGNORECASE | re.DOTALL), mutated


@given(st.randoms(use_true_random=False))
def test_the_deviations_may_be_combined(source: random.Random):
    entries = []
    for entry in ENTRIES:
        verdict = source.choice([str, str.title, str.upper])(entry["verdict"]) + source.choice(["", "."])
        more = source.choice([{}, {"evidence": None}, {"evidence": []}, {"reason": None}])
        number = source.choice([int, str, float])(entry["number"])
        entries.append({"number": number, **more, "verdict": verdict})
    source.shuffle(entries)
    body = json.dumps(source.choice([entries, {"verdicts": entries}]), indent=source.choice([None, 1]))
    body = source.choice(["{}", "```json\n{}\n```", "```\n{}"]).replace("{}", body)
    body = source.choice(["{}", "<answer>{}</answer>", '<think>{"a"</think>{}']).replace("{}", body)
    reading = read(prompts.VERDICTS, body + source.choice(["", "</s>", "<|im_end|>\n"]))
    assert {each.number: each.verdict for each in reading.value.verdicts} == SAID
