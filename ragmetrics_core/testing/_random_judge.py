"""A judge that can answer any prompt: it fills the fields of the prompt's answer type at random."""

import json
import random
import types
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from ragmetrics_core.protocol import Completion, Generate

__all__ = ["Filler", "RandomJudge"]

WORDS = ["Paris", "Seine", "1879", "Einstein", "violin", "Ulm", "Louvre", "physics"]


@dataclass
class RandomJudge:
    """A judge whose replies have the right form and any content; the same seed gives the same replies.

    Attributes:
        seed: chooses the replies.
        complete: give a verdict on every number that is asked about, each once; else some are left out, some
            given twice and some given on numbers that nobody asked about.
        asked: every request so far, in order.
    """

    seed: int
    complete: bool = False
    asked: list[Generate[Any]] = field(default_factory=list)

    @property
    def identity(self) -> str:
        """The seed."""
        return f"random-{self.seed}{'-complete' if self.complete else ''}"

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """A reply of the form that the prompt asks for, one for each draw."""
        self.asked.append(request)
        filler = Filler(request, self.seed, complete=self.complete)
        return [
            Completion(text=json.dumps(filler.model(request.prompt.answer))) for _ in range(request.draws)
        ]


class Filler:
    """Random values for the fields of a type."""

    def __init__(self, request: Generate[Any], seed: int, *, complete: bool) -> None:
        texts = [message.content for message in request.messages]
        self._random = random.Random(f"{seed} {request.draw} {texts}")
        self._numbers = request.hints.numbers
        self._complete = complete

    def model(self, kind: type[BaseModel], number: int | None = None) -> dict[str, Any]:
        """A mapping with a value for each field; a field called `number` takes the given one."""
        return {
            name: number if name == "number" and number is not None else self._value(field.annotation)
            for name, field in kind.model_fields.items()
        }

    def _value(self, kind: Any) -> Any:
        if get_origin(kind) is tuple:
            return self._entries(get_args(kind)[0])
        if get_origin(kind) in {Union, types.UnionType}:
            return self._value(self._random.choice(get_args(kind)))
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return self.model(kind)
        choices: dict[Any, list[Any]] = {
            bool: [True, False],
            int: [1, 2, 3, 9],
            float: [0.0, 0.5, 1.0, 2.0, 11.0],
            type(None): [None],
        }
        return self._random.choice(choices[kind]) if kind in choices else self._text()

    def _entries(self, kind: Any) -> list[Any]:
        if not (isinstance(kind, type) and issubclass(kind, BaseModel) and "number" in kind.model_fields):
            return [self._value(kind) for _ in range(self._random.randint(0, 4))]
        numbers = list(self._numbers)
        if not self._complete:
            # some left out, some twice, some that nobody asked about
            numbers = [n for n in [*numbers, *numbers[:1], 99] if self._random.random() < 0.7]
        return [self.model(kind, number) for number in numbers]

    def _text(self) -> str:
        return f"{' '.join(self._random.sample(WORDS, 3))} {self._random.randint(1, 999)}?"
