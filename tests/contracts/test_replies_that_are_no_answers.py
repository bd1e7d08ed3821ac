"""Over all prompts: what is not the judge's own whole answer is never read as one.

Forms that cannot show their end, and are read as far as they go unless the provider says that the reply was
cut: a numbered, bulleted or plain list without an announced count, JSON objects one below the other, a bare
word, a verdict whose last word is cut to another one ("no" of "not mentioned"). docs/judges.md names them.
"""

import re

import pytest

from ragmetrics_core import prompts
from ragmetrics_core.parsers import (
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
from ragmetrics_core.prompts import Item, Prompt, numbered_sentences

ALL = [value for value in vars(prompts).values() if isinstance(value, Prompt)]
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
}
GOOD = {
    VerdictList: '{"verdicts": [{"number": 1, "reason": "so it is", "evidence": "", "verdict": "no"}, '
    '{"number": 2, "reason": "said", "evidence": "in 1653", "verdict": "yes"}]}',
    StatementList: '{"statements": ["It is grey.", "It is small."], "declined": false}',
    EntityList: '{"entities": ["Agra", "Shah Jahan"]}',
    QuestionList: '{"questions": [{"question": "Where is it?", "noncommittal": false}, {"question": "Who"}]}',
    RelevantSentences: '{"relevant": [1, 3]}',
    Rating: '{"reason": "it says some of it", "rating": 5}',
    FactLists: '{"TP": ["It is grey."], "FP": ["It is small."], "FN": []}',
    ExtractedSentences: "It is white.",
}


def good(prompt: Prompt) -> str:
    return next(reply for kind, reply in GOOD.items() if issubclass(prompt.answer, kind))


def shown(prompt: Prompt) -> tuple[str, Hints]:
    """The prompt as a judge sees it, and what its reader knows."""
    given = {name: VARIABLES[name] for name in prompt.variables}
    text = "\n\n".join(message.content for message in prompt.render(given))
    items = VARIABLES["items"] if "items" in given else ()
    texts = [value for value in given.values() if isinstance(value, str)] + list(given.get("contexts", ()))
    hints = Hints(
        tuple(item.number for item in items),
        (*texts, *(item.text for item in items)),
        tuple(item.text for item in items),
        (numbered_sentences(given["contexts"]),) if "contexts" in given else (),
        prompt.form,
    )
    return text, hints


def says(prompt: Prompt, reply: str, hints: Hints) -> object:
    """The value of a reply, None where it says nothing: an empty list of verdicts is asked about again."""
    reading = prompt.answer.read(reply, hints)
    if isinstance(reading.value, VerdictList) and not reading.value.verdicts:
        return None
    return reading.value


@pytest.mark.parametrize("prompt", ALL, ids=lambda prompt: prompt.id)
def test_a_judge_that_repeats_its_prompt_says_nothing(prompt):
    text, hints = shown(prompt)
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
    assert [says(prompt, form, hints) for form in forms] == [None] * len(forms)


@pytest.mark.parametrize("lead", ["", "Sure, here it is:\n", "> "])
@pytest.mark.parametrize("prompt", ALL, ids=lambda prompt: prompt.id)
def test_no_lines_of_a_prompt_are_a_reply_where_a_fence_or_a_sentence_of_it_is_among_them(prompt, lead):
    text, hints = shown(prompt)
    lines = text.split("\n")
    own = {line.strip() for piece in prompt.form for line in piece.split("\n")}
    telling = [line.strip() in own and (line.startswith("<") or len(line) > 25) for line in lines]
    pairs = [(start, end) for start in range(len(lines)) for end in range(start + 1, len(lines) + 1)]
    parts = ["\n".join(lines[start:end]) for start, end in pairs if any(telling[start:end])]
    # {"relevant": [1, 2]} is what a judge may mean: nothing in it is a placeholder
    parts = [part for part in parts if not part.lstrip().startswith('{"relevant"')]

    assert parts
    assert [part for part in parts if says(prompt, lead + part, hints) is not None] == []


@pytest.mark.parametrize("prompt", ALL, ids=lambda prompt: prompt.id)
def test_a_good_reply_counts_behind_the_prompt_as_it_does_alone(prompt):
    text, hints = shown(prompt)
    value = says(prompt, good(prompt), hints)
    assert value is not None
    for form in (f"{text}\n{good(prompt)}", f"{text}\n\n{good(prompt)}", f"Sure:\n{text}\n{good(prompt)}"):
        assert says(prompt, form, hints) == value


@pytest.mark.parametrize("prompt", ALL, ids=lambda prompt: prompt.id)
def test_the_example_alone_is_no_reply(prompt):
    # "[1, 2]" is what a judge may mean: nothing in it is a placeholder
    if prompt.answer is RelevantSentences:
        return
    _, hints = shown(prompt)
    found = re.search(r"form:\n(.+?)\n\n", prompt.user + "\n\n", re.DOTALL)
    assert found is not None
    wide = [found[1].replace("{", "{ ").replace(": ", " : ")] if found[1].startswith("{") else []
    for example in (found[1], f"```json\n{found[1]}\n```", *wide):
        assert says(prompt, example, hints) is None


@pytest.mark.parametrize("prompt", ALL, ids=lambda prompt: prompt.id)
def test_the_reply_to_another_prompt_and_an_empty_object_say_nothing(prompt):
    _, hints = shown(prompt)
    others = [reply for kind, reply in GOOD.items() if not issubclass(prompt.answer, kind) and "{" in reply]
    for other in (*others, "{}", "[]" if prompt.answer is VerdictList else "{}"):
        for form in (other, f"```json\n{other}\n```", f"Sure, here it is:\n{other}"):
            assert says(prompt, form, hints) is None, form


@pytest.mark.parametrize("prompt", ALL, ids=lambda prompt: prompt.id)
@pytest.mark.parametrize("stopped", [None, True])
def test_a_good_json_reply_that_is_cut_anywhere_gives_no_other_value(prompt, stopped):
    _, hints = shown(prompt)
    hints = Hints(hints.numbers, hints.sample, hints.items, hints.shown, hints.form, stopped)
    reply = good(prompt)
    if not reply.startswith("{"):
        return
    whole = says(prompt, reply, hints)
    for end in range(len(reply)):
        value = says(prompt, reply[:end], hints)
        if isinstance(value, VerdictList):
            assert set(value.verdicts) <= set(whole.verdicts)
        else:
            assert value is None, reply[:end]
