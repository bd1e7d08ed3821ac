"""The check for metrics of one's own finds what it is there to find."""

from dataclasses import dataclass
from random import random

import pytest

from ragmetrics_core.asking import ask_each
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.metrics import Faithfulness, Metric
from ragmetrics_core.prompts import VERDICTS
from ragmetrics_core.samples import Answered
from ragmetrics_core.testing import check_metric

SAMPLES = [
    {"id": "q1", "question": "Where?", "answer": "In Ulm. On the Danube.", "contexts": ["Ulm.", "Danube."]}
]


@dataclass(frozen=True, kw_only=True)
class Broken(Metric[Answered]):
    name = "broken"
    inputs = Answered
    needs = frozenset()


def test_a_metric_of_the_catalogue_passes():
    check_metric(Faithfulness(), SAMPLES)


def test_a_score_that_depends_on_chance_is_found():
    class Chance(Broken):
        def measure(self, sample):
            yield from ()
            return valued(random(), counts={}, spelled="chance")

    with pytest.raises(AssertionError, match="but its record gives"):
        check_metric(Chance(), SAMPLES, seeds=1)


@pytest.mark.parametrize(
    ("measurement", "named"),
    [
        (valued(2.0, counts={}, spelled="2"), r"\[2.0\] is outside \[0, 1\]"),
        (Measurement(bounds=(0.9, 0.1), reason="open"), "are not in order"),
        (undefined("never"), "no judge gave it a score"),
    ],
)
def test_a_score_that_cannot_be_is_found(measurement, named):
    class Odd(Broken):
        def measure(self, sample):
            yield from ()
            return measurement

    with pytest.raises(AssertionError, match=named):
        check_metric(Odd(), SAMPLES, seeds=1)


def test_what_is_asked_in_an_order_that_changes_is_found():
    asked = []

    class Turning(Broken):
        needs = frozenset({"judge"})

        def measure(self, sample):
            asked.append(sample)
            items = [f"item {len(asked)}"]
            judged = yield from ask_each(VERDICTS, items, contexts=("Ulm.",))
            return valued(float(judged.supported), counts={}, spelled="turning")

    with pytest.raises(AssertionError):
        check_metric(Turning(), SAMPLES, seeds=4)
