"""What the benchmarks evaluate: made-up samples of a usual size, five metrics, a judge without a network."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.replies import judge_reply, vector
from ragmetrics_core import Sample
from ragmetrics_core.protocol import Completion, Generate

__all__ = ["METRICS", "LocalEmbedder", "LocalJudge", "sample", "samples"]

METRICS = ["faithfulness", "factual_correctness", "context_precision", "context_recall", "answer_relevance"]
CONTEXTS = 3
TEXT = """
the access network function selects a session and keeps its state while one link moves between two cells
because every user plane carries traffic of several slices over shared radio resources until a timer expires
or another node requests release after which core elements update their records and count each byte
"""


def sample(number: int, *, contexts: int = CONTEXTS) -> Sample:
    """The sample of this number: a question, an answer in four sentences, contexts of 200 words each."""
    chance = random.Random(number)

    words = TEXT.split()

    def text(count: int) -> str:
        drawn = chance.choices(words, k=count)
        parts = (drawn[start : start + 12] for start in range(0, count, 12))
        return " ".join(" ".join(part).capitalize() + "." for part in parts)

    return Sample(
        id=f"s{number}",
        question=text(12)[:-1] + "?",
        answer=text(48),
        contexts=tuple(text(200) for _ in range(contexts)),
        reference=text(36),
    )


def samples(count: int, *, contexts: int = CONTEXTS) -> Iterator[Sample]:
    """So many samples, each made when it is asked for."""
    return (sample(number, contexts=contexts) for number in range(count))


@dataclass
class LocalJudge:
    """Answers at once as the local server would; with `keep` it remembers what it was asked."""

    keep: bool = False
    identity: str = "local"
    asked: list[Generate[Any]] = field(default_factory=list)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """The server's reply to the same messages."""
        if self.keep:
            self.asked.append(request)
        prompt = "\n\n".join(message.content for message in request.messages)
        draws = range(request.draw, request.draw + request.draws)
        return [
            Completion(text=judge_reply(prompt, str(draw)), model="local", finish_reason="stop")
            for draw in draws
        ]


@dataclass
class LocalEmbedder:
    """Gives at once the vectors that the local server would give; remembers the texts of each call."""

    identity: str = "local"
    asked: list[Sequence[str]] = field(default_factory=list)

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One vector for each text."""
        self.asked.append(tuple(texts))
        return np.array([vector(text, 64) for text in texts], dtype=np.float64)
