"""What a judge is shown of the contexts: the texts as they are, with numbers before their sentences."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.prompts import numbered_sentences

CODE = """To sort, call it. It is fast.

```python
def sort(values):
    if not values:
        return []  # Nothing to do. It ends here.

    return sorted(values)
```

Then go on."""
TABLE = """Prices:

| tea   | price |
|-------|-------|
| green | 5.00  |
| black | 4.50  |

All in euros."""
LIST = """Steps:
1. Boil water.
2. Wait.
   - three minutes. Not more.
   - or four
* Drink it."""
YAML = "server:\n  port: 80\n  hosts:\n    - a\n    - b"

lines = st.lists(
    st.sampled_from(
        ["", "```", "```python", "    x = 1", "\ty. z", "| a | b |", "|---|:--|", "- item", "2. two",
         "One. Two.", "It is 3.5 m.", "东京。大阪。", "***", "a" , "  ", "[7] cited [8].", "}"]
    ),
    max_size=12,
)  # fmt: skip


def without_numbers(shown):
    """The text of one chunk again, where a sentence that was moved to a line of its own stays there."""
    label, _, text = shown.partition("\n")
    assert label == "Chunk 1:"
    return re.sub(r"^\[\d+\] ", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("text", [TABLE, YAML, "    indented code\n    goes on", "a\n\n\nb"])
def test_what_is_shown_without_numbers_is_the_text(text):
    assert without_numbers(numbered_sentences([text])) == text


@pytest.mark.parametrize("text", [CODE, LIST])
def test_the_lines_of_code_and_lists_stay_whole(text):
    shown = without_numbers(numbered_sentences([text]))
    laid_out = [line for line in text.splitlines() if line.startswith((" ", "`", "|", "-", "*", "def"))]
    unnumbered = re.sub(r"\[\d+\] ", "", shown).splitlines()
    assert [line for line in unnumbered if line in laid_out] == laid_out


@given(lines)
def test_no_character_is_lost_or_added_but_numbers_and_line_breaks(texts):
    text = "\n".join(texts)
    sentences = split_sentences(text)
    shown = numbered_sentences([text])
    for number in range(1, len(sentences) + 1):
        assert shown.count(f"[{number}] ") >= 1
        shown = shown.replace(f"[{number}] ", "", 1) if not text.count(f"[{number}] ") else shown
    if "[7]" not in text:
        assert "".join(shown.split()) == "Chunk1:" + "".join(text.split())


@given(lines)
def test_every_line_of_a_text_without_two_sentences_on_one_line_is_shown_as_it_is(texts):
    text = "\n".join(line for line in texts if len(split_sentences(line)) < 2 and "[7]" not in line)
    shown = numbered_sentences([text]).partition("\n")[2]
    expected = re.sub(r"\A(?:[^\S\n]*\n)+|\s+\Z", "", text)
    assert re.sub(r"^\[\d+\] ", "", shown, flags=re.MULTILINE) == expected


def test_the_numbers_are_those_of_the_sentences_through_all_chunks():
    shown = numbered_sentences([CODE, "One. Two."])
    count = len(split_sentences(CODE))
    assert f"Chunk 2:\n[{count + 1}] One.\n[{count + 2}] Two." in shown
    assert re.findall(r"\[(\d+)\] ", shown) == [str(number) for number in range(1, count + 3)]
