"""Errors of this adapter."""

from ragmetrics_core.errors import RunStopped, SampleError

__all__ = ["EvaluationFailed", "InputError"]


class EvaluationFailed(RunStopped, ValueError):  # noqa: N818  (the tree says that it is an error)
    """A score failed and `raise_on_failure` is set; a `ValueError`, as Haystack's own evaluators raise."""


class InputError(SampleError, ValueError):
    """The inputs of an evaluator cannot be used; a `ValueError`, as Haystack's own evaluators raise."""
