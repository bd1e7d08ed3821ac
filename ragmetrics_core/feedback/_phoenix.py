"""Phoenix: annotations of spans, and of the documents of retriever spans."""

# The client is an extra, and what it gives has no types here.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from collections.abc import Sequence
from typing import Any

from ragmetrics_core.feedback._receivers import client_of
from ragmetrics_core.records import SentScore

__all__ = ["PhoenixReceiver"]


class PhoenixReceiver:
    """Write scores as span annotations, and verdicts on contexts as document annotations.

    Phoenix knows an annotation by span, name and identifier, the metric's signature here, so a score that is
    sent again replaces itself. Document annotations are known by span, position and name.

    Args:
        client: a `phoenix.client.Client`. Default: a new one, with key and address from the environment.
        url: address of Phoenix.

    Raises:
        ConfigError: arize-phoenix-client is not installed.
    """

    name = "phoenix"

    def __init__(self, client: Any = None, *, url: str | None = None) -> None:
        with client_of("phoenix"):
            from phoenix.client import Client
        self._client: Any = client or Client(base_url=url)

    def problem_with(self, score: SentScore) -> str | None:
        """Refuse scores of samples without a span."""
        return None if score.span else "the sample has no label 'span'"

    def send(self, scores: Sequence[SentScore]) -> None:
        """Write the annotations and wait until they are stored."""
        self._client.spans.log_span_annotations(span_annotations=list(map(_annotation, scores)), sync=True)
        documents = [each for score in scores for each in _document_annotations(score)]
        if documents:
            self._client.spans.log_document_annotations(document_annotations=documents, sync=True)


def _annotation(score: SentScore) -> dict[str, Any]:
    result = {"label": score.label, "score": score.value, "explanation": score.explanation}
    return {
        "name": score.name,
        "annotator_kind": score.annotator_kind,
        "span_id": score.span,
        "result": {name: value for name, value in result.items() if value is not None},
        "metadata": score.metadata,
        "identifier": score.identifier,
    }


def _document_annotations(score: SentScore) -> list[dict[str, Any]]:
    annotations: list[dict[str, Any]] = []
    for chunk in score.chunks:
        if chunk.document is None:
            continue
        result = {"label": chunk.label, "score": chunk.score, "explanation": chunk.explanation}
        annotations.append(
            {
                "name": score.name,
                "annotator_kind": score.annotator_kind,
                "span_id": chunk.document.span,
                "document_position": chunk.document.position,
                "result": {name: value for name, value in result.items() if value is not None},
                "metadata": score.metadata,
            }
        )
    return annotations
