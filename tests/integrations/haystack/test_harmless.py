"""Whatever fails on the connector's side changes nothing for the pipeline."""

from typing import Any

import pytest
from haystack import tracing
from ragmetrics_core.live import LiveScorer

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsTracer
from tests.integrations.haystack.connected import QUESTION, connected
from tests.integrations.haystack.generators import answering, question_data, rag_pipeline
from tests.integrations.haystack.mocks import MockChatGenerator


class Odd(dict[str, Any]):
    """A mapping that cannot be read."""

    def get(self, *_: Any) -> Any:
        msg = "not today"
        raise RuntimeError(msg)


@pytest.mark.parametrize("where", ["predicate", "judge", "sink", "reference"])
def test_whatever_fails_on_our_side_the_result_of_the_pipeline_is_the_same(where: str):
    def fails(*_: Any) -> Any:
        msg = "not today"
        raise RuntimeError(msg)

    expected = rag_pipeline().run(question_data(QUESTION))
    scorer = LiveScorer(
        "faithfulness",
        judge=fails if where == "judge" else "embedded",
        on_result=fails if where == "sink" else None,
        references=fails if where == "reference" else None,
    )
    RagMetricsTracer.install().watch(scorer, only=fails if where == "predicate" else None)

    result = rag_pipeline().run(question_data(QUESTION))

    scorer.close()
    assert result == expected
    assert "not today" in scorer.stats.errors[-1]


def test_tags_that_cannot_be_read_do_not_reach_the_application():
    RagMetricsTracer.install()

    with tracing.tracer.trace("haystack.pipeline.run", tags=Odd()) as span:
        span.set_tag("answered", True)


def test_a_run_without_our_tracer_is_counted_and_not_scored():
    pipeline = rag_pipeline(MockChatGenerator(response_fn=answering))
    connector = connected(pipeline)
    pipeline.warm_up()
    tracing.disable_tracing()

    assert connector.run() == {}

    assert connector.live.stats.skipped == {"not_traced": 1}
