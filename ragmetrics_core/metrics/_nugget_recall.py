"""Nugget recall: how many of the facts that a good answer needs does the answer contain?"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from ragmetrics_core import prompts, scoring
from ragmetrics_core.asking import ask_each, ask_statements, split, together
from ragmetrics_core.measurement import Judged, Labels, Measurement, score, undefined
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.parsers import StatementList, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Referenced

__all__ = ["NuggetRecall"]

IMPORTANCE = Labels("vital", "okay")
FULL = Labels("support", "no full support")
PART = Labels("support in part", "no support")
_OKAY_WEIGHT = {"vital": 0.0, "weighted": 0.5, "all": 1.0}
_PARTIAL_CREDIT = {"strict": 0.0, "partial": 0.5}


@dataclass(frozen=True, kw_only=True)
class NuggetRecall(ReferenceMetric[Referenced]):
    """Share of the reference's vital nuggets that the answer supports in full.

    Range [0, 1], higher is better; undefined when the reference makes no statement, or has no vital nugget
    while only vital ones count. A nugget is a statement of the reference. The judge decides whether it is
    vital or okay, and whether the answer supports it in full, in part or not. The default is the track's
    main score, "vital strict". The variants are its other scores: `vital`, `all`, `all-strict`, `weighted`
    and `weighted-strict`. Without "strict", partial support counts one half; "weighted" counts an okay
    nugget half as much as a vital one.

    Attributes:
        references: count the "best" of several references, or only the "first".
        granularity: the nuggets are the "statement"s that the judge extracts, or the sentences ("sentence").
        counted: count "vital" nuggets, "all" nuggets alike, or all "weighted" (vital 1, okay 0.5).
        support: full support counts 1; partial support counts 0 ("strict") or 0.5 ("partial").
        per_call: nuggets shown in one call, at least 1.
        decompose_reference: splits the reference into nuggets.
        weigh: asks which nuggets are vital.
        cover: asks which nuggets the answer supports in full.
        cover_part: asks which nuggets the answer supports at least in part.

    Pradeep et al. (2024), AutoNuggetizer in the TREC 2024 RAG track, section 3:
    https://arxiv.org/abs/2411.09607
    """

    name = "nugget_recall"
    inputs = Referenced
    variants = {
        "strict.1": {},
        "vital.1": {"support": "partial"},
        "all.1": {"counted": "all", "support": "partial"},
        "all-strict.1": {"counted": "all"},
        "weighted.1": {"counted": "weighted", "support": "partial"},
        "weighted-strict.1": {"counted": "weighted"},
    }

    variant: Literal[
        "strict",
        "strict.1",
        "vital",
        "vital.1",
        "all",
        "all.1",
        "all-strict",
        "all-strict.1",
        "weighted",
        "weighted.1",
        "weighted-strict",
        "weighted-strict.1",
    ] = "strict.1"
    granularity: Literal["statement", "sentence"] = "statement"
    counted: Literal["vital", "all", "weighted"] = "vital"
    support: Literal["strict", "partial"] = "strict"
    per_call: int = 20
    decompose_reference: Prompt[StatementList] = prompts.REFERENCE_STATEMENTS
    weigh: Prompt[VerdictList] = prompts.NUGGET_IMPORTANCE
    cover: Prompt[VerdictList] = prompts.ANSWER_VERDICTS
    cover_part: Prompt[VerdictList] = prompts.NUGGET_PARTS

    def check(self) -> None:
        """Reject calls without nuggets."""
        self.check_count("per_call")

    @property
    def leaves_blanks_out(self) -> bool:
        """True, because a blank answer says nothing in every variant."""
        return True

    @property
    def idle(self) -> frozenset[str]:
        """The prompts whose decisions the score does not count."""
        idle: set[str] = set()
        if self.granularity == "sentence":
            idle.add("decompose_reference")
        if self.counted == "all":
            idle.add("weigh")
        if self.support == "strict":
            idle.add("cover_part")
        return frozenset(idle)

    def against(self, sample: Referenced) -> Steps[Measurement]:
        """Split the reference, ask about importance and support, take the share of the credit."""
        if self.granularity == "sentence":
            nuggets = yield from split(sample.reference)
        else:
            nuggets = yield from ask_statements(
                self.decompose_reference, question=sample.question, reference=sample.reference
            )
        if not nuggets:
            return undefined("no_statements")

        asked = [self._support(self.cover, FULL, nuggets, sample)]
        if self.support == "partial":
            asked.append(self._support(self.cover_part, PART, nuggets, sample))
        if self.counted != "all":
            asked.append(
                ask_each(
                    self.weigh,
                    nuggets,
                    about="nugget's importance",
                    labels=IMPORTANCE,
                    size=self.per_call,
                    question=sample.question,
                )
            )
        full, *others = yield from together(*asked)
        part = others.pop(0) if self.support == "partial" else Judged((False,) * len(nuggets))
        vital = others.pop() if others else Judged((True,) * len(nuggets))
        return self._score(full, part, vital)

    def _support(
        self, prompt: Prompt[VerdictList], labels: Labels, nuggets: Sequence[str], sample: Referenced
    ) -> Steps[Judged]:
        return (
            yield from ask_each(
                prompt,
                nuggets,
                about="reference statement",
                labels=labels,
                source="answer",
                size=self.per_call,
                question=sample.question,
                answer=sample.answer,
            )
        )

    def _score(self, full: Judged, part: Judged, vital: Judged) -> Measurement:
        credit, okay = _PARTIAL_CREDIT[self.support], _OKAY_WEIGHT[self.counted]
        rows = list(zip(full.known, part.known, vital.known, strict=True))
        counts: dict[str, float] = {"nuggets": len(rows)}
        names = {True: "vital", False: "okay"} if self.counted != "all" else {True: "nuggets"}
        terms: list[str] = []
        wholes: list[str] = []
        for is_vital, name in names.items():
            group = [(in_full, in_part) for in_full, in_part, known in rows if known is is_vital]
            counts[name] = len(group)
            counts[f"{name}_full"] = sum(in_full is True for in_full, _ in group)
            term = f"{{{name}_full}}"
            if credit:
                counts[f"{name}_part"] = sum(
                    in_full is False and in_part is True for in_full, in_part in group
                )
                term += f" + {credit:g} × {{{name}_part}}"
            weight = 1.0 if is_vital else okay
            if weight:
                terms.append(term if weight == 1 else f"{weight:g} × ({term})")
                wholes.append(f"{{{name}}}" if weight == 1 else f"{weight:g} × {{{name}}}")
        return score(
            partial(scoring.nugget_recall, credit=credit, okay=okay),
            full,
            part,
            vital,
            counts=counts,
            spelled=f"({' + '.join(terms)}) / ({' + '.join(wholes)})",
            otherwise="no_vital_nuggets",
            bounds=partial(scoring.nugget_recall_bounds, credit=credit, okay=okay),
        )
