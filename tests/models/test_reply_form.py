"""The schema of a reply follows the form that the prompt shows."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from ragmetrics_core import prompts
from ragmetrics_core.models._reply_form import reply_schema
from ragmetrics_core.parsers import Hints, VerdictList
from ragmetrics_core.prompts import Item, Prompt
from ragmetrics_core.protocol import Generate

LIBRARY = [getattr(prompts, name) for name in prompts.__all__ if isinstance(getattr(prompts, name), Prompt)]
FOR_JSON = [prompt for prompt in LIBRARY if "JSON" in prompt.user]
FREE_TEXT = [prompt for prompt in LIBRARY if "JSON" not in prompt.user]


def schema(prompt: Prompt[Any], *, numbered: bool = False, **variables: object) -> Any:
    return reply_schema(Generate(prompt=prompt, variables=variables), numbered=numbered)


def shown_forms(prompt: Prompt[Any]) -> list[Any]:
    """The example replies in a prompt's text: the lines that are JSON objects."""
    return [json.loads(line) for line in re.findall(r'^\{".*\}$', prompt.user, re.MULTILINE)]


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
def test_the_form_that_a_prompt_shows_fits_its_schema(prompt: Prompt[Any], numbered: bool):
    forms = shown_forms(prompt)
    judged = max((len(form.get("verdicts", [])) for form in forms), default=0)
    items = tuple(Item(number, "a") for number in range(1, judged + 1))

    assert forms
    form = schema(prompt, numbered=numbered, items=items, count=1)
    assert [fits(each, form) for each in forms] == [True] * len(forms)


@pytest.mark.parametrize("prompt", FREE_TEXT, ids=lambda prompt: prompt.id)
def test_a_prompt_for_free_text_has_no_schema(prompt: Prompt[Any]):
    assert schema(prompt, items=(Item(1, "a"),)) is None


def verdicts(*numbers: int) -> Any:
    names = ("number", "reason", "evidence", "verdict")
    return {"verdicts": [dict(zip(names, (number, "r", "e", "no"), strict=True)) for number in numbers]}


@pytest.mark.parametrize("numbered", [False, True])
def test_verdicts_are_held_to_the_items_that_are_asked_about(numbered: bool):
    form = schema(prompts.VERDICTS, numbered=numbered, items=(Item(3, "a"), Item(7, "b")))

    assert fits(verdicts(3, 7), form)
    assert not fits(verdicts(3), form)
    assert not fits(verdicts(3, 7, 7), form)
    assert not fits(verdicts(3, 8), form)


def test_a_numbered_list_of_verdicts_cannot_leave_out_an_item():
    form = schema(prompts.VERDICTS, numbered=True, items=(Item(3, "a"), Item(7, "b")))

    assert not fits(verdicts(3, 3), form)


def test_a_verdict_is_yes_or_no():
    form = schema(prompts.VERDICTS, items=(Item(1, "a"),))
    partly = verdicts(1)
    partly["verdicts"][0]["verdict"] = "partly"

    assert not fits(partly, form)


def test_relevant_sentences_are_numbers_or_the_phrase_that_there_are_none():
    form = schema(prompts.RELEVANT_SENTENCES)

    assert fits({"relevant": []}, form)
    assert fits({"relevant": "Insufficient Information"}, form)
    assert not fits({"relevant": "sentences 1 and 2"}, form)


def test_declining_is_false_or_a_reason_and_only_where_the_prompt_asks_for_it():
    assert fits({"statements": [], "declined": "it does not know"}, schema(prompts.STATEMENTS))
    assert not fits({"statements": [], "declined": True}, schema(prompts.STATEMENTS))
    assert fits({"statements": []}, schema(prompts.REFERENCE_STATEMENTS))


def test_as_many_questions_are_held_to_as_the_prompt_asks_for():
    question = {"question": "q", "noncommittal": False}

    assert fits({"questions": [question] * 3}, schema(prompts.QUESTIONS, count=3))
    assert not fits({"questions": [question] * 2}, schema(prompts.QUESTIONS, count=3))


def test_a_prompt_of_the_user_is_held_to_its_own_names_in_its_own_order():
    text = 'JSON: {"verdicts": [{"number": 1, "verdict": "ja", "reason": "weil"}]} {{ contexts }} {{ items }}'
    prompt = prompts.VERDICTS.with_text(system="", user=text)
    reply = {"verdicts": [{"number": 1, "verdict": "nein", "reason": "weil"}]}

    assert fits(reply, schema(prompt, items=(Item(1, "a"),)))


def test_a_prompt_of_the_user_with_another_form_has_no_schema():
    prompt = prompts.STATEMENTS.with_text(system="", user='JSON: {"facts": []} {{ question }} {{ answer }}')

    assert schema(prompt) is None


class Yes(VerdictList):
    """An answer of the user's own that is asked for in the same form."""


def test_a_type_of_ones_own_has_the_form_of_the_one_that_it_extends():
    own = replace(prompts.VERDICTS, answer=Yes)

    assert schema(own, items=(Item(1, "a"),)) == schema(prompts.VERDICTS, items=(Item(1, "a"),))


@pytest.mark.parametrize("prompt", FOR_JSON, ids=lambda prompt: prompt.id)
def test_the_example_of_an_answer_fits_its_form_and_is_read_in_the_short_way(prompt: Prompt[Any]):
    kind = prompt.answer
    value = json.loads(kind.filled(Hints.counting(3)))

    assert kind.in_form(value) is not None
    # what the library's prompts leave out of the form, they leave out of its schema
    form = schema(prompt, items=tuple(Item(number, "a") for number in (1, 2, 3)), count=3)
    shown = {name: each for name, each in value.items() if name in form["properties"]}
    assert set(shown) == set(form["required"])
