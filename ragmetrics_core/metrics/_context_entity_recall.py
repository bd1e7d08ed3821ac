"""Context entity recall: do the contexts name the entities that the reference names?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts, scoring
from ragmetrics_core.asking import ask, review, together
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Decision, Labels, Measurement, score, undefined, valued
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.parsers import EntityList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import ReferencedContexts

__all__ = ["ContextEntityRecall"]

FOUND = Labels("found", "not found")


@dataclass(frozen=True, kw_only=True)
class ContextEntityRecall(ReferenceMetric[ReferencedContexts]):
    """Share of the reference's entities that are in the contexts.

    Range [0, 1], higher is better; undefined when the reference names no entity; 0 without contexts.

    Attributes:
        references: count the "best" of several references, or only the "first".
        match: "normalised" ignores case, spaces, the encoding of accents, and punctuation, but keeps signs
            that matter (-40 and 40, C++ and C, A+ and A-, 1.500 and 1,500 differ); "exact" ignores nothing.
        distinct: count repeated entities of the reference once.
        epsilon: added to the number of reference entities, as other libraries do.
        without_entities: score if the reference names no entity; None for undefined.
        list_reference, list_contexts: ask for the entities of the reference and of the contexts.

    Formula with worked examples in Sarkar, Evaluating LLM and RAG Systems (slides, 2024).
    """

    name = "context_entity_recall"
    inputs = ReferencedContexts
    variants = {
        "strict.1": {},
        "ragas-0.1": {
            "references": "first",
            "match": "exact",
            "distinct": False,
            "epsilon": 1e-8,
            "without_entities": 0.0,
        },
        "ragas-0.4": {"references": "first", "match": "exact", "epsilon": 1e-8, "without_entities": 0.0},
    }

    variant: Literal["strict", "strict.1", "ragas-0.1", "ragas-0.4"] = "strict.1"
    match: Literal["normalised", "exact"] = "normalised"
    distinct: bool = True
    epsilon: float = 0.0
    without_entities: float | None = None
    list_reference: Prompt[EntityList] = prompts.ENTITIES
    list_contexts: Prompt[EntityList] = prompts.CONTEXT_ENTITIES

    def check(self) -> None:
        """Reject a `without_entities` outside the range and a negative epsilon."""
        self.check_score("without_entities")
        if self.epsilon < 0:
            raise ConfigError(f"context_entity_recall: epsilon must be 0 or more, not {self.epsilon}")

    def against(self, sample: ReferencedContexts) -> Steps[Measurement]:
        """List the entities of both sides, match them, take the matched share."""
        reference, contexts = yield from together(
            ask(self.list_reference, reference=sample.reference), self._entities_of(sample.contexts)
        )
        entities = self._distinct(reference.entities) if self.distinct else reference.entities
        if not entities and self.without_entities is not None:
            return valued(self.without_entities, counts={"entities": 0}, spelled="no entity")
        if not entities:
            return undefined("no_entities")

        named = {self._key(entity): entity for entity in reversed(contexts.entities)}
        first = set(self._distinct(reference.entities))
        decisions: list[Decision] = []
        for entity in entities:
            match = named.get(self._key(entity)) if entity in first else None
            first.discard(entity)
            why = None if match is None else f"the contexts name {match!r}"
            decisions.append(Decision(entity, match is not None, why))
        judged = yield from review(decisions, about="reference entity", labels=FOUND)
        counts = {"found": judged.supported, "entities": len(judged), "context_entities": len(named)}
        return score(self._formula, judged, counts=counts, spelled="{found} / {entities}")

    def _entities_of(self, contexts: tuple[str, ...]) -> Steps[EntityList]:
        if not any(chunk.strip() for chunk in contexts):
            return EntityList(entities=())
        return (yield from ask(self.list_contexts, contexts=contexts))

    def _distinct(self, entities: Sequence[str]) -> tuple[str, ...]:
        """The first of each group of entities that match each other, in order."""
        return tuple({self._key(entity): entity for entity in reversed(entities)}.values())[::-1]

    def _formula(self, found: Sequence[bool]) -> float | None:
        return sum(found) / (len(found) + self.epsilon) if self.epsilon else scoring.supported_share(found)

    def _key(self, entity: str) -> str:
        if self.match == "exact":
            return entity
        return " ".join(scoring.words_of(entity, rules="names")) or entity
