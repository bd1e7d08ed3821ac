"""Errors of this adapter."""

from ragmetrics_core.errors import RunStopped, SampleError

__all__ = ["EvaluationFailed", "InputError"]


class EvaluationFailed(RunStopped, ValueError):  # noqa: N818  (the tree says that it is an error)
    """A score failed and `raise_on_failure` is set; a `ValueError`, like the errors of Haystack's evaluators."""


class InputError(SampleError, ValueError):
    """The inputs of an evaluator are invalid; a `ValueError`, like the errors of Haystack's evaluators."""
