"""Factual correctness: do answer and reference state the same facts?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts, scoring
from ragmetrics_core.asking import ask, ask_each, ask_statements, review, together
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Decision, Judged, Labels, Measurement, score
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.parsers import FactLists, StatementList, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Referenced

__all__ = ["FactualCorrectness"]

PRESENT = Labels("TP", "FP")
COVERED = Labels("covered", "FN")


@dataclass(frozen=True, kw_only=True)
class FactualCorrectness(ReferenceMetric[Referenced]):
    """F-beta of the shares of answer statements in the reference and reference statements in the answer.

    Range [0, 1], higher is better; undefined when neither side makes a statement, or the side that `mode`
    needs makes none. Each side is counted in its own unit: precision is TP / answer statements, recall is
    covered / reference statements, so splitting one fact into ten answer statements does not change recall.
    The variant `paper` takes three lists of statements from one reply and computes TP / (TP + 0.5 (FP + FN)).

    Attributes:
        references: count the "best" of several references, or only the "first".
        mode: the whole score, or only its "precision" or "recall".
        beta: above 1, recall weighs more; below 1, precision.
        recall: "own" counts recall in reference statements; "mixed" is TP / (TP + FN) with TP in answer
            statements, as in other libraries.
        empty: score without statements: "undefined" or "zero" when both sides have none, "one" when either
            side has none.
        digits: number of digits to round the score to.
        per_call: statements shown in one call, at least 1; small judges read them better one by one.
        decompose, decompose_reference: split answer and reference into statements.
        verify: asks whether each answer statement is in the reference.
        cover: asks whether each reference statement is in the answer.
        classify: asks for all three lists at once instead (the paper).

    Equation 7 of Roychowdhury et al. (2024), FacCor: https://arxiv.org/abs/2407.12873
    """

    name = "factual_correctness"
    inputs = Referenced
    variants = {
        "strict.1": {},
        "paper.1": {"classify": prompts.PAPER_FACTS, "recall": "mixed"},
        "ragas-0.1": {"references": "first", "recall": "mixed", "empty": "zero"},
        "ragas-0.4": {"references": "first", "recall": "mixed", "empty": "zero", "digits": 2},
    }

    variant: Literal["strict", "strict.1", "paper", "paper.1", "ragas-0.1", "ragas-0.4"] = "strict.1"
    mode: Literal["f", "precision", "recall"] = "f"
    beta: float = 1.0
    recall: Literal["own", "mixed"] = "own"
    empty: Literal["undefined", "zero", "one"] = "undefined"
    digits: int | None = None
    per_call: int = 20
    decompose: Prompt[StatementList] = prompts.STATEMENTS
    decompose_reference: Prompt[StatementList] = prompts.REFERENCE_STATEMENTS
    verify: Prompt[VerdictList] = prompts.REFERENCE_VERDICTS
    cover: Prompt[VerdictList] = prompts.ANSWER_VERDICTS
    classify: Prompt[FactLists] | None = None

    def check(self) -> None:
        """Reject a beta of 0 or below and calls without statements."""
        self.check_count("per_call")
        if self.beta <= 0:
            raise ConfigError(f"factual_correctness: beta must be above 0, not {self.beta}")

    @property
    def idle(self) -> frozenset[str]:
        """The prompts that one reply with all lists replaces."""
        return frozenset({"decompose", "decompose_reference", "verify", "cover"} if self.classify else ())

    def against(self, sample: Referenced) -> Steps[Measurement]:
        """Judge each side's statements against the other side, take the F-beta."""
        if self.classify is not None:
            answer, reference = yield from self._by_lists(self.classify, sample)
        else:
            answer, reference = yield from self._by_statements(sample)

        tp, covered = answer.supported, reference.supported
        counts = {
            "num_tp": tp,
            "num_fp": len(answer) - tp - answer.missing,
            "num_fn": len(reference) - covered - reference.missing,
            "answer_statements": len(answer),
            "reference_statements": len(reference),
            "covered": covered,
        }
        return score(self._formula, answer, reference, counts=counts, spelled=self._spelled())

    def _by_statements(self, sample: Referenced) -> Steps[tuple[Judged, Judged]]:
        question = sample.question
        answer, reference = yield from together(
            ask_statements(self.decompose, question=question, answer=sample.answer),
            ask_statements(self.decompose_reference, question=question, reference=sample.reference),
        )
        return (
            yield from together(
                ask_each(
                    self.verify,
                    answer,
                    about="answer statement",
                    labels=PRESENT,
                    source="reference",
                    size=self.per_call,
                    question=question,
                    reference=sample.reference,
                ),
                ask_each(
                    self.cover,
                    reference,
                    about="reference statement",
                    labels=COVERED,
                    source="answer",
                    size=self.per_call,
                    question=question,
                    answer=sample.answer,
                ),
            )
        )

    def _by_lists(self, classify: Prompt[FactLists], sample: Referenced) -> Steps[tuple[Judged, Judged]]:
        facts = yield from ask(
            classify, question=sample.question, answer=sample.answer, reference=sample.reference
        )
        sides = dict.fromkeys(facts.tp, True) | dict.fromkeys(facts.fp, False)
        answer = yield from review(
            [Decision(text, tp) for text, tp in sides.items()],
            about="answer statement",
            labels=PRESENT,
        )
        reference = yield from review(
            [Decision(text, False) for text in facts.fn],
            about="reference statement",
            labels=COVERED,
        )
        # what a person finds covered after all stands on both sides: it is a TP and no longer an FN
        covered = reference.supported
        return Judged(answer.known + (True,) * covered), Judged((False,) * (len(reference) - covered))

    def _formula(self, present: Sequence[bool], covered: Sequence[bool]) -> float | None:
        tp, fp = sum(present), len(present) - sum(present)
        fn = len(covered) - sum(covered)
        if self.empty == "one" and not (present and (covered or self.classify)):
            return 1.0
        if not present and not covered:
            return 0.0 if self.empty == "zero" else None
        precision = scoring.share(tp, tp + fp)
        recall = scoring.share(tp, tp + fn) if self.recall == "mixed" else scoring.supported_share(covered)
        if self.mode == "f":
            value = (
                scoring.f_beta(tp, fp, fn, self.beta)
                if self.recall == "mixed"
                else scoring.f_measure(precision, recall, self.beta)
            )
        else:
            value = precision if self.mode == "precision" else recall
        if value is None and self.empty == "zero":
            value = 0.0
        return round(value, self.digits) if value is not None and self.digits is not None else value

    def _spelled(self) -> str:
        precision = "{num_tp} / {answer_statements}"
        if self.recall == "mixed":
            recall = "{num_tp} / ({num_tp} + {num_fn})"
            both = "{num_tp} / ({num_tp} + 0.5 × ({num_fp} + {num_fn}))"
            whole = (
                both if self.beta == 1 else f"F{self.beta:g} of TP {{num_tp}}, FP {{num_fp}}, FN {{num_fn}}"
            )
        else:
            recall = "{covered} / {reference_statements}"
            whole = f"F{self.beta:g} of P {precision} and R {recall}"
        return {"f": whole, "precision": precision, "recall": recall}[self.mode]
