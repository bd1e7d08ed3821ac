"""The ragas score: one number for a whole pipeline."""

from dataclasses import dataclass, replace

from ragmetrics_core import scoring
from ragmetrics_core.asking import part, together
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Measurement, combine
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.protocol import Part, Steps
from ragmetrics_core.samples import Complete

__all__ = ["RagasScore"]


@dataclass(frozen=True, kw_only=True)
class RagasScore(ReferenceMetric[Complete]):
    """Harmonic mean of faithfulness, answer relevance, context precision and context recall.

    Range [0, 1], higher is better; 0 when a part is 0; undefined when a part is undefined or negative. The
    score does not show which part is low; the record keeps the parts.

    Attributes:
        references: count the "best" of several references, or only the "first".
        parts: the metrics to combine.

    Sarkar, Evaluating LLM and RAG Systems (slides, 2024), "ragas score".
    """

    name = "ragas_score"
    inputs = Complete
    needs = frozenset({"judge", "embedder"})

    parts: tuple[Part, ...] = (
        Part("faithfulness", "strict.1"),
        Part("answer_relevance", "strict.1"),
        Part("context_precision", "strict.1"),
        Part("context_recall", "strict.1"),
    )

    def check(self) -> None:
        """Reject no parts, and two parts of the same metric."""
        names = [each.metric for each in self.parts]
        if not names or len(set(names)) < len(names):
            raise ConfigError(f"ragas_score: parts must be one or more different metrics, not {names}")

    def against(self, sample: Complete) -> Steps[Measurement]:
        """Measure the parts and take their harmonic mean."""
        found = yield from together(*(part(replace(each, reference=sample.reference)) for each in self.parts))
        names = [each.metric for each in self.parts]
        inverses = " + ".join(f"1/{{{name}}}" for name in names)
        return combine(
            scoring.harmonic_mean,
            dict(zip(names, found, strict=True)),
            spelled=f"{len(names)} / ({inverses})",
            otherwise="negative_part",
        )
