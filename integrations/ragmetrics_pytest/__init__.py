"""ragmetrics in pytest: runs as fixtures, and assertions whose failure opens the worst score."""

from ragmetrics_pytest._assertions import assert_scores

__all__ = ["assert_scores"]
