"""The stored form says each text once and loses nothing; folders of the form before it prove themselves.

`plain.tar.gz` is a run as it was stored when every field was written out: five metrics, one correction.
"""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.workload import LocalJudge, samples
from ragmetrics_core import Record, Run, evaluate
from ragmetrics_core.drivers import audit, self_contained
from ragmetrics_core.errors import RecordError
from ragmetrics_core.records.packing import packed
from ragmetrics_core.records.stored_form import unpacked
from ragmetrics_core.runs import merge
from ragmetrics_core.testing import HashEmbedder
from tests.lines import plain

ARCHIVE = Path(__file__).with_name("plain.tar.gz")
METRICS = [
    "faithfulness",
    "factual_correctness",
    "context_relevance",
    "answer_relevance",
    "faithfulness/paper",
]
TEXT = st.text(max_size=12) | st.sampled_from(["@0", "@1", "@@0", "@", 'say "it"', "back\\slash", "x" * 1001])
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT | st.just("rows"), inner, max_size=4),
    max_leaves=20,
)


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "plain"


@pytest.mark.parametrize("processes", [1, 2])
def test_a_folder_of_the_earlier_form_opens_and_proves_itself(earlier, processes):
    run = Run.load(earlier)
    assert (len(run), len(run.keys)) == (3, 15)
    assert list(run.audit(processes=processes)) == []


def test_a_record_of_the_earlier_form_proves_itself_in_a_mail(earlier):
    for record in Run.load(earlier).records():
        mailed = Record.from_json(self_contained(record).model_dump_json(by_alias=True))
        assert audit(mailed) == []


def test_a_record_of_the_earlier_form_is_the_same_in_todays(earlier):
    for line in (earlier / "records.jsonl").read_bytes().splitlines():
        stored = Record.from_json(line).stored()
        fields = plain(stored)
        for step in fields["steps"]:
            # fields that steps did not have then
            assert (step.pop("held_to", None), step.pop("objections", [])) == (None, [])
        assert fields | {"digest": ""} == json.loads(line) | {"digest": ""}
        assert len(stored.encode()) < 0.6 * len(line)


def test_a_run_of_the_earlier_form_goes_on_without_a_call(earlier):
    judge = LocalJudge(keep=True)
    run = evaluate(samples(3, contexts=1), metrics=METRICS, judge=judge, embedder=HashEmbedder(), out=earlier)
    assert judge.asked == []
    assert list(run.audit()) == []


def test_a_run_of_the_earlier_form_is_corrected_and_merged(earlier, tmp_path):
    other = shutil.copytree(earlier, tmp_path / "other")
    Run.load(other).correct("s1", "factual_correctness", 1, False, by="Grace")
    merged = merge(earlier, other, out=tmp_path / "merged", prefer="second")
    (correction,) = merged.score("s1", "factual_correctness").corrections
    assert (correction.by, merged.score("s0", "faithfulness/strict.1").corrections[0].by) == ("Grace", "Ada")
    assert list(merged.audit()) == []


def test_a_text_of_a_reply_stands_in_its_record_once(earlier):
    record = Run.load(earlier).score("s0", "faithfulness/strict.1")
    line = record.stored()
    assert len(record.verdicts) == 4
    assert [line.count(verdict.text) for verdict in record.verdicts] == [1, 1, 1, 1]


def test_what_a_record_does_not_say_of_its_texts_makes_it_unreadable(earlier):
    line = json.loads(Run.load(earlier).score("s0", "faithfulness/strict.1").stored())
    line["verdicts"]["text"][0] = "@99"
    with pytest.raises(RecordError, match="not a record: there is no text @99"):
        Record.from_json(json.dumps(line))


def test_columns_of_different_lengths_make_a_record_unreadable(earlier):
    line = json.loads(Run.load(earlier).score("s0", "faithfulness/strict.1").stored())
    line["verdicts"]["supported"] = [True]
    with pytest.raises(RecordError, match="not a record"):
        Record.from_json(json.dumps(line))


@given(replies=st.lists(TEXT | VALUE.map(json.dumps), max_size=3), value=VALUE, notes=st.lists(TEXT))
def test_whatever_was_read_is_read_again(replies, value, notes):
    fields = record_of(replies, value, notes)
    line = json.dumps(packed(fields))
    back = unpacked(json.loads(line), len(line))
    assert [step.get("value") for step in back["steps"]] == [value for _ in replies]
    assert [repr(step.get("value")) for step in back["steps"]] == [repr(value) for _ in replies]
    assert [step["reply"] for step in back["steps"]] == replies
    assert list(back["notes"]) == notes


def record_of(replies: list[str], value: Any, notes: list[str]) -> dict[str, Any]:
    """As much of a record as its form looks at."""
    step = {"kind": "generate", "path": "1", "value": value, "reply_digest": ""}
    return {
        "schema": 1,
        "metric": "faithfulness",
        "variant": "strict.1",
        "signature": "faithfulness/strict.1",
        "settings": {},
        "steps": [{**step, "reply": reply} for reply in replies],
        "notes": notes,
    }
