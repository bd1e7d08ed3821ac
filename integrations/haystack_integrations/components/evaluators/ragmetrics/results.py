"""Records in the form of Haystack's evaluation results."""

import json
from collections.abc import Sequence
from math import nan
from statistics import fmean
from typing import Any

from haystack import logging
from ragmetrics_core import Record, Run
from ragmetrics_core.protocol import Usage

__all__ = ["entry_of", "meta_of", "outputs_of"]

logger = logging.getLogger(__name__)
_OF_VERDICT = ("number", "about", "text", "supported", "label", "reason")


def entry_of(record: Record, *, with_record: bool) -> dict[str, Any]:
    """
    Convert a record to a result in the form of Haystack's evaluators.

    :param record: The record.
    :param with_record: Include the whole record as JSON, with sample and prompts: `Record.from_json` reads it
        and `recompute` computes its score again.
    :returns: A dictionary of plain values.
    """
    is_scored = record.status == "ok"
    entry: dict[str, Any] = {
        "score": record.value if is_scored else nan,
        "status": "evaluated" if is_scored else "error",
        "ragmetrics_status": record.status,
        "reason": record.reason,
        "formula": record.formula,
        "counts": dict(record.counts),
        "verdicts": [
            {name: getattr(verdict, name) for name in _OF_VERDICT}
            | {"evidence": [each.quote for each in verdict.evidence]}
            for verdict in record.verdicts
        ],
    }
    if with_record:
        entry["record"] = json.loads(record.model_dump_json(by_alias=True, exclude={"digest", "seal"}))
    return entry


def outputs_of(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """
    Combine the results of one metric; the mean excludes missing scores, and a warning is logged.

    :param entries: One result per sample.
    :returns: `score`, `individual_scores` and `results`.
    """
    scored = [entry["score"] for entry in entries if entry["status"] == "evaluated"]
    if len(scored) < len(entries):
        logger.warning(
            "{skipped} of {total} samples have no score and were excluded from the mean.",
            skipped=len(entries) - len(scored),
            total=len(entries),
        )
    scores = [entry["score"] for entry in entries]
    return {"score": fmean(scored) if scored else nan, "individual_scores": scores, "results": list(entries)}


def meta_of(run: Run, sample_ids: Sequence[str]) -> list[dict[str, Any]] | None:
    """
    Model and usage of each reply; a reply that metrics share is listed once.

    :param run: The run.
    :param sample_ids: The samples.
    :returns: One entry per reply, or None if there are none.
    """
    replies: dict[tuple[str, str, int], dict[str, Any]] = {}
    for sample_id in sample_ids:
        for score in run.scores(sample_id).values():
            for step in score.generate_steps:
                usage = Usage(step.prompt_tokens or 0, step.completion_tokens or 0)._asdict()
                meta = {"model": step.model, "finish_reason": step.finish_reason, "usage": usage}
                replies[sample_id, step.rendered_digest, step.draw] = meta
    return list(replies.values()) or None
