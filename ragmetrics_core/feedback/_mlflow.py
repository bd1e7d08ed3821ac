"""MLflow: feedback on traces."""

# The client is an extra, and what it gives has no types here.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from ragmetrics_core.feedback._receivers import client_of
from ragmetrics_core.records import SentScore

__all__ = ["MLflowReceiver"]

_SOURCES = {"LLM": "LLM_JUDGE", "CODE": "CODE", "HUMAN": "HUMAN"}


class MLflowReceiver:
    """Write scores as feedback on a trace; a status other than "ok" is written as an error.

    MLflow gives feedback an id of its own. So the feedback of the trace is read first: a record that is there
    already is not written again, and another record of the same metric overrides the earlier one.

    Args:
        url: the tracking URI. Default: MLflow's own, from the environment.

    Raises:
        ConfigError: mlflow is not installed.
    """

    name = "mlflow"

    def __init__(self, *, url: str | None = None) -> None:
        with client_of("mlflow"):
            from mlflow.tracing.client import TracingClient
        self._client: Any = TracingClient(tracking_uri=url)

    def problem_with(self, score: SentScore) -> str | None:
        """Refuse scores of samples without a trace."""
        return None if score.trace else "the sample has no label 'trace'"

    def send(self, scores: Sequence[SentScore]) -> None:
        """Write the feedback of each trace."""
        for trace, of_trace in groupby(scores, key=_trace_id):
            stored = self._client.get_trace_info(trace).assessments
            for score in of_trace:
                earlier = [each for each in stored if each.valid is not False and _is_of(each, score)]
                if all(each.metadata.get("ragmetrics_digest") != score.digest for each in earlier):
                    overridden = earlier[-1].assessment_id if earlier else None
                    self._client.log_assessment(trace, self.feedback_of(score, overridden))

    def feedback_of(self, score: SentScore, overridden: str | None = None) -> Any:
        """MLflow's form of a score.

        Args:
            score: the score.
            overridden: id of the earlier feedback that it overrides.
        """
        from mlflow.entities import AssessmentError, AssessmentSource, Feedback

        error = AssessmentError(error_code=score.status.upper(), error_message=score.explanation)
        return Feedback(
            name=score.name,
            value=score.value,
            error=error if score.value is None else None,
            source=AssessmentSource(_SOURCES[score.annotator_kind], score.annotator),
            rationale=score.explanation,
            metadata={name: str(value) for name, value in score.metadata.items()}
            | {"ragmetrics_label": score.label},
            span_id=score.span,
            overrides=overridden,
        )


def _trace_id(score: SentScore) -> str:
    """MLflow's id of the trace: that of OpenTelemetry with a prefix."""
    trace = score.trace or ""
    is_plain = len(trace) == 32 and all(letter in "0123456789abcdef" for letter in trace)
    return f"tr-{trace}" if is_plain else trace


def _is_of(stored: Any, score: SentScore) -> bool:
    """Whether a stored assessment is a score of the same metric and span."""
    metadata: Mapping[str, str] = stored.metadata or {}
    return stored.span_id == score.span and metadata.get("ragmetrics_signature") == score.identifier
