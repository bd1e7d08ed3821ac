"""Files of nonsense: whatever stands in them, the error is ours, and it says which file and what is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Record, evaluate, recompute
from ragmetrics_core.drivers import audit
from ragmetrics_core.errors import ConfigError, ModelError, PromptError, RecordError
from ragmetrics_core.journal._bodies import decode_reply
from ragmetrics_core.models import OpenAIJudge
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import load_file, read_folder
from ragmetrics_core.runs import Run, list_runs, read_prices
from ragmetrics_core.study import read_annotations, read_labels
from ragmetrics_core.testing import HashEmbedder, RandomJudge
from tests.lines import plain

DEEP = "[" * 100_000
SAMPLE = {"id": "q1", "question": "Where?", "answer": "In Ulm.", "contexts": ["Ulm."], "reference": "In Ulm."}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A finished run of one sample, with a row that is no sample."""
    evaluate(
        [SAMPLE, {"note": "no sample"}],
        metrics=["faithfulness", "bleu", "answer_similarity"],
        judge=RandomJudge(3, complete=True),
        embedder=HashEmbedder(),
        out=tmp_path / "run",
    )
    return tmp_path / "run"


def altered(run: Path, file: str, **changes: Any) -> None:
    """Change fields of the first line of a file."""
    first, *others = (run / file).read_text(encoding="utf-8").splitlines()
    lines = [json.dumps({**json.loads(first), **changes}), *others]
    (run / file).write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_all(run: Path) -> None:
    opened = Run.load(run)
    opened.means()
    list(opened.records())
    list(opened.rejected)


@pytest.mark.parametrize("read", [read_prices, read_annotations, read_labels], ids=lambda read: read.__name__)
def test_json_nested_too_deep_is_no_json(read, tmp_path):
    path = tmp_path / "deep.json"
    path.write_text(DEEP, encoding="utf-8")

    with pytest.raises(ConfigError, match=r"is (no|not) JSON|JSON that cannot be read"):
        read(path)


def test_a_label_beyond_all_numbers_is_named(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text(f'{{"id": "q1", "by": "Ada", "value": 1{"0" * 400}}}\n', encoding="utf-8")

    with pytest.raises(ConfigError, match=r"labels\.jsonl line 1: the value 10+ is not a finite number"):
        read_labels(path)


def test_a_prompt_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "own.v1.md"
    path.write_bytes(b"## user\n\x99")

    with pytest.raises(PromptError, match=r"own\.v1\.md cannot be read"):
        load_file(path, answer=VerdictList)
    with pytest.raises(PromptError, match=r"own\.v1\.md cannot be read"):
        read_folder(tmp_path)


def test_an_answer_of_a_server_nested_too_deep_is_not_json():
    endpoint = OpenAIJudge("m", base_url="http://127.0.0.1:1/v1").endpoint

    with pytest.raises(ModelError, match="did not answer with JSON"):
        endpoint._object(DEEP.encode())


def test_a_stored_reply_nested_too_deep_is_none():
    with pytest.raises(RecordError, match="the journal holds an entry that is not a reply"):
        decode_reply(DEEP.encode())


@pytest.mark.parametrize("file", ["samples.jsonl", "prompts.jsonl", "records.jsonl", "rejected.jsonl"])
@pytest.mark.parametrize(
    "line", [DEEP, "null", "[]", "3", "{}"], ids=["deep", "null", "list", "number", "empty"]
)
def test_a_line_of_a_run_that_is_not_of_its_file_is_named(run, file, line):
    (run / file).write_text(f"{line}\n", encoding="utf-8")

    with pytest.raises(RecordError, match=rf"{file}, line 1: "):
        read_all(run)


def test_a_last_line_nested_too_deep_was_cut_off(run):
    with (run / "rejected.jsonl").open("a", encoding="utf-8") as file:
        file.write(DEEP)

    assert [row.where for row in Run.load(run).rejected] == ["row 2"]


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("samples.jsonl", {"digest": 3}),
        ("samples.jsonl", {"sample": {"id": {"a": 1}}}),
        ("samples.jsonl", {"sample": {"id": "\ud800"}}),
        ("samples.jsonl", {"sample": {**SAMPLE, "reference_context_grades": [1]}}),
        ("prompts.jsonl", {"system": 3}),
        ("prompts.jsonl", {"digest": ["a"]}),
        ("records.jsonl", {"value": "high"}),
        ("records.jsonl", {"value": True}),
        ("records.jsonl", {"value": float("nan")}),
        ("records.jsonl", {"value": 10**400}),
        ("records.jsonl", {"bounds": [0.5]}),
        ("records.jsonl", {"bounds": [0, {}]}),
        ("records.jsonl", {"status": None}),
        ("records.jsonl", {"status": "\ud800"}),
        ("records.jsonl", {"reason": 7}),
        ("records.jsonl", {"abstained": "yes"}),
        ("records.jsonl", {"sample_id": 1}),
        ("records.jsonl", {"sample_id": "\ud800"}),
        ("records.jsonl", {"signature": None}),
    ],
)
def test_a_field_of_a_run_that_holds_something_else_is_named_with_its_line(run, file, changes):
    altered(run, file, **changes)

    with pytest.raises(RecordError, match=rf"{file}, line 1: "):
        read_all(run)


def test_a_manifest_nested_too_deep_is_an_unreadable_run(run):
    (run / "manifest.json").write_text(DEEP, encoding="utf-8")

    assert [listed.state for listed in list_runs(run)] == ["unreadable"]
    with pytest.raises(RecordError, match=r"manifest\.json is not JSON"):
        Run.load(run)


def test_fields_of_a_later_version_inside_a_verdict_do_not_keep_a_record_from_being_read(run):
    fields = plain(next(iter(Run.load(run).records("faithfulness"))).stored())
    span = {"chunk": 1, "start": 0, "end": 3, "exact": True, "later": 1}
    fields["verdicts"][0]["later"] = 1
    fields["verdicts"][0]["evidence"] = [{"quote": "Ulm", "later": 1, "span": span}]

    (evidence,) = Record.from_json(json.dumps(fields)).verdicts[0].evidence

    assert (evidence.quote, evidence.span.end) == ("Ulm", 3)


def test_a_sample_in_a_record_whose_grades_do_not_fit_makes_it_no_record(run):
    (record,) = Run.load(run).records("faithfulness")
    # one grade, and no relevant chunk that it could be of
    mailed = {**plain(record.stored()), "sample": {**SAMPLE, "reference_context_grades": [1]}}

    with pytest.raises(
        RecordError, match="not a record: reference_context_grades has 1 grades for 0 relevant"
    ):
        Record.from_json(json.dumps(mailed))


@pytest.mark.parametrize("metric", ["faithfulness", "answer_similarity", "bleu"])
def test_a_step_that_stands_twice_is_a_difference(run, metric):
    record = Run.load(run).score("q1", metric)
    twice = record.model_copy(update={"steps": (record.steps[0], *record.steps)})

    with pytest.raises(RecordError, match=r"has 2 steps 1(\.1)?, not 1"):
        recompute(twice)
    assert "steps" in [difference.field for difference in audit(twice)]


def test_counts_from_which_no_score_follows_are_a_difference(run):
    record = Run.load(run).score("q1", "bleu")
    # another version of the library cannot be asked to count again
    step = record.steps[0].model_copy(update={"made_by": "sacrebleu 0", "counts": {}})
    emptied = record.model_copy(update={"steps": (step,)})

    with pytest.raises(RecordError, match=r"bleu/strict\.1 of q1 cannot be derived from its steps: KeyError"):
        recompute(emptied)
    assert "steps" in [difference.field for difference in audit(emptied)]


def test_a_prompt_of_other_variables_than_were_asked_is_a_difference(run):
    record = Run.load(run).score("q1", "faithfulness")
    first = next(record.generate_steps)
    other = record.prompts[first.prompt_digest]._replace(user="{{ weather }}")
    step = first.model_copy(update={"prompt_digest": "0" * 32})
    exchanged = record.model_copy(update={"steps": (step, *record.steps[1:]), "prompts": {"0" * 32: other}})

    with pytest.raises(RecordError, match=r"statements\.v5 is not what step 1 asked: "):
        recompute(exchanged)
    assert "steps" in [difference.field for difference in audit(exchanged)]
