"""The share of prompt tokens that lie in a prefix which an earlier request of the same sample had.

Run: python -m benchmarks.prefixes

Servers that keep prefixes compute such tokens once, and many providers charge less for them. System and user
message count as one text. The share is one of characters, which a constant length of tokens makes one of
tokens; what a provider's own rules (whole blocks, a least length) leave of it depends on the provider.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.table import Row, printed
from benchmarks.workload import CONTEXTS, METRICS, LocalEmbedder, LocalJudge, samples
from ragmetrics_core import evaluate

__all__ = ["Prefixes", "measure"]


class Prefixes(NamedTuple):
    """Characters of all prompts, and of their shared prefixes: of any kind, and beyond the system message."""

    prompts: int
    shared: int
    shared_material: int
    samples: int
    requests: int

    def rows(self) -> Iterator[Row]:
        """The shares."""
        yield Row(
            "prompt tokens in a prefix shared within the sample",
            f"{self.shared / self.prompts:.0%}",
            f"({self.requests / self.samples:.1f} requests)",
        )
        yield Row("the same without the system message's", f"{self.shared_material / self.prompts:.0%}")


def measure(*, count: int = 20, metrics: Sequence[str] = METRICS, contexts: int = CONTEXTS) -> Prefixes:
    """Ask for the metrics sample by sample and compare the prompts."""
    prompts = shared = material = requests = 0
    for sample in samples(count, contexts=contexts):
        judge = LocalJudge(keep=True)
        evaluate([sample], metrics=metrics, judge=judge, embedder=LocalEmbedder())
        texts: list[str] = []
        for request in judge.asked:
            system, user = (message.content for message in request.messages)
            text = f"{system}\n\n{user}"
            longest = max((common(text, earlier) for earlier in texts), default=0)
            prompts += len(text)
            shared += longest
            material += max(0, longest - len(system) - 2)
            texts.append(text)
        requests += len(texts)
    return Prefixes(prompts, shared, material, count, requests)


def common(text: str, other: str) -> int:
    """How many characters two texts have in common from their beginning on."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((at for at, (one, two) in pairs if one != two), min(len(text), len(other)))


def main() -> None:
    """Measure and print."""
    printed(f"Prefixes: {', '.join(METRICS)}", measure().rows())


if __name__ == "__main__":
    main()
