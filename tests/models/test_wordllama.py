"""The static word vectors of the package wordllama."""

import asyncio
import logging
import subprocess
import sys

import numpy as np
import pytest

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import WordLlamaEmbedder
from ragmetrics_core.scoring import cosine

IMPORT_AND_EMBED = """
import asyncio, logging
from ragmetrics_core.models import WordLlamaEmbedder
asyncio.run(WordLlamaEmbedder().aembed(["a text"]))
print(logging.getLogger().handlers, logging.getLogger().level)
"""


def embed(*texts: str) -> np.ndarray:
    pytest.importorskip("wordllama", reason="wordllama is not installed")
    return asyncio.run(WordLlamaEmbedder().aembed(texts))


def test_texts_that_mean_the_same_are_closer_than_texts_that_do_not():
    question, same, other = embed(
        "How do I cancel my contract?", "Ending a contract early", "The weather in Oslo in May"
    )

    assert cosine(question, same) > cosine(question, other)


def test_each_text_has_its_own_row_whatever_it_is_embedded_with():
    # lengths far apart, so that they end up in different batches
    texts = ["short", "word " * 50_000, "", "short", "a longer text about radio cells", "  "]
    together = embed(*texts)

    assert together.shape == (6, 256)
    for row, text in zip(together, texts, strict=True):
        np.testing.assert_allclose(row, embed(text)[0], rtol=1e-4, atol=1e-6)


def test_a_blank_text_has_the_zero_vector():
    rows = embed("", " \n", "word")

    assert not rows[:2].any()
    assert rows[2].any()


def test_a_text_that_utf8_cannot_carry_has_a_vector():
    assert np.isfinite(embed("Z\ud800rich")).all()


def test_the_root_logger_is_left_as_it_was():
    pytest.importorskip("wordllama", reason="wordllama is not installed")
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_AND_EMBED], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == f"[] {logging.WARNING}"
    assert done.stderr == ""


def test_the_identity_names_the_vectors_and_the_version_of_their_package():
    pytest.importorskip("wordllama", reason="wordllama is not installed")

    assert WordLlamaEmbedder().identity.startswith("wordllama:l2_supercat_256@")


def test_a_missing_package_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)

    with pytest.raises(ConfigError, match=r"pip install 'ragmetrics-core\[embedded\]'"):
        WordLlamaEmbedder()
