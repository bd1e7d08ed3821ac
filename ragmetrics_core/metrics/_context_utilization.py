"""Context utilization: how much of the relevant retrieved information does the answer use?"""

from collections.abc import Sequence
from dataclasses import dataclass

from ragmetrics_core import prompts, scoring
from ragmetrics_core.asking import ask_each, ask_statements, together
from ragmetrics_core.measurement import Judged, Labels, Measurement, score, undefined
from ragmetrics_core.metrics._steps.matrix import each_chunk, in_any
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.parsers import StatementList, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Complete

__all__ = ["ContextUtilization"]

COVERED = Labels("used", "left out")


@dataclass(frozen=True, kw_only=True)
class ContextUtilization(ReferenceMetric[Complete]):
    """Share of the reference's retrieved statements (some chunk entails them) that the answer has.

    Range [0, 1], higher is better; undefined when no chunk entails a statement of the reference (RAGChecker
    gives 0).

    Attributes:
        references: count the "best" of several references, or only the "first".
        decompose_reference: splits the reference into statements.
        cover: asks whether each of them is in the answer.
        verify: asks whether a chunk entails each of them.

    Ru et al. (2024), RAGChecker: https://arxiv.org/abs/2408.08067
    """

    name = "context_utilization"
    inputs = Complete

    decompose_reference: Prompt[StatementList] = prompts.REFERENCE_STATEMENTS
    cover: Prompt[VerdictList] = prompts.ANSWER_VERDICTS
    verify: Prompt[VerdictList] = prompts.VERDICTS

    def against(self, sample: Complete) -> Steps[Measurement]:
        """Split the reference, judge its statements against chunks and answer, take the used share."""
        statements = yield from ask_statements(
            self.decompose_reference, question=sample.question, reference=sample.reference
        )
        if not statements:
            return undefined("no_statements")
        covered, chunks = yield from together(
            ask_each(
                self.cover,
                statements,
                about="reference statement",
                labels=COVERED,
                source="answer",
                question=sample.question,
                answer=sample.answer,
            ),
            each_chunk(self.verify, statements, sample.contexts, about="reference statement"),
        )
        retrieved = in_any(chunks, len(statements))
        # an unknown verdict on the answer is a "no" if no chunk entails the statement
        known = [one if other is not False else bool(one) for one, other in _pairs(covered, retrieved)]
        covered = Judged.derived(known, covered)
        used = sum(one is True and other is True for one, other in _pairs(covered, retrieved))
        counts = {"used": used, "retrieved": retrieved.supported, "statements": len(statements)}
        return score(
            _used_share,
            covered,
            retrieved,
            counts=counts,
            spelled="{used} / {retrieved}",
            otherwise="nothing_retrieved",
            bounds=_bounds,
        )


def _pairs(covered: Judged, retrieved: Judged) -> list[tuple[bool | None, bool | None]]:
    return list(zip(covered.known, retrieved.known, strict=True))


def _used_share(covered: Sequence[bool], retrieved: Sequence[bool]) -> float | None:
    used = [one for one, other in zip(covered, retrieved, strict=True) if other]
    return scoring.supported_share(used)


def _bounds(covered: Sequence[bool | None], retrieved: Sequence[bool | None]) -> scoring.Bounds:
    """Extremes: unknown statements are retrieved but not used, or retrieved and used."""
    pairs = list(zip(covered, retrieved, strict=True))
    least = [bool(one) for one, other in pairs if other or (other is None and not one)]
    most = [one is not False for one, other in pairs if other or (other is None and one is not False)]
    low, high = scoring.supported_share(least), scoring.supported_share(most)
    # where it may be that no statement is retrieved, all of the range is open
    return scoring.Bounds(0.0, 1.0) if low is None or high is None else scoring.Bounds(low, high)
