"""Models for tests: a judge that follows a script and an embedder that needs no weights.

Both are public: tests of pipelines that use ragmetrics need them too. Nothing here imports pytest.
"""

from ragmetrics_core.testing.hash_embedder import HashEmbedder
from ragmetrics_core.testing.scripted_judge import ScriptedJudge

__all__ = ["HashEmbedder", "ScriptedJudge"]
