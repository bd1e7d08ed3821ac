"""Runs and records to begin with, and a folder whose files are replaced by inputs."""

import atexit
import json
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

from ragmetrics_core import evaluate
from ragmetrics_core.metrics import get
from ragmetrics_core.records import Record
from ragmetrics_core.runs import Run
from ragmetrics_core.testing import HashEmbedder, OverlapScorer, RandomJudge
from tests.catalogue import MEASURABLE

__all__ = ["file_with", "records", "run_with", "whole_file", "whole_run"]

SAMPLE = {
    "id": "q1",
    "question": "Where was Einstein born?",
    "answer": "Einstein was born in Ulm [1]. He sailed.",
    "contexts": ["Einstein was born in Ulm.", "He studied in Zurich."],
    "reference": "In Ulm, in 1879.",
    "reference_contexts": ["Einstein was born in Ulm."],
    "context_ids": ["a", "b"],
    "reference_context_ids": ["a"],
    "reference_context_grades": [2],
    "labels": {"model": "small", "right": True},
}
OTHER = {
    "id": "q2",
    "question": "Why?",
    "answer": "I cannot say.",
    "contexts": ["It rained."],
    "reference": "Rain.",
}
FEW = ["faithfulness", "answer_similarity", "context_precision", "token_f1"]


@cache
def folder() -> Path:
    """A place for files, gone when the process ends."""
    place = Path(tempfile.mkdtemp(prefix="ragmetrics-fuzz-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


def file_with(name: str, data: bytes) -> Path:
    """A file that holds the input."""
    path = folder() / name
    path.write_bytes(data)
    return path


@cache
def whole_run() -> Path:
    """A small finished run on disk, with a row that was no sample and a verdict that a person overruled."""
    place = folder() / "whole"
    rows = [SAMPLE, OTHER, {"note": "no sample"}]
    evaluate(
        rows,
        metrics=FEW,
        judge=RandomJudge(6, complete=True),
        embedder=HashEmbedder(),
        scorer=OverlapScorer(),
        out=place,
    )
    run = Run.load(place)
    record = run.score("q1", "faithfulness")
    assert record.verdicts
    run.correct("q1", "faithfulness", 1, not record.verdicts[0].supported, by="Ada")
    manifest = place / "manifest.json"
    # inputs that are made of it must not depend on the time of day
    manifest.write_bytes(
        re.sub(rb'("started": *)"[^"]*"', rb'\1"2026-01-01T00:00:00Z"', manifest.read_bytes())
    )
    return place


@cache
def whole_file(name: str) -> bytes:
    """A file of the small run, made the same in every process."""
    return (whole_run() / name).read_bytes()


@cache
def copy_of(name: str) -> Path:
    """The small run again, of which one file is to be replaced."""
    place = folder() / f"run-{name}"
    shutil.copytree(whole_run(), place)
    return place


def run_with(name: str, data: bytes) -> Path:
    """The small run with the input in place of one of its files."""
    place = copy_of(name)
    (place / name).write_bytes(data)
    return place


@cache
def records() -> list[bytes]:
    """A record of every variant that can be measured here, with its sample inside but without prompts."""
    every = [get(name) for name in MEASURABLE]
    run = evaluate(
        [SAMPLE], metrics=every, judge=RandomJudge(1), embedder=HashEmbedder(), scorer=OverlapScorer()
    )
    return [attached(record) for record in run.records()]


def attached(record: Record) -> bytes:
    """A record with its sample inside."""
    fields = json.loads(record.stored())
    sample = None if record.sample is None else record.sample.model_dump(mode="json", exclude_none=True)
    return json.dumps({**fields, "sample": sample, "prompts": {}}).encode()
