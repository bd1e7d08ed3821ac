"""Langfuse: scores of traces and observations."""

# The client is an extra, and what it gives has no types here.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false

import os
from collections.abc import Sequence
from typing import Any

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.feedback._receivers import Refused, client_of
from ragmetrics_core.records import SentScore

__all__ = ["LangfuseReceiver"]

_CLOUD = "https://cloud.langfuse.com"


class LangfuseReceiver:
    """Write scores of observations; a score without a value is a category, its status.

    The id of a score follows from span and metric, and its time is when the run began, so a score that is
    sent again replaces itself. Scores are sent through the client's `api.scores`, which answers when they are
    accepted; `create_score` only puts them into a queue.

    A score that a person corrected has the corrected value. With `corrections`, the person's decisions are
    also written as a score of type CORRECTION. Langfuse shows it as the corrected output of the observation,
    so use it only if you keep no other corrected outputs.

    Args:
        client: a `langfuse.Langfuse`. Default: a new one, with keys and address from the environment.
        url: address of Langfuse.
        corrections: also write the decisions of persons as CORRECTION.

    Raises:
        ConfigError: langfuse is not installed, or there is no key.
    """

    name = "langfuse"

    def __init__(self, client: Any = None, *, url: str | None = None, corrections: bool = False) -> None:
        with client_of("langfuse"):
            from langfuse.api import CreateScoreRequest
        self._request: Any = CreateScoreRequest
        self._api: Any = _new_api(url) if client is None else client.api
        self._corrections = corrections

    def problem_with(self, score: SentScore) -> str | None:
        """Refuse scores of samples without a trace."""
        return None if score.trace else "the sample has no label 'trace'"

    def send(self, scores: Sequence[SentScore]) -> None:
        """Write the scores."""
        requests = [self._request(**each) for score in scores for each in self._bodies(score)]
        answer = self._api.scores.create(request=requests)
        if rejected := getattr(answer, "rejected", 0):
            raise Refused(f"{rejected} of {len(requests)} scores rejected")

    def _bodies(self, score: SentScore) -> list[dict[str, Any]]:
        target = f"{score.trace}/{score.span}"
        shared = {
            "trace_id": score.trace,
            # an export's trace with an answer of its own is a span with the trace's id
            "observation_id": None if score.span == score.trace else score.span,
            "metadata": score.metadata | {"ragmetrics_annotator_kind": score.annotator_kind},
            "timestamp": score.made,
        }
        has_value = score.value is not None
        bodies: list[dict[str, Any]] = [
            shared
            | {
                "id": str(score.id_at(target)),
                "name": score.name,
                "value": score.value if has_value else score.status,
                "data_type": "NUMERIC" if has_value else "CATEGORICAL",
                "comment": score.explanation,
            }
        ]
        if self._corrections and score.corrections:
            bodies.append(
                shared
                | {
                    "id": str(score.id_at(f"{target}/corrections")),
                    "name": "output",
                    "value": "\n".join(score.corrections),
                    "data_type": "CORRECTION",
                    "comment": f"{score.name}: {score.explanation}",
                }
            )
        return bodies


def _new_api(url: str | None) -> Any:
    """A client for requests only: `langfuse.Langfuse` would also start tracing."""
    from langfuse.api import LangfuseAPI

    public, secret = os.environ.get("LANGFUSE_PUBLIC_KEY"), os.environ.get("LANGFUSE_SECRET_KEY")
    if not public or not secret:
        raise ConfigError("langfuse has no keys: set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY")
    stated = os.environ.get("LANGFUSE_BASE_URL") or os.environ.get("LANGFUSE_HOST")
    return LangfuseAPI(
        base_url=url or stated or _CLOUD,
        username=public,
        password=secret,
        x_langfuse_public_key=public,
        x_langfuse_sdk_name="ragmetrics",
    )
