"""Take the printed prompts of a paper from your own copy: Roychowdhury et al. (2024), appendices A.1 to A.5.

    python examples/printed_prompts.py PAPER.txt FOLDER [--json]
    ragmetrics evaluate DATA --variant paper --prompts FOLDER ...

PAPER.txt is the text of https://arxiv.org/abs/2407.12873. The prompts of the `paper` variants are worded by
this project; the files in FOLDER have the printed words. A prompt is found by its places for texts, such as
`question: [question]`, and begins after the colon that introduces it, so line breaks do not matter. A prompt
that is not found, or not complete, is named with the reason, and the exit code is 1.

Each file has the printed text, unchanged except for the places, and after it the form of the reply that the
library can read. That part is ours, because the paper prints a form for one prompt only (see `LINES`). With
--json the forms are JSON where possible, so that servers hold the replies to a grammar.

Three things stay ours: the system message, because many servers refuse an empty one; the numbers of the
statements and of the contexts' sentences; and the reading, which is as strict as always. The printed prompts
do not fence the texts, so an answer can instruct the judge: use them to replicate the paper only.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragmetrics_core import prompts
from ragmetrics_core.errors import PromptError
from ragmetrics_core.prompts import Prompt, read_folder

VERSION = 100
"""Version of the written prompts, far from those of the library."""

PROMPTS: dict[frozenset[str], Prompt[Any]] = {
    frozenset({"question", "answer"}): prompts.PAPER_STATEMENTS,
    frozenset({"context", "statement"}): prompts.PAPER_VERDICTS,
    frozenset({"answer"}): prompts.PAPER_QUESTION,
    frozenset({"question", "context"}): prompts.PAPER_SENTENCES,
    frozenset({"question", "answer", "ground truth", "TP", "FP", "FN"}): prompts.PAPER_FACTS,
}
"""The prompts by their places for texts."""

VARIABLES = {
    "question": " {{ question }}",
    "answer": " {{ answer }}",
    "ground truth": " {{ reference }}",
    "context": "\n{{ contexts }}",
    "statement": "\n{{ items }}",
}


class Form(NamedTuple):
    """The part of a file after the printed text, and the reason that it is there."""

    text: str
    why: str


LINES = {
    "paper_statements": Form(
        "Write one statement per line, numbered from 1, then a last line with the word END, and nothing else:"
        "\n{{ form }}\n\n## form\n1. <statement>\n2. <statement>\n...\nEND",
        "the paper prints no form; END shows that the list was not cut off",
    ),
    "paper_verdicts": Form(
        "The format, with one line for each statement:\n{{ form }}\n\n"
        "## form\n<number>. <explanation> Verdict: <Yes or No>.\n...\n"
        "Final verdicts: <number>. <Yes or No>. <number>. <Yes or No>. ...",
        "the paper mentions a format and prints none",
    ),
    "paper_question": Form(
        "## again\nReply with one question alone, on one line that ends with a question mark.",
        "nothing is added; this is said only if a reply is not one question on one line",
    ),
    "paper_sentences": Form(
        "Write one per line, without the numbers in square brackets, then a last line with the word END:"
        "\n{{ form }}\n\n## form\n<sentence>\n<sentence>\n...\nEND",
        "the paper prints a form for the case without sentences only, and ours shows numbered sentences",
    ),
    "paper_facts": Form(
        "Reply with JSON only: the three lists as one object, each statement in quotes.\n{{ form }}\n\n"
        '## form\n{"TP": ["<statement>", ...], "FP": ["<statement>", ...], "FN": ["<statement>", ...]}',
        "the printed lists have no quotes, so a strict reader cannot tell where a statement ends",
    ),
}
"""Forms as lines of text where the paper asks for text."""

_JSON_ONLY = "Reply with JSON only, in this form:\n{{ form }}\n\n## form\n"

JSON = LINES | {
    "paper_statements": Form(
        _JSON_ONLY + '{"statements": ["<statement>", ...]}',
        "the paper prints no form",
    ),
    "paper_verdicts": Form(
        _JSON_ONLY
        + '{"verdicts": [{"number": <number>, "reason": "<explanation>", "verdict": "<yes or no>"}, ...]}',
        "the paper mentions a format and prints none; JSON does not repeat the verdicts at the end",
    ),
    "paper_question": Form(
        _JSON_ONLY + '{"questions": [{"question": "<question>"}]}',
        "the paper prints no form",
    ),
}
"""Forms as JSON; the sentences stay lines, because the paper's phrase for "none" is not an object."""

_PLACE = re.compile(
    r"[\"“]?\b(question|answer|ground\s+truth|context|statement|TP|FP|FN)[\"”]?:"
    r"\s*\[(?:question|answer|ground\s+truth|context|statement)[^\[\]]*\]"
)
# What may stand between two places of one prompt: dots, commas, and one label of up to three words.
_BETWEEN = re.compile(r"[\s,.…]*(?:(?:[^\W\d_]+\s+){0,2}[^\W\d_]+:)?\s*")
# A colon that introduces something; one after a quote belongs to a list such as "TP".
_COLON = re.compile(r"(?<![\"”]):")
_DIVIDED = re.compile(r"[^\W\d_]-\n\s*[^\W\d_]")
_LONGEST = 1200


class Printed(NamedTuple):
    """A prompt as printed: its instruction, and its places with the text between them."""

    instruction: str
    places: tuple[re.Match[str], ...]

    @property
    def labels(self) -> frozenset[str]:
        """The names of its places."""
        return frozenset(map(_label, self.places))

    @property
    def user(self) -> str:
        """The printed text with the variables of the library in its places, one place on a line."""
        lines = [" ".join(self.instruction.split())]
        end = self.places[0].start()
        whole = self.places[0].string
        seen: set[str] = set()
        for place in self.places:
            between = " ".join(whole[end : place.start()].split())
            end = place.end()
            label = _label(place)
            if label in seen:  # the statements, of which the paper shows the first and the last
                continue
            seen.add(label)
            if between.startswith((",", ".")):
                lines[-1] += between[0]
                between = between[1:].strip()
            if between:
                lines.append(between)
            value = VARIABLES.get(label)
            lines.append(" ".join(place[0].split()) if value is None else f"{label}:{value}")
        return "\n".join(lines)


def _label(place: re.Match[str]) -> str:
    return " ".join(place[1].split())


def printed_prompts(text: str) -> Iterator[Printed]:
    """Each run of places in a text, with the instruction before it."""
    group: list[re.Match[str]] = []
    for place in _PLACE.finditer(text):
        if group and not _BETWEEN.fullmatch(text, group[-1].end(), place.start()):
            yield _printed(text, group)
            group = []
        group.append(place)
    if group:
        yield _printed(text, group)


def _printed(text: str, places: Sequence[re.Match[str]]) -> Printed:
    start = places[0].start()
    colons = [found.end() for found in _COLON.finditer(text, max(0, start - _LONGEST), start)]
    return Printed(text[colons[-1] : start] if colons else "", tuple(places))


def found_in(text: str) -> tuple[dict[str, Printed], dict[str, str]]:
    """The prompts of a text by name, and for each of the others the reason that it is not there."""
    text = text.replace("\r\n", "\n")
    printed = list(printed_prompts(text))
    found: dict[str, Printed] = {}
    missing: dict[str, str] = {}
    for labels, prompt in PROMPTS.items():
        same = [each for each in printed if each.labels == labels]
        if reason := _unusable(same, labels, printed):
            missing[prompt.name] = reason
        else:
            found[prompt.name] = same[0]
    return found, missing


def _unusable(same: Sequence[Printed], labels: frozenset[str], printed: Sequence[Printed]) -> str:
    """The reason that a prompt cannot be taken from the text; empty if it can."""
    if not same:
        rest = [each.labels for each in printed if each.labels and each.labels < labels]
        partly = [each for each in rest if each not in PROMPTS]
        shown = ", ".join(f"[{label}]" for label in sorted(labels))
        if partly:
            absent = ", ".join(f"[{label}]" for label in sorted(labels - partly[0]))
            return f"the text has it without a place for {absent}"
        return f"the text has no prompt with places for exactly {shown}"
    if len({each.user for each in same}) > 1:
        return f"the text has {len(same)} different prompts with its places; leave only one in the file"
    instruction = same[0].instruction
    if not instruction.strip():
        return f"no colon in the {_LONGEST} characters before its places shows where it begins"
    if divided := _DIVIDED.search(instruction.strip()):
        line = " ".join(instruction[max(0, divided.start() - 12) : divided.end() + 12].split())
        return f"a word is divided at the end of a line ({line!r}); join it in the file"
    return ""


def write(found: dict[str, Printed], folder: Path, *, as_json: bool = False) -> None:
    """Write a prompt folder, and check that the library can use it.

    Raises:
        PromptError: the folder is not empty, or a printed prompt lacks a variable.
    """
    if not found:
        return
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise PromptError(f"{folder} is not empty: name a new folder")
    forms = JSON if as_json else LINES
    for name, printed in found.items():
        content = f"## user\n{printed.user}\n\n{forms[name].text}\n"
        (folder / f"{name}.v{VERSION}.md").write_text(content, encoding="utf-8")
    by_name = {prompt.name: prompt for prompt in PROMPTS.values()}
    for name, text in read_folder(folder).items():
        by_name[name].with_text(system=text.system, user=text.user, again=text.again).check_form()


def main(words: Sequence[str] | None = None) -> int:
    """Write the prompts of a paper's text; 1 if one is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paper", type=Path, metavar="PAPER.txt", help="the paper's text")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="new folder for the prompt files")
    parser.add_argument("--json", action="store_true", help="ask for JSON, which servers hold to a grammar")
    given = parser.parse_args(words)
    found, missing = found_in(given.paper.read_text(encoding="utf-8"))
    try:
        write(found, given.folder, as_json=given.json)
    except PromptError as error:
        raise SystemExit(str(error)) from None
    forms = JSON if given.json else LINES
    for name in found:
        kind = "JSON" if "JSON" in forms[name].text else "lines"
        print(f"{name}.v{VERSION}.md: printed text; reply as {kind}: {forms[name].why}")
    for name, reason in missing.items():
        print(f"{name}: not written: {reason}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
