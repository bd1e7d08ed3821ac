"""Texts: compared, shown to people, and the languages they are in."""

from ragmetrics_core.texts.comparing import Writing, folded, plain_form, spaced_form
from ragmetrics_core.texts.wording import number_of, visible

__all__ = ["Writing", "folded", "number_of", "plain_form", "spaced_form", "visible"]
