"""A class that evaluates any metric with LlamaIndex's interface."""

import asyncio
import logging
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack, get_args

from llama_index.core.evaluation import BaseEvaluator
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.prompts.mixin import PromptDictType

from ragmetrics_core import Metric, Record, Sample, aevaluate
from ragmetrics_core.adapting import on_own_loop
from ragmetrics_core.boundary import Redact, is_series, listing_settings, names_in, redacted, refuse_unknown
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import resolve
from ragmetrics_core.models import Traffic, TrafficArgs, as_scorer, missing_model
from ragmetrics_core.prompts import PromptText
from ragmetrics_core.protocol import Scorer
from ragmetrics_core.runs import Metrics, OnError, with_prompts
from ragmetrics_llama_index import _templates as templates
from ragmetrics_llama_index._models import AnyEmbedder, AnyLLM, embedder_of, judge_of, needed
from ragmetrics_llama_index._responses import answer_in, entry_in, nodes_in, read_whole, text_of_node
from ragmetrics_llama_index._results import EvaluationFailed, Passing, TracedEvaluationResult, result_of

__all__ = ["EVALUATOR_DEFAULTS", "EvaluatorArgs", "RagMetricsEvaluator"]

log = logging.getLogger("ragmetrics.llama_index")

# What the built-in evaluators have for their one yes-or-no question.
_BUILT_IN = ("eval_template", "refine_template")


class EvaluatorArgs(TrafficArgs, total=False):
    """Keywords of every evaluator, as for `ragmetrics_core.evaluate`.

    Attributes:
        repeats: number of requests for each verdict; the majority decides.
        redact: removes private data from texts before a model or a record sees them; see `evaluate`.
        prompts: folder of prompt files that replace those with the same name.
    """

    repeats: int
    redact: Redact | None
    prompts: str | Path | Mapping[str, PromptText] | None


EVALUATOR_DEFAULTS: Mapping[str, Any] = {
    **Traffic().keywords,
    "repeats": 1,
    "redact": None,
    "prompts": None,
}
"""Default values of these settings."""


class RagMetricsEvaluator(BaseEvaluator):
    """Evaluate one or several metrics with the interface of LlamaIndex's evaluators.

    Invalid samples and failed calls do not raise: the result gives the reason (`invalid_result`,
    `invalid_reason`), and a batch continues. An evaluator has no state and can be used concurrently, in any
    event loop. Metrics share their calls.

    Args:
        metrics: names or metric objects.
        llm: the judge: a LlamaIndex model, or an argument of `ragmetrics_core.as_judge` such as "embedded".
            Default: the model set as `Settings.llm`, read at the first evaluation that needs it.
        embed_model: the embedder: a LlamaIndex model, or a ragmetrics one or its name. Default:
            `Settings.embed_model`, read in the same way.
        threshold: lowest passing value of every metric (highest, if lower is better); without one, `passing`
            stays None.
        scorer: a model that rates pairs, or its name, for metrics that need one.
        on_error: "record" puts the reason for a missing score into the result; "raise" also raises
            `EvaluationFailed`, a `ValueError`.
        traffic: settings for model calls: `Traffic(concurrency=64)`.
        settings: `concurrency`, `timeout` and the other settings of `traffic`, `repeats`, `redact` and
            `prompts`; see `EvaluatorArgs`.

    Raises:
        ConfigError: a metric or model is invalid, or one threshold is given for metrics of both directions.
    """

    # What an evaluation without a query asks about; faithfulness is often evaluated without one.
    _without_query: str | None = None
    _raises_when_failing = False

    @listing_settings(EvaluatorArgs, EVALUATOR_DEFAULTS)
    def __init__(
        self,
        metrics: Metrics,
        llm: AnyLLM | None = None,
        embed_model: AnyEmbedder | None = None,
        *,
        threshold: float | None = None,
        scorer: Scorer | str | None = None,
        on_error: OnError = "record",
        traffic: Traffic | None = None,
        **settings: Unpack[EvaluatorArgs],
    ) -> None:
        refuse_unknown(settings, *names_in(EvaluatorArgs))
        if on_error not in get_args(OnError):
            raise ConfigError(f"on_error must be 'record' or 'raise', not {on_error!r}")
        how: TrafficArgs = {name: settings[name] for name in names_in(TrafficArgs) if name in settings}  # type: ignore[assignment,literal-required]
        self._traffic = (traffic or Traffic()).replacing(**how)
        self._repeats = settings.get("repeats", 1)
        self._redact = settings.get("redact")
        self._metrics = resolve(metrics)
        if (prompts := settings.get("prompts")) is not None:
            self._metrics = with_prompts(self._metrics, prompts)
        if threshold is not None and 0 < len(self._lower_is_better) < len(self._metrics):
            raise ConfigError(
                "one threshold cannot be the least score of some metrics and the greatest of others: "
                "make an evaluator for each direction"
            )
        for metric in self._metrics:
            if scorer is None and needed([metric], "scorer"):
                raise missing_model("scorer", metric.name, "scorer=...")
        self._judge = judge_of(llm) if llm is not None else None
        self._embedder = embedder_of(embed_model) if embed_model is not None else None
        self._scorer = as_scorer(scorer) if scorer is not None else None
        self._passing = Passing(threshold)
        self._raises = on_error == "raise"

    @property
    def metrics(self) -> tuple[Metric[Any], ...]:
        """The metrics with the current prompts."""
        return self._metrics

    def evaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> TracedEvaluationResult:
        """Evaluate and wait for the result. Also works in a running event loop, which it blocks.

        The arguments are those of `aevaluate`.
        """
        return on_own_loop(self.aevaluate(query, response, contexts, **kwargs))

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        reference: str | Sequence[str] | None = None,
        sleep_time_in_seconds: float = 0,
        *,
        references: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> TracedEvaluationResult:
        """Evaluate one answer.

        Args:
            query: the question.
            response: the answer.
            contexts: the retrieved texts, in rank order.
            reference: the expected answer, or a list of several acceptable ones: the best one counts.
            sleep_time_in_seconds: seconds to wait first.
            references: all acceptable answers; a `reference` must be one of them.
            kwargs: arguments of other evaluators in the same batch; ignored.

        Raises:
            EvaluationFailed: there is no score, if `on_error` is "raise".
        """
        await asyncio.sleep(sleep_time_in_seconds)
        given = _given(query, response, contexts)
        try:
            records = await self._measure(query, response, contexts, _expected(reference, references))
        except Exception as error:  # the boundary: whatever is raised here would cost the whole batch
            is_open = self._redact is None
            reason = self._redacted(f"{type(error).__name__}: {error}")
            # where texts are redacted, neither a traceback nor a cause may repeat the words of the error
            log.warning("an evaluation failed: %s", reason, exc_info=is_open)
            result = TracedEvaluationResult(**given, invalid_result=True, invalid_reason=reason)
            if self._raises and is_open:
                raise EvaluationFailed(result) from error
        else:
            result = result_of(records, self._passing, given, self._lower_is_better)
        # outside the handler: it must not carry the error that holds what was taken out
        fails = result.invalid_result or (self._raises_when_failing and result.passing is False)
        if self._raises and fails:
            raise EvaluationFailed(result)
        return result

    def evaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> TracedEvaluationResult:
        """Evaluate a response object and wait for the result; see `aevaluate_response`."""
        return on_own_loop(self.aevaluate_response(query, response, **kwargs))

    async def aevaluate_response(
        self,
        query: str | None = None,
        response: Any = None,
        *,
        response_field: str | None = None,
        **kwargs: Any,
    ) -> TracedEvaluationResult:
        """Evaluate the response of a query or chat engine, with its source nodes as the contexts.

        A stream is read to its end; structured output is used as JSON. The other arguments are those of
        `aevaluate`.

        Args:
            query: the question.
            response: the response.
            response_field: entry of the response's metadata to use as the answer, such as "sql_query",
                instead of its text. Without this entry there is no answer.
            kwargs: as for `aevaluate`.
        """
        if response is None:
            return await self.aevaluate(query, None, None, **kwargs)
        whole = await read_whole(response)
        nodes = nodes_in(whole)
        contexts = None if nodes is None else [text_of_node(node) for node in nodes]
        answer = answer_in(whole) if response_field is None else entry_in(whole, response_field)
        return await self.aevaluate(query, answer, contexts, **kwargs)

    async def _measure(
        self,
        query: str | None,
        response: str | None,
        contexts: Sequence[str] | None,
        expected: Mapping[str, object],
    ) -> list[Record]:
        sample = Sample.from_mapping(
            {
                "question": query,
                "answer": response,
                "contexts": None if contexts is None else list(contexts),
                **expected,
            }
        )
        if query is None:
            sample = sample.model_copy(update={"question": self._without_query})
        run = await aevaluate(
            [sample],
            metrics=self._metrics,
            judge=judge_of(self._judge, self._metrics[0].name) if needed(self._metrics, "judge") else None,
            embedder=embedder_of(self._embedder) if needed(self._metrics, "embedder") else None,
            scorer=self._scorer,
            traffic=self._traffic,
            repeats=self._repeats,
            redact=self._redact,
            progress=False,
        )
        return list(run.records())

    def _redacted(self, words: str) -> str:
        """The redacted message of an error."""
        if self._redact is None:
            return words
        try:
            return redacted(self._redact, words)
        except ConfigError as failed:
            return str(failed)

    @property
    def _lower_is_better(self) -> frozenset[str]:
        return frozenset(metric.signature for metric in self._metrics if not metric.higher_is_better)

    def _get_prompts(self) -> PromptDictType:
        return templates.templates_of(self._metrics)

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        own = {key: template for key, template in prompts_dict.items() if ":" not in key}
        for name in _BUILT_IN:
            self._adopt(name, own.pop(name, None))
        self._metrics = templates.updated(self._metrics, own)

    def _adopt(self, name: str, template: BasePromptTemplate | str | None) -> None:
        """Use a template written for a built-in evaluator if one of our prompts has the same variables."""
        if template is None:
            return
        prompt = templates.fitting(self._metrics, template)
        if prompt is None:
            self._warn(name, "no prompt of this evaluator has these variables: see get_prompts()")
            return
        self._metrics = templates.updated(self._metrics, {f"{prompt.name}_template": template})

    def _warn(self, name: str, why: str) -> None:
        warnings.warn(f"{type(self).__name__}: {name} is not used: {why}", UserWarning, stacklevel=4)


def _given(query: object, response: object, contexts: object) -> dict[str, Any]:
    """The evaluated values that a result can hold: it refuses anything but text."""
    texts = contexts if is_series(contexts) and all(isinstance(text, str) for text in contexts) else None
    return {
        "query": query if isinstance(query, str) else None,
        "response": response if isinstance(response, str) else None,
        "contexts": texts,
    }


def _expected(reference: object, references: object) -> dict[str, object]:
    """The expected answers by their names in a sample."""
    if references is None:
        return {"references": list(reference)} if is_series(reference) else {"reference": reference}
    several = list(references) if is_series(references) else [references]
    one = list(reference) if is_series(reference) else [reference]
    if reference is not None and any(text not in several for text in one):
        raise ConfigError(
            f"reference={reference!r} is not among references={references!r}: "
            "give every acceptable answer as references, and leave reference out"
        )
    return {"reference": None if is_series(reference) else reference, "references": several}
