"""The embedded judge: a small model for verdicts, rules for everything else."""

from ragmetrics_embedded._judge import LexicalJudge

__all__ = ["LexicalJudge"]
