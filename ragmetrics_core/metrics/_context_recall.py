"""Context recall: do the retrieved chunks have all the facts of the reference?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts
from ragmetrics_core.asking import ask_statements, review, split, unmentioned
from ragmetrics_core.measurement import Labels, Measurement, undefined
from ragmetrics_core.metrics._steps.contexts import SupportingTexts, ask_supported
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.metrics._steps.shares import Aggregate, supported_share, verdict_share
from ragmetrics_core.parsers import StatementList, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Attributed

__all__ = ["ContextRecall"]

ATTRIBUTED = Labels("attributed", "not attributed")


@dataclass(frozen=True, kw_only=True)
class ContextRecall(ReferenceMetric[Attributed]):
    """Share of the reference's statements that can be attributed to the retrieved chunks.

    Range [0, 1], higher is better; undefined when the reference makes no statement. Without contexts the
    score is 0 and the judge is not asked for verdicts. With `granularity="sentence"` the reference's own
    sentences are attributed. The record locates the quoted evidence of each attribution in its chunk.

    Attributes:
        references: count the "best" of several references, or only the "first".
        granularity: attribute each "statement" that the judge extracts, or each "sentence" of the reference.
        per_call: statements shown in one call, at least 1; small judges read them better one by one.
        aggregate: the "share" of positive verdicts; if verdicts have probabilities, also the "expected" share
            with its interval, or their "mean" or "least" probability.

    Formula with worked examples in Sarkar, Evaluating LLM and RAG Systems (slides, 2024).
    """

    name = "context_recall"
    inputs = Attributed
    variants = {
        "strict.1": {},
        "strict.2": {"verify": prompts.STANCES},
        "ragas-0.1": {"references": "first"},
        "ragas-0.4": {"references": "first"},
    }

    variant: Literal["strict", "strict.1", "strict.2", "ragas-0.1", "ragas-0.4"] = "strict.1"
    granularity: Literal["statement", "sentence"] = "statement"
    per_call: int = 20
    aggregate: Aggregate = "share"
    decompose: Prompt[StatementList] = prompts.REFERENCE_STATEMENTS
    verify: Prompt[VerdictList] = prompts.VERDICTS

    def check(self) -> None:
        """Reject calls without statements."""
        self.check_count("per_call")

    @property
    def idle(self) -> frozenset[str]:
        """The prompt that splits the reference, if sentences are attributed."""
        return frozenset({"decompose"} if self.granularity == "sentence" else ())

    def against(self, sample: Attributed) -> Steps[Measurement]:
        """Split the reference into statements, attribute each one, take the attributed share."""
        if self.granularity == "sentence":
            statements = yield from split(sample.reference)
        else:
            statements = yield from ask_statements(
                self.decompose, question=sample.question, reference=sample.reference
            )
        if not statements:
            return undefined("no_statements")

        about = f"reference {self.granularity}"
        if any(chunk.strip() for chunk in sample.contexts):
            supported = yield from ask_supported(
                self.verify,
                statements,
                SupportingTexts(contexts=sample.contexts, unaccounted=sample.unaccounted),
                about=about,
                labels=ATTRIBUTED,
                size=self.per_call,
            )
        else:
            nothing = unmentioned(self.verify, statements, "nothing was retrieved")
            judged = yield from review(nothing, about=about, labels=ATTRIBUTED)
            return supported_share(judged, "attributed", "statements")
        return verdict_share(supported.judged, "attributed", "statements", self.aggregate)
