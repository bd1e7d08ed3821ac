"""Cases run in a framework, against one server."""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

from ragmetrics_core import Sample
from tests.integrations.body_keeping import BodyKeeper, Exchange, Reply
from tests.integrations.generated.checks import problems
from tests.integrations.generated.material import Case, draw, replies

__all__ = ["Outcome", "outcomes"]


class Outcome(NamedTuple):
    """What became of a case."""

    case: Case
    sample: Sample | str
    exchanges: list[Exchange]
    problems: list[str]


def outcomes(framework: str, seeds: Iterable[int]) -> Iterator[Outcome]:
    """Run the cases of these seeds as applications of "langchain", "haystack" or "llama_index"."""
    cases: Any = import_module(f"tests.integrations.generated.{framework}_cases")
    model: Callable[[str], Reply]

    def reply(text: str) -> Reply:
        return model(text)

    with BodyKeeper(reply) as server:
        for seed in seeds:
            case = cases.adapted(draw(seed))
            model = replies(case)
            server.exchanges.clear()
            sample = cases.run(case, server)
            exchanges = list(server.exchanges)
            found = [sample] if isinstance(sample, str) else problems(case, sample, exchanges)
            yield Outcome(case, sample, exchanges, found)
