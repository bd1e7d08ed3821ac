"""Words that a judge marked, with their positions in the text of the statement."""

from dataclasses import replace

from ragmetrics_core.measurement import Decision, Evidence
from ragmetrics_core.parsers import locate
from ragmetrics_core.samples import Sample

__all__ = ["placed_in"]

_FIELDS = frozenset({"answer", "reference"})


def placed_in(sample: Sample, decision: Decision) -> tuple[Evidence, ...]:
    """Evidence of a decision; words of answer or reference are looked up near their statement."""
    evidence = decision.evidence
    if not any(each.span is None and each.source in _FIELDS for each in evidence):
        return evidence
    return tuple([_placed(sample, decision.text, each) for each in evidence])


def _placed(sample: Sample, statement: str, evidence: Evidence) -> Evidence:
    if evidence.span is not None or evidence.source not in _FIELDS:
        return evidence
    whole: str = getattr(sample, evidence.source) or ""
    span = locate(statement, (whole,))
    inner = span and locate(evidence.quote, (whole[span.start : span.end],))
    if span is None or inner is None:
        return replace(evidence, span=locate(evidence.quote, (whole,)))
    return replace(evidence, span=replace(inner, start=span.start + inner.start, end=span.start + inner.end))
