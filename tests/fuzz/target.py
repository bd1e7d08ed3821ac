"""What a fuzz target is."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple

__all__ = ["Target"]


class Target(NamedTuple):
    """A function that takes whatever bytes there are.

    Attributes:
        name: what is read, and the name of its corpus: "parser.verdicts", "samples.csv".
        run: reads the input; raises only what is allowed.
        allowed: the errors that it may raise; none for parsers.
        seeds: inputs to begin with.
        largest: how many bytes an input has at most, for the search; the clock looks at 100 kB.
    """

    name: str
    run: Callable[[bytes], object]
    allowed: tuple[type[Exception], ...]
    seeds: Callable[[], Iterable[bytes]]
    largest: int = 1500

    def __call__(self, data: bytes) -> None:
        """Run on an input, and pass over what it may raise."""
        with suppress(*self.allowed):
            self.run(data)
