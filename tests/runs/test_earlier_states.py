"""Folders that earlier states of the library wrote: today's shows, compares, goes on with and audits them.

`state-f30f7b4.tar.gz` and `state-604169d.tar.gz` are named for the commits that wrote them. Each holds a
finished run of five samples, with labels, a correction, an answer that declines and a row whose id was taken;
and one of the same rows that ended after two of them, as if it had been killed.
"""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")
pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")

from typer.testing import CliRunner

from benchmarks.workload import LocalEmbedder, LocalJudge
from ragmetrics_core import Run, evaluate
from ragmetrics_core.cli._app import app
from ragmetrics_core.errors import RecordError
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.study import compare_runs, read_scores

STATES = ("f30f7b4", "604169d")
METRICS = ["faithfulness", "context_recall", "answer_relevance", "answer_correctness"]


@pytest.fixture(params=STATES)
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with tarfile.open(Path(__file__).with_name(f"state-{request.param}.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def go_on(state: Path, name: str) -> tuple[Run, LocalJudge]:
    """The run, gone on with over all samples, and the judge with what it was asked."""
    judge = LocalJudge(keep=True)
    rows = list(Run.load(state / "finished").samples())
    run = evaluate(rows, metrics=METRICS, judge=judge, embedder=LocalEmbedder(), out=state / name)
    return run, judge


def manifest(folder: Path, **changes: Any) -> None:
    """Change the manifest, and seal it as its writer did; None takes a field out."""
    fields = json.loads((folder / "manifest.json").read_text(encoding="utf-8")) | changes
    fields = {name: value for name, value in fields.items() if value is not None and name != "seal"}
    seal = digest_of(json.dumps(fields, sort_keys=True))
    (folder / "manifest.json").write_text(json.dumps({**fields, "seal": seal}), encoding="utf-8")


@pytest.mark.parametrize("name", ["finished", "killed"])
def test_a_folder_of_an_earlier_state_is_audited_clean(state, name):
    run = Run.load(state / name)
    assert run.manifest.schema_ == 1
    assert list(run.audit()) == []
    run.refuse_altered()


def test_it_is_shown_and_compared(state):
    shown = CliRunner().invoke(app, ["show", str(state / "finished"), "s1", "faithfulness"])
    assert (shown.exit_code, "Ada" in shown.output) == (0, True)
    first, second = read_scores(Run.load(state / "finished")), read_scores(Run.load(state / "killed"))
    compared = {each.metric: each for each in compare_runs(first, second).metrics}
    assert compared["context_recall/strict.1"].n == 2
    assert compared["context_recall/strict.1"].difference.value == 0


def test_one_that_was_killed_goes_on_and_is_whole(state):
    run, judge = go_on(state, "killed")
    asked = {request.variables.get("answer") for request in judge.asked}
    first = next(iter(run.samples()))
    assert first.answer not in asked
    assert len(asked) > 1
    assert (run.finished, len(run), run.manifest.schema_) == (True, 5, 2)
    assert list(Run.load(state / "killed").audit()) == []
    Run.load(state / "killed").refuse_altered()


def test_one_that_was_finished_asks_nothing_and_stays_as_it_is(state):
    before = list(Run.load(state / "finished").outcomes())
    run, judge = go_on(state, "finished")
    assert judge.asked == []
    assert list(run.outcomes()) == before
    assert list(Run.load(state / "finished").audit()) == []


def test_a_correction_of_today_leaves_it_whole(state):
    Run.load(state / "finished").correct("s2", "faithfulness", 1, False, by="Ben")
    assert list(Run.load(state / "finished").audit()) == []


def test_a_last_line_that_was_cut_off_is_no_change_of_a_run_that_was_killed(state):
    path = state / "killed" / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    Run.load(state / "killed").refuse_altered()
    run, _ = go_on(state, "killed")
    assert list(run.audit()) == []


def test_a_row_of_format_1_under_a_taken_id_is_one_of_which_nothing_is_known(state):
    scores = read_scores(Run.load(state / "finished"))
    assert (scores.rejected, scores.doubled, len(scores.unread)) == (1, frozenset(), 1)


def test_a_manifest_without_a_number_is_of_the_earliest_format(state):
    manifest(state / "finished", schema=None)
    run = Run.load(state / "finished")
    assert run.manifest.schema_ == 1
    assert list(run.audit()) == []


def test_a_folder_of_a_later_format_is_refused_in_one_sentence(state):
    manifest(state / "finished", schema=3)
    with pytest.raises(
        RecordError, match=r"has format 3; this version of ragmetrics reads up to 2: update ragmetrics"
    ):
        Run.load(state / "finished")
