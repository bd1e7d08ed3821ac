"""Judges that learned one question, whether a text supports a statement, each in its makers' form."""

from ragmetrics_core.models.grounded.classifiers import FactCG, MiniCheck
from ragmetrics_core.models.grounded.judge import Checker, GroundedFinding, GroundedJudge
from ragmetrics_core.models.grounded.servers import BespokeMiniCheck, GraniteGuardian
from ragmetrics_core.models.grounded.tokens import LettuceDetect

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
