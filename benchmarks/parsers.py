"""How long the parsers take for nasty replies, in milliseconds of CPU per 100 kB; the budget is 250.

Run: python -m benchmarks.parsers
"""

import time
from collections.abc import Callable
from functools import partial

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
    locate,
    split_sentences,
)

SIZE = 100_000
BUDGET_MS = 250.0
PARSERS: tuple[type[Answer], ...] = (
    StatementList,
    VerdictList,
    RelevantSentences,
    ExtractedSentences,
    FactLists,
    QuestionList,
    EntityList,
    Rating,
)
# Each unit is repeated up to the size: what makes backtracking, nesting or rescanning expensive.
UNITS = {
    "one letter": "a",
    "words": "lorem ipsum ",
    "spaces": " ",
    "line breaks": "\n",
    "brackets": "[",
    "braces": "{",
    "bracket pairs": "[]",
    "nested keys": '{"a":',
    "quoted braces": '{"',
    "double quotes": '"',
    "single quotes": "'",
    "curly quotes": "“",
    "quote and letter": '"a"b',
    "quotes and comma": '", ',
    "half objects": '"},{"a":"',
    "backslashes": "\\",
    "escaped quotes": '\\"',
    "list of quotes": '["a" ',
    "broken objects": "{'a': 'b' ",
    "slashes": "//",
    "fences": "```",
    "fences with json": "```json\n{}\n",
    "thoughts": "<think>",
    "ended thoughts": "</think>",
    "thought pairs": "<think></think>",
    "stars": "*",
    "underscores": "_",
    "hyphens": "-",
    "hyphens apart": "- ",
    "bullets": "- a\n",
    "numbered": "1. a\n",
    "number dots": "1.",
    "digits": "1",
    "digits apart": "1 ",
    "ranges": "1-",
    "verdict words": "Yes ",
    "verdict words, no space": "yes",
    "verdicts": "Verdict: ",
    "verdict lines": "1. a. Verdict: Yes.\n",
    "final headings": "Final verdict: ",
    "final lists": "Final verdicts: Yes. No.\n",
    "not": "not ",
    "partly": "partially supported ",
    "pipes": "|",
    "table rows": "| 1 | a | Yes |\n",
    "statements": "Statement 1 is ",
    "TP": "TP",
    "TP headings": "TP: a\n",
    "positives": "true positive ",
    "insufficient": "insufficient ",
    "questions": "a? ",
    "ratings": "Rating: ",
    "slashed figures": "7/",
    "commas": ",",
    "dots": ".",
    "initials": "A. ",
    "abbreviations": "e.g. ",
    "Chinese stops": "。",
    "Chinese": "是。",
    "Hindi": "हाँ। ",
    "emoji": "✅",
    "surrogates": "\ud800",
    "zeros": "\0",
    "parentheses": "(",
    "quoted sentences": 'He said: "A. B." ',
    "entities": "&quot;",
    "numbers in square brackets": "[1] ",
    "sorry": "sorry ",
    "no": "no ",
    "ellipses": "...",
    "bold": "**a**",
    "colons": ":",
    "tabs": "\t",
}
# The same units behind a beginning that makes them the inside of something.
BEGINNINGS = ("", '{"statements": ["', "1. ")


def measured(read: Callable[[str], object], text: str) -> float:
    """Milliseconds of the fastest of two runs; the second only when the first was slow."""
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        read(text)
        best = min(best, (time.process_time() - start) * 1000)
        if best < BUDGET_MS / 4:
            break
    return best


def nasty(beginning: str, unit: str) -> str:
    """The unit over and over behind a beginning, cut at the size."""
    return (beginning + unit * (SIZE // len(unit)))[:SIZE]


def in_lines(unit: str) -> str:
    """The unit over and over in lines of 1,000 characters, where a rule that looks at each line pays most."""
    line = unit * (1000 // len(unit)) + "\n"
    return line * (SIZE // len(line))


def main() -> None:
    """Print the slowest inputs of every parser."""
    everywhere = {
        f"{beginning!r} then {name}": nasty(beginning, unit)
        for name, unit in UNITS.items()
        for beginning in BEGINNINGS
    }
    everywhere |= {f"lines of {name}": in_lines(unit) for name, unit in UNITS.items()}
    for parser in PARSERS:
        read = partial(parser.read, hints=Hints.counting(3))
        show(parser.__name__, {name: measured(read, text) for name, text in everywhere.items()})
    alone = {name: nasty("", unit) for name, unit in UNITS.items()}
    show("split_sentences", {name: measured(split_sentences, text) for name, text in alone.items()})
    quoted = {name: measured(partial(locate_part, UNITS[name] * 500), text) for name, text in alone.items()}
    show("locate", quoted)


def locate_part(quote: str, context: str) -> object:
    """Look for a quote that is in the context but for its last letter."""
    return locate(quote + " x", [context])


def show(name: str, times: dict[str, float]) -> None:
    """Print the three slowest inputs and whether all are within the budget."""
    slowest = sorted(times.items(), key=lambda item: -item[1])[:3]
    within = "within" if slowest[0][1] <= BUDGET_MS else "OVER"
    print(f"{name}: {len(times)} inputs of {SIZE:,} characters, {within} {BUDGET_MS:.0f} ms")
    for what, milliseconds in slowest:
        print(f"  {milliseconds:8.1f} ms  {what}")


if __name__ == "__main__":
    main()
