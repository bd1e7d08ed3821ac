"""Answer correctness: factual correctness and answer similarity, weighted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ragmetrics_core import scoring
from ragmetrics_core.asking import part, together
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Bounds, Measurement, combine
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.protocol import Part, Steps
from ragmetrics_core.samples import Referenced

__all__ = ["AnswerCorrectness"]


@dataclass(frozen=True, kw_only=True)
class AnswerCorrectness(ReferenceMetric[Referenced]):
    """Weighted mean of factual correctness and answer similarity.

    Range [-1, 1], higher is better; undefined when a part with a weight above 0 is undefined. Only the cosine
    can be negative, so with the default weights the minimum is -0.25. A part with weight 0 is not measured:
    weights (1, 0) embed nothing and give factual correctness alone, which is how UK-law practitioners and Oro
    et al. define answer correctness.

    Attributes:
        references: count the "best" of several references, or only the "first".
        weights: of factual correctness and of answer similarity; they need not add up to 1.
        factual: the metric that measures the facts.
        similarity: the metric that compares the vectors.

    Equation 8 of Roychowdhury et al. (2024), AnsCor: https://arxiv.org/abs/2407.12873
    """

    name = "answer_correctness"
    inputs = Referenced
    needs = frozenset({"judge", "embedder"})
    low = -1.0
    variants = {
        "strict.1": {},
        "paper.1": {"factual": Part("factual_correctness", "paper.1")},
        "ragas-0.1": {"references": "first", "factual": Part("factual_correctness", "ragas-0.1")},
        "ragas-0.4": {
            "references": "first",
            "factual": Part("factual_correctness", "ragas-0.4", {"digits": None, "empty": "one"}),
        },
    }

    variant: Literal["strict", "strict.1", "paper", "paper.1", "ragas-0.1", "ragas-0.4"] = "strict.1"
    weights: tuple[float, float] = (0.75, 0.25)
    factual: Part = Part("factual_correctness", "strict.1")
    similarity: Part = Part("answer_similarity", "strict.1")

    def check(self) -> None:
        """Reject negative weights, all-zero weights and two parts of the same metric."""
        if min(self.weights) < 0 or not any(self.weights):
            raise ConfigError(
                "answer_correctness: weights must be two numbers of 0 or more, one of them above 0, "
                f"not {self.weights}"
            )
        if self.factual.metric == self.similarity.metric:
            raise ConfigError(
                f"answer_correctness: its parts must be two metrics, not {self.factual.metric} twice"
            )

    @property
    def range(self) -> Bounds:
        """Range with these weights; the minimum belongs to a cosine of -1."""
        return Bounds(0.0 - self.weights[1] / sum(self.weights), self.high)

    @property
    def parts_used(self) -> tuple[Part, ...]:
        """Parts with a weight above 0."""
        pairs = zip((self.factual, self.similarity), self.weights, strict=True)
        return tuple(each for each, weight in pairs if weight)

    @property
    def idle(self) -> frozenset[str]:
        """Parts with weight 0."""
        pairs = zip(("factual", "similarity"), self.weights, strict=True)
        return frozenset(name for name, weight in pairs if not weight)

    def against(self, sample: Referenced) -> Steps[Measurement]:
        """Measure the parts with a weight above 0 and take their weighted mean."""
        parts = self.parts_used
        weights = [weight for weight in self.weights if weight]
        found = yield from together(*(part(replace(each, reference=sample.reference)) for each in parts))

        def formula(values: Sequence[float]) -> float | None:
            return scoring.weighted_mean(values, weights)

        terms = " + ".join(
            f"{weight:g} × {{{each.metric}}}" for each, weight in zip(parts, weights, strict=True)
        )
        total = f" / {sum(weights):g}" if sum(weights) != 1 else ""
        return combine(
            formula,
            {each.metric: measurement for each, measurement in zip(parts, found, strict=True)},
            spelled=f"({terms}){total}" if total else terms,
            otherwise="no_weights",
        )
