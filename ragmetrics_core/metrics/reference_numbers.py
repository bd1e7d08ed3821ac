"""The number of a reference in the verdicts about it."""

from dataclasses import replace
from typing import Any, TypeVar

from ragmetrics_core.errors import StepFailed
from ragmetrics_core.measurement import Decision
from ragmetrics_core.protocol import Fork, Part, Request, Review, Steps

__all__ = ["of_reference"]

T = TypeVar("T")


def of_reference(number: int, steps: Steps[T]) -> Steps[T]:
    """The same steps, with the number of the reference in their verdicts."""
    try:
        request = next(steps)
        while True:
            try:
                answer: Any = yield _about(number, request)
            except StepFailed as failed:
                request = steps.throw(failed)
            else:
                request = steps.send(answer)
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        steps.close()


def _about(number: int, request: Request) -> Request:
    match request:
        case Fork():
            return Fork(tuple(of_reference(number, branch) for branch in request.branches), request.enough)
        case Part():
            return replace(request, reference_number=number)
        case Review():
            decisions = tuple(_decision(number, each) for each in request.decisions)
            return request._replace(decisions=decisions, about=f"{request.about} (reference {number})")
        case _:
            return request


def _decision(number: int, decision: Decision) -> Decision:
    """The decision; a quote from a reference after the first names that reference."""
    if number == 1 or not any(each.source == "reference" for each in decision.evidence):
        return decision
    evidence = tuple(
        replace(each, source=f"reference {number}") if each.source == "reference" else each
        for each in decision.evidence
    )
    return decision._replace(evidence=evidence)
