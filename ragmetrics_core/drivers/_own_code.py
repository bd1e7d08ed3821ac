"""The boundary to the code of custom metrics, which may raise, yield or return anything.

An error there fails one sample, with the status `metric_error`, and not the run.
"""

import re
from collections.abc import Generator, Mapping
from pathlib import PurePath
from traceback import walk_tb
from typing import Any, cast

from pydantic import ValidationError

from ragmetrics_core.errors import StepFailed
from ragmetrics_core.measurement import Measurement
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.metrics.reference_numbers import of_reference
from ragmetrics_core.models.redactor import keyless
from ragmetrics_core.protocol import Part, Steps
from ragmetrics_core.records import Status
from ragmetrics_core.samples import MissingField, Sample

__all__ = ["OwnCode", "blank_text", "status_of", "without_place"]

# Of what an error says; the rest is in nobody's way.
LONGEST = 300

_PLACE = re.compile(r" \([^()]{1,255}, line \d{1,9}\)$")


class OwnCode:
    """The code of a metric, on one sample.

    Args:
        metric: the metric's name.
        sample: the sample.
        changed: values of fields in place of the sample's own.

    Raises:
        StepFailed: from each method: "metric_error", with the names of the metric and the sample.
    """

    def __init__(self, metric: str, sample: Sample, changed: Mapping[str, Any]) -> None:
        self._metric = metric
        self._sample = sample
        self._changed = changed
        self._modules: set[str] = set()

    def part_steps(self, metric: Metric[Any], part: Part) -> Steps[Any]:
        """Steps of a part, against the reference that the part names.

        Raises:
            MissingField: the sample lacks a field that the metric needs.
        """
        if part.reference is None:
            return self.steps(metric)
        changed = {"reference": part.reference, "references": None}
        steps = self.steps(metric, self._sample.model_copy(update=changed))
        return steps if part.reference_number is None else of_reference(part.reference_number, steps)

    def steps(self, metric: Metric[Any], sample: Sample | None = None) -> Steps[Any]:
        """Steps of a metric for the sample.

        Raises:
            MissingField: the sample lacks a field that the metric needs.
        """
        self._modules.add(type(metric).__module__)
        try:
            steps: Any = metric.measure(metric.view.of(sample or self._sample, self._changed))
        except MissingField:
            raise
        except Exception as error:  # the boundary to the user's code
            raise self.failure(error) from error
        if not isinstance(steps, Generator):
            raise self._odd("measure is no generator: it returned", steps)
        return cast("Steps[Any]", steps)

    def measurement(self, returned: object) -> Measurement:
        """Check the result of `measure`."""
        if not isinstance(returned, Measurement):
            raise self._odd("measure must return score(), valued() or undefined(), and returned", returned)
        return returned

    def no_request(self, yielded: object) -> StepFailed:
        """Failure of a metric whose yield is not a request."""
        return self._odd("measure must yield from the steps of ragmetrics_core.asking, and yielded", yielded)

    def failure(self, error: Exception) -> StepFailed:
        """The failure of a metric whose code raised an error."""
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            return self._failed(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", self._place(error))
        return self._failed(f"{type(error).__name__}: {error}", self._place(error))

    def _place(self, error: Exception) -> str:
        """Last line of the metric's own file in the error's traceback; "" if there is none."""
        lines = [
            f" ({PurePath(frame.f_code.co_filename).name}, line {number})"
            for frame, number in walk_tb(error.__traceback__)
            if frame.f_globals.get("__name__") in self._modules
        ]
        return lines[-1] if lines else ""

    def _odd(self, what: str, value: object) -> StepFailed:
        return self._failed(f"{what} {type(value).__name__}")

    def _failed(self, said: str, place: str = "") -> StepFailed:
        said = " ".join(keyless(said).split())
        said = said.encode(errors="backslashreplace").decode()
        said = said if len(said) <= LONGEST else said[:LONGEST] + "..."
        return StepFailed("metric_error", f"{self._metric} on sample {self._sample.id}: {said}{place}")


def blank_text(metric: Metric[Any], sample: Sample) -> str | None:
    """Reason why a blank text makes a score undefined: "no_answer", "no_reference", or None."""
    needed = metric.view.required()
    if not metric.leaves_blanks_out:
        return None
    if "answer" in needed and not (sample.answer or "").strip():
        return "no_answer"
    if "reference" in needed and not any(text.strip() for text in sample.expected):
        return "no_reference"
    return None


def without_place(reason: str) -> str:
    """A failure's reason without the line number, which changes with the file."""
    return _PLACE.sub("", reason)


def status_of(measurement: Measurement) -> Status:
    """Status of a score without failures."""
    if measurement.value is not None:
        return "ok"
    return "incomplete" if measurement.bounds else "undefined"
