"""Models: judges, embedders, scorers, and wrappers around them."""

from typing import TYPE_CHECKING

from ragmetrics_core.models._foreign_errors import foreign_answer, model_error
from ragmetrics_core.models._foreign_settings import SettingsDigest, foreign_name, settings_digest
from ragmetrics_core.models._plugins import judge_note, judge_training, rule_judge
from ragmetrics_core.models._secrets import bare_address, holds_secret, settings_for_names
from ragmetrics_core.models._wrapping import (
    CallableJudge,
    PromptChecker,
    as_embedder,
    as_scorer,
    missing_model,
)
from ragmetrics_core.models.identity import function_identity, is_unnamed
from ragmetrics_core.models.judges import Cascade, as_judge
from ragmetrics_core.models.redactor import keyless
from ragmetrics_core.package.lazy import loaded_when_asked

if TYPE_CHECKING:
    from ragmetrics_core.models._batched import Batched
    from ragmetrics_core.models._budget import Budget, BudgetArgs, Price, Prices
    from ragmetrics_core.models._calibration import CalibratedJudge, CalibrationCard, CalibrationFigure
    from ragmetrics_core.models._decisions import (
        DecisionJudge,
        DecisionModel,
        DecisionQuestion,
        DecisionReply,
        DecisionServer,
    )
    from ragmetrics_core.models._encoders import CrossEncoderScorer, TokenMatchScorer
    from ragmetrics_core.models._entailment import EntailmentJudge
    from ragmetrics_core.models._line import Line
    from ragmetrics_core.models._openai_compatible import OpenAIEmbedder, OpenAIJudge
    from ragmetrics_core.models._traced import TracedJudge
    from ragmetrics_core.models._traffic import Traffic, TrafficArgs
    from ragmetrics_core.models._wordllama import WordLlamaEmbedder, WordVectors
    from ragmetrics_core.models.meter import Meter, Tally

__all__ = [
    "Batched",
    "Budget",
    "BudgetArgs",
    "CalibratedJudge",
    "CalibrationCard",
    "CalibrationFigure",
    "CallableJudge",
    "Cascade",
    "CrossEncoderScorer",
    "DecisionJudge",
    "DecisionModel",
    "DecisionQuestion",
    "DecisionReply",
    "DecisionServer",
    "EntailmentJudge",
    "Line",
    "Meter",
    "OpenAIEmbedder",
    "OpenAIJudge",
    "Price",
    "Prices",
    "PromptChecker",
    "SettingsDigest",
    "Tally",
    "TokenMatchScorer",
    "TracedJudge",
    "Traffic",
    "TrafficArgs",
    "WordLlamaEmbedder",
    "WordVectors",
    "as_embedder",
    "as_judge",
    "as_scorer",
    "bare_address",
    "foreign_answer",
    "foreign_name",
    "function_identity",
    "holds_secret",
    "is_unnamed",
    "judge_note",
    "judge_training",
    "keyless",
    "missing_model",
    "model_error",
    "rule_judge",
    "settings_digest",
    "settings_for_names",
]

# Loaded when they are asked for: a run with a judge of one's own needs none of them.
_MODULES = {
    "_batched": ["Batched"],
    "_budget": ["Budget", "BudgetArgs", "Price", "Prices"],
    "_calibration": ["CalibratedJudge", "CalibrationCard", "CalibrationFigure"],
    "_decisions": ["DecisionJudge", "DecisionModel", "DecisionReply", "DecisionServer", "DecisionQuestion"],
    "_encoders": ["CrossEncoderScorer", "TokenMatchScorer"],
    "_entailment": ["EntailmentJudge"],
    "_line": ["Line"],
    "meter": ["Meter", "Tally"],
    "_openai_compatible": ["OpenAIEmbedder", "OpenAIJudge"],
    "_traced": ["TracedJudge"],
    "_traffic": ["Traffic", "TrafficArgs"],
    "_wordllama": ["WordLlamaEmbedder", "WordVectors"],
}

__getattr__ = loaded_when_asked(
    __name__, {name: module for module, names in _MODULES.items() for name in names}
)


def __dir__() -> list[str]:
    return __all__
