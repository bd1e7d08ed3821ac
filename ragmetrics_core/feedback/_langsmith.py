"""LangSmith: feedback on runs."""

# The client is an extra, and what it gives has no types here.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from collections.abc import Sequence
from functools import cached_property
from typing import Any
from uuid import UUID

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.feedback._receivers import client_of
from ragmetrics_core.records import SentScore

__all__ = ["LangSmithReceiver"]


class LangSmithReceiver:
    """Write scores as feedback on the traced runs.

    The id of feedback follows from run and metric, so a score that is sent again replaces itself. LangSmith
    keeps four decimal places.

    Args:
        client: a `langsmith.Client` without background threads (`auto_batch_tracing=False`), so that a
            failure is not lost. Default: a new one, with key and address from the environment.
        url: address of LangSmith.
        project: the project of the runs, as name or id, if the samples have no label "project", which
            exports of LangSmith give them. Default: that of the environment.

    Raises:
        ConfigError: langsmith is not installed.
    """

    name = "langsmith"

    def __init__(self, client: Any = None, *, url: str | None = None, project: str | None = None) -> None:
        with client_of("langsmith"):
            from langsmith import Client
        if client is not None and client.tracing_queue is not None:
            raise ConfigError(
                "a LangSmithReceiver needs a client that waits for the answer: "
                "langsmith.Client(auto_batch_tracing=False)"
            )
        self._client: Any = client or Client(api_url=url, auto_batch_tracing=False)
        self._project = project

    def problem_with(self, score: SentScore) -> str | None:
        """Refuse scores of samples without a run of LangSmith."""
        if score.span is None or score.trace is None:
            return "the sample has no label 'trace' or 'span'"
        if _uuid(score.span) is None or _uuid(score.trace) is None:
            return "the sample's labels 'trace' and 'span' are not ids of LangSmith"
        return None

    def send(self, scores: Sequence[SentScore]) -> None:
        """Write the feedback."""
        for score in scores:
            self._write(score)

    def _write(self, score: SentScore) -> None:
        from langsmith.utils import LangSmithConflictError

        body = score.feedback(UUID(score.span))
        try:
            self._client.create_feedback(
                run_id=UUID(score.span),
                trace_id=UUID(score.trace),
                session_id=_uuid(score.project or "") or self._session,
                stop_after_attempt=1,  # a finished run's traces are there, or never will be
                **body,
            )
        except LangSmithConflictError:
            values = {name: body[name] for name in ("score", "value", "comment")}
            self._client.update_feedback(body["feedback_id"], **values)

    @cached_property
    def _session(self) -> UUID:
        """The project's id, which LangSmith calls the session's."""
        from langsmith.utils import get_tracer_project

        name = self._project or get_tracer_project() or "default"
        return _uuid(name) or self._client.read_project(project_name=name).id


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
