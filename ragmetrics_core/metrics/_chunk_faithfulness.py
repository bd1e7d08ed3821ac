"""Chunk faithfulness: is each statement of the answer supported by a single chunk?"""

from dataclasses import dataclass

from ragmetrics_core import prompts
from ragmetrics_core.asking import ask_statements
from ragmetrics_core.measurement import Measurement, undefined
from ragmetrics_core.metrics._steps.matrix import each_chunk, in_any
from ragmetrics_core.metrics._steps.shares import supported_share
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import StatementList, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Grounded

__all__ = ["ChunkFaithfulness"]


@dataclass(frozen=True, kw_only=True)
class ChunkFaithfulness(Metric[Grounded]):
    """Share of the answer's statements that a single retrieved chunk entails.

    Range [0, 1], higher is better; undefined without contexts and when the answer makes no statement. A
    statement that follows only from two chunks together counts for faithfulness, but not here.

    Ru et al. (2024), RAGChecker, "faithfulness": https://arxiv.org/abs/2408.08067
    """

    name = "chunk_faithfulness"
    inputs = Grounded

    decompose: Prompt[StatementList] = prompts.STATEMENTS
    verify: Prompt[VerdictList] = prompts.VERDICTS

    def measure(self, sample: Grounded) -> Steps[Measurement]:
        """Split the answer, judge each statement against each chunk, take the share that any supports."""
        if not any(chunk.strip() for chunk in sample.contexts):
            return undefined("no_contexts")
        statements = yield from ask_statements(self.decompose, question=sample.question, answer=sample.answer)
        if not statements:
            return undefined("no_statements")
        chunks = yield from each_chunk(self.verify, statements, sample.contexts, about="answer statement")
        found = in_any(chunks, len(statements))
        return supported_share(found, "supported", "statements", chunks=len(chunks))
