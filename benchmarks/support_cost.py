"""What one statement costs the support model against 1,000 words of context.

The texts are made, so that nothing is needed beside the package. Times are of this process alone (CPU time),
the best of several rounds; the evidence is read once for all statements, as in a sample.

usage: python -m benchmarks.support_cost
"""

from random import Random
from time import process_time
from typing import Final

from ragmetrics_embedded._support import SupportModel, support_model
from ragmetrics_embedded._support.evidence import read_evidence
from ragmetrics_embedded._support.trees import load_weights

WORDS: Final = 1000
STATEMENTS: Final = 40
ROUNDS: Final = 5
_SUBJECTS: Final = (
    "pump",
    "valve",
    "harbour",
    "council",
    "timer",
    "museum",
    "engine",
    "river",
    "committee",
    "lamp",
)
_VERBS: Final = ("opened", "raised", "measured", "approved", "closed", "repaired", "moved", "counted")
_PLACES: Final = ("Lyon", "Bergen", "Leeds", "Geneva", "Osaka", "Ghent", "Vienna", "Oslo")


def sentence(draw: Random) -> str:
    """A sentence of twelve words with a name and a number."""
    return (
        f"The {draw.choice(_SUBJECTS)} in {draw.choice(_PLACES)} {draw.choice(_VERBS)} "
        f"{draw.randrange(2, 900)} units before the {draw.choice(_SUBJECTS)} was {draw.choice(_VERBS)}."
    )


def milliseconds(model: SupportModel, statements: list[str], text: str) -> float:
    """The least CPU time for one statement."""
    read_evidence((text,))
    rounds: list[float] = []
    for _ in range(ROUNDS):
        started = process_time()
        for statement in statements:
            model.support(statement, [text])
        rounds.append(process_time() - started)
    return 1000 * min(rounds) / len(statements)


def main() -> None:
    """Print it, with word vectors and without."""
    draw = Random(0)
    sentences = [sentence(draw) for _ in range(WORDS // 12 + 1)]
    statements = [sentence(draw) for _ in range(STATEMENTS)]
    text = " ".join(sentences)
    print(f"{len(text.split())} words of context, {STATEMENTS} statements, the best of {ROUNDS} rounds")
    for model in (support_model(), SupportModel(load_weights("plain"))):
        name = "without word vectors" if model.vectors is None else "with word vectors"
        print(f"{name:21} {milliseconds(model, statements, text):.2f} ms a statement")


if __name__ == "__main__":
    main()
