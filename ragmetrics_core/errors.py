"""The exception tree: what ragmetrics raises for mistakes and failures that it foresees.

RagMetricsError
├── ConfigError              a mistake in how ragmetrics was called; raised before any model call
│   ├── ArgumentError        an argument that the call does not take; also a `TypeError`
│   ├── SampleError          input data that cannot be used as it is
│   │   └── MissingField     a metric needs a field that the sample lacks (`ragmetrics_core.samples`)
│   └── PromptError          a prompt file or its variables are not as they must be
├── ModelError               a judge, embedder or scorer did not answer
│   ├── TransientModelError  may pass when asked again (overload, lost connection)
│   │   ├── ModelOverloaded  the server asks to slow down
│   │   └── ModelTimeout     no answer in time
│   ├── ModelRefused         will not pass by asking again (request too large)
│   │   └── AccessRefused    no call will pass, whatever it asks (wrong key, unknown model)
│   └── BudgetSpent          the run may make no more calls
├── RecordError              a stored record or run cannot be read or re-derived
├── RunStopped               a run stopped: it was told to at the first failure, or a model refuses its key
└── StepFailed               one step of a measurement failed; the driver turns it into a status

Who evaluates meets `ConfigError`, `RecordError` and `RunStopped`. A `ModelError` comes out of a model that is
called by itself; in a run it is a score's status, as are `MissingField` and `StepFailed`.

What is none of these, and why:

- pydantic's `ValidationError`, a `ValueError`, when a `Sample` or another model is made by hand of values
  that it does not take; what reads data (`Sample.from_mapping`, files, records) raises `SampleError` or
  `RecordError`;
- `ValueError` of the formulas in `scoring`, for numbers that cannot be: they know nothing of ragmetrics;
- `Skip` of `ragmetrics_core.live`, which an application's own translation raises, and which is counted;
- `AssertionError` of `assert_scores` and of the checks in `testing`, as tests expect;
- `EvaluationFailed` and `InputError` of the Haystack adapter are `RunStopped` and `SampleError`, and
  `ValueError` as well, as Haystack's own evaluators raise.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

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
    """Any error of this tree."""


class ConfigError(RagMetricsError):
    """A mistake in how ragmetrics was called; raised before the first model call."""


class ArgumentError(ConfigError, TypeError):
    """An argument that a call does not take, or of a wrong type; the message says what it takes."""


class SampleError(ConfigError):
    """Input data that cannot be used as it is; the message names the row and the field."""


class PromptError(ConfigError):
    """A prompt file, or the variables given to it, are not as they must be."""


class ModelError(RagMetricsError):
    """A model did not answer; the message is fit for a record (it never holds a key)."""


class TransientModelError(ModelError):
    """A failure that may pass when the same call is made again.

    Args:
        message: what happened.
        retry_after: seconds that the server asked to wait, when it said so.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelOverloaded(TransientModelError):
    """The server has more to do than it can, or than this key may ask for (429, 503, 529)."""


class ModelTimeout(TransientModelError):
    """The model did not answer within the time given to one call."""


class ModelRefused(ModelError):
    """The server will refuse this call every time, such as a request that is too large."""


class AccessRefused(ModelRefused):
    """The server refuses whoever asks, not what is asked: wrong key, no access, no quota, unknown model.

    Attributes:
        is_lasting: whether nothing but refusals came of late, so that a run need not go on asking.
    """

    is_lasting: bool = False


class BudgetSpent(ModelError):
    """The run's limit of calls, tokens or cost is reached: what is left of it is cancelled."""


class RecordError(RagMetricsError):
    """A stored record or run cannot be read, or lacks what re-deriving its score needs."""


class StepFailed(RagMetricsError):
    """One step of a measurement failed; carries the status that the score will have.

    Args:
        status: the score's status.
        reason: the score's reason.
        prompts: ids of the prompts that were answered with nothing that the metric can use.
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
        """Raise the most urgent of the failures among what ran side by side, if there are any.

        A branch that was not asked to its end comes before one whose reply is there: its steps are missing,
        and only such a status says so.
        """
        failures = [result for result in results if isinstance(result, StepFailed)]
        if failures:
            first = min(failures, key=lambda failure: _URGENCY[failure.status])
            prompts = tuple(each for failure in failures for each in failure.prompts)
            raise StepFailed(first.status, first.reason, prompts) from first


class RunStopped(RagMetricsError):
    """A run with `on_error="raise"` met a sample that it could not measure, or a model refuses every call."""
