"""Judges trained for one question, whether a text supports a statement, with their published prompts."""

from ragmetrics_core.models.grounded._classifiers import FactCG, MiniCheck
from ragmetrics_core.models.grounded._judge import Checker, GroundedFinding, GroundedJudge
from ragmetrics_core.models.grounded._servers import BespokeMiniCheck, GraniteGuardian
from ragmetrics_core.models.grounded._tokens import LettuceDetect

__all__ = [
    "BespokeMiniCheck",
    "Checker",
    "FactCG",
    "GraniteGuardian",
    "GroundedFinding",
    "GroundedJudge",
    "LettuceDetect",
    "MiniCheck",
]
