"""Options of live components that are functions and names, so that YAML can hold them."""

from collections.abc import Iterator
from typing import Any

import pytest
from haystack.dataclasses import GeneratedAnswer
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import MemorySink

from haystack_integrations.components.evaluators.ragmetrics import (
    RagMetricsAgentHook,
    RagMetricsConnector,
    RagMetricsEvaluator,
    RagMetricsLiveEvaluator,
)
from tests.integrations.haystack.functions import HEARD, MADE, always_paris, hear, to_memory

QUESTIONS = [f"Question {number}?" for number in range(40)]


@pytest.fixture(autouse=True)
def nothing_heard() -> Iterator[None]:
    yield
    HEARD.clear()
    MADE.clear()


def give(part: RagMetricsLiveEvaluator, *questions: str) -> None:
    part.run(answers=[GeneratedAnswer("In Paris.", each, []) for each in questions])


def test_results_go_to_functions_and_sinks_with_what_was_expected():
    part = RagMetricsLiveEvaluator(
        "answer_similarity",
        text_embedder="embedded",
        sinks=[to_memory],
        on_result=hear,
        references=always_paris,
    )

    give(part, "Where?")
    assert part.flush()

    assert [result.sample.reference for result in HEARD] == ["Paris."]
    assert [[result.sample.question for result in sink.results] for sink in MADE] == [["Where?"]]
    part.close()


def test_a_part_that_opens_again_gets_new_sinks():
    part = RagMetricsLiveEvaluator("faithfulness", "embedded", sinks=[to_memory])

    for question in ("First?", "Second?"):
        give(part, question)
        assert part.close()

    # the first one is closed when the second answer comes
    assert [[result.sample.question for result in sink.results] for sink in MADE] == [["First?"], ["Second?"]]


def test_a_seed_draws_the_same_answers_again():
    drawn = []
    for _ in range(2):
        part = RagMetricsLiveEvaluator("faithfulness", "embedded", sample_rate=0.5, seed=7)
        give(part, *QUESTIONS)
        assert part.flush()
        drawn.append({result.sample.question for result in part.results})
        part.close()

    assert drawn[0] == drawn[1]
    assert 0 < len(drawn[0]) < len(QUESTIONS)


@pytest.mark.parametrize("make", [RagMetricsConnector, RagMetricsLiveEvaluator, RagMetricsAgentHook])
def test_a_sink_itself_is_refused_because_yaml_cannot_hold_it(make: Any):
    with pytest.raises(ConfigError, match="sinks takes functions that make a sink"):
        make("faithfulness", "embedded", sinks=[MemorySink()])


@pytest.mark.parametrize("make", [RagMetricsEvaluator, RagMetricsLiveEvaluator])
def test_a_metric_that_rates_pairs_says_at_once_that_it_needs_a_scorer(make: Any):
    with pytest.raises(ConfigError, match=r"answer_equivalence needs a scorer.*'cross-encoder:MODEL'"):
        make("answer_equivalence")


def test_the_name_of_a_scorer_is_looked_up_when_it_is_needed():
    part = RagMetricsLiveEvaluator("answer_equivalence", scorer="nobody:small")

    with pytest.raises(ConfigError, match="there is no scorer 'nobody:small'"):
        part.warm_up()
