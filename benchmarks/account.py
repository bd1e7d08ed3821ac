"""Cost of accounting for a request, and the length from which a run of shared words is more than chance.

    python -m benchmarks.account [TEXTS.jsonl]

The request has 100 kB and 50 chunks, as text, as numbered sentences and as JSON. The budget is 50 ms of CPU.
Reading the words of the request with one regular expression is measured beside it. With a file of samples,
it also counts the runs that chunks of different questions share.
"""

import argparse
import json
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

from benchmarks.table import Row, limited, printed
from ragmetrics_core import Sample
from ragmetrics_core.samples import tile
from ragmetrics_core.samples._tiling import _words_of  # pyright: ignore[reportPrivateUsage]  its cache

BUDGET = 50.0
CHUNKS = 50
FORMS: dict[str, Callable[[Sequence[str]], str]] = {
    "as text": "\n\n".join,
    "as numbered sentences": lambda chunks: "\n".join(
        f"{number}. {sentence}" for number, sentence in enumerate(". ".join(chunks).split(". "), start=1)
    ),
    "as JSON": lambda chunks: json.dumps([{"content": chunk} for chunk in chunks]),
}


def request(seed: int, form: Callable[[Sequence[str]], str]) -> tuple[str, list[str]]:
    """A request of 100 kB, and the 50 chunks in it."""
    draw = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(6_000)]
    chunks = []
    for _ in range(CHUNKS):
        sentences = [" ".join(draw.choices(words, k=15)).capitalize() for _ in range(17)]
        chunks.append(". ".join(sentences) + ".")
    rest = " ".join(draw.choices(words, k=1_500))
    return f"Use these texts.\n{form(chunks)}\n{rest}", chunks


def milliseconds(work: Callable[[], object], repeats: int = 5) -> float:
    """CPU time of the best of several runs."""
    best = float("inf")
    for _ in range(repeats):
        _words_of.cache_clear()
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return 1e3 * best


def rows() -> Iterator[Row]:
    """The cost of each form of request."""
    for name, form in FORMS.items():
        text, chunks = request(1, form)
        cost = milliseconds(partial(tile, [text], chunks))
        reading = milliseconds(partial(re.findall, r"\w+", text))
        share = min(tile([text], chunks).share(number) for number in range(CHUNKS))
        what = f"{len(text) / 1e3:.0f} kB and {CHUNKS} chunks {name}: ms of CPU (share found: {share:.2f}; "
        yield limited(f"{what}{cost / reading:.0f} times reading its words)", cost, BUDGET, form="{:.0f}")


def shared_runs(path: Path, pairs: int = 400) -> Iterator[str]:
    """Runs of words that chunks of two questions share, by their length."""
    with path.open(encoding="utf-8") as lines:
        samples = [Sample.from_mapping(json.loads(line)) for line in lines]
    by_question = {sample.question: " ".join(sample.contexts) for sample in samples if sample.contexts}
    texts = list(by_question.values())
    random.Random(1).shuffle(texts)
    words = [re.findall(r"\w+", text.lower()) for text in texts[: pairs + 1]]
    for length in range(2, 7):
        runs = [{tuple(each[at : at + length]) for at in range(len(each) - length + 1)} for each in words]
        sharing = sum(bool(one & other) for one, other in pairwise(runs))
        yield f"{length} words: {sharing} of {len(runs) - 1} pairs of unrelated texts share a run"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.account", description=__doc__.splitlines()[0])
    parser.add_argument("texts", type=Path, nargs="?", help="samples whose chunks are compared")
    given = parser.parse_args()
    printed("The account of a request", rows())
    if given.texts is not None:
        print("\n".join(shared_runs(given.texts)))


if __name__ == "__main__":
    main()
