"""`evaluate` and the command line on traces: the same scores as from rows, counted reasons, texts for ids."""

import json

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs import BadRow, Run, plan, read_samples
from ragmetrics_core.runs.row_counts import count_rows
from ragmetrics_core.traces import Traces
from tests.traces.made import line_of, model, run_of, span, written

SPANS = [each for number in (1, 2) for each in run_of(number)]
# two traces without a model call
OTHERS = [span(1, name="GET /", trace=number) for number in (8, 9)]


def test_a_file_a_folder_and_a_list_of_files_are_one_source(tmp_path):
    whole = written(tmp_path, SPANS)
    halves = [
        written(tmp_path, part, name) for part, name in ((SPANS[:3], "a.jsonl"), (SPANS[3:], "b.jsonl"))
    ]
    expected = list(read_samples(whole))

    assert [each.contexts for each in expected if not isinstance(each, BadRow)] == [
        (f"Town {number} lies beside the river number {number}.",) for number in (1, 2)
    ]
    assert list(read_samples(halves)) == expected
    assert list(read_samples([str(half) for half in halves])) == expected
    whole.unlink()
    assert list(read_samples(tmp_path)) == expected
    assert list(read_samples(Traces(tmp_path))) == expected


def test_a_run_over_traces_keeps_their_ids_and_counts_the_others_by_reason(tmp_path):
    path = written(tmp_path, [*SPANS, *OTHERS])
    run = evaluate(path, judge="embedded", out=tmp_path / "run")

    assert [metric.name for metric in run.metrics] == ["faithfulness"]
    assert {record.sample_id for record in run.records()} == {f"{1:032x}", f"{2:032x}"}
    assert [(row.where, row.message) for row in run.rejected] == [
        (f"trace {number:032x}", "no model call") for number in (8, 9)
    ]
    assert run.notes == (
        "no sample has a reference: faithfulness is measured, and factual_correctness is not",
    )
    again = evaluate(path, judge="embedded", out=tmp_path / "run")
    assert again.tally == run.tally
    assert plan(path, judge="embedded").samples == 2
    assert not any(differences for _, differences in Run.load(tmp_path / "run").audit())


def test_the_progress_of_traces_has_no_total(tmp_path):
    assert count_rows(written(tmp_path, SPANS)) is None


def test_the_command_line_reads_traces_and_says_how_many_gave_no_sample(command, tmp_path):
    outcome = command("evaluate --judge embedded", written(tmp_path, [*SPANS, *OTHERS]))
    assert outcome.code == 0
    assert f"2 rows were left out · 2 × no model call: trace {8:032x}, trace {9:032x}" in outcome.words


def test_a_folder_without_traces_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("no traces")
    with pytest.raises(SampleError, match="is a folder; give a file"):
        evaluate(tmp_path, judge="embedded")


SYSTEM = "Use this only: Town 1 lies beside the river number 1."
TALK = {"input.value": "Where does Town 1 lie?", "output.value": "Town 1 lies beside a river."}
UNSEEN = [
    span(1, "CHAIN", at=(0, 9), **TALK),
    model(2, SYSTEM, TALK["input.value"], TALK["output.value"], at=(1, 2), parent=1),
]


def test_options_name_the_texts_of_ids_and_the_system_message_as_context(command, tmp_path):
    found = json.dumps([{"id": "d1"}])
    search = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": found}
    path = tmp_path / "traces.jsonl"
    path.write_text(line_of([*UNSEEN, span(3, parent=1, at=(0, 1), **search)]))
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps({"id": "d1", "text": "Town 1 lies beside the river number 1."}))
    without_texts = command("evaluate --judge embedded", path)
    assert without_texts.code == 2
    assert "contexts: ids without text" in without_texts.err
    given = command("evaluate --judge embedded --format otlp", path, "--documents", corpus)
    assert (given.code, "left out" in given.words) == (0, False)

    unseen = written(tmp_path, UNSEEN, "unseen.jsonl")
    (without,) = read_samples(unseen)
    (with_it,) = read_samples(Traces(unseen, system_message=True))
    assert not isinstance(without, BadRow)
    assert not isinstance(with_it, BadRow)
    assert (without.contexts, with_it.contexts) == (None, (SYSTEM,))
    assert "or read with system_message=True" in str(without.labels["found_contexts"])
    assert with_it.labels["found_contexts"] == "system message of the model, with its instructions"
