"""A run in a folder: read back, gone on with, never written over by accident, and whole after a crash."""

import signal
import subprocess
import sys

import pytest

from ragmetrics_core import Run, as_judge, evaluate
from ragmetrics_core.errors import ConfigError, RecordError
from tests.runs.capital import SAMPLE, many, scripted


def test_a_run_in_a_folder_reads_back_the_same(tmp_path):
    written = evaluate(many(4), metrics="faithfulness", judge=scripted(), out=tmp_path / "run")
    read = Run.load(tmp_path / "run")
    assert read.to_rows() == written.to_rows()
    assert (read.judge, read.tally) == ("scripted", written.tally)


def test_a_folder_that_holds_another_run_is_not_overwritten_by_accident(tmp_path):
    evaluate([SAMPLE], metrics="faithfulness", judge=scripted(), out=tmp_path / "run")
    judge = as_judge(lambda _: "{}")
    differs = "holds another run: its judge is scripted, not callable:.*<lambda>#.{16}. Choose another"
    with pytest.raises(ConfigError, match=differs):
        evaluate([SAMPLE], metrics="faithfulness", judge=judge, out=tmp_path / "run")
    assert Run.load(tmp_path / "run").finished


def test_a_run_is_overwritten_on_request(tmp_path):
    evaluate(many(3), metrics="faithfulness", judge=scripted(), out=tmp_path / "run")
    evaluate([SAMPLE], metrics="faithfulness", judge=scripted(), out=tmp_path / "run", overwrite=True)
    assert list(Run.load(tmp_path / "run").sample_ids) == ["q1"]


def test_a_folder_with_other_things_is_never_touched(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(ConfigError, match="exists and does not hold a run: choose another folder"):
        evaluate([SAMPLE], metrics="faithfulness", judge=scripted(), out=tmp_path, overwrite=True)
    assert (tmp_path / "thesis.tex").exists()


def test_a_broken_line_in_the_middle_is_named_with_its_number(tmp_path):
    evaluate(many(3), metrics="faithfulness", judge=scripted(), out=tmp_path / "run")
    file = tmp_path / "run" / "records.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([lines[0], "{broken", lines[2], ""]), encoding="utf-8")
    with pytest.raises(RecordError, match=r"records.jsonl, line 2: "):
        Run.load(tmp_path / "run")


INTERRUPTED = """
import asyncio, json, signal, sys
from ragmetrics_core import evaluate
from ragmetrics_core.protocol import Completion

signal.signal(signal.SIGINT, signal.default_int_handler)
REPLIES = {"statements": {"statements": ["S"]}, "verdicts": {"verdicts": [{"number": 1, "verdict": "yes"}]}}

class Judge:
    identity = "hangs at q3"

    async def agenerate(self, request):
        if request.variables.get("question") == "q3":
            print("hanging", flush=True)
            await asyncio.Event().wait()
        return [Completion(text=json.dumps(REPLIES[request.prompt.name]))]

rows = [{"id": f"q{n}", "question": f"q{n}", "answer": "A", "contexts": ["C"]} for n in range(6)]
evaluate(rows, metrics="faithfulness", judge=Judge(), out=sys.argv[1], concurrency=1)
"""


def test_ctrl_c_cancels_the_calls_in_flight_and_keeps_what_was_finished(tmp_path):
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "run")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "hanging\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert err.endswith("KeyboardInterrupt\n")
    run = Run.load(tmp_path / "run")
    assert (list(run.sample_ids), run.finished) == (["q0", "q1", "q2"], False)
    assert list(run.audit()) == []
