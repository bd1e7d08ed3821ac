"""A judge that decides about each text by the text alone, and lists what it finds in any order."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.prompts import Item
from ragmetrics_core.protocol import Completion, Generate

__all__ = ["SteadyJudge"]

Schema = dict[str, Any]

FOUND = ("Einstein sailed.", "Ulm lies on the Danube.", "He was born in 1879.", "He played the violin.")
FACTS = ("TP", "FP", "FN")


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
        answer, expected = request.prompt.answer, request.expected
        value = _Reply(request, self).value(answer.numbered_schema(expected))
        return [Completion(text=answer.laid_out(value, expected))] * request.draws


class _Reply:
    """The value of a JSON schema that this judge gives."""

    def __init__(self, request: Generate[Any], judge: SteadyJudge) -> None:
        self._seed = f"{judge.seed} {request.prompt.name}"
        self._order = random.Random(f"{judge.order} {request.digest}")
        shown = [each for value in request.variables.values() for each in _texts(value)]
        self._items = [each for each in shown if isinstance(each, Item)]
        several = [value for value in request.variables.values() if not isinstance(value, str)]
        self._chunks = [each for value in several for each in _texts(value) if isinstance(each, str)]
        self._sentences = [sentence for chunk in self._chunks for sentence in split_sentences(chunk)]
        # what is asked about as a whole, in an order that does not depend on that of the chunks
        self._whole = sorted(each for each in shown if isinstance(each, str))

    def value(self, schema: Schema, about: str = "") -> Any:
        """A value of the schema, about a text."""
        chance = self._chance(about if self._items else f"{about} {self._whole}")
        if "anyOf" in schema:
            first, *_ = either = schema["anyOf"]
            return self.value(first if "items" in first else chance.choice(either), about)
        if "const" in schema or "enum" in schema:
            return schema["const"] if "const" in schema else chance.choice(schema["enum"])
        match schema.get("type"):
            case "object":
                return {
                    name: self.value(each, f"{name} {about}") for name, each in schema["properties"].items()
                }
            case "array":
                return self._listed(schema, about)
            case "boolean":
                return chance.random() < 0.5
            case "integer" | "number":
                return chance.choice([0, 1, 2, 3])
            case "string" if "examples" in schema:
                return schema["examples"][0]
            case _:
                return f"Where was number {chance.randrange(10)}?"

    def _listed(self, schema: Schema, about: str) -> list[Any]:
        inner: Schema = schema.get("items", {})
        if "prefixItems" in schema:
            texts = [self._content(item) for item in self._items] or [""] * len(schema["prefixItems"])
            pairs = zip(schema["prefixItems"], texts, strict=True)
            entries: list[Any] = [self.value(entry, text) for entry, text in pairs]
        elif inner.get("type") == "integer":
            likely = [self._chance(about + each).random() < 0.5 for each in self._sentences]
            entries = [number for number, relevant in enumerate(likely, start=1) if relevant]
        else:
            list_name = about.partition(" ")[0]
            order = sorted(FOUND, key=lambda text: self._chance(about + text).random())
            some = [text for text in order if self._chance(about + text).random() < 0.7]
            if list_name in FACTS:  # a text stands in one of the three
                some = [text for text in some if self._chance(text).choice(FACTS) == list_name]
            chosen = order[: schema["minItems"]] if "minItems" in schema else some
            is_text = inner.get("type") == "string" and "examples" not in inner
            entries = [text if is_text else self.value(inner, text) for text in chosen]
        self._order.shuffle(entries)
        return entries

    def _content(self, item: Item) -> str:
        """What an item stands for: its text, or the chunk that it names."""
        word, _, number = item.text.partition(" ")
        return self._chunks[int(number) - 1] if word == "chunk" and number.isdigit() else item.text

    def _chance(self, about: str) -> random.Random:
        return random.Random(f"{self._seed} {about}")


def _texts(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
