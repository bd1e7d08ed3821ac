"""Noise sensitivity: how many wrong statements of the answer come from the chunks?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts
from ragmetrics_core.asking import ask_each, ask_statements, together
from ragmetrics_core.measurement import Judged, Measurement, undefined
from ragmetrics_core.metrics._steps.answers import CORRECT
from ragmetrics_core.metrics._steps.matrix import (
    all_of,
    each_chunk,
    in_any,
    in_relevant,
    inverse,
    relevant_chunks,
)
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.metrics._steps.shares import supported_share
from ragmetrics_core.parsers import StatementList, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Complete

__all__ = ["NoiseSensitivity"]


@dataclass(frozen=True, kw_only=True)
class NoiseSensitivity(ReferenceMetric[Complete]):
    """Share of the answer's statements that are wrong and entailed by a chunk.

    Range [0, 1], lower is better; undefined without contexts and when the answer makes no statement. A
    statement is wrong when the reference does not have it. A chunk is relevant when it entails a statement of
    the reference.

    Attributes:
        references: count the "best" of several references, or only the "first".
        mode: count wrong statements that a "relevant" chunk entails, or that only "irrelevant" chunks entail.
        decompose: splits the answer into statements.
        decompose_reference: splits the reference, to find the relevant chunks.
        check_reference: asks whether each answer statement is in the reference.
        verify: asks whether a chunk entails each statement.

    Ru et al. (2024), RAGChecker: https://arxiv.org/abs/2408.08067; ragas has the same formula.
    """

    name = "noise_sensitivity"
    inputs = Complete
    higher_is_better = False
    variants = {"strict.1": {}, "ragas-0.4": {"references": "first"}}

    variant: Literal["strict", "strict.1", "ragas-0.4"] = "strict.1"
    mode: Literal["relevant", "irrelevant"] = "relevant"
    decompose: Prompt[StatementList] = prompts.STATEMENTS
    decompose_reference: Prompt[StatementList] = prompts.REFERENCE_STATEMENTS
    check_reference: Prompt[VerdictList] = prompts.REFERENCE_VERDICTS
    verify: Prompt[VerdictList] = prompts.VERDICTS

    def against(self, sample: Complete) -> Steps[Measurement]:
        """Split both texts, judge all statements, take the share that is wrong and from such a chunk."""
        if not any(chunk.strip() for chunk in sample.contexts):
            return undefined("no_contexts")
        question, contexts = sample.question, sample.contexts
        statements, expected = yield from together(
            ask_statements(self.decompose, question=question, answer=sample.answer),
            ask_statements(self.decompose_reference, question=question, reference=sample.reference),
        )
        if not statements:
            return undefined("no_statements")
        judged = yield from together(
            _alone(
                ask_each(
                    self.check_reference,
                    statements,
                    about="answer statement",
                    labels=CORRECT,
                    source="reference",
                    question=question,
                    reference=sample.reference,
                )
            ),
            each_chunk(self.verify, statements, contexts, about="answer statement"),
            each_chunk(self.verify, expected, contexts, about="reference statement"),
        )
        (correct,), entailed, reference = judged
        relevant = relevant_chunks(reference)
        from_relevant = in_relevant(entailed, relevant, len(statements))
        source = from_relevant.known
        if self.mode == "irrelevant":
            found = in_any(entailed, len(statements)).known
            source = tuple(
                all_of((one, inverse(other))) for one, other in zip(found, from_relevant.known, strict=True)
            )
        known = (all_of((inverse(one), other)) for one, other in zip(correct.known, source, strict=True))
        noise = Judged.derived(known, correct, from_relevant)
        others = {
            "correct": correct.supported,
            "relevant_chunks": relevant.supported,
            "chunks": len(contexts),
        }
        return supported_share(noise, "noise", "statements", **others)


def _alone(steps: Steps[Judged]) -> Steps[tuple[Judged, ...]]:
    return ((yield from steps),)
