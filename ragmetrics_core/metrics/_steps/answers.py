"""Shared steps of metrics that trace the statements of an answer to their origin."""

from dataclasses import dataclass, replace

from ragmetrics_core import prompts
from ragmetrics_core.asking import ask_each, ask_statements, is_three_way, together
from ragmetrics_core.measurement import Judged, Labels, Measurement, undefined
from ragmetrics_core.metrics._steps.matrix import all_of, each_chunk, in_any, inverse, stances_of
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.metrics._steps.shares import supported_share
from ragmetrics_core.parsers import StatementList, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Complete

__all__ = ["CORRECT", "OriginMetric"]

CORRECT = Labels("correct", "incorrect")


@dataclass(frozen=True, kw_only=True)
class OriginMetric(ReferenceMetric[Complete]):
    """Share of the answer's statements that no chunk entails and that are correct, or incorrect.

    Attributes:
        decompose: splits the answer into statements.
        check_reference: asks whether each statement is in the reference.
        verify: asks whether a chunk entails each statement.
    """

    inputs = Complete
    higher_is_better = False

    decompose: Prompt[StatementList] = prompts.STATEMENTS
    check_reference: Prompt[VerdictList] = prompts.REFERENCE_VERDICTS
    verify: Prompt[VerdictList] = prompts.VERDICTS

    def counted(self, correct: bool | None) -> bool | None:
        """Whether a statement that no chunk entails counts, given whether it is correct."""
        raise NotImplementedError

    def against(self, sample: Complete) -> Steps[Measurement]:
        """Split the answer, judge statements against reference and chunks, take the share that counts."""
        statements = yield from ask_statements(self.decompose, question=sample.question, answer=sample.answer)
        if not statements:
            return undefined("no_statements")
        correct, chunks = yield from together(
            ask_each(
                self.check_reference,
                statements,
                about="answer statement",
                labels=CORRECT,
                source="reference",
                question=sample.question,
                reference=sample.reference,
            ),
            each_chunk(self.verify, statements, sample.contexts, about="answer statement"),
        )
        retrieved = in_any(chunks, len(statements))
        pairs = zip(correct.known, retrieved.known, strict=True)
        known = [all_of((self.counted(one), inverse(other))) for one, other in pairs]
        wanted = Judged.derived(known, correct, retrieved)
        if is_three_way(self.verify):
            wanted = replace(wanted, stances=stances_of(known, chunks))
        others = {"correct": correct.supported, "retrieved": retrieved.supported}
        return supported_share(wanted, self.name, "statements", **others)
