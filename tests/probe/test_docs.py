"""docs/probe.md shows the card of the embedded judge as it is."""

import re
from pathlib import Path

import pytest

from ragmetrics_core.probe import card_tables, probe, read_corpus
from ragmetrics_core.study import shown

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")
pytest.importorskip("wordllama", reason="needs the extra embedded: pip install 'ragmetrics-core[embedded]'")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "probe.md"


def test_the_figures_of_the_page_are_those_of_the_embedded_judge():
    figures, *_ = card_tables(probe("embedded"))
    card = PAGE.read_text(encoding="utf-8").partition("Fitness card of embedded:support.5+vectors")[2]
    printed = [" ".join(line.split()) for line in card.partition("Accuracy by what")[0].splitlines()]
    for probed, figure, share, n in figures.rows:
        cells = (probed, figure, shown(share, "estimate"), shown(n, "count"))
        assert " ".join(cell for cell in cells if cell) in printed


def test_the_page_counts_the_corpus_right():
    corpus = read_corpus()
    words = " ".join(PAGE.read_text(encoding="utf-8").split())
    statements = sum(len(passage.statements) for passage in corpus.passages)
    chunks = [chunk.useful for passage in corpus.passages for chunk in passage.chunks]
    told = re.search(
        r"(\d+) passages in seven languages with (\d+) statements, half of them supported, "
        r"and (\d+) chunks, (\d+) of them useful; and (\d+) texts that try to steer",
        words,
    )
    assert tuple(map(int, told.groups())) == (
        len(corpus.passages), statements, len(chunks), sum(chunks), len(corpus.attacks)
    )  # fmt: skip
    assert len({passage.language for passage in corpus.passages}) == 7
