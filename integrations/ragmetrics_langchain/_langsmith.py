"""LangSmith: scores as feedback on traced runs, and metrics as evaluators of its experiments."""

# langsmith leaves the types of what it takes and gives open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import threading
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack
from uuid import UUID

from ragmetrics_core import Sample
from ragmetrics_core.adapting import CapturedRun, Fields, Rules, answer_in, named_value, sample_of
from ragmetrics_core.boundary import listing_settings
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import (
    Capture,
    LiveResult,
    by_name,
)
from ragmetrics_core.records import sent_score
from ragmetrics_core.runs import Metrics
from ragmetrics_langchain._dialect import DIALECT, fields_of
from ragmetrics_langchain._scorer import SCORER_DEFAULTS, ScorerArgs, live_scorer
from ragmetrics_langchain._tools import ContextTools, tool_names
from ragmetrics_langchain._traces import traced_calls

if TYPE_CHECKING:
    from langsmith import Client
    from langsmith.schemas import Example, Run

__all__ = ["LangSmithFeedbackSink", "as_langsmith_evaluator"]

_REFERENCE_KEYS = ("reference", "expected", "expected_output", "ground_truth", "expected_answer")


class LangSmithFeedbackSink:
    """Write each score as feedback on the judged run, if LangSmith traces the same runs.

    Feedback has the metric's name as its key (its signature if two metrics share a name), the score, the
    formula as comment, and signature, status, counts and judge in its source. For a metric without a value,
    the comment gives the reason. Skipped metrics, and captures with an id that is not a run's, have no
    feedback.

    Args:
        client: the client. Default: LangSmith's own, made with the first result.
        project: the project of the traced runs. Default: that of the environment.
        project_id: the project's id. Default: look it up by name.
    """

    def __init__(
        self,
        client: "Client | None" = None,
        *,
        project: str | None = None,
        project_id: UUID | str | None = None,
    ) -> None:
        if client is not None:
            self._client = client
        self._project = project
        self._project_id = project_id
        self._looking = threading.Lock()

    def write(self, result: LiveResult) -> None:
        """Submit the feedback; the client sends it in its own threads."""
        run_id = _run_id(result.capture)
        if run_id is None:
            return
        trace = result.capture.parent
        for key, record in by_name(result.records).items():
            if record.status == "skipped":
                continue
            self._client.create_feedback(
                run_id=run_id,
                trace_id=trace if isinstance(trace, UUID) else run_id,
                session_id=self._session,
                **sent_score(record, name=key).feedback(run_id),
            )

    def flush(self) -> None:
        """Wait until the client has sent everything."""
        if "_client" in vars(self):
            self._client.flush()

    def close(self) -> None:
        """Flush, without closing the client, which is not ours."""
        self.flush()

    @cached_property
    def _client(self) -> "Client":
        from langsmith import Client

        return Client()

    @property
    def _session(self) -> UUID | str:
        """The project's id, which LangSmith calls the session's."""
        with self._looking:
            if self._project_id is None:
                from langsmith.utils import get_tracer_project

                self._client.flush()  # a project exists from its first run on
                name = self._project or get_tracer_project()
                self._project_id = self._client.read_project(project_name=name).id
            return self._project_id


@listing_settings(ScorerArgs, SCORER_DEFAULTS)
def as_langsmith_evaluator(
    metrics: Metrics = (),
    *,
    map: Callable[["Run", "Example | None"], Sample | Fields] | None = None,
    context_tools: ContextTools = (),
    evidence: str | Iterable[str] = (),
    not_evidence: ContextTools = (),
    **keywords: Unpack[ScorerArgs],
) -> Callable[..., Any]:
    """Metrics as an evaluator for `langsmith.evaluate` and `aevaluate`.

    Each metric gives one result: the score, the formula as comment, and in the metadata the whole record
    under "ragmetrics", from which `recompute` computes the score again. For a metric without a value, the
    comment gives the reason.

    Fields are found under common names: the question in the example's inputs (or else the run's), the answer
    in the run's outputs, and the reference in the example's outputs. Contexts are the evidence in the traced
    requests of the models that made the answer, as for `RagMetricsCallbackHandler`. If no model was traced,
    they are those in the run's outputs, its traced retrievers and its inputs.

    It can also be called like openevals' evaluators, `evaluator(inputs=..., outputs=...,
    reference_outputs=...)`, with texts or mappings: then it returns a list of mappings with "key", "score",
    "comment" and "metadata".

    Args:
        metrics: names or objects, as for `evaluate`.
        judge: the judge, as for `RagMetricsCallbackHandler`.
        embedder: the embedder, likewise.
        scorer: a model that rates pairs.
        live: a live scorer, instead of metrics, models and live settings.
        map: makes the sample from a run and its example, instead of these rules.
        context_tools: the only tools whose text is evidence: a name, a tool, or several. Default: all tools.
        evidence: names of chains and functions whose text is evidence as well, such as a web search.
        not_evidence: names of chains, retrievers and tools whose text is not evidence.
        settings: the live settings as one object.
        keywords: single live settings, as for `LiveScorer`: `concurrency`, `redact` and the others of
            `LiveArgs`.

    Raises:
        ConfigError: an argument is invalid.
    """
    own = live_scorer(metrics, **keywords)
    rules = Rules(
        context_tools=tool_names(context_tools),
        evidence=tool_names(evidence, "evidence"),
        not_evidence=tool_names(not_evidence, "not_evidence"),
    )

    def ragmetrics(
        run: "Run | None" = None,
        example: "Example | None" = None,
        *,
        inputs: Any = None,
        outputs: Any = None,
        reference_outputs: Any = None,
        **more: Any,
    ) -> Any:
        if run is not None:
            from langsmith.evaluation import EvaluationResult

            made = _sample(run, example, rules) if map is None else map(run, example)
            sample = made if isinstance(made, Sample) else Sample.from_mapping(made)
            result = own.score(Capture(translate=lambda _: sample, id=str(run.id), name=run.name))
            return {"results": [EvaluationResult(**scored) for scored in _as_mappings(result)]}
        if outputs is None:
            raise ConfigError(
                "the evaluator takes a run and an example, or inputs=, outputs= and reference_outputs="
            )
        context = named_value(more.get("context"), "arguments['context']")
        parts = CapturedRun(inputs=inputs, outputs=outputs, contexts=context, answered_by=())
        sample = _with_reference(sample_of(parts, DIALECT, rules), reference_outputs)
        return _as_mappings(own.score(Capture(translate=lambda _: sample, name="openevals")))

    return ragmetrics


def _run_id(capture: Capture) -> UUID | None:
    """The run of a capture, or None; the id of a run is written with hyphens."""
    try:
        run_id = UUID(capture.id)
    except ValueError:
        return None
    return run_id if str(run_id) == capture.id else None


def _as_mappings(result: LiveResult) -> list[dict[str, Any]]:
    return [
        {
            "key": key,
            "score": record.value,
            "comment": record.headline,
            "metadata": {"ragmetrics": record.model_dump(mode="json", by_alias=True, exclude_none=True)},
        }
        for key, record in by_name(result.records).items()
    ]


def _sample(run: "Run", example: "Example | None", rules: Rules) -> Sample:
    inputs, expected = (None, None) if example is None else (example.inputs, example.outputs)
    traced = CapturedRun(inputs=inputs or run.inputs, outputs=run.outputs or {}, calls=traced_calls(run))
    return _with_reference(sample_of(traced, DIALECT, rules), expected or {})


def _with_reference(sample: Sample, expected: Any) -> Sample:
    references = (fields_of(expected).get(key) for key in _REFERENCE_KEYS)
    reference = next((value for value in references if isinstance(value, str)), None)
    if reference is None and (expected_answer := answer_in(expected, DIALECT)) is not None:
        reference = expected_answer.value
    return sample.model_copy(update={"reference": reference})
