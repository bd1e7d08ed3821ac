"""Scoring as a step of a chain, whose scores the next step may act on."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from operator import gt, lt
from typing import Any, Unpack

from langchain_core.callbacks.manager import BaseRunManager
from langchain_core.runnables import Runnable, RunnableLambda

from ragmetrics_core import Metric
from ragmetrics_core.adapting import CapturedRun, Rules, sample_of
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.live import Capture, LiveResult
from ragmetrics_langchain._dialect import DIALECT, fields_of
from ragmetrics_langchain._scorer import SCORER_DEFAULTS, ScorerArgs, live_scorer, scored_beside
from ragmetrics_langchain._tracing import current_trace

__all__ = ["above", "below", "score_step"]

_LOGGER = logging.getLogger("ragmetrics.live")


@unfolded(ScorerArgs, SCORER_DEFAULTS)
def score_step(
    metrics: str | Metric[Any] | Iterable[str | Metric[Any]] = (),
    *,
    time_limit: float | None = 30.0,
    input_key: str | None = None,
    context_key: str | None = None,
    answer_key: str | None = None,
    scores_key: str = "scores",
    records_key: str | None = None,
    **keywords: Unpack[ScorerArgs],
) -> Runnable[Any, dict[str, Any]]:
    """A step that takes a mapping with question, contexts and answer and adds the scores to it.

    The chain waits for the scores. A judge that fails breaks nothing: a metric without a value has None.
    The sample has the id of the step's own run, so that feedback of a `LangSmithFeedbackSink` is found there.

    Args:
        metrics: names or objects, as for `evaluate`.
        judge: the model that judges, as for `RagMetricsCallbackHandler`.
        embedder: the model that makes vectors, likewise.
        scorer: the model that rates pairs.
        live: a live scorer in place of metrics, models and live settings, e.g. that of a handler.
        time_limit: seconds that the chain waits for all scores; then each is None, and what is scored later
            still goes to the sinks. None waits as long as it takes.
        input_key: where the question is, if not under one of the usual names.
        context_key: where the contexts are, likewise.
        answer_key: where the answer is, likewise.
        scores_key: where the scores go: a mapping from the metrics' names to values.
        records_key: where the records go, which prove them; by default nowhere.
        settings: the live settings as one object.
        keywords: live settings one by one, as `LiveScorer` takes them: `concurrency`, `redact` and the others
            that `LiveArgs` describes.

    Raises:
        ConfigError: a mistake in the arguments; when the step runs: it was given no mapping.
    """
    if time_limit is not None and not time_limit > 0:
        raise ConfigError(f"time_limit must be more than 0 seconds, not {time_limit}")
    own = live_scorer(metrics, **keywords)

    rules = Rules(input_key=input_key, context_key=context_key, answer_key=answer_key)

    def capture(value: Any, run: BaseRunManager) -> Capture:
        named = fields_of(value)
        if not named:
            raise ConfigError(
                f"score_step needs a mapping with question, contexts and answer, not {type(value).__name__}"
            )

        given = CapturedRun(inputs=named, outputs=named, answered_by=())
        return Capture(
            translate=lambda _: sample_of(given, DIALECT, rules),
            id=str(run.run_id),
            name="score_step",
            parent=current_trace(),
        )

    def scored(value: Any, result: LiveResult | None) -> dict[str, Any]:
        if result is None:
            _LOGGER.warning("score_step: no scores within %s s; the chain goes on without", time_limit)
        scores = dict.fromkeys(own.means) if result is None else result.scores
        records = {} if records_key is None else {records_key: () if result is None else result.records}
        return {**fields_of(value), scores_key: scores, **records}

    def score(value: Any, run_manager: BaseRunManager) -> dict[str, Any]:
        waiting = scored_beside(own, capture(value, run_manager))
        try:
            return scored(value, waiting.result(time_limit))
        except TimeoutError:
            return scored(value, None)

    async def ascore(value: Any, run_manager: BaseRunManager) -> dict[str, Any]:
        waiting = scored_beside(own, capture(value, run_manager))
        try:
            result = await asyncio.wait_for(asyncio.wrap_future(waiting), time_limit)
            return scored(value, result)
        except TimeoutError:
            return scored(value, None)

    return RunnableLambda(score, afunc=ascore, name="score_step")


def below(
    metric: str, threshold: float, *, without_value: bool = False, scores_key: str = "scores"
) -> Callable[[Mapping[str, Any]], bool]:
    """A condition for `RunnableBranch`: whether a score is below a threshold; see `above` for its twin.

    Args:
        metric: the metric's name.
        threshold: a score of exactly this is not below.
        without_value: what holds when there is no score, because it is undefined or the judge failed.
        scores_key: where `score_step` put the scores.
    """
    return _condition(lt, metric, threshold, without_value, scores_key)


def above(
    metric: str, threshold: float, *, without_value: bool = False, scores_key: str = "scores"
) -> Callable[[Mapping[str, Any]], bool]:
    """`below` for metrics where lower is better, such as hallucination: whether a score is above a threshold.

    Args:
        metric: the metric's name.
        threshold: a score of exactly this is not above.
        without_value: what holds when there is no score, because it is undefined or the judge failed.
        scores_key: where `score_step` put the scores.
    """
    return _condition(gt, metric, threshold, without_value, scores_key)


def _condition(
    holds: Callable[[float, float], bool], metric: str, threshold: float, without_value: bool, scores_key: str
) -> Callable[[Mapping[str, Any]], bool]:
    def condition(value: Mapping[str, Any]) -> bool:
        score: float | None = value[scores_key][metric]
        return without_value if score is None else holds(score, threshold)

    return condition
