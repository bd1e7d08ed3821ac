"""What comes from Ray actors: results that somebody else wrote, and a factory that fails with its key."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="the package ray is not installed (pip install 'ragmetrics-core[ray]')")

import pyarrow as pa
from pyarrow import parquet

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.metrics import resolve
from ragmetrics_core.runs import Manifest
from ragmetrics_core.testing import RandomJudge
from ragmetrics_ray import to_run
from ragmetrics_ray._parts import Parts
from ragmetrics_ray._rows import SCHEMA, score_row
from ragmetrics_ray._worker import Actor, WorkerPlan

KEY = "sk-very-secret-4711-0815"
ROW = {"id": "a", "question": "Who?", "answer": "Ann did. Bob, too.", "contexts": ["Ann did."]}


@pytest.fixture(scope="module")
def made() -> tuple[dict[str, Any], str]:
    """The row of a score, and what its file says of itself."""
    run = evaluate([ROW], metrics="faithfulness", judge=RandomJudge(1, complete=True))
    row = score_row(run.score("a", "faithfulness"))
    return row, Manifest(metrics=run.metrics).model_dump_json(by_alias=True)


def written(place: Path, table: Any, manifest: str) -> Path:
    place.mkdir()
    parquet.write_table(
        table.replace_schema_metadata({b"ragmetrics": manifest.encode()}), place / "part-x.parquet"
    )
    return place


def without_seal(record: str) -> str:
    fields = json.loads(record)
    del fields["digest"]
    return json.dumps(fields)


HOSTILE: dict[str, Any] = {
    "prompts that are a list": {"prompts": "[1]"},
    "prompts that go deep": {"prompts": "[" * 100_000},
    "a record that goes deep": {"record": "[" * 100_000},
    "a sample that is none": {"sample": "[1]"},
    "no record": {"record": None},
    "a record without its seal": {"record": without_seal},
    "a record that was changed": {
        "record": lambda record: record.replace('"faithfulness/', '"hallucination/')
    },
    "a number for a status": {"status": 7},
    "a rejected row without a digest": {"status": "rejected", "sample_digest": None},
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_row_that_no_actor_wrote_is_one_sentence(
    how: str, made: tuple[dict[str, Any], str], tmp_path: Path
):
    row, manifest = made
    changes = {name: to(row[name]) if callable(to) else to for name, to in HOSTILE[how].items()}
    parts = written(tmp_path / "parts", pa.Table.from_pylist([row | changes]), manifest)

    with pytest.raises(RecordError):
        to_run(parts, tmp_path / "run")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1 no" * 100])
def test_a_file_that_is_no_parquet_is_one_sentence(content: bytes, tmp_path: Path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "part-x.parquet").write_bytes(content)

    with pytest.raises(RecordError, match="cannot be read as results"):
        Parts.at(tmp_path / "parts").manifest()
    with pytest.raises(RecordError, match="cannot be read as results"):
        Parts.at(tmp_path / "parts").take_up(frozenset())


def test_texts_that_are_none_and_columns_of_other_kinds_are_one_sentence(
    made: tuple[dict[str, Any], str], tmp_path: Path
):
    raw = pa.array([b"\xff"], pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 1, raw.buffers())
    columns = {name: pa.nulls(1) if name in {"value", "low", "high"} else broken for name in SCHEMA.names}
    parts = Parts.at(written(tmp_path / "parts", pa.table(columns), made[1]))

    with pytest.raises(RecordError, match="cannot be read as results"):
        to_run(parts.out, tmp_path / "run")
    with pytest.raises(RecordError, match="cannot be read as results"):
        parts.take_up(frozenset())


def test_texts_of_another_width_are_read(made: tuple[dict[str, Any], str], tmp_path: Path):
    row, manifest = made
    wide = pa.schema([(f.name, pa.large_string() if f.type == pa.string() else f.type) for f in SCHEMA])
    parts = Parts.at(written(tmp_path / "parts", pa.Table.from_pylist([row], schema=wide), manifest))

    assert len(parts.take_up(frozenset({row["signature"]})).whole) == 1
    assert len(to_run(parts.out, tmp_path / "run")) == 1


def test_a_factory_that_fails_ends_no_actor_and_its_key_is_in_no_word(tmp_path: Path):
    key = KEY

    def judge() -> Any:
        raise RuntimeError(f"no model for {key}")

    actor = Actor(
        WorkerPlan(
            metrics=tuple(resolve("faithfulness")),
            models={"judge": judge, "embedder": None, "scorer": None},
            parts=Parts.at(tmp_path),
        )
    )
    (done,) = actor(pa.Table.from_pylist([ROW])).to_pylist()

    assert done["error"] == "ConfigError"
    assert "the judge could not be made in an actor: RuntimeError: no model for" in done["message"]
    assert KEY not in done["message"]
    with pytest.raises(ConfigError) as raised:
        Actor(
            WorkerPlan(
                metrics=tuple(resolve("faithfulness")),
                models={"judge": judge, "embedder": None, "scorer": None},
            )
        )(pa.Table.from_pylist([ROW]))
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
