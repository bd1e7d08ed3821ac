"""How long a reply of 100 kB takes to be read, whatever stands in it, in ms of CPU; the budget is 50.

Run: python -m benchmarks.parsers

One token is repeated at each place of each form that the prompts ask for: before it, behind it and behind
each sign of it. What a reply that is read quotes is looked up in the contexts, too.
"""

import re
import time
from collections.abc import Iterator
from typing import Any

from ragmetrics_core import prompts
from ragmetrics_core.parsers import Expected, Scale, VerdictList, locate, split_sentences
from ragmetrics_core.prompts import Prompt

SIZE = 100_000
LINES = 39_000  # longer lines of text are not read
BUDGET_MS = 50.0
NUMBERS = (1, 2, 3)
TEXTS = ("The tower is high.", "It is old and white.", "It was built in 1653.")
EXPECTED = Expected(NUMBERS, TEXTS, size=3, scale=Scale(0, 10))
CONTEXTS = ("lorem ipsum " * 800, *TEXTS)
TOKENS = [
    *map(chr, range(32, 127)), "\n", "\t", "\x00", "\u2028", "\ud800", "。", "हाँ। ", "✅", "“", "\\u0061",
    "\\n", '\\"', "1 ", "1,", "a ", "a? ", "1. yes ", "1. yes\n", "1. a\n", "1. a. Verdict: Yes.\n",
    " Verdict: yes", "Final verdicts: ", "END\n", "A. ", "e.g. ", "[[", "[]", "[1],", "[1.5,", '{"',
    '{"a":', '{"a":1,', '["a",', '"a":1,', '"a",', '"",', "null,", "true,", "{},", '"<', '"<a>",',
    '"<why>",', "<think>", "</think>", "<think></think>", "```", "```json\n{}\n", '{"number":1},',
    '"},{"a":"', '{"number":1,"verdict":"yes"},', '{"question":"a?"},', "1e9",
    "Insufficient Information\n", "...", "1" * 30 + ",",
]  # fmt: skip
PLACE = re.compile(r'["{}\[\],:.\n]')


def forms() -> Iterator[tuple[str, Prompt[Any], Expected, str]]:
    """Each answer type in each form that a prompt asks for: a name, the prompt, what is expected, a reply."""
    known: set[tuple[type, bool, bool]] = set()
    lines = prompts.load_version("verdicts.v6", usual=prompts.VERDICTS)
    for prompt in (lines, *(value for value in vars(prompts).values() if isinstance(value, Prompt))):
        for graded in (False, True):
            expected = EXPECTED._replace(form=prompt.user, graded=graded)
            if (prompt.answer, expected.as_json, graded) not in known:
                known.add((prompt.answer, expected.as_json, graded))
                form = "graded" if graded else "JSON" if expected.as_json else "lines"
                yield f"{prompt.answer.__name__} ({form})", prompt, expected, prompt.answer.filled(expected)


def replies(reply: str, size: int) -> Iterator[tuple[str, str]]:
    """The reply with each token over and over at each place: what was done, and the text."""
    ends = [0, len(reply), *(match.end() for match in PLACE.finditer(reply))]
    # of places between the same signs the last one: the most was read before it
    places = {reply[max(end - 2, 0) : end + 2]: end for end in sorted(ends)}.values()
    for token in TOKENS:
        much = token * (size // len(token))
        for place in places:
            yield (
                f"{token!r} behind {reply[max(place - 20, 0) : place]!r}",
                reply[:place] + much + reply[place:],
            )


def milliseconds(prompt: Prompt[Any], expected: Expected, text: str) -> float:
    """The time of one reading; of the fastest of three where the first was slow."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        reading = prompt.answer.read(text, expected)
        if isinstance(reading.value, VerdictList):
            for quote in (quote for verdict in reading.value.verdicts for quote in verdict.quotes):
                locate(quote, CONTEXTS)
        best = min(best, (time.process_time() - start) * 1000)
        if best < BUDGET_MS / 2:
            break
    return best


def main() -> None:
    """Print the slowest replies to each form, and of the splitter, which reads no reply but the contexts."""
    for name, prompt, expected, reply in forms():
        size = SIZE if expected.as_json else LINES
        timed = [(milliseconds(prompt, expected, text), what) for what, text in replies(reply, size)]
        show(name, timed)
    started: list[tuple[float, str]] = []
    for token in TOKENS:
        start = time.process_time()
        split_sentences(token * (SIZE // len(token)))
        started.append(((time.process_time() - start) * 1000, repr(token)))
    show("split_sentences", started, 5 * BUDGET_MS)


def show(name: str, timed: list[tuple[float, str]], budget: float = BUDGET_MS) -> None:
    """Print whether all are within the budget, and the three slowest."""
    slowest = sorted(timed, reverse=True)[:3]
    within = "within" if slowest[0][0] <= budget else "OVER"
    print(f"{name}: {len(timed):,} replies, {within} {budget:.0f} ms", flush=True)
    for duration, what in slowest:
        print(f"  {duration:8.1f} ms  {what}")


if __name__ == "__main__":
    main()
