"""Over all prompts: what is not the judge's own whole answer is never read as one."""

import json
import re

import pytest

from ragmetrics_core import prompts
from ragmetrics_core.parsers import Expected, ExtractedSentences, Scale
from ragmetrics_core.prompts import Item, Prompt

ALL = [value for value in vars(prompts).values() if isinstance(value, Prompt)]
EACH = pytest.mark.parametrize("prompt", ALL, ids=lambda prompt: prompt.id)
VARIABLES = {
    "question": "What is it?",
    "answer": "It is a mausoleum. It was built in 1653.",
    "reference": "A mausoleum of the year 1653.",
    "contexts": ("The building is a mausoleum. It is white.", "It was finished in 1653."),
    "items": (Item(1, "It is a mausoleum."), Item(2, "It was built in 1653.")),
    "count": 3,
    "first": "It is a mausoleum. It was built in 1653.",
    "second": "A mausoleum of the year 1653.",
    "before": "It is a mausoleum.",
    "after": "It is old.",
    "brief": "style: misspelled",
    "history": "user: Who built the Taj Mahal?",
}


def shown(prompt: Prompt) -> tuple[str, Expected]:
    """The prompt as a judge sees it, and what its reply is held to."""
    given = {name: VARIABLES[name] for name in prompt.variables}
    text = "\n\n".join(message.content for message in prompt.render(given))
    items = VARIABLES["items"] if "items" in given else ()
    expected = Expected(
        numbers=tuple(item.number for item in items),
        items=tuple(item.text for item in items),
        size=3 if "count" in given else 1,
        scale=Scale(0, 10),
        form=prompt.user,
    )
    return text, expected


def says(prompt: Prompt, reply: str, expected: Expected) -> object:
    """The value of a reply, None where it says nothing."""
    return prompt.answer.read(reply, expected).value


@EACH
def test_a_reply_in_the_form_is_read_whole_alone_in_a_fence_or_behind_a_thought(prompt):
    _, expected = shown(prompt)
    reply = prompt.answer.filled(expected)
    forms = [reply, f"<think>It is {{old}}.</think>\n{reply}", f"\n {reply}\n"]
    if prompt.as_json:
        forms += [
            f"```json\n{reply}\n```",
            json.dumps(json.loads(reply), indent=2),
        ]
    readings = [prompt.answer.read(form, expected) for form in forms]
    assert {reading.objections for reading in readings} == {()}
    assert len({str(reading.value) for reading in readings}) == 1


@EACH
def test_a_judge_that_repeats_its_prompt_says_nothing(prompt):
    text, expected = shown(prompt)
    forms = [
        text,
        f"{text}\n{text}",
        f"{text}{text}",
        f"```\n{text}\n```",
        text[len(text) // 2 :],
        text[: len(text) // 2],
        f"Sure, here it is:\n{text}",
        f"Sure, here it is: {text}",
        f"user: {text}\nassistant: ",
        text.partition("\n\n")[2],
    ]
    assert [says(prompt, form, expected) for form in forms] == [None] * len(forms)


@pytest.mark.parametrize("lead", ["", "Sure, here it is:\n"])
@EACH
def test_no_lines_of_a_prompt_are_a_reply(prompt, lead):
    text, expected = shown(prompt)
    lines = text.split("\n")
    pairs = [(start, end) for start in range(len(lines)) for end in range(start + 1, len(lines) + 1)]
    parts = ["\n".join(lines[start:end]) for start, end in pairs]
    # a question that is asked for as a line of text may well be the one that the judge was shown
    parts = [part for part in parts if part != VARIABLES["question"]]
    if lead and prompt.answer is ExtractedSentences:  # the lead may be a sentence that is copied
        parts = [part for part in parts if not part.rstrip().endswith("END")]

    assert [part for part in parts if says(prompt, lead + part, expected) is not None] == []


@EACH
def test_the_example_is_no_reply_also_where_numbers_are_filled_in(prompt):
    _, expected = shown(prompt)
    found = re.search(r"form:\n(.+?)(?:\n\n|$)", prompt.user, re.DOTALL)
    assert found is not None
    example = found[1]
    filled = example.replace(", ...", "").replace("<number>", "1").replace("<true or false>", "true")
    for form in (example, f"```json\n{example}\n```", filled):
        assert says(prompt, form, expected) is None, form


@EACH
def test_the_reply_to_another_prompt_and_an_empty_object_say_nothing(prompt):
    _, expected = shown(prompt)
    others = [other for other in ALL if not issubclass(prompt.answer, other.answer)]
    others = [other for other in others if not issubclass(other.answer, prompt.answer)]
    if prompt.answer is ExtractedSentences:  # which may be any lines before END
        others = [other for other in others if other.as_json]
    replies = [other.answer.filled(shown(other)[1]) for other in others]
    for reply in (*replies, "{}", "[]", "null", "I cannot say.", ""):
        for form in (reply, f"```json\n{reply}\n```", f"Sure, here it is:\n{reply}"):
            assert says(prompt, form, expected) is None, form


@EACH
def test_a_good_reply_that_is_cut_anywhere_is_not_read(prompt):
    _, expected = shown(prompt)
    reply = prompt.answer.filled(expected)
    read = [reply[:end] for end in range(len(reply)) if says(prompt, reply[:end], expected) is not None]
    assert read == []
