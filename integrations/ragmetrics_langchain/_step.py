"""A scoring step for chains."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from operator import gt, lt
from typing import Any, Unpack

from langchain_core.callbacks.manager import BaseRunManager
from langchain_core.runnables import Runnable, RunnableLambda

from ragmetrics_core.adapting import CapturedRun, Fields, Rules, sample_of
from ragmetrics_core.boundary import listing_settings
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import Capture, LiveResult
from ragmetrics_core.runs import Metrics
from ragmetrics_langchain._dialect import DIALECT, fields_of
from ragmetrics_langchain._scorer import SCORER_DEFAULTS, ScorerArgs, live_scorer, scored_beside
from ragmetrics_langchain._tracing import current_trace

__all__ = ["above", "below", "score_step"]

_LOGGER = logging.getLogger("ragmetrics.live")


@listing_settings(ScorerArgs, SCORER_DEFAULTS)
def score_step(
    metrics: Metrics = (),
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

    The chain waits for the scores. If the judge fails, the chain continues with None as the metric's value.
    The sample has the id of the step's own run, where the feedback of a `LangSmithFeedbackSink` appears.

    Args:
        metrics: names or objects, as for `evaluate`.
        judge: the judge, as for `RagMetricsCallbackHandler`.
        embedder: the embedder, likewise.
        scorer: a model that rates pairs.
        live: a live scorer, such as a handler's, instead of metrics, models and live settings.
        time_limit: maximum seconds to wait for all scores; then each is None, and late scores still go to the
            sinks. None means no limit.
        input_key: key of the question, if it has no common name.
        context_key: key of the contexts, likewise.
        answer_key: key of the answer, likewise.
        scores_key: key for the scores, a mapping from metric names to values.
        records_key: key for the records. Default: leave them out.
        settings: the live settings as one object.
        keywords: single live settings, as for `LiveScorer`: `concurrency`, `redact` and the others of
            `LiveArgs`.

    Raises:
        ConfigError: an argument is invalid or, when the step runs, its input is not a mapping.
    """
    if time_limit is not None and not time_limit > 0:
        raise ConfigError(f"time_limit must be more than 0 seconds, not {time_limit}")
    own = live_scorer(metrics, **keywords)

    rules = Rules(input_key=input_key, context_key=context_key, answer_key=answer_key)

    def started(value: Any, run: BaseRunManager) -> "Future[LiveResult]":
        named = fields_of(value)
        if not named:
            raise ConfigError(
                f"score_step needs a mapping with question, contexts and answer, not {type(value).__name__}"
            )
        given = CapturedRun(inputs=named, outputs=named, answered_by=())
        capture = Capture(
            translate=lambda _: sample_of(given, DIALECT, rules),
            id=str(run.run_id),
            name="score_step",
            parent=current_trace(),
        )
        return scored_beside(own, capture)

    def scored(value: Any, result: LiveResult | None) -> dict[str, Any]:
        if result is None:
            _LOGGER.warning(
                "score_step: no scores within %s s; the chain continues without scores", time_limit
            )
        scores = dict.fromkeys(own.means) if result is None else result.scores
        records = {} if records_key is None else {records_key: () if result is None else result.records}
        return {**fields_of(value), scores_key: scores, **records}

    def score(value: Any, run_manager: BaseRunManager) -> dict[str, Any]:
        waiting, result = started(value, run_manager), None
        with suppress(TimeoutError):
            result = waiting.result(time_limit)
        return scored(value, result)

    async def ascore(value: Any, run_manager: BaseRunManager) -> dict[str, Any]:
        waiting, result = started(value, run_manager), None
        with suppress(TimeoutError):
            result = await asyncio.wait_for(asyncio.wrap_future(waiting), time_limit)
        return scored(value, result)

    return RunnableLambda(score, afunc=ascore, name="score_step")


def below(
    metric: str, threshold: float, *, without_value: bool = False, scores_key: str = "scores"
) -> Callable[[Fields], bool]:
    """A condition for `RunnableBranch`: whether a score is below a threshold; see also `above`.

    Args:
        metric: the metric's name.
        threshold: a score of exactly this is not below.
        without_value: the condition's value without a score, because it is undefined or the judge failed.
        scores_key: the `scores_key` of `score_step`.
    """
    return _condition(lt, metric, threshold, without_value, scores_key)


def above(
    metric: str, threshold: float, *, without_value: bool = False, scores_key: str = "scores"
) -> Callable[[Fields], bool]:
    """Like `below`, for metrics where lower is better: whether a score is above a threshold.

    Args:
        metric: the metric's name.
        threshold: a score of exactly this is not above.
        without_value: the condition's value without a score, because it is undefined or the judge failed.
        scores_key: the `scores_key` of `score_step`.
    """
    return _condition(gt, metric, threshold, without_value, scores_key)


def _condition(
    holds: Callable[[float, float], bool], metric: str, threshold: float, without_value: bool, scores_key: str
) -> Callable[[Fields], bool]:
    def condition(value: Fields) -> bool:
        score: float | None = value[scores_key][metric]
        return without_value if score is None else holds(score, threshold)

    return condition
