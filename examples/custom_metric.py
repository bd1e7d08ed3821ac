"""A metric of one's own: the share of an answer's sentences that hedge ("may", "it seems")."""

from dataclasses import dataclass
from pathlib import Path

from ragmetrics_core.authoring import (
    Answered,
    Labels,
    Measurement,
    Metric,
    Prompt,
    Steps,
    VerdictList,
    ask_each,
    load_file,
    score,
    scoring,
    split,
    undefined,
)

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
