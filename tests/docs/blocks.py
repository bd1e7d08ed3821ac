"""The code blocks of a page of the documentation, and what is done with each of them.

| language | what is done |
| --- | --- |
| `python` | runs; a page is one program, its blocks share their names |
| `console`, `bash`, `sh`, `shell`, or none and a command | its commands run, and print what is shown |
| `text` or none, just below a `python` block | must be what that block printed |
| `json`, `jsonl`, `toml`, `yaml`, `math` | is read |
| `text` or none elsewhere | nothing: it is a drawing, a table, a formula |

A block that cannot run has its reason in a comment before it: `<!-- skip: next "it needs a cluster" -->`.
"""

import contextlib
import io
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple
from unittest import SkipTest

from sybil import Document, Example, Region
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import SkipParser
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from tests.docs.commands import assert_shown, carry_out, commands

Outcome = Literal["run", "checked", "read", "shown", "not run"]

FENCES = RawFencedCodeBlockLexer(re.compile(r"(?P<info>[^\n]*)\n"))
PROMPT = re.compile(r"^\$ |\A(?:make|pip|python|ragmetrics) ", re.MULTILINE)
SHELL = {"bash", "console", "sh", "shell"}


class Block(NamedTuple):
    """A block and what became of it."""

    page: str
    line: int
    language: str
    outcome: Outcome
    reason: str = ""


@dataclass
class Page:
    """A page as a program.

    Attributes:
        path: its file.
        name: how it is named, relative to the repository.
        printed: what its code printed.
        blocks: what was done so far.
    """

    path: Path
    name: str
    printed: str = ""
    blocks: list[Block] = field(default_factory=list)
    _last: tuple[int, str] = (-1, "")

    def document(self) -> Document:
        """The page by its blocks."""
        return Document.parse(str(self.path), self._regions, SkipParser())

    def run(self, document: Document) -> None:
        """Do with each block what is to be done with it.

        Raises:
            AssertionError: a block is not what it says.
            Exception: whatever the code of a block raises.
        """
        for example in document.examples():
            language = getattr(example.parsed, "language", None)
            try:
                example.evaluate()
            except SkipTest as skipped:
                self._note(example, "not run", str(skipped))
            except Exception as error:
                error.add_note(f"in {self.name}, line {example.line} ({language or 'text'})")
                raise

    def _regions(self, document: Document) -> Iterator[Region]:
        for found in FENCES(document):
            info, source = found.lexemes["info"].split(), found.lexemes["source"]
            language = info[0].lower() if info else ""
            if not language and PROMPT.search(source):
                language = "console"
            parsed = source
            parsed.language = language
            yield Region(found.start, found.end, parsed, self._evaluator(language))

    def _evaluator(self, language: str) -> Callable[[Example], None]:
        if language in {"python", "py"}:
            return self._python
        if language in SHELL:
            return self._console
        if language in READERS:
            return self._data
        if language in {"text", ""}:
            return self._text
        raise AssertionError(f"{self.name}: tests/docs/blocks.py does not say what a block of {language} is")

    def _python(self, example: Example) -> None:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            PythonEvaluator()(example)
        self._say(example, printed.getvalue())
        self._note(example, "run")

    def _console(self, example: Example) -> None:
        for command in commands(example.parsed):
            done, printed = carry_out(command)
            self._say(example, printed)
            self._note(example, done)

    def _data(self, example: Example) -> None:
        READERS[example.parsed.language](example.parsed)
        self._note(example, "read")

    def _text(self, example: Example) -> None:
        end, printed = self._last
        if end < 0 or example.document.text[end : example.start].strip():
            self._note(example, "shown")
        else:
            assert_shown(example.parsed.strip(), printed)
            self._note(example, "checked")

    def _say(self, example: Example, printed: str) -> None:
        self.printed += printed
        self._last = (example.end, printed)

    def _note(self, example: Example, outcome: Outcome, reason: str = "") -> None:
        language = getattr(example.parsed, "language", "")
        self.blocks.append(Block(self.name, example.line, language or "text", outcome, reason))


def _json_lines(text: str) -> None:
    for line in text.splitlines():
        json.loads(line)


def _yaml(text: str) -> None:
    import yaml

    yaml.safe_load(text)


def _math(text: str) -> None:
    from latex2mathml.converter import convert

    convert(text.strip())


READERS: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "jsonl": _json_lines,
    "math": _math,
    "toml": tomllib.loads,
    "yaml": _yaml,
}


def promises(text: str) -> list[str]:
    """What the comments behind the `print` calls of a page say will be printed."""
    return re.findall(r"^\s*print\(.*\)  # (.*)$", text, re.MULTILINE)
