"""Useful chunks: how many retrieved chunks have a statement of the reference?"""

from dataclasses import dataclass

from ragmetrics_core import prompts
from ragmetrics_core.asking import ask_statements
from ragmetrics_core.measurement import Measurement, undefined
from ragmetrics_core.metrics._steps.matrix import each_chunk, relevant_chunks
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.metrics._steps.shares import supported_share
from ragmetrics_core.parsers import StatementList, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Attributed

__all__ = ["UsefulChunks"]


@dataclass(frozen=True, kw_only=True)
class UsefulChunks(ReferenceMetric[Attributed]):
    """Share of the retrieved chunks that entail a statement of the reference, whatever their rank.

    Range [0, 1], higher is better; undefined without contexts and when the reference makes no statement.
    RAGChecker calls it context precision and gives 0 in both cases.

    Attributes:
        references: count the "best" of several references, or only the "first".
        decompose_reference: splits the reference into statements.
        verify: asks whether a chunk entails each of them.

    Ru et al. (2024), RAGChecker, "context precision": https://arxiv.org/abs/2408.08067
    """

    name = "useful_chunks"
    inputs = Attributed

    decompose_reference: Prompt[StatementList] = prompts.REFERENCE_STATEMENTS
    verify: Prompt[VerdictList] = prompts.VERDICTS

    def against(self, sample: Attributed) -> Steps[Measurement]:
        """Split the reference, judge each statement against each chunk, take the share of useful chunks."""
        if not any(chunk.strip() for chunk in sample.contexts):
            return undefined("no_contexts")
        statements = yield from ask_statements(
            self.decompose_reference, question=sample.question, reference=sample.reference
        )
        if not statements:
            return undefined("no_statements")
        chunks = yield from each_chunk(self.verify, statements, sample.contexts, about="reference statement")
        useful = relevant_chunks(chunks)
        return supported_share(useful, "useful", "chunks", statements=len(statements))
