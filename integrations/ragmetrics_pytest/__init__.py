"""ragmetrics in pytest: runs as fixtures, and assertions that show the worst score on failure."""

from ragmetrics_pytest._assertions import assert_scores

__all__ = ["assert_scores"]
