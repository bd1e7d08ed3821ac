"""Models: judges, embedders and what wraps them."""

from ragmetrics_core.models.wrapping import CallableJudge, PromptChecker, as_embedder, as_judge

__all__ = ["CallableJudge", "PromptChecker", "as_embedder", "as_judge"]
