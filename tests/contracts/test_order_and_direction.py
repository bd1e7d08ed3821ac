"""What moves a score and what does not, for every metric in every variant.

A metric that is added to the catalogue is tested without an edit: its score must not depend on any order, and
a verdict that turns out supported must never make it worse. One that rightly does otherwise is named below
with the reason, and a test sees that the reason is needed.
"""

from collections.abc import Mapping
from functools import cache
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmetrics_core import Record, Sample, evaluate
from ragmetrics_core.drivers import audit, correct
from ragmetrics_core.metrics import get
from ragmetrics_core.testing import HashEmbedder, OverlapScorer
from tests.catalogue import MEASURABLE
from tests.contracts.steady_judge import SteadyJudge

RANKED = {
    "average_precision": "a relevant result counts by the precision at its rank",
    "context_precision": "a relevant chunk counts by the precision at its rank",
    "ndcg": "a relevant result counts less the later it comes",
    "ragas_score": "context precision is a part of it",
    "reciprocal_rank": "the first relevant result counts by its rank",
    "relevance_grade/ndcg.1": "a chunk counts less the later it comes",
}
CAN_GET_WORSE = {
    "abstention": "whether it is right to decline depends on another verdict: what the contexts hold",
    "average_precision": "a relevant result behind others lowers the mean precision",
    "context_precision": "a relevant chunk behind others lowers the mean precision: from 1, 0, 0 to 1, 0, 1",
    "context_utilization": "what a chunk entails and the answer leaves out enters the denominator alone",
    "ndcg": "with one more relevant result the best ranking has more to gain",
    "nugget_recall/strict.1": "one more vital nugget that the answer lacks",
    "nugget_recall/vital.1": "one more vital nugget that the answer lacks",
    "nugget_recall/weighted.1": "a nugget that the answer lacks counts more when it is vital",
    "nugget_recall/weighted-strict.1": "a nugget that the answer lacks counts more when it is vital",
    "noise_sensitivity": "a wrong statement that a chunk entails is the noise that it counts",
    "ragas_score": "context precision is a part of it",
    "self_knowledge": "a correct statement that no chunk entails is what it counts",
}

SAMPLE = Sample(
    id="q1",
    question="Where was Einstein born?",
    answer="Einstein was born in Ulm in 1879 [1]. He played the violin.",
    contexts=(
        "Einstein was born in Ulm. It lies on the Danube.",
        "He studied in Zurich.",
        "It rained. Ulm is old.",
    ),
    reference="Einstein was born in Ulm, in Germany. It was in 1879. He played the violin.",
    reference_contexts=("Einstein was born in Ulm. It lies on the Danube.",),
    context_ids=("a", "b", "c"),
    reference_context_ids=("a",),
)
TURNS = list(permutations(range(3)))
# every seed is a run of the whole catalogue, which all its metrics share
SEEDS = 12
some = settings(max_examples=SEEDS)
seeds = st.integers(0, SEEDS - 1)


@cache
def scores(seed: int, *, order: int = 0, turn: int = 0) -> Mapping[str, Record]:
    """The scores of all metrics; `order` is that of everything the judge lists, `turn` that of the chunks."""
    places = TURNS[turn]
    sample = SAMPLE.model_copy(
        update={
            name: tuple(getattr(SAMPLE, name)[place] for place in places)
            for name in ("contexts", "context_ids")
        }
    )
    run = evaluate(
        [sample],
        metrics=[get(each) for each in MEASURABLE],
        judge=SteadyJudge(seed, order),
        embedder=HashEmbedder(),
        scorer=OverlapScorer(),
    )
    return {each: run.score(sample.id, get(each)) for each in MEASURABLE}


def turned(seed: int) -> int:
    """Another order than the sample's own."""
    return 1 + seed % (len(TURNS) - 1)


def outcome(score: Record) -> tuple[object, ...]:
    return score.status, score.value, score.bounds


def gain(metric: str, score: Record, number: int) -> float:
    """By how much a score gets better when one of its verdicts turns out supported."""
    corrected = correct(score, number=number, supported=True)
    assert audit(corrected.hydrated(score.sample, score.prompts)) == []
    # whoever supports one more text does not make a score undefined
    difference = corrected.value - score.value
    return difference if get(metric).higher_is_better else -difference


def named(table: Mapping[str, str]) -> list[str]:
    """The metrics of a table, which names a metric or one of its variants."""
    return [each for each in MEASURABLE if each in table or each.partition("/")[0] in table]


@pytest.mark.parametrize("metric", MEASURABLE)
@some
@given(seed=seeds)
def test_the_order_in_which_a_judge_lists_things_does_not_move_a_score(metric, seed):
    assert outcome(scores(seed, order=1)[metric]) == outcome(scores(seed)[metric])


@pytest.mark.parametrize("metric", [each for each in MEASURABLE if each not in named(RANKED)])
@some
@given(seed=seeds)
def test_the_order_of_the_chunks_does_not_move_a_score_without_ranks(metric, seed):
    assert outcome(scores(seed, turn=turned(seed))[metric]) == outcome(scores(seed)[metric])


@pytest.mark.parametrize("metric", named(RANKED))
def test_the_order_of_the_chunks_moves_a_score_with_ranks(metric):
    assert any(
        outcome(scores(seed, turn=turned(seed))[metric]) != outcome(scores(seed)[metric])
        for seed in range(SEEDS)
    )


@pytest.mark.parametrize("metric", [each for each in MEASURABLE if each not in named(CAN_GET_WORSE)])
@some
@given(seed=seeds, data=st.data())
def test_a_verdict_that_turns_out_supported_never_makes_a_score_worse(metric, seed, data):
    score = scores(seed)[metric]
    if score.value is not None and score.verdicts:
        number = data.draw(st.integers(1, len(score.verdicts)))
        # the last bits may differ: a mean of four scores is not exact
        assert gain(metric, score, number) >= -1e-15


@pytest.mark.parametrize("metric", named(CAN_GET_WORSE))
def test_a_metric_that_is_said_to_get_worse_by_a_verdict_does_so(metric):
    assert any(
        gain(metric, score, number) < -1e-12
        for seed in range(2 * SEEDS)
        if (score := scores(seed)[metric]).value is not None
        for number in range(1, len(score.verdicts) + 1)
    )


def test_every_metric_has_a_score_with_some_of_these_judges():
    # else the tests above would say nothing about it
    without = [each for each in MEASURABLE if all(scores(seed)[each].value is None for seed in range(SEEDS))]
    assert without == []
