"""Errors of this adapter, and errors of models as ours."""

from ragmetrics_core.errors import (
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelTimeout,
    RunStopped,
    SampleError,
    TransientModelError,
)
from ragmetrics_core.models import keyless

__all__ = ["EvaluationFailed", "InputError", "model_error"]

_OVERLOADED = frozenset({429, 503, 529})
_PASSING = frozenset({408, 409, 425})


class EvaluationFailed(RunStopped, ValueError):
    """A score failed and `raise_on_failure` is set; a `ValueError`, as Haystack's own evaluators raise."""


class InputError(SampleError, ValueError):
    """The inputs of an evaluator cannot be used; a `ValueError`, as Haystack's own evaluators raise."""


def model_error(error: Exception, component: object) -> ModelError:
    """Say what an error of a generator or an embedder means for asking again.

    Haystack passes on the errors of each provider's client, so they are told by what most of them have: a
    status code, or a name that speaks of a timeout or a connection.

    :param error: What the component raised.
    :param component: The component; what can be seen of its keys is taken out of the message.
    :returns: The error to raise in its place.
    """
    message = keyless(f"{type(error).__name__}: {error}", component)
    status = getattr(error, "status_code", None) or getattr(
        getattr(error, "response", None), "status_code", None
    )
    names = " ".join(each.__name__ for each in type(error).__mro__)
    if isinstance(status, int):
        if status in _OVERLOADED:
            return ModelOverloaded(message)
        if status in _PASSING or status >= 500:
            return TransientModelError(message)
        if status >= 400:
            return ModelRefused(message)
    if "Timeout" in names:
        return ModelTimeout(message)
    if "Connect" in names:
        return TransientModelError(message)
    return ModelError(message)
