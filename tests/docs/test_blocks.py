"""Every code block of the documentation runs as its reader would run it; tests/docs/blocks.py says how."""

import re
from pathlib import Path

import pytest

from tests.docs.conftest import ROOT, ReadPages

pytest.importorskip("sybil")

OTHERS = ("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "benchmarks/README.md", "examples/data/README.md")
PAGES = sorted(ROOT.glob("docs/*.md")) + [ROOT / name for name in OTHERS]
METRICS = sorted(ROOT.glob("docs/metrics/*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_code_of_a_page_does_what_the_page_says(path: Path, read_pages: ReadPages):
    if "```" in path.read_text(encoding="utf-8"):
        read_pages([path])


# Word vectors change what these pages print, or their code needs them.
WITH_VECTORS = {
    "docs/conversations.md",
    "docs/gates.md",
    "docs/haystack.md",
    "docs/probe.md",
    "docs/study.md",
}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_holds_without_the_extra_embedded_or_says_that_it_needs_it(path: Path, read_pages: ReadPages):
    text = path.read_text(encoding="utf-8")
    if path.relative_to(ROOT).as_posix() in WITH_VECTORS:
        assert re.search(r"extra `embedded`|\[[\w,]*embedded[\w,]*\]", text)
    elif "```" in text:
        read_pages([path], without="wordllama")


@pytest.mark.parametrize("without", ["", "wordllama"])
def test_the_examples_of_the_metrics_print_what_their_pages_say(without: str, read_pages: ReadPages):
    for package in ("sacrebleu", "rouge_score", "nltk", "latex2mathml"):
        pytest.importorskip(package, exc_type=ImportError)
    read_pages(METRICS, without=without)


def test_every_page_of_the_documentation_is_read():
    # a page in a new folder would not be noticed otherwise
    assert set(ROOT.glob("docs/**/*.md")) <= set(PAGES + METRICS)


@pytest.mark.parametrize("path", PAGES + METRICS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_block_that_is_not_run_says_why_and_no_command_hides_from_the_tests(path: Path):
    text = path.read_text(encoding="utf-8")

    for skip in re.findall(r"<!--+\s*skip:(.*?)-->", text):
        assert re.search(r'"[^"]{10,}"', skip) or skip.strip() == "end", skip
    # An indented line is code as well, but has no language.
    fenced = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    hidden = re.findall(r"^ {4,}(?:\$|ragmetrics|pip|make|python) .*", fenced, re.MULTILINE)
    assert hidden == []
