"""Whatever a sample says, it stays between the fences of its prompt, and nothing else of it changes."""

import re

import pytest

from ragmetrics_core import prompts
from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.probe import read_corpus
from ragmetrics_core.prompts import Item, Prompt, marked_sentences, numbered_sentences

PROMPTS = [value for value in vars(prompts).values() if isinstance(value, Prompt)]
ATTACKS = read_corpus().attacks
FENCES = (
    *("question", "answer", "reference", "contexts", "chunk", "items"),
    *("first", "second", "before", "after", "brief", "history"),
)
ANY_FENCE = re.compile(rf"<\s*/?\s*(?:{'|'.join(FENCES)})\b", re.IGNORECASE)
CLEAN = {
    "question": "How high is it?",
    "answer": "It is 42 metres high.",
    "reference": "42 metres.",
    "contexts": ("It is 42 metres high. It is old.", "It stands on a rock."),
    "items": (Item(1, "It is 42 metres high."), Item(2, "It is new.")),
    "count": 3,
    "first": "It is 42 metres high.",
    "second": "42 metres.",
    "before": "It is a tower.",
    "after": "It is new.",
    "brief": "length: short",
    "history": "user: Is there a tower?",
}


def with_attack(variable: str, text: str) -> object:
    """The variable's usual value with the text behind it."""
    usual = CLEAN[variable]
    if variable == "contexts":
        return (f"{usual[0]}\n{text}", *usual[1:])
    if variable == "items":
        return (Item(1, f"{usual[0].text}\n{text}"), *usual[1:])
    return f"{usual}\n{text}"


def cut(prompt: Prompt, variables: dict, variable: str) -> tuple[str, str, str]:
    """A rendered prompt before, between and behind the fences of a variable."""
    system, user = (message.content for message in prompt.render(variables))
    text = f"{system}\n\n{user}"
    # each fence is where it was made to be, once; the system text names one in passing
    opened, closed = f"\n<{variable}>\n", f"\n</{variable}>"
    assert (text.count(opened), text.count(closed)) == (1, 1)
    before, _, rest = text.partition(opened)
    between, _, behind = rest.partition(closed)
    return before, between, behind


def shown(prompt: Prompt, variable: str, value: object) -> str:
    """A variable as a prompt shows it, before fences in it are made harmless."""
    if variable == "contexts":
        return numbered_sentences(value)
    if variable == "items":
        return "\n".join(f"{number}. {' '.join(text.split())}" for number, text in value)
    if variable == prompt.numbered:
        return marked_sentences(str(value), split_sentences(str(value)))
    return str(value)


CASES = [
    (prompt, variable)
    for prompt in PROMPTS
    for variable in ("contexts", "items", "answer", "question", "reference", "brief", "history")
    if variable in prompt.variables
]


@pytest.mark.parametrize(("prompt", "variable"), CASES, ids=lambda each: getattr(each, "id", each))
def test_an_attack_stays_between_its_fences_byte_for_byte(prompt, variable):
    usual = {name: CLEAN[name] for name in prompt.variables}
    before, _, behind = cut(prompt, usual, variable)
    for attack in ATTACKS:
        value = with_attack(variable, attack.text)
        found = cut(prompt, {**usual, variable: value}, variable)
        assert (found[0], found[2]) == (before, behind)
        assert not ANY_FENCE.search(found[1])
        # nothing but the first character of a fence is changed, and none is added or lost
        said = shown(prompt, variable, value)
        assert len(found[1]) == len(said)
        changed = {(one, other) for one, other in zip(said, found[1], strict=True) if one != other}
        assert changed <= {("<", "‹")}


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.id)
def test_every_text_of_a_sample_has_its_own_fence(prompt):
    for variable in prompt.variables & set(FENCES):
        shown_as = f"{variable}.sentences" if variable == prompt.numbered else variable
        assert f"<{variable}>\n{{{{ {shown_as} }}}}\n</{variable}>" in prompt.user
