"""A metric of one's own: the share of an answer's sentences that hedge ("may", "it seems")."""

from dataclasses import dataclass
from pathlib import Path

from ragmetrics_core import Metric, scoring
from ragmetrics_core.asking import ask_each, split
from ragmetrics_core.measurement import Labels, Measurement, score, undefined
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import Prompt, load_file
from ragmetrics_core.protocol import Steps
from ragmetrics_core.views import Answered

HEDGING = load_file(Path(__file__).parent / "prompts" / "hedging.v1.md", answer=VerdictList)


@dataclass(frozen=True, kw_only=True)
class Hedging(Metric[Answered]):
    """Share of the answer's sentences that hedge. Range [0, 1], lower is better; undefined without any."""

    name = "hedging"
    inputs = Answered
    higher_is_better = False

    verify: Prompt[VerdictList] = HEDGING

    def measure(self, sample: Answered) -> Steps[Measurement]:
        """Split the answer, have each sentence judged, take the share that hedges."""
        sentences = yield from split(sample.answer)
        if not sentences:
            return undefined("no_sentences")
        judged = yield from ask_each(
            self.verify, sentences, labels=Labels("hedges", "plain"), answer=sample.answer, source="answer"
        )
        counts = {"hedging": judged.supported, "sentences": len(judged)}
        return score(scoring.supported_share, judged, counts=counts, spelled="{hedging} / {sentences}")
