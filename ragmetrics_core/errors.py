"""The exception tree: errors that ragmetrics raises for foreseen mistakes and failures.

RagMetricsError
├── ConfigError              a mistake in how ragmetrics was called; raised before any model call
│   ├── ArgumentError        an argument that the call does not accept; also a `TypeError`
│   ├── SampleError          input data that cannot be used
│   │   └── MissingField     a metric needs a field that the sample lacks (`ragmetrics_core.samples`)
│   └── PromptError          a prompt file or its variables are invalid
├── ModelError               a judge, embedder or scorer did not answer
│   ├── TransientModelError  may pass if asked again (overload, lost connection)
│   │   ├── ModelOverloaded  the server asks to slow down
│   │   └── ModelTimeout     no answer in time
│   ├── ModelRefused         will not pass if asked again (request too large)
│   │   └── AccessRefused    no call will pass (wrong key, unknown model)
│   └── BudgetSpent          the run may make no more calls
├── RecordError              a stored record or run cannot be read or recomputed
├── RunStopped               a run stopped: on request at its first failure, or a model refuses every call
└── StepFailed               one step of a measurement failed; the driver turns it into a status

Callers of `evaluate` see `ConfigError`, `RecordError` and `RunStopped`. A direct call of a model raises
`ModelError`; in a run it becomes a score's status, as do `MissingField` and `StepFailed`.

Other errors:

- pydantic's `ValidationError`, a `ValueError`, if a `Sample` or another model is built from invalid values;
  readers (`Sample.from_mapping`, files, records) raise `SampleError` or `RecordError`;
- `ValueError` of the formulas in `scoring`, for impossible numbers;
- `Skip` of `ragmetrics_core.live`, which an application's own translation raises;
- `AssertionError` of `assert_scores` and of the checks in `testing`, as tests expect;
- `EvaluationFailed` and `InputError` of the Haystack adapter, which are `RunStopped` and `SampleError`, and
  also `ValueError`, as Haystack's own evaluators raise.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, Self

__all__ = [
    "AccessRefused",
    "ArgumentError",
    "BudgetSpent",
    "ConfigError",
    "ModelError",
    "ModelOverloaded",
    "ModelRefused",
    "ModelTimeout",
    "PromptError",
    "RagMetricsError",
    "RecordError",
    "RunStopped",
    "SampleError",
    "StepFailed",
    "TransientModelError",
]

FailedStatus = Literal["parse_error", "model_error", "metric_error", "timeout", "cancelled"]
_URGENCY: Mapping[FailedStatus, int] = {
    "cancelled": 0,
    "model_error": 1,
    "timeout": 1,
    "metric_error": 2,
    "parse_error": 3,
}


class RagMetricsError(Exception):
    """Base class of this tree."""


class ConfigError(RagMetricsError):
    """A mistake in how ragmetrics was called; raised before the first model call."""


class ArgumentError(ConfigError, TypeError):
    """An argument that a call does not accept, or of a wrong type; the message lists what it accepts."""


class SampleError(ConfigError):
    """Input data that cannot be used; the message names the row and the field."""


class PromptError(ConfigError):
    """A prompt file or its variables are invalid."""


class ModelError(RagMetricsError):
    """A model did not answer; the message never holds a key and can be stored.

    Attributes:
        status: the HTTP status of the server's answer, if there was one.
        names: settings that the server's message names, such as "response_format" or "temperature".
    """

    status: int | None = None
    names: frozenset[str] = frozenset()

    def saying(self, message: str) -> Self:
        """A copy with a different message; the class may have its own constructor."""
        same = type(self).__new__(type(self), message)
        same.__dict__.update(self.__dict__)
        return same


class TransientModelError(ModelError):
    """A failure that may pass if the call is repeated.

    Args:
        message: what happened.
        retry_after: seconds that the server asked to wait, if stated.

    Attributes:
        requests: number of failed requests, each an attempt.
    """

    requests: int = 1

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelOverloaded(TransientModelError):
    """The server is overloaded, or this key's rate limit is reached (429, 503, 529)."""


class ModelTimeout(TransientModelError):
    """The model did not answer within the time limit of a call."""


class ModelRefused(ModelError):
    """The server will always refuse this call, for example because the request is too large."""


class AccessRefused(ModelRefused):
    """The server refuses every call of this client: wrong key, no access, no quota, unknown model.

    Attributes:
        is_lasting: whether the latest calls were all refused, so that a run can stop.
    """

    is_lasting: bool = False


class BudgetSpent(ModelError):
    """The run's limit of calls, tokens or cost is reached; the rest is cancelled."""


class RecordError(RagMetricsError):
    """A stored record or run cannot be read, or lacks data to recompute its score."""


class StepFailed(RagMetricsError):
    """One step of a measurement failed; holds the status of the score.

    Args:
        status: the score's status.
        reason: the score's reason.
        prompts: ids of the prompts with unusable replies.
    """

    def __init__(self, status: FailedStatus, reason: str, prompts: tuple[str, ...] = ()) -> None:
        super().__init__(status, reason)
        self.status: FailedStatus = status
        self.reason = reason
        self.prompts = prompts

    def __str__(self) -> str:
        """The reason."""
        return self.reason

    @staticmethod
    def raise_most_urgent(results: Iterable[object]) -> None:
        """Raise the most urgent failure among concurrent results, if any.

        An unfinished branch takes precedence over an unusable reply, because only its status says that steps
        are missing.
        """
        failures = [result for result in results if isinstance(result, StepFailed)]
        if failures:
            first = min(failures, key=lambda failure: _URGENCY[failure.status])
            prompts = tuple(each for failure in failures for each in failure.prompts)
            raise StepFailed(first.status, first.reason, prompts) from first


class RunStopped(RagMetricsError):
    """A run with `on_error="raise"` failed on a sample, or a model refuses every call."""
