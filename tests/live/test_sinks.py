"""Where results go: memory, logs, functions, and a run folder that every command reads."""

import gc
import logging
import threading
import weakref
from pathlib import Path

import pytest

from ragmetrics_core import Run, evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import CallableSink, LiveResult, LoggingSink, MemorySink, RunSink
from ragmetrics_core.runs.lock import FolderLock
from tests.live.captures import by_context, capture_of, faithful, supports, unfaithful
from tests.live.conftest import MakeScorer


class Document:
    """An object of the host's."""

    def __init__(self, text: str) -> None:
        self.text = text


# Memory


def test_memory_keeps_the_newest_results(live: MakeScorer):
    memory = MemorySink(2)
    scorer = live(sinks=[memory])
    for name in ("first", "second", "third"):
        scorer.score(capture_of(name))

    assert [result.sample.question for result in memory.results] == ["second", "third"]
    assert scorer.results == memory.results


def test_no_object_of_the_host_is_kept_once_it_is_scored(live: MakeScorer):
    scorer = live()
    document = Document("The SMF selects the UPF.")
    held = weakref.ref(document)
    scorer.submit(
        capture_of(
            contexts=[document.text],
            data={"document": document},
            labels={"rule": "x"},
            session="s",
            parent=document,
        )
    )
    del document
    scorer.flush()
    scorer.score(capture_of())
    gc.collect()

    assert held() is None
    assert scorer.results[0].capture.labels == {"rule": "x"}
    assert scorer.results[0].capture.session == "s"


def test_a_memory_of_nothing_is_refused():
    with pytest.raises(ConfigError, match="limit must be at least 1"):
        MemorySink(0)


# Functions and logs


def test_sinks_and_on_result_get_the_whole_capture_one_at_a_time_in_one_thread(live: MakeScorer):
    threads: list[str] = []
    seen: list[LiveResult] = []

    def take(result: LiveResult) -> None:
        threads.append(threading.current_thread().name)
        seen.append(result)

    document = Document("text")
    scorer = live(sinks=[CallableSink(take)], on_result=take)
    for _ in range(10):
        scorer.submit(capture_of(data={"document": document}))
    scorer.flush()

    assert set(threads) == {"ragmetrics-live-sinks-0"}
    assert len(seen) == 20
    assert all(result.capture.data["document"] is document for result in seen)


def test_a_sink_that_fails_stops_no_other(live: MakeScorer):
    def exits(result: LiveResult) -> None:
        raise SystemExit(1)

    seen: list[LiveResult] = []
    scorer = live(sinks=[CallableSink(exits)], on_result=seen.append)
    scorer.score(capture_of())

    assert len(seen) == len(scorer.results) == 1
    assert scorer.stats.scored == 1
    assert scorer.stats.errors == ["CallableSink failed: SystemExit: 1"]


def test_sinks_are_flushed_and_closed_with_the_scorer(live: MakeScorer):
    class Told:
        def __init__(self) -> None:
            self.calls: list[str] = []

        def write(self, result: LiveResult) -> None:
            self.calls.append("write")

        def flush(self) -> None:
            self.calls.append("flush")

        def close(self) -> None:
            self.calls.append("close")

    told = Told()
    scorer = live(sinks=[told])
    scorer.submit(capture_of())
    scorer.flush()
    assert told.calls == ["write", "flush"]
    scorer.close()
    assert told.calls[-1] == "close"


def test_the_log_has_a_line_for_each_score_and_no_text_of_the_sample(
    live: MakeScorer, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "own")
    scorer = live(judge=by_context(), sinks=[LoggingSink(logging.getLogger("own"))], metrics=["faithfulness"])
    scorer.score(capture_of(name="bot", id="one", contexts=["this does not"]))
    scorer.score(capture_of(id="two", contexts=[]))

    lines = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "own"]
    assert lines == [
        ("INFO", "bot one: faithfulness/strict.1: 0 / 1 = 0"),
        ("INFO", "app two: faithfulness/strict.1: undefined (no_contexts)"),
    ]


# The run folder


@pytest.fixture
def run(live: MakeScorer, tmp_path: Path) -> Run:
    scorer = live(judge=by_context(), out=tmp_path / "run")
    for number, capture in enumerate((faithful(), unfaithful(), faithful())):
        capture.id = f"root-{number}"
        scorer.submit(capture)
    scorer.close()
    return Run.load(tmp_path / "run")


def test_the_folder_is_a_run_whose_records_prove_their_scores(run: Run):
    assert sorted(run.sample_ids) == ["root-0", "root-1", "root-2"]
    assert [run.score(each, "faithfulness").value for each in ("root-0", "root-1", "root-2")] == [1, 0, 1]
    assert run.mean("faithfulness").n == 3
    assert run.finished
    assert run.tally["calls"] == 6
    assert list(run.audit()) == []


def test_the_folder_is_the_one_that_evaluate_writes(run: Run, tmp_path: Path):
    samples = [run.sample(each) for each in run.sample_ids]
    batch = evaluate(samples, metrics="faithfulness", judge=by_context(), out=tmp_path / "batch")

    for file in ("samples.jsonl", "prompts.jsonl", "records.jsonl"):
        written, expected = (
            sorted((each / file).read_text().splitlines()) for each in (tmp_path / "run", tmp_path / "batch")
        )
        assert written == expected
    assert batch.metrics == run.metrics


def test_what_a_live_application_adds_to_a_run_of_a_data_set_counts(live: MakeScorer, tmp_path: Path):
    sample = {"id": "first", "question": "Q?", "answer": "A.", "contexts": ["A."]}
    evaluate([sample], metrics="faithfulness", judge=by_context(), out=tmp_path / "run")
    scorer = live(judge=by_context(), out=tmp_path / "run")
    scorer.score(faithful())
    scorer.close()

    run = Run.load(tmp_path / "run")
    assert len(run) == run.mean("faithfulness").total == 2
    assert list(run.audit()) == []


def test_the_same_application_started_again_goes_on_in_its_folder(run: Run, live: MakeScorer):
    scorer = live(judge=by_context(), out=run.path)
    scorer.score(faithful())
    assert not Run.load(str(run.path)).finished
    scorer.close()

    again = Run.load(str(run.path))
    assert len(again) == 4
    assert again.finished
    assert again.tally["calls"] == 8


def test_the_folder_can_be_read_while_it_is_written(live: MakeScorer, tmp_path: Path):
    scorer = live(out=tmp_path / "run")
    scorer.score(capture_of())
    scorer.flush()

    now = Run.load(tmp_path / "run")
    assert len(now) == 1
    assert now.tally["calls"] > 0
    scorer.score(capture_of())
    assert len(Run.load(tmp_path / "run")) == 2


def test_flushing_and_closing_again_counts_no_call_twice(live: MakeScorer, tmp_path: Path):
    scorer = live(judge=by_context(), out=tmp_path / "run")
    for _ in range(2):
        scorer.score(faithful())
        scorer.flush()
        scorer.flush()
    scorer.close()
    scorer.close()

    assert Run.load(tmp_path / "run").tally["calls"] == 4


def test_another_run_in_the_folder_is_told_at_once(run: Run, live: MakeScorer):
    with pytest.raises(ConfigError, match="holds another run: its judge is scripted, not embedded:support"):
        live(out=run.path)


def test_beside_another_writer_the_records_go_to_a_folder_of_their_own(
    live: MakeScorer, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    with FolderLock(tmp_path / "run"):
        first, second = live(out=tmp_path / "run"), live(out=tmp_path / "run")
        for scorer in (first, second):
            scorer.score(capture_of())
            scorer.score(capture_of())
            scorer.close()

    own = tmp_path / "run-worker-2"
    assert len(Run.load(own)) == 4
    assert caplog.text.count(f"live records go to {own}: ") == 2
    assert not (tmp_path / "run" / "records.jsonl").exists()


def test_a_folder_that_cannot_be_written_fails_no_capture(live: MakeScorer, tmp_path: Path):
    (tmp_path / "file").write_text("no folder")
    scorer = live(out=tmp_path / "file" / "run")
    scorer.score(capture_of())

    assert scorer.stats.scored == 1
    assert "RunSink failed: ConfigError" in scorer.stats.errors[0]


def test_a_run_sink_without_a_scorer_says_what_it_needs(live: MakeScorer, tmp_path: Path):
    result = live().score(capture_of())

    with pytest.raises(ConfigError, match="pass it to a LiveScorer"):
        RunSink(tmp_path / "run").write(result)


def test_with_a_factory_another_run_in_the_folder_is_left_alone(run: Run, live: MakeScorer):
    # what the factory makes is known when it is called, which is too late to refuse
    assert run.path is not None
    scorer = live(judge_factory=lambda: "embedded", out=run.path)
    scorer.score(capture_of())
    scorer.close()

    assert "holds another run" in scorer.stats.errors[0]
    assert len(Run.load(run.path)) == 3
    assert len(Run.load(run.path.with_name("run-worker-2"))) == 1


def test_nothing_that_is_kept_grows_with_the_captures(live: MakeScorer, tmp_path: Path):
    scorer = live(judge=supports, sinks=[MemorySink(10)], out=tmp_path / "run")

    def objects_after(captures: int) -> int:
        for _ in range(captures):
            scorer.submit(capture_of())
        scorer.flush()
        gc.collect()
        return len(gc.get_objects())

    before = objects_after(300)  # also what is made once, such as references to classes
    # less than one object for each capture; timers of about a hundred finished calls may still be there
    *_, after = (objects_after(600) for _ in range(3))
    assert after - before < 1800
    assert scorer.stats.scored == 2100
