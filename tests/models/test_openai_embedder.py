"""The embedder behind an OpenAI-compatible server, over real HTTP."""

import asyncio
import base64
from typing import Any

import numpy as np
import pytest

pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")

from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.models import OpenAIEmbedder
from tests.servers import Answer, OpenAIServer, vectors


def embed(answer: Any, texts: list[str], **settings: Any) -> tuple[np.ndarray, list[Any]]:
    with OpenAIServer(answer) as server:
        embedder = OpenAIEmbedder("e", base_url=server.base_url, **settings)
        return asyncio.run(embedder.aembed(texts)), [seen.body for seen in server.seen]


def packed(*numbers: float) -> str:
    return base64.b64encode(np.array(numbers, dtype="<f4").tobytes()).decode()


@pytest.mark.parametrize("first", [[1.0, 0.5], packed(1.0, 0.5)], ids=["numbers", "base64"])
def test_each_text_gets_its_vector(first: Any):
    rows, sent = embed(vectors([first, [0.0, 2.0]]), ["a", "b"])

    assert rows.tolist() == [[1.0, 0.5], [0.0, 2.0]]
    assert sent == [{"model": "e", "input": ["a", "b"], "encoding_format": "base64"}]


def test_vectors_are_put_in_the_order_of_their_index():
    data = [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]
    rows, _ = embed(Answer(body={"data": data}), ["a", "b"])

    assert rows.tolist() == [[1.0], [2.0]]


def test_many_texts_are_sent_in_batches_and_keep_their_places():
    def answer(seen: Any) -> Answer:
        return vectors([float(text)] for text in seen.body["input"])

    rows, sent = embed(answer, [str(number) for number in range(5)], batch_size=2)

    assert rows.tolist() == [[0.0], [1.0], [2.0], [3.0], [4.0]]
    assert [len(body["input"]) for body in sent] == [2, 2, 1]


def test_a_blank_text_has_the_zero_vector_and_is_not_sent():
    rows, sent = embed(vectors([[3.0, 4.0]]), ["", "a", " \n"])

    assert rows.tolist() == [[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]
    assert sent[0]["input"] == ["a"]


def test_the_length_of_the_vectors_is_sent_and_in_the_identity():
    _, sent = embed(vectors([[1.0]]), ["a"], dimensions=1)

    assert sent[0]["dimensions"] == 1
    identity = OpenAIEmbedder("e", base_url="http://h/v1", dimensions=1).identity
    assert identity == "openai:http://h/v1/e?dimensions=1"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (vectors([[1.0]]), "gave 1 vectors for 2 texts"),
        (vectors([[1.0], [1.0, 2.0]]), "gave vectors of different lengths"),
        (vectors([[1.0], "%%%"]), "answered without vectors: is it an embeddings server"),
        (vectors([[1.0], [[1.0]]]), "answered without vectors: is it an embeddings server"),
        (Answer(body={"choices": []}), "answered without vectors: is it an embeddings server"),
    ],
)
def test_vectors_that_do_not_fit_the_texts_are_an_error(answer: Answer, text: str):
    with pytest.raises(ModelError, match=text):
        embed(answer, ["a", "b"])


@pytest.mark.parametrize("settings", [{"batch_size": 0}, {"dimensions": 0}])
def test_an_embedder_setting_that_cannot_work_is_refused(settings: dict[str, int]):
    with pytest.raises(ConfigError, match="must be at least 1"):
        OpenAIEmbedder("e", api_key="sk-key", **settings)
