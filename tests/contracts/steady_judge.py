"""A judge that decides about each text by the text alone, and lists what it finds in any order."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.prompts import Item
from ragmetrics_core.protocol import Completion, Generate

__all__ = ["SteadyJudge"]

FOUND = ("Einstein sailed.", "Ulm lies on the Danube.", "He was born in 1879.", "He played the violin.")


@dataclass(frozen=True)
class SteadyJudge:
    """Decides the same about a text wherever it stands, whatever stands beside it.

    Attributes:
        seed: chooses the decisions.
        order: chooses the order of everything that is listed, and nothing else.
    """

    seed: int
    order: int = 0

    @property
    def identity(self) -> str:
        """The two seeds."""
        return f"steady-{self.seed}-{self.order}"

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """The same reply for each draw."""
        reply = json.dumps(_Reply(request, self).fields(request.prompt.answer))
        return [Completion(text=reply)] * request.draws


class _Reply:
    def __init__(self, request: Generate[Any], judge: SteadyJudge) -> None:
        self._seed = f"{judge.seed} {request.prompt.name}"
        self._order = random.Random(f"{judge.order} {request.digest}")
        shown = request.variables.items()
        self._items = [each for _, value in shown for each in _texts(value) if isinstance(each, Item)]
        self._chunks = [
            each
            for _, value in shown
            if not isinstance(value, str)
            for each in _texts(value)
            if isinstance(each, str)
        ]
        self._sentences = [sentence for chunk in self._chunks for sentence in split_sentences(chunk)]
        # where one is asked for at a time, there is no order
        self._most = 1 if request.draws > 1 else len(FOUND)
        # what is asked about as a whole, in an order that does not depend on that of the chunks
        self._whole = sorted(each for _, value in shown for each in _texts(value) if isinstance(each, str))

    def fields(self, kind: type[BaseModel], about: str = "", number: int | None = None) -> dict[str, Any]:
        """A value for each field of an answer, or of an entry about a text."""
        found = {}
        for name, field in kind.model_fields.items():
            if name == "number" and number is not None:
                found[name] = number
            elif get_origin(field.annotation) is tuple:
                found[name] = self._listed(get_args(field.annotation)[0], f"{name} {about}")
            else:
                found[name] = self._value(field.annotation, f"{name} {about}")
        return found

    def _listed(self, kind: Any, about: str) -> list[Any]:
        if isinstance(kind, type) and issubclass(kind, BaseModel) and "number" in kind.model_fields:
            entries: list[Any] = [self.fields(kind, self._content(each), each.number) for each in self._items]
        elif kind is int:
            likely = [self._chance(about + each).random() < 0.5 for each in self._sentences]
            entries = [number for number, relevant in enumerate(likely, start=1) if relevant]
        else:
            texts = [text for text in FOUND if self._chance(about + text).random() < 0.7][: self._most]
            is_model = isinstance(kind, type) and issubclass(kind, BaseModel)
            entries = [self.fields(kind, text) if is_model else text for text in texts]
        self._order.shuffle(entries)
        return entries

    def _content(self, item: Item) -> str:
        """What an item stands for: its text, or the chunk that it names."""
        word, _, number = item.text.partition(" ")
        return self._chunks[int(number) - 1] if word == "chunk" and number.isdigit() else item.text

    def _value(self, kind: Any, about: str) -> Any:
        chance = self._chance(about if self._items else f"{about} {self._whole}")
        kind = get_args(kind)[0] if get_origin(kind) in {Union, UnionType} else kind
        if kind is bool:
            return chance.random() < 0.5
        if kind in (int, float):
            return chance.choice([0, 1, 2, 3])
        return f"{chance.choice(FOUND)} {chance.randrange(10)}"

    def _chance(self, about: str) -> random.Random:
        return random.Random(f"{self._seed} {about}")


def _texts(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
