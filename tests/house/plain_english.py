"""Phrases that make texts hard to read, counted and held to a limit that can only fall.

Run: python -m tests.house.plain_english            lists each phrase with its place, then the counts
     python -m tests.house.plain_english --check    fails if there are more than the limit in rooms.toml
     python -m tests.house.plain_english --write    lowers the limit to the present count

It reads docstrings, the texts of raised errors, and the Markdown pages, without code and quotes.
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
LIMITS = ROOT / "rooms.toml"
FOLDERS = ("ragmetrics_core", "integrations", "benchmarks", "examples")
PAGES = ("*.md", "docs/**/*.md")
PHRASES = {
    "starts with a question word": r"\A\s*(What|How|Who|Where|Why|Which|Whose)\b(?![^\n]*\?)",
    "starts with Tell": r"\A\s*Tell (whether|how|where)\b",
    "is no X": r"(?<!here)\s(is|are|was|were) no (?!longer|more|less|better|such|need|reason|way)[a-z]+",
    "is none": r"(?<!here)\s(is|are) none\b(?! of)",
    "stands there": r"\bstands? (in|there|at|beside|nowhere|behind|before|first|last)\b(?! for)",
    "is told, is said": r"\b(is|are) (told|said)\b(?! (to|that)\b)",
    "says of": r"\b(says?|said|tells?|speaks?) of\b",
    "None where": r"\bNone (where|without)\b",
    "goes on": r"\bgo(es)? on (where|there|after|from)\b|\bgoes on(?=[.,:;])",
    "so many": r"\bso (many|few)\b(?! (as|that))",
    "anew, mend, dear": r"\banew\b|\bmend(s|ed|ing)?\b|\bdear (judge|one|model)",
    "another than": r"\banother( \w+)? than\b",
    "nobody says": r"\bnobody (says|knows)\b|\bwhere nobody\b",
}
_PATTERNS = {name: re.compile(phrase.replace(" ", r"\s+")) for name, phrase in PHRASES.items()}
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`|“[^”]*”", re.MULTILINE | re.DOTALL)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Hit(NamedTuple):
    """A phrase in a file."""

    place: str
    phrase: str
    text: str


def hits() -> Iterator[Hit]:
    """All phrases in the tree."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for line, text in _texts(ast.parse(path.read_text(encoding="utf-8"))):
                yield from _hits(f"{path.relative_to(ROOT)}:{line}", text)
    for path in sorted(page for pattern in PAGES for page in ROOT.glob(pattern)):
        for number, line in enumerate(_without_code(path.read_text(encoding="utf-8")), start=1):
            yield from _hits(f"{path.relative_to(ROOT)}:{number}", f"- {line}")


def _texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and (text := ast.get_docstring(node)) is not None:
            yield node.body[0].lineno, text
        elif isinstance(node, ast.Raise):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield node.lineno, f"- {part.value}"


def _without_code(text: str) -> list[str]:
    return _CODE.sub(lambda code: "\n" * code[0].count("\n"), text).split("\n")


def _hits(place: str, text: str) -> Iterator[Hit]:
    for name, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            yield Hit(place, name, " ".join(text[max(0, match.start() - 30) : match.end() + 40].split()))


def main(words: list[str]) -> int:
    """Print the counts, and compare them with the limit."""
    found = list(hits())
    content = LIMITS.read_text(encoding="utf-8")
    limit = int(tomllib.loads(content)["plain_english"]["hits"])
    if "--write" in words and len(found) < limit:
        LIMITS.write_text(content.replace(f"hits = {limit}", f"hits = {len(found)}"), encoding="utf-8")
    if "--check" in words:
        if len(found) > limit:
            print(f"{len(found)} phrases that are hard to read, but the limit is {limit}: list them with")
            print("python -m tests.house.plain_english")
        return int(len(found) > limit)
    for hit in found:
        print(f"{hit.place}: {hit.phrase}: {hit.text}")
    for name, count in Counter(hit.phrase for hit in found).most_common():
        print(f"{count:6} {name}")
    print(f"{len(found):6} in all; the limit is {limit}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
