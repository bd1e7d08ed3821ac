"""Sufficiency: could the question be answered from the retrieved contexts alone?"""

from dataclasses import dataclass

from ragmetrics_core import prompts, scoring
from ragmetrics_core.measurement import Measurement, score
from ragmetrics_core.metrics._steps.sufficiency import ask_sufficient
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Retrieved

__all__ = ["Sufficiency"]


@dataclass(frozen=True, kw_only=True)
class Sufficiency(Metric[Retrieved]):
    """1 when the contexts are sufficient to answer the question, else 0.

    Range [0, 1], higher is better; never undefined. Blank contexts count as insufficient without a call. It
    needs neither an answer nor a reference, and shares its call with `abstention`.

    Attributes:
        suffice: asks whether the contexts are sufficient.

    Joren et al. (2024), Sufficient Context: https://arxiv.org/abs/2411.06037
    """

    name = "sufficiency"
    inputs = Retrieved

    suffice: Prompt[VerdictList] = prompts.SUFFICIENCY

    def measure(self, sample: Retrieved) -> Steps[Measurement]:
        """Ask whether the contexts suffice."""
        judged = yield from ask_sufficient(self.suffice, sample.question, sample.contexts)
        counts = {"sufficient": judged.supported}
        spelled = "sufficient" if judged.supported else "insufficient"
        if judged.missing:
            spelled = "undecided"
        return score(scoring.supported_share, judged, counts=counts, spelled=spelled)
