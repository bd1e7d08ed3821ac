"""An evaluator inside a live pipeline."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from statistics import fmean
from typing import Any, Literal, NamedTuple, Unpack, get_args

from haystack import Document, component
from haystack.components.embedders.types import TextEmbedder
from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage, GeneratedAnswer
from ragmetrics_core import Record, Sample
from ragmetrics_core.adapting import CapturedRun, NamedValue, chunks_of, in_thread
from ragmetrics_core.boundary import listing_settings
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.gate import Gate, OnFailure
from ragmetrics_core.live import Capture
from ragmetrics_core.metrics import names_of
from ragmetrics_core.records import FAILED
from ragmetrics_core.runs import OnError

from haystack_integrations.components.evaluators.ragmetrics.conversations import session_in
from haystack_integrations.components.evaluators.ragmetrics.dialect import text_in
from haystack_integrations.components.evaluators.ragmetrics.failures import EvaluationFailed
from haystack_integrations.components.evaluators.ragmetrics.live import Live
from haystack_integrations.components.evaluators.ragmetrics.metric_settings import MetricSettings, plain
from haystack_integrations.components.evaluators.ragmetrics.results import entry_of
from haystack_integrations.components.evaluators.ragmetrics.settings import LIVE_COMPONENT_DEFAULTS, LiveComponentArgs
from haystack_integrations.components.evaluators.ragmetrics.watching import HERE, WatchedRun, noted_here
from haystack_integrations.components.evaluators.ragmetrics.wiring import Wiring

__all__ = ["RagMetricsLiveEvaluator"]


Answers = list[GeneratedAnswer] | None
Documents = list[Document] | None
Replies = list[ChatMessage] | list[str] | None


class _Scored(NamedTuple):
    """An answer with its records by metric; none if it could not be scored."""

    answer: GeneratedAnswer
    id: str
    records: Sequence[Record]


@component
class RagMetricsLiveEvaluator(Live):
    """
    Score the answers of a running pipeline, inside the pipeline.

    It takes `answers`, as `AnswerBuilder` makes them, or `query`, `documents` and `replies`. `documents`
    given with `answers` replace the answers' own, which a reference pattern may have filtered.

    In background mode answers are passed on at once, with an id in `meta["evaluation"]` that finds their
    scores in the run folder `out` and in `live.results`. In inline mode the pipeline waits, and the meta
    holds the scores; with a `gate`, answers below a threshold leave through `rejected_answers` instead of
    `answers`, so that the pipeline can handle them differently.

    ```python
    pipeline.add_component("scores", RagMetricsLiveEvaluator(["faithfulness"], chat_generator=judge))
    pipeline.connect("answer_builder.answers", "scores.answers")
    ```
    """

    @listing_settings(LiveComponentArgs, LIVE_COMPONENT_DEFAULTS)
    def __init__(
        self,
        metrics: MetricSettings = "faithfulness",
        chat_generator: ChatGenerator | str | None = None,
        text_embedder: TextEmbedder | str | None = None,
        *,
        mode: Literal["background", "inline"] = "background",
        gate: dict[str, float] | None = None,
        unscored: OnFailure = "reject",
        on_error: OnError = "record",
        **settings: Unpack[LiveComponentArgs],
    ) -> None:
        """
        Create the evaluator; nothing is loaded, started or written yet.

        :param metrics: A name, a mapping of name and parameters, or a list of these.
        :param chat_generator: The judge: a separate chat generator, not the pipeline's, or the name of a
            ragmetrics judge.
        :param text_embedder: The embedder, for metrics that compare texts: a component or a name.
        :param mode: "background" passes answers on at once, "inline" waits for the scores.
        :param gate: Lowest passing score by metric (highest, if lower is better, as in hallucination); inline
            only. Adds the output `rejected_answers`.
        :param unscored: Whether to "pass" or "reject" an answer without a score because the judge failed. If
            there was nothing to judge, it passes.
        :param on_error: "raise" stops the pipeline if the judge fails; inline only. With "record" it
            continues, and the answer's meta reports the failure.
        :param settings: `scorer` (the name of a model that rates pairs), `name` (the application's name), and
            the live settings: `out`, `sinks`, `on_result`, `references`, `sample_rate`, `seed`,
            `max_pending`, `overflow`, `redact`, `prompts`, `concurrency`, `timeout`, `attempts`,
            `requests_per_minute` and `tokens_per_minute`. Functions must be functions of a module; `sinks`
            takes functions that make a sink.
        :raises ConfigError: A metric or parameter does not exist, a model is missing, or an option needs
            inline mode.
        """
        self.mode = mode
        self.gate = plain(gate)
        self.unscored: OnFailure = unscored
        self.on_error = on_error
        self._configure(metrics, chat_generator, text_embedder, settings, LIVE_COMPONENT_DEFAULTS)
        self._check()
        types: dict[str, Any] = {"answers": list[GeneratedAnswer]}
        if mode == "inline":
            types |= {"scores": dict[str, float | None], "results": list[dict[str, Any]]}
        if self.gate:
            types |= {"rejected_answers": list[GeneratedAnswer]}
        component.set_output_types(self, **types)

    def _check(self) -> None:
        self._raises = self.on_error == "raise"
        options = {"mode": ("background", "inline"), "unscored": get_args(OnFailure), "on_error": get_args(OnError)}
        for name, allowed in options.items():
            if (value := getattr(self, name)) not in allowed:
                msg = f"{name} must be {' or '.join(map(repr, allowed))}, not {value!r}"
                raise ConfigError(msg)
        if self.mode != "inline" and (self.gate or self._raises):
            option = "a gate" if self.gate else "on_error='raise'"
            msg = f"{option} must wait for the scores: pass mode='inline'"
            raise ConfigError(msg)
        self._gate = Gate(self.gate, self._metrics, self.unscored) if self.gate else None

    def run(
        self,
        answers: Answers = None,
        query: str | None = None,
        documents: Documents = None,
        replies: Replies = None,
    ) -> dict[str, Any]:
        """
        Score the answers, or submit them for scoring.

        :param answers: The answers, with their query and documents.
        :param query: The question, if there are no `answers`.
        :param documents: The retrieved documents.
        :param replies: The generator's replies.
        :returns: A dictionary with:

            - `answers`: The answers, with an entry "evaluation" in their meta; with a gate, those that pass.
            - `rejected_answers`: With a gate, the rejected ones.
            - `scores`: Inline, the answers' mean score by metric, or None if there are no scores.
            - `results`: Inline, for each answer its id and its results by metric, see `RagMetricsEvaluator`.

            With a gate, an output without an answer is left out, so that components after it do not run.
        :raises EvaluationFailed: The judge failed and `on_error` is "raise"; a `ValueError`.
        """
        self.warm_up()
        return self._evaluated(_answers(answers, query, documents, replies), documents)

    async def run_async(
        self,
        answers: Answers = None,
        query: str | None = None,
        documents: Documents = None,
        replies: Replies = None,
    ) -> dict[str, Any]:
        """
        Score the answers without blocking the loop; otherwise like `run`.

        :param answers: See `run`.
        :param query: See `run`.
        :param documents: See `run`.
        :param replies: See `run`.
        :returns: See `run`.
        :raises EvaluationFailed: The judge failed and `on_error` is "raise"; a `ValueError`.
        """
        await self.warm_up_async()
        given = _answers(answers, query, documents, replies)
        if self.mode == "background":
            return self._evaluated(given, documents)
        return await in_thread(copy_context().run, self._evaluated, given, documents)

    def _evaluated(self, answers: Sequence[GeneratedAnswer], documents: Documents) -> dict[str, Any]:
        if self.mode == "background":
            return {"answers": [self._handed_over(each, documents) for each in answers]}
        return self._outputs(self._scored(answers, documents))

    def _handed_over(self, answer: GeneratedAnswer, documents: Documents) -> GeneratedAnswer:
        capture = self._capture(answer, documents)
        taken = self.live.submit(capture)
        return _with_meta(answer, {"id": capture.id, "status": "pending" if taken else "not_scored"})

    def _scored(self, answers: Sequence[GeneratedAnswer], documents: Documents) -> list[_Scored]:
        """Score answers in parallel threads, which only wait."""
        width = max(1, min(len(answers), self.concurrency))
        with ThreadPoolExecutor(width, thread_name_prefix="ragmetrics-haystack-inline") as threads:
            # the context goes along, so that sinks find the span that is open here
            waiting = [threads.submit(copy_context().run, self._score, each, documents) for each in answers]
            return [each.result() for each in waiting]

    def _score(self, answer: GeneratedAnswer, documents: Documents) -> _Scored:
        capture = self._capture(answer, documents)
        try:
            result = self.live.score(capture)
        except Exception as error:  # the boundary to the pipeline, which goes on unless it is to stop
            if self._raises:
                raise
            self.live.hook_failed(error)
            return _Scored(answer, capture.id, ())
        for record in result.records if self._raises else ():
            if record.status in FAILED:
                msg = f"{record.signature}: {record.status} ({record.reason})"
                raise EvaluationFailed(msg)
        return _Scored(answer, capture.id, result.records)

    def _capture(self, answer: GeneratedAnswer, documents: Documents) -> Capture:
        here = HERE.get()
        return Capture(
            translate=_sample,
            name=self.name,
            question=answer.query,
            contexts=documents if documents is not None else answer.documents or None,
            answer=answer.data,
            noted=noted_here(),
            data={"run": here.run if here else None, "place": "documents" if documents else "answers"},
            session=session_in(here.run.inputs) if here else None,
        )

    def _outputs(self, scored: Sequence[_Scored]) -> dict[str, Any]:
        keys = names_of(self._metrics)
        outputs: dict[str, Any] = {"results": []} if self._gate else {"results": [], "answers": []}
        values: dict[str, list[float]] = {key: [] for key in keys.values()}
        for answer, sample_id, scores in scored:
            records = {keys[record.signature]: record for record in scores}
            reasons = self._rejections(scores)
            evaluation: dict[str, Any] = {"rejected": reasons} if reasons else {}
            evaluation |= {
                "id": sample_id,
                "status": "scored" if records else "not_scored",
                "scores": {key: record.value for key, record in records.items()},
                "reasons": {key: record.reason for key, record in records.items() if record.reason},
            }
            outputs.setdefault("rejected_answers" if reasons else "answers", []).append(_with_meta(answer, evaluation))
            entries = {key: entry_of(record, with_record=True) for key, record in records.items()}
            outputs["results"].append({"id": sample_id, "metrics": entries})
            for key, record in records.items():
                values[key] += [] if record.value is None else [record.value]
        return outputs | {"scores": {key: fmean(known) if known else None for key, known in values.items()}}

    def _rejections(self, records: Sequence[Record]) -> list[str]:
        """Reasons of the gate for rejecting an answer; empty if it passes."""
        if self._gate is None:
            return []
        return list((self._gate.decide(records) if records else self._gate.failed("it was not scored")).reasons)


def _answers(
    answers: Answers,
    query: str | None,
    documents: Documents,
    replies: Replies,
) -> list[GeneratedAnswer]:
    if answers is not None:
        return answers
    return [
        GeneratedAnswer(
            data=text_in(reply) or "",
            query=query or "",
            documents=documents or [],
            meta=dict(reply.meta) if isinstance(reply, ChatMessage) else {},
        )
        for reply in replies or ()
    ]


def _sample(capture: Capture) -> Sample:
    """The sample of an answer; the current run knows the model's request for it."""
    if not capture.question or not str(capture.answer).strip():  # nothing that could be found in a run
        texts = None if capture.contexts is None else [chunk.text for chunk in chunks_of(capture.contexts)[0]]
        return Sample(question=capture.question or None, answer=str(capture.answer), contexts=texts)
    here: WatchedRun | None = capture.data["run"]
    wiring = Wiring(here.root if here else None)
    run = CapturedRun(
        history=wiring.history(capture.question, here.inputs) if here else None,
        session=capture.session,
        question=NamedValue(capture.question, "query"),
        answer=NamedValue(str(capture.answer), "answer"),
        contexts=None if capture.contexts is None else NamedValue(capture.contexts, capture.data["place"]),
    )
    return wiring.sample(run)


def _with_meta(answer: GeneratedAnswer, evaluation: dict[str, Any]) -> GeneratedAnswer:
    # a new object: others may hold the answer
    return replace(answer, meta={**(answer.meta or {}), "evaluation": evaluation})
