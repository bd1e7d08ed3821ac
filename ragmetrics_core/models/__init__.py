"""Models: judges, embedders and what wraps them."""

from typing import TYPE_CHECKING

from ragmetrics_core.lazy import loaded_when_asked
from ragmetrics_core.models.foreign_errors import foreign_answer, model_error
from ragmetrics_core.models.foreign_settings import settings_digest
from ragmetrics_core.models.secrets import bare_address, holds_secret, keyless, settings_for_names
from ragmetrics_core.models.wrapping import (
    CallableJudge,
    PromptChecker,
    as_embedder,
    as_judge,
    as_scorer,
    missing_judge,
)

if TYPE_CHECKING:
    from ragmetrics_core.models.batched import Batched
    from ragmetrics_core.models.budget import Budget, BudgetArgs, Price, Prices
    from ragmetrics_core.models.cascade import Cascade
    from ragmetrics_core.models.encoders import CrossEncoderScorer, TokenMatchScorer
    from ragmetrics_core.models.entailment import EntailmentJudge
    from ragmetrics_core.models.lexical import LexicalJudge
    from ragmetrics_core.models.line import Line
    from ragmetrics_core.models.llama import LlamaJudge
    from ragmetrics_core.models.meter import Meter, Tally
    from ragmetrics_core.models.openai_compatible import OpenAIEmbedder, OpenAIJudge
    from ragmetrics_core.models.traffic import Traffic, TrafficArgs
    from ragmetrics_core.models.wordllama import WordLlamaEmbedder

__all__ = [
    "Batched",
    "Budget",
    "BudgetArgs",
    "CallableJudge",
    "Cascade",
    "CrossEncoderScorer",
    "EntailmentJudge",
    "LexicalJudge",
    "Line",
    "LlamaJudge",
    "Meter",
    "OpenAIEmbedder",
    "OpenAIJudge",
    "Price",
    "Prices",
    "PromptChecker",
    "Tally",
    "TokenMatchScorer",
    "Traffic",
    "TrafficArgs",
    "WordLlamaEmbedder",
    "as_embedder",
    "as_judge",
    "as_scorer",
    "bare_address",
    "foreign_answer",
    "holds_secret",
    "keyless",
    "missing_judge",
    "model_error",
    "settings_digest",
    "settings_for_names",
]

# Loaded when they are asked for: a run with a judge of one's own needs none of them.
_MODULES = {
    "Batched": "batched",
    "Budget": "budget",
    "BudgetArgs": "budget",
    "Cascade": "cascade",
    "CrossEncoderScorer": "encoders",
    "EntailmentJudge": "entailment",
    "LexicalJudge": "lexical",
    "Line": "line",
    "LlamaJudge": "llama",
    "Meter": "meter",
    "OpenAIEmbedder": "openai_compatible",
    "OpenAIJudge": "openai_compatible",
    "Price": "budget",
    "Prices": "budget",
    "Tally": "meter",
    "TokenMatchScorer": "encoders",
    "Traffic": "traffic",
    "TrafficArgs": "traffic",
    "WordLlamaEmbedder": "wordllama",
}

__getattr__ = loaded_when_asked(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
