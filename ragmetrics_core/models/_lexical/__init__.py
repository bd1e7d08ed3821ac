"""The embedded judge: a small model for verdicts, rules for everything else."""

from ragmetrics_core.models._lexical.judge import LexicalJudge

__all__ = ["LexicalJudge"]
