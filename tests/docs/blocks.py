"""The code blocks of a page of the documentation, and how each language is tested.

| language | test |
| --- | --- |
| `python` | runs; a page is one program, and in README.md each block; a value in a comment must be right |
| `console`, `bash`, `sh`, `shell`, or none and a command | its commands run, and print what is shown |
| `text` or none, just below a `python` block | must be what that block printed |
| `json`, `jsonl`, `toml`, `yaml`, `math` | is read |
| `text` or none elsewhere | nothing: it is a drawing, a table, a formula |

A value in a comment follows an expression or an assignment, as in `print(x)  # 0.5` or `x = f()  # [1, 2]`.
It begins like a number, a string, a list, a dict or a tuple, or with True, False or None; any other comment
is prose. The line's output must equal it, or the `repr` of the line's value if nothing is printed. `...`
matches anything, and a number with at least three decimals may be rounded. Right below code, on a line of
its own, a value would belong to no line, so it fails: it goes behind its code, or into a block of text.

A block that cannot run has its reason in a comment before it: `<!-- skip: next "it needs a cluster" -->`.
"""

import ast
import contextlib
import io
import json
import re
import tokenize
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple
from unittest import SkipTest

from sybil import Document, Example, Region
from sybil.parsers.markdown import SkipParser
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from tests.docs.commands import assert_shown, carry_out, commands

Outcome = Literal["run", "checked", "read", "shown", "not run"]

FENCES = RawFencedCodeBlockLexer(re.compile(r"(?P<info>[^\n]*)\n"))
PROMPT = re.compile(r"^\$ |\A(?:make|pip|python|ragmetrics) ", re.MULTILINE)
# Pages of which each block is a complete program.
PROGRAMS = {"README.md"}
SHELL = {"bash", "console", "sh", "shell"}
VALUE = re.compile(r"""# *([(\[{]*(?:[-+]?\.?\d|["'\[{]|(?:True|False|None)\b).*)""")


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
        # blank lines in front, so that a traceback names the line of the page
        code = checking("\n" * example.line + example.parsed, self.name)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            names = {"__name__": "__main__"} if self.name in PROGRAMS else example.namespace
            names.update(__so_far__=printed.tell, __hold__=Holding(printed))
            exec(code, names)
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


def checking(source: str, name: str) -> Any:
    """The code of a block, in which each line with a value in its comment compares the two."""
    lines = ["", *source.splitlines()]
    values: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and (found := VALUE.fullmatch(token.string)):
            line = token.start[0]
            above = lines[line - 1].strip()
            below_code = lines[line].strip() == token.string and above and not above.startswith("#")
            assert not below_code, f"line {line} is a value that nothing is compared with: {token.string}"
            values[line] = found[1].strip()
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign)
            and node.value
            and node.end_lineno in values
        ):
            # `x` becomes `__hold__(__so_far__(), x, "0.5", 12)`; arguments are evaluated from left to right
            call = ast.parse("__hold__(__so_far__(), None, None, None)", mode="eval").body
            assert isinstance(call, ast.Call)
            call.args[1:] = [node.value, ast.Constant(values[node.end_lineno]), ast.Constant(node.end_lineno)]
            node.value = ast.copy_location(call, node.value)
    return compile(ast.fix_missing_locations(tree), name, "exec")


class Holding(NamedTuple):
    """Comparison of a line with the value in its comment."""

    printed: io.StringIO

    def __call__(self, so_far: int, value: object, expected: str, line: int) -> object:
        """Compare the comment with the output since `so_far`, or else with the value; return the value."""
        printed = self.printed.getvalue()[so_far:]
        shown = printed if value is None and printed else repr(value)
        assert is_shown(expected, shown), f"line {line} says {expected}, but it is {shown.strip()}"
        return value


def is_shown(expected: str, shown: str) -> bool:
    """Whether a comment equals the whole output; white space does not count."""
    shown = " ".join(shown.split())
    numbers = set(re.findall(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?", shown))
    pattern = ""
    for piece in re.split(r"((?<![\w.])\d+\.\d{3,}(?![\de])|\.\.\.|…)", " ".join(expected.split())):
        if piece in {"...", "…"}:
            pattern += ".*"
        elif re.fullmatch(r"\d+\.\d{3,}", piece):
            decimals = len(piece.partition(".")[2])
            same = [number for number in numbers if f"{float(number):.{decimals}f}" == piece]
            pattern += f"(?:{'|'.join(map(re.escape, [piece, *same]))})"
        else:
            pattern += re.escape(piece)
    return re.fullmatch(pattern, shown) is not None
