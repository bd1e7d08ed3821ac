"""A judge that answers any prompt by filling its form at random."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragmetrics_core.protocol import Completion, Generate

__all__ = ["RandomJudge"]

WORDS = ["Paris", "Seine", "1879", "Einstein", "violin", "Ulm", "Louvre", "physics"]


@dataclass
class RandomJudge:
    """A judge whose replies have the right form and random content; equal seeds give equal replies.

    Attributes:
        seed: random seed.
        complete: give exactly one verdict on every number. Otherwise some verdicts are missing, repeated, or
            on unknown numbers.
        asked: all requests so far, in order.
    """

    seed: int
    complete: bool = False
    asked: list[Generate[Any]] = field(default_factory=list)

    @property
    def identity(self) -> str:
        """Name with the seed and completeness."""
        return f"random-{self.seed}{'-complete' if self.complete else ''}"

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """One reply in the form of the prompt for each draw."""
        self.asked.append(request)
        answer, expected = request.prompt.answer, request.expected
        texts = [message.content for message in request.messages]
        filler = _Filler(random.Random(f"{self.seed} {request.draw} {texts}"), complete=self.complete)
        value = filler.value(answer.numbered_schema(expected))
        return [Completion(text=answer.laid_out(value, expected)) for _ in range(request.draws)]


@dataclass
class _Filler:
    """Random values of JSON schemas."""

    random: random.Random
    complete: bool

    def value(self, schema: dict[str, Any], names: Mapping[str, Any] | None = None) -> Any:
        """A value of the schema; `names` are the schemas that it can refer to."""
        named: Mapping[str, Any] = schema.get("$defs", names or {})
        if "$ref" in schema:
            return self.value(named[schema["$ref"].rpartition("/")[2]], named)
        if "const" in schema:
            return schema["const"]
        for either in ("enum", "anyOf"):
            if either in schema:
                chosen = self.random.choice(schema[either])
                return self.value(chosen, named) if either == "anyOf" else chosen
        match schema.get("type"):
            case "object":
                return {name: self.value(inner, named) for name, inner in schema["properties"].items()}
            case "array":
                return [self.value(inner, named) for inner in self._entries(schema)]
            case "boolean":
                return self.random.choice([True, False])
            case "integer":
                return self.random.choice([1, 2, 3, 9])
            case "number":
                return self.random.choice([0.0, 0.5, 1.0, 2.0, 11.0])
            case "null":
                return None
            case "string" if "examples" in schema:
                return self.random.choice(schema["examples"])
            case _:
                return f"{' '.join(self.random.sample(WORDS, 3))} {self.random.randint(1, 999)}?"

    def _entries(self, schema: dict[str, Any]) -> list[dict[str, Any]]:
        """The schemas of a list's entries."""
        if "prefixItems" not in schema:
            size = schema.get("minItems", self.random.randint(0, 4))
            return [schema["items"]] * size
        entries: list[dict[str, Any]] = schema["prefixItems"]
        if self.complete or not entries:
            return entries
        # some left out, some twice, some that nobody asked about
        fields: dict[str, Any] = entries[0]["properties"]
        number = "sentence" if "sentence" in fields else "number"
        other = {**entries[0], "properties": {**fields, number: {"const": 99}}}
        return [entry for entry in [*entries, *entries[:1], other] if self.random.random() < 0.7]
