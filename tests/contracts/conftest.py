"""A judge that can answer any prompt: it fills the fields of the prompt's answer type at random."""

import json
import random
import types
from collections.abc import Callable
from typing import Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

from ragmetrics_core.protocol import Generate
from ragmetrics_core.testing import ScriptedJudge

MakeJudge = Callable[..., ScriptedJudge]

WORDS = ["Paris", "Seine", "1879", "Einstein", "violin", "Ulm", "Louvre", "physics"]


class Filler:
    """Random values for the fields of a type.

    Args:
        request: what is asked; its numbers are those that numbered entries take.
        seed: the same seed and request give the same reply.
        complete: give a verdict on every number, each once.
    """

    def __init__(self, request: Generate[Any], seed: int, *, complete: bool) -> None:
        texts = [message.content for message in request.messages]
        self._random = random.Random(f"{seed} {request.draw} {texts}")
        self._numbers = request.hints.numbers
        self._complete = complete

    def model(self, kind: type[BaseModel], number: int | None = None) -> dict[str, Any]:
        """A mapping with a value for each field; a field called `number` takes the given one."""
        return {
            name: number if name == "number" and number is not None else self.value(field.annotation)
            for name, field in kind.model_fields.items()
        }

    def value(self, kind: Any) -> Any:
        """A value of a type as JSON."""
        if get_origin(kind) is tuple:
            return self._entries(get_args(kind)[0])
        if get_origin(kind) in {Union, types.UnionType}:
            return self.value(self._random.choice(get_args(kind)))
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return self.model(kind)
        choices = {bool: [True, False], int: [1, 2, 3, 9], float: [0.0, 0.5, 1.0], type(None): [None]}
        return self._random.choice(choices[kind]) if kind in choices else self._text()

    def _entries(self, kind: Any) -> list[Any]:
        if not (isinstance(kind, type) and issubclass(kind, BaseModel) and "number" in kind.model_fields):
            return [self.value(kind) for _ in range(self._random.randint(0, 4))]
        numbers = list(self._numbers)
        if not self._complete:
            # some left out, some twice, some that nobody asked about
            numbers = [n for n in [*numbers, *numbers[:1], 99] if self._random.random() < 0.7]
        return [self.model(kind, number) for number in numbers]

    def _text(self) -> str:
        return f"{' '.join(self._random.sample(WORDS, 3))} {self._random.randint(1, 999)}?"


@pytest.fixture(scope="session")
def any_judge() -> MakeJudge:
    """A judge that answers every prompt by the type of its answer, the same for the same seed."""

    def make(seed: int, *, complete: bool = False) -> ScriptedJudge:
        return ScriptedJudge(
            lambda request: json.dumps(Filler(request, seed, complete=complete).model(request.prompt.answer))
        )

    return make
