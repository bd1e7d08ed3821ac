"""Metrics of ragas and DeepEval: the same measure here, or the difference.

The pages on coming from these libraries give the definitions by version.
"""

import inspect
from collections.abc import Mapping
from typing import NamedTuple

from ragmetrics_core.boundary.keywords import folded
from ragmetrics_core.errors import ConfigError

__all__ = ["PEER_METRICS", "PEER_NAMES", "Other", "peer_metric"]


class Other(NamedTuple):
    """A metric of another library without an equal here.

    Attributes:
        difference: the difference, as the rest of a sentence that begins with its name.
        instead: the advice on a replacement.
    """

    difference: str
    instead: str


_CRITERION = Other("asks about a criterion of your own", 'pass Criterion("...") from ragmetrics_core.metrics')
_RUBRIC = Other("rates by a rubric of your own", "pass Rubric(levels=(...)) from ragmetrics_core.metrics")
_WITHOUT_REFERENCE = Other(
    "of ragas judges each chunk by the answer, which our 'context_utilization' does not",
    "the same formula with a reference is 'context_precision'; for theirs give the answer as the reference",
)

PEER_METRICS: Mapping[str, str | Other] = {
    # ragas
    "ResponseRelevancy": "answer_relevance",
    "LLMContextPrecisionWithReference": "context_precision",
    "ContextPrecisionWithReference": "context_precision",
    "LLMContextRecall": "context_recall",
    "RougeScore": "rouge(stemmer=true)",
    "BleuScore": "bleu",
    "ChrfScore": "chrf",
    "CHRFScore": "chrf",
    "IDBasedContextPrecision": "retrieval_precision",
    "IDBasedContextRecall": "retrieval_recall",
    "ContextRelevance": Other(
        "of ragas is a judge's rating, our metric of that name a share of sentences",
        "write 'context_relevance_rating/ragas-0.4' for theirs, 'context_relevance' for ours",
    ),
    "ContextUtilization": _WITHOUT_REFERENCE,
    "LLMContextPrecisionWithoutReference": _WITHOUT_REFERENCE,
    "ContextPrecisionWithoutReference": _WITHOUT_REFERENCE,
    "NonLLMContextPrecisionWithReference": Other(
        "of ragas compares texts by edit distance", "nearest here is 'average_precision(match=text)'"
    ),
    "NonLLMContextRecall": Other(
        "of ragas compares texts by edit distance", "nearest here is 'retrieval_recall(match=text)'"
    ),
    "NonLLMStringSimilarity": Other("of ragas is an edit distance", "nearest here are 'chrf' and 'token_f1'"),
    "FaithfulnesswithHHEM": Other(
        "of ragas is faithfulness with an NLI model as its judge",
        "write 'faithfulness' with judge=\"entailment:MODEL\"",
    ),
    "ExactMatch": Other(
        "of ragas compares the texts as they are, our metric after normalizing them",
        "write 'exact_match(rules=none)' for theirs, 'exact_match' for ours",
    ),
    "AspectCritic": _CRITERION,
    "AspectCritique": _CRITERION,
    "SimpleCriteriaScore": _CRITERION,
    "DiscreteMetric": _CRITERION,
    "RubricsScore": _RUBRIC,
    "DomainSpecificRubrics": _RUBRIC,
    "LabelledRubricsScore": _RUBRIC,
    "InstanceRubrics": _RUBRIC,
    # DeepEval
    "ContextualPrecisionMetric": "context_precision",
    "ContextualRecallMetric": "context_recall(granularity=sentence)",
    "FaithfulnessMetric": Other(
        "of DeepEval also passes claims that the contexts do not mention, and answers without a claim",
        "write 'faithfulness', which counts only what the contexts support",
    ),
    "AnswerRelevancyMetric": Other(
        "of DeepEval is the share of the answer's statements that are relevant, our 'answer_relevance' "
        "compares questions by cosine",
        "nearest here is 'answer_relevance_rating'",
    ),
    "ContextualRelevancyMetric": Other(
        "of DeepEval counts the relevant statements of all chunks",
        "nearest here is 'context_relevance', the share of the contexts' sentences that are needed",
    ),
    "HallucinationMetric": Other(
        "of DeepEval is the share of ideal contexts that the answer contradicts",
        "write 'faithfulness', or 'hallucination' for the share of statements that nothing supports",
    ),
    "ExactMatchMetric": "exact_match(rules=none)",
    "GEval": _CRITERION,
    "DAGMetric": _CRITERION,
}
"""The metric here with its settings, or the difference, by class name."""

PEER_NAMES: Mapping[str, str | Other] = {folded(name): value for name, value in PEER_METRICS.items()}
"""The same by folded class name."""

# Their objects have them, or not, and no score depends on them.
_WITHOUT_EFFECT = frozenset({
    "self", "args", "kwargs", "name", "llm", "embeddings", "model", "include_reason", "async_mode",
    "verbose_mode", "max_retries",
})  # fmt: skip
_OF_RAGAS: Mapping[str, str | Other] = {"ExactMatch": "exact_match(rules=none)"}


def peer_metric(given: object) -> str | None:
    """Our name for an object or class of ragas or DeepEval; None for anything else.

    Raises:
        ConfigError: it is a different measure here, or has non-default settings.
    """
    kind = given if isinstance(given, type) else type(given)
    library = kind.__module__.partition(".")[0]
    if library not in {"ragas", "deepeval"}:
        return None
    if kind is not given:
        _check_settings(given, kind)
    name = kind.__name__
    here = _OF_RAGAS.get(name) if library == "ragas" else None
    here = here or PEER_METRICS.get(name, name)
    if isinstance(here, Other):
        raise ConfigError(f"{name!r} {here.difference}; {here.instead}")
    return here


def _check_settings(metric: object, kind: type) -> None:
    """Raise `ConfigError` for a setting that is not at its default."""
    for name, parameter in inspect.signature(kind).parameters.items():
        usual = parameter.default
        value = getattr(metric, name, usual)
        is_plain = isinstance(value, str | int | float | bool)
        if name not in _WITHOUT_EFFECT and usual is not parameter.empty and is_plain and value != usual:
            if name == "threshold":
                raise ConfigError(
                    f"{kind.__name__}: metrics have no threshold here; name the metric alone, then call "
                    "assert_scores(run, METRIC=...) of ragmetrics_pytest or pass --min METRIC=..."
                )
            raise ConfigError(
                f"{kind.__name__} has {name}={value!r}, which is not carried over: name our metric with its "
                "own settings, such as 'answer_relevance(n_questions=5)'"
            )
