"""What stands between a metric and its model: few coroutines, however the metric asks."""

import inspect
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.testing import ScriptedJudge

MOST = 4
SAMPLE = {"id": "q1", "question": "When?", "answer": "It opened in 1793.", "contexts": ["Opened in 1793."]}
SAMPLE["reference"] = "In 1793."
REPLIES = {
    "statements": {"statements": ["It opened in 1793.", "It is old."], "declined": False},
    "reference_statements": {"statements": ["It opened in 1793."]},
}


class Witness:
    """A judge that notes which coroutines wait for its answer."""

    identity = "witness"

    def __init__(self) -> None:
        self.paths: list[tuple[str, ...]] = []
        self._judge = ScriptedJudge(REPLIES)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        self.paths.append(awaiting())
        return await self._judge.agenerate(request)


def awaiting() -> tuple[str, ...]:
    """The coroutines from the one that answers a metric to the model, the nearest to the model first."""
    names: list[str] = []
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_flags & inspect.CO_COROUTINE:
            names.append(frame.f_code.co_qualname)
        if any(inspect.isgenerator(value) for value in frame.f_locals.values()):
            break  # this one has the metric's generator
        frame = frame.f_back
    return tuple(names)


@pytest.mark.parametrize("folder", [True, False])
def test_at_most_four_coroutines_stand_between_a_metric_and_its_model(tmp_path, folder):
    judge = Witness()
    metrics = ["faithfulness", "factual_correctness", "context_precision", "context_recall"]

    evaluate([SAMPLE], metrics=metrics, judge=judge, out=tmp_path / "run" if folder else None)

    # statements of answer and reference; verdicts of faithfulness, on both sides, on the chunk, of recall
    assert len(judge.paths) == 7
    assert {path[-1] for path in judge.paths} == {"Interpreter._walk"}
    assert max(len(path) for path in judge.paths) <= MOST
