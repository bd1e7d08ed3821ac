"""Test models without weights, and the check for custom metrics.

All are public, for tests of pipelines that use ragmetrics. pytest is not needed.
"""

from ragmetrics_core.testing._contract import check_metric
from ragmetrics_core.testing._hash_embedder import HashEmbedder
from ragmetrics_core.testing._overlap_scorer import OverlapScorer
from ragmetrics_core.testing._random_judge import RandomJudge
from ragmetrics_core.testing._scripted_judge import ScriptedJudge

__all__ = ["HashEmbedder", "OverlapScorer", "RandomJudge", "ScriptedJudge", "check_metric"]
