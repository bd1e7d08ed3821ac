"""The schema of a reply follows the form that the prompt shows."""

import json
from dataclasses import replace
from typing import Any

import pytest

from ragmetrics_core import prompts
from ragmetrics_core.parsers import Expected, Scale, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Generate

LIBRARY = [getattr(prompts, name) for name in prompts.__all__ if isinstance(getattr(prompts, name), Prompt)]
FOR_JSON = [prompt for prompt in LIBRARY if prompt.as_json]
FOR_LINES = [prompt for prompt in LIBRARY if not prompt.as_json]


def schema(prompt: Prompt[Any], *, numbered: bool = False, **expected: Any) -> Any:
    held_to = Expected(form=prompt.user, **expected)
    return (prompt.answer.numbered_schema if numbered else prompt.answer.reply_schema)(held_to)


def fits(value: Any, schema: Any) -> bool:
    """Whether a value fits a schema made of the keywords used here."""
    if "anyOf" in schema:
        return any(fits(value, each) for each in schema["anyOf"])
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        return False
    if isinstance(value, dict):
        # the order of the names counts: a model writes its reason before its verdict
        properties = schema["properties"]
        return list(value) == list(properties) == schema["required"] and all(
            fits(each, properties[name]) for name, each in value.items()
        )
    if isinstance(value, list):
        places = schema.get("prefixItems") or [schema["items"]] * len(value)
        size = range(schema.get("minItems", 0), schema.get("maxItems", len(value)) + 1)
        return schema["type"] == "array" and len(value) in size and all(map(fits, value, places))
    kinds = {str: "string", bool: "boolean", int: "integer"}
    asked = schema.get("type", kinds[type(value)])
    return asked == kinds[type(value)] or (asked, type(value)) == ("number", int)


@pytest.mark.parametrize("prompt", FOR_JSON, ids=lambda prompt: prompt.id)
@pytest.mark.parametrize("numbered", [False, True])
def test_a_reply_in_the_form_of_a_prompt_fits_its_schema_and_is_read(prompt: Prompt[Any], numbered: bool):
    items = ("Ulm is old.", "Ulm is big.")
    asked: dict[str, Any] = {"numbers": (1, 2), "items": items, "size": 3, "scale": Scale(0, 10)}
    reply = prompt.answer.filled(Expected(form=prompt.user, **asked))

    assert fits(json.loads(reply), schema(prompt, numbered=numbered, **asked))
    assert prompt.answer.read(reply, Expected(form=prompt.user, **asked)).objections == ()


@pytest.mark.parametrize("prompt", FOR_LINES, ids=lambda prompt: prompt.id)
def test_a_prompt_for_lines_of_text_has_no_schema(prompt: Prompt[Any]):
    assert Generate(prompt=prompt, variables={}, expected=Expected(form=prompt.user)).schema is None


def verdicts(*numbers: int) -> Any:
    names = ("number", "reason", "evidence", "verdict")
    return {"verdicts": [dict(zip(names, (number, "r", "e", "no"), strict=True)) for number in numbers]}


@pytest.mark.parametrize("numbered", [False, True])
def test_verdicts_are_held_to_the_items_that_are_asked_about(numbered: bool):
    form = schema(prompts.VERDICTS, numbered=numbered, numbers=(3, 7))

    assert fits(verdicts(3, 7), form)
    assert not fits(verdicts(3), form)
    assert not fits(verdicts(3, 7, 7), form)
    assert not fits(verdicts(3, 8), form)


def test_a_numbered_list_of_verdicts_cannot_leave_out_an_item():
    form = schema(prompts.VERDICTS, numbered=True, numbers=(3, 7))

    assert not fits(verdicts(3, 3), form)


def test_a_verdict_is_yes_or_no():
    form = schema(prompts.VERDICTS, numbers=(1,))
    partly = verdicts(1)
    partly["verdicts"][0]["verdict"] = "partly"

    assert not fits(partly, form)


def test_relevant_sentences_are_numbers_or_the_phrase_that_there_are_none():
    form = schema(prompts.RELEVANT_SENTENCES, numbers=(1, 2))

    assert fits({"relevant": [2]}, form)
    assert not fits({"relevant": [3]}, form)
    assert fits({"relevant": "Insufficient Information"}, form)
    assert not fits({"relevant": "sentences 1 and 2"}, form)


def test_declining_is_a_boolean_with_a_reason_and_only_where_the_prompt_asks_for_it():
    sentences = [{"sentence": 1, "kind": "refusal", "statements": []}]
    assert fits({"sentences": sentences, "declined": True, "reason": "so"}, schema(prompts.STATEMENTS))
    assert not fits({"sentences": sentences, "declined": "so", "reason": ""}, schema(prompts.STATEMENTS))
    assert fits({"sentences": sentences}, schema(prompts.REFERENCE_STATEMENTS))
    assert fits(
        {"statements": []},
        schema(prompts.load_version("reference_statements.v3", usual=prompts.REFERENCE_STATEMENTS)),
    )


def test_as_many_questions_are_held_to_as_the_prompt_asks_for():
    question = {"question": "q", "noncommittal": False}

    assert fits({"questions": [question] * 3}, schema(prompts.QUESTIONS, size=3))
    assert not fits({"questions": [question] * 2}, schema(prompts.QUESTIONS, size=3))


def test_a_prompt_of_the_user_is_held_to_the_names_that_it_shows_in_its_own_order():
    text = 'JSON: {"verdicts": [{"number": 1, "verdict": "yes", "reason": "so"}]} {{ contexts }} {{ items }}'
    prompt = prompts.VERDICTS.with_text(system="", user=text)
    reply = {"verdicts": [{"number": 1, "verdict": "no", "reason": "so"}]}

    assert fits(reply, schema(prompt, numbers=(1,)))


class Yes(VerdictList):
    """An answer of the user's own that is asked for in the same form."""


def test_a_type_of_ones_own_has_the_form_of_the_one_that_it_extends():
    own = replace(prompts.VERDICTS, answer=Yes)

    assert schema(own, numbers=(1,)) == schema(prompts.VERDICTS, numbers=(1,))
