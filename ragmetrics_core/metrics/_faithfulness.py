"""Faithfulness: does the answer say only what the contexts support?"""

from dataclasses import dataclass, replace
from typing import Literal

from ragmetrics_core import prompts
from ragmetrics_core.asking import SUPPORTED, ask_statements, split
from ragmetrics_core.measurement import Measurement, undefined
from ragmetrics_core.metrics._steps.contexts import SupportingTexts, ask_supported
from ragmetrics_core.metrics._steps.shares import Aggregate, verdict_share
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import StatementList, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Earlier, Grounded

__all__ = ["Faithfulness"]


@dataclass(frozen=True, kw_only=True)
class Faithfulness(Metric[Grounded]):
    """Share of the answer's statements that the retrieved contexts support.

    Range [0, 1], higher is better; undefined without contexts and when the answer makes no statement, such as
    a pure refusal. A sentence of which the judge gives no statement counts as one without a verdict. With
    `granularity="sentence"` the answer's own sentences are judged; with `"answer"` the
    whole answer is one statement, for example a claim.

    Attributes:
        granularity: judge each "statement" that the judge extracts, each "sentence", or the whole "answer".
        per_call: statements shown in one call, at least 1; small judges read them better one by one.
        aggregate: the "share" of positive verdicts; if verdicts have probabilities, also the "expected" share
            with its interval, or their "mean" or "least" probability.
        places: where support may come from if the sample has a history: the contexts of the whole
            "conversation", or only those of this "turn", as in DeepEval's `TurnFaithfulnessMetric`.

    A statement that only the user's words or an earlier answer support is not supported; the counts
    `in_contexts`, `in_earlier_contexts`, `in_user_words` and `in_earlier_answers` keep them apart.

    Es et al. (2023), section 3: https://arxiv.org/abs/2309.15217. Equation 3 of Roychowdhury et al.
    (2024), FaiFul: https://arxiv.org/abs/2407.12873
    """

    name = "faithfulness"
    inputs = Grounded
    variants = {
        "strict.1": {},
        "strict.2": {"verify": prompts.STANCES},
        "paper.1": {"decompose": prompts.PAPER_STATEMENTS, "verify": prompts.PAPER_VERDICTS},
        "turn.1": {"places": "turn"},
        "ragas-0.1": {},
        "ragas-0.4": {},
    }

    variant: Literal[
        "strict", "strict.1", "strict.2", "paper", "paper.1", "turn", "turn.1", "ragas-0.1", "ragas-0.4"
    ] = "strict.1"
    granularity: Literal["statement", "sentence", "answer"] = "statement"
    per_call: int = 20
    aggregate: Aggregate = "share"
    places: Literal["conversation", "turn"] = "conversation"
    decompose: Prompt[StatementList] = prompts.STATEMENTS
    verify: Prompt[VerdictList] = prompts.VERDICTS

    def check(self) -> None:
        """Reject calls without statements."""
        self.check_count("per_call")

    @property
    def idle(self) -> frozenset[str]:
        """The prompt that splits the answer, unless statements are judged."""
        return frozenset({"decompose"} if self.granularity != "statement" else ())

    def measure(self, sample: Grounded) -> Steps[Measurement]:
        """Split the answer into statements, verify each one, take the supported share."""
        earlier = sample.earlier if self.places == "conversation" else Earlier()
        if not any(chunk.strip() for chunk in (*sample.contexts, *[text.text for text in earlier.contexts])):
            return undefined("no_contexts")

        if self.granularity == "sentence":
            statements = yield from split(sample.answer)
        elif self.granularity == "answer":
            statements = (sample.answer,) if sample.answer.strip() else ()
        else:
            statements = yield from ask_statements(
                self.decompose, question=sample.question, answer=sample.answer
            )
        if not statements:
            return undefined("no_statements")

        about = "answer" if self.granularity == "answer" else f"answer {self.granularity}"
        supported = yield from ask_supported(
            self.verify,
            statements,
            SupportingTexts(contexts=sample.contexts, unaccounted=sample.unaccounted, earlier=earlier),
            about=about,
            labels=SUPPORTED,
            size=self.per_call,
        )
        measured = verdict_share(supported.judged, "supported", "statements", self.aggregate)
        return replace(measured, counts={**measured.counts, **supported.places})
