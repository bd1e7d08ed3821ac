"""The embedded judge: no model, only rules that compare words."""

from ragmetrics_core.models.lexical.judge import LexicalJudge

__all__ = ["LexicalJudge"]
