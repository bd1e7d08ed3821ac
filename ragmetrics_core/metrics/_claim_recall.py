"""Claim recall: is each statement of the reference in a single chunk?"""

from dataclasses import dataclass

from ragmetrics_core import prompts
from ragmetrics_core.asking import ask_statements
from ragmetrics_core.measurement import Measurement, undefined
from ragmetrics_core.metrics._steps.matrix import each_chunk, in_any
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.metrics._steps.shares import supported_share
from ragmetrics_core.parsers import StatementList, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Attributed

__all__ = ["ClaimRecall"]


@dataclass(frozen=True, kw_only=True)
class ClaimRecall(ReferenceMetric[Attributed]):
    """Share of the reference's statements that some retrieved chunk entails.

    Range [0, 1], higher is better; undefined when the reference makes no statement; 0 without contexts.
    Unlike in context recall, each chunk is judged alone, so the record says which chunk has which statement.

    Attributes:
        references: count the "best" of several references, or only the "first".
        decompose_reference: splits the reference into statements.

    Ru et al. (2024), RAGChecker: https://arxiv.org/abs/2408.08067
    """

    name = "claim_recall"
    inputs = Attributed

    decompose_reference: Prompt[StatementList] = prompts.REFERENCE_STATEMENTS
    verify: Prompt[VerdictList] = prompts.VERDICTS

    def against(self, sample: Attributed) -> Steps[Measurement]:
        """Split the reference, judge each statement against each chunk, take the share that any entails."""
        statements = yield from ask_statements(
            self.decompose_reference, question=sample.question, reference=sample.reference
        )
        if not statements:
            return undefined("no_statements")
        chunks = yield from each_chunk(self.verify, statements, sample.contexts, about="reference statement")
        found = in_any(chunks, len(statements))
        return supported_share(found, "found", "statements", chunks=len(chunks))
