"""Models for tests that need no weights, and the check for a metric of one's own.

All are public: tests of pipelines that use ragmetrics need them too. Nothing here imports pytest.
"""

from ragmetrics_core.testing.contract import check_metric
from ragmetrics_core.testing.hash_embedder import HashEmbedder
from ragmetrics_core.testing.overlap_scorer import OverlapScorer
from ragmetrics_core.testing.random_judge import RandomJudge
from ragmetrics_core.testing.scripted_judge import ScriptedJudge

__all__ = ["HashEmbedder", "OverlapScorer", "RandomJudge", "ScriptedJudge", "check_metric"]
