"""Models for tests that need no weights, and the check for a metric of one's own.

All are public: tests of pipelines that use ragmetrics need them too. Nothing here imports pytest.
"""

from ragmetrics_core.testing._contract import check_metric
from ragmetrics_core.testing._hash_embedder import HashEmbedder
from ragmetrics_core.testing._overlap_scorer import OverlapScorer
from ragmetrics_core.testing._random_judge import RandomJudge
from ragmetrics_core.testing._scripted_judge import ScriptedJudge

__all__ = ["HashEmbedder", "OverlapScorer", "RandomJudge", "ScriptedJudge", "check_metric"]
