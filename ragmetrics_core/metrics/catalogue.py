"""The catalogue: every metric by name, and what users may call it."""

from collections.abc import Iterable, Mapping
from typing import Any

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics.answer_correctness import AnswerCorrectness
from ragmetrics_core.metrics.answer_relevance import AnswerRelevance
from ragmetrics_core.metrics.answer_similarity import AnswerSimilarity
from ragmetrics_core.metrics.context_entity_recall import ContextEntityRecall
from ragmetrics_core.metrics.context_precision import ContextPrecision
from ragmetrics_core.metrics.context_recall import ContextRecall
from ragmetrics_core.metrics.context_relevance import ContextRelevance
from ragmetrics_core.metrics.factual_correctness import FactualCorrectness
from ragmetrics_core.metrics.faithfulness import Faithfulness
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.metrics.ragas_score import RagasScore
from ragmetrics_core.protocol import Part

__all__ = ["ALIASES", "METRICS", "RECOMMENDED", "get", "metric_class", "of_part", "resolve"]

METRICS: Mapping[str, type[Metric[Any]]] = {
    metric.name: metric
    for metric in (
        Faithfulness,
        AnswerRelevance,
        ContextRelevance,
        AnswerSimilarity,
        FactualCorrectness,
        AnswerCorrectness,
        ContextPrecision,
        ContextRecall,
        ContextEntityRecall,
        RagasScore,
    )
}

ALIASES: Mapping[str, str] = {
    "answer_relevancy": "answer_relevance",
    "response_relevancy": "answer_relevance",
    "context_relevancy": "context_relevance",
    "semantic_similarity": "answer_similarity",
    "answer_semantic_similarity": "answer_similarity",
    "context_entities_recall": "context_entity_recall",
    "FaiFul": "faithfulness",
    "AnsRel": "answer_relevance",
    "ConRel": "context_relevance",
    "AnsSim": "answer_similarity",
    "FacCor": "factual_correctness",
    "AnsCor": "answer_correctness",
}

RECOMMENDED = ("faithfulness", "factual_correctness")


def metric_class(name: str) -> type[Metric[Any]]:
    """The class of a metric, by its name or an alias.

    Raises:
        ConfigError: there is no such metric; the nearest names are suggested.
    """
    known = METRICS.get(ALIASES.get(name, name))
    if known is None:
        from difflib import get_close_matches

        near = get_close_matches(name, [*METRICS, *ALIASES], n=3)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(METRICS)}"
        raise ConfigError(f"there is no metric {name!r}; {hint}")
    return known


def get(name: str, *, variant: str | None = None, **settings: Any) -> Metric[Any]:
    """A metric by name, with a variant and settings: `get("faithfulness", variant="paper")`.

    The name may carry the variant: `get("faithfulness/paper")`.

    Raises:
        ConfigError: there is no such metric, variant or setting.
    """
    name, _, named = name.partition("/")
    metric = metric_class(name)
    variant = variant or named or next(iter(metric.variants))
    return metric.from_settings(variant, settings)


def resolve(metrics: str | Metric[Any] | Iterable[str | Metric[Any]]) -> tuple[Metric[Any], ...]:
    """Metrics from names and objects; `"recommended"` stands for the recommended pair.

    Raises:
        ConfigError: an unknown name, something that is no metric, none at all, or one twice.
    """
    given = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    found: dict[str, Metric[Any]] = {}
    for each in given:
        if not isinstance(each, str | Metric):
            raise ConfigError(f"a metric is a name or a Metric object, not {type(each).__name__}")
        names = RECOMMENDED if each == "recommended" else (each,)
        for metric in (get(name) if isinstance(name, str) else name for name in names):
            if metric.signature in found:
                raise ConfigError(f"the metric {metric.signature} is given twice")
            found[metric.signature] = metric
    if not found:
        raise ConfigError("give at least one metric, or leave metrics out for the recommended ones")
    return tuple(found.values())


def of_part(part: Part) -> Metric[Any]:
    """The metric that a part names.

    Raises:
        ConfigError: there is no such metric, variant or setting.
    """
    metric = get(part.metric, variant=part.variant, **part.settings)
    return metric.with_prompts(part.prompts) if part.prompts else metric
