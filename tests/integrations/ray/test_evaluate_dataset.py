"""Metrics in Ray Data actors: the same records as on one machine, whatever happens to the actors."""

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="the package ray is not installed (pip install 'ragmetrics-core[ray]')")

import pyarrow as pa
import pyarrow.parquet as pq
import ray

from ragmetrics_core import evaluate, recompute
from ragmetrics_core.errors import ConfigError, ModelRefused, RecordError
from ragmetrics_core.prompts import STATEMENTS, PromptText
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.testing import HashEmbedder
from ragmetrics_embedded import LexicalJudge
from ragmetrics_ray import evaluate_dataset, to_run

ROOT = Path(__file__).resolve().parents[3]
TELECOM = ROOT / "examples" / "data" / "telecom.jsonl"
PAIR = ("faithfulness", "factual_correctness")

pytestmark = pytest.mark.usefixtures("cluster")
# Actors cannot import a test module, so its judges travel with the evaluation.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


@dataclass(frozen=True)
class Counting:
    """The lexical judge, which notes each call; it may refuse a sample, or die of it, until told not to."""

    calls: Path
    refuses: str = ""
    dies_of: str = ""
    told: Path = Path("never")
    identity: str = "counting"

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        asked = request.messages[-1].content
        with self.calls.open("a") as file:
            file.write(json.dumps(asked) + "\n")
        if self.refuses and self.refuses in asked and not self.told.exists():
            raise ModelRefused("not this one")
        if self.dies_of and self.dies_of in asked and not self.told.exists():
            self.told.touch()
            os._exit(1)
        return await LexicalJudge().agenerate(request)


def rows(count: int, *, first: int = 0) -> list[dict[str, Any]]:
    """Samples in which the number is a word that the judge can see."""
    return [
        {
            "id": f"s{number}",
            "question": f"What is mast{number}x?",
            "answer": f"It is a mast{number}x. It is high.",
            "contexts": [f"A mast{number}x is a mast."],
            "reference": f"It is a mast{number}x.",
        }
        for number in range(first, first + count)
    ]


def in_folder(out: Path) -> list[dict[str, Any]]:
    """The rows of all files in a folder of results, as any reader of Parquet sees them."""
    return [row for file in sorted(out.glob("*.parquet")) for row in pq.read_table(file).to_pylist()]


def keys(results: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    return Counter((row["sample_id"], row["metric"]) for row in results)


def every(samples: list[dict[str, Any]], *, metrics: Sequence[str] = PAIR) -> Counter[tuple[str, str]]:
    return Counter((sample["id"], metric) for sample in samples for metric in metrics)


def asked(calls: Path) -> list[str]:
    return calls.read_text().splitlines() if calls.exists() else []


def measured(samples: list[dict[str, Any]], metrics: Any = PAIR, **options: Any) -> Any:
    """What one actor, or as many as are wanted, gives."""
    return evaluate_dataset(ray.data.from_items(samples), metrics, **{"actors": 1} | options)


def test_the_records_are_those_that_one_machine_writes(tmp_path):
    metrics = (*PAIR, "answer_similarity")
    run = evaluate(TELECOM, metrics=metrics, judge="embedded", embedder=HashEmbedder(), out=tmp_path / "run")
    # the same samples as Parquet, with the column names of ragas
    names = {"question": "user_input", "answer": "response", "contexts": "retrieved_contexts"}
    samples = [json.loads(line) for line in TELECOM.read_text().splitlines()]
    columns = dict.fromkeys(name for sample in samples for name in sample)
    table = pa.table({names.get(each, each): [row.get(each) for row in samples] for each in columns})
    pq.write_table(table, tmp_path / "samples.parquet")
    dataset = ray.data.read_parquet(str(tmp_path / "samples.parquet"))

    results = evaluate_dataset(dataset, metrics, judge="embedded", embedder=HashEmbedder, batch_size=10)

    lines = (tmp_path / "run" / "records.jsonl").read_text().splitlines()
    found = results.take_all()
    assert sorted(row["record"] for row in found) == sorted(lines)
    assert len(found) == 52 * 3
    assert {(row["sample_id"], row["signature"]): row["value"] for row in found} == {
        tuple(key): run.score(*key).value for key in run.keys
    }


def test_results_become_a_run_whose_every_score_is_proved(tmp_path):
    # the last sample has no answer, which both metrics need
    samples = [*rows(5), {**rows(1, first=5)[0], "answer": None}]
    results = measured(samples, judge="embedded", out=tmp_path / "out", batch_size=4)
    run = to_run(tmp_path / "out", tmp_path / "run")
    of_rows = to_run(results, tmp_path / "of_rows")

    for each in (run, of_rows):
        assert set(each.sample_ids) == {row["id"] for row in samples}
        assert list(each.audit()) == []
        assert {recompute(record).value == record.value for record in each.records()} == {True}
        assert each.judge == "embedded:support.5+vectors"
        assert {(entry.name, entry.low, entry.high) for entry in each.metrics} == {(m, 0, 1) for m in PAIR}
        assert each.score("s5", "faithfulness").status == "skipped"
        assert each.finished
    one_machine = evaluate(samples, metrics=PAIR, judge="embedded")
    assert run.tally["calls"] == one_machine.tally["calls"] > 0


def test_a_row_that_is_no_sample_is_kept_with_its_reason_and_harms_no_other(tmp_path):
    samples = rows(7)
    table = pa.table(
        {
            "id": [row["id"] for row in samples],
            "question": [row["question"] for row in samples],
            "answer": [row["answer"] for row in samples],
            # one row holds bytes that are no text, in a column that says it is text
            "contexts": pa.array([b"A mast.", b"\xff\xfe"] + [b"A mast."] * 5).cast(pa.binary()),
            "reference": [row["reference"] for row in samples],
        }
    )
    broken = table["contexts"].combine_chunks()
    text = pa.StringArray.from_buffers(len(broken), broken.buffers()[1], broken.buffers()[2], None)
    dataset = ray.data.from_arrow(table.set_column(3, "contexts", text))

    evaluate_dataset(dataset, "faithfulness", judge="embedded", out=tmp_path / "out", actors=1)

    found = in_folder(tmp_path / "out")
    (rejected,) = [row for row in found if row["status"] == "rejected"]
    assert "utf-8" in rejected["reason"]
    assert keys([row for row in found if row is not rejected]) == every(
        [row for row in samples if row["id"] != "s1"], metrics=["faithfulness"]
    )
    assert to_run(tmp_path / "out", tmp_path / "run").rejected[0].message == rejected["reason"]


def test_an_id_that_comes_twice_in_a_block_is_rejected_the_second_time():
    samples = [*rows(3), *rows(1)]
    dataset = ray.data.from_items(samples, override_num_blocks=1)
    found = evaluate_dataset(dataset, PAIR, judge="embedded", actors=1).take_all()
    assert keys([row for row in found if row["status"] != "rejected"]) == every(rows(3))
    (rejected,) = [row for row in found if row["status"] == "rejected"]
    assert "'s0' was already used" in rejected["reason"]


def test_a_killed_actor_is_replaced_and_its_block_is_done_again_without_a_second_row(tmp_path):
    samples, told = rows(20), tmp_path / "told"

    judge = partial(Counting, tmp_path / "calls", dies_of="mast11x", told=told)

    measured(samples, judge=judge, out=tmp_path / "out", batch_size=5)

    assert told.exists()
    assert keys(in_folder(tmp_path / "out")) == every(samples)
    assert {row["status"] for row in in_folder(tmp_path / "out")} == {"ok"}


def test_what_is_finished_is_not_measured_again(tmp_path):
    samples = rows(8)

    judge = partial(Counting, tmp_path / "calls")

    measured(samples, judge=judge, out=tmp_path / "out", batch_size=3)
    first = len(asked(tmp_path / "calls"))
    more = [*rows(2, first=8), *samples]
    measured(more, judge=judge, out=tmp_path / "out", batch_size=4)

    later = asked(tmp_path / "calls")[first:]
    assert later
    assert all("mast8x" in call or "mast9x" in call for call in later)
    assert keys(in_folder(tmp_path / "out")) == every(more)


def test_what_is_finished_with_prompts_of_ones_own_is_not_measured_again(tmp_path):
    shorter = {"statements": PromptText("statements", 2, None, "", STATEMENTS.user, STATEMENTS.again)}

    judge = partial(Counting, tmp_path / "calls")

    for _ in range(2):
        measured(rows(2), judge=judge, out=tmp_path / "out", prompts=shorter)

    calls = asked(tmp_path / "calls")
    assert len(calls) == len(set(calls))
    assert {row["signature"].count("statements.v2@") for row in in_folder(tmp_path / "out")} == {1}


def test_failed_scores_are_measured_again_and_the_others_of_the_sample_are_kept(tmp_path):
    samples, told = rows(6), tmp_path / "told"

    def judge() -> Counting:
        # only faithfulness asks about the contexts, which say "is a mast."
        return Counting(tmp_path / "calls", refuses="A mast2x is a mast.", told=told)

    dataset = ray.data.from_items(samples)
    evaluate_dataset(dataset, PAIR, judge=judge, out=tmp_path / "out", batch_size=3, actors=1)
    before = {row["record"] for row in in_folder(tmp_path / "out") if row["status"] == "ok"}
    assert [row["metric"] for row in in_folder(tmp_path / "out") if row["status"] != "ok"] == ["faithfulness"]
    told.touch()
    evaluate_dataset(dataset, PAIR, judge=judge, out=tmp_path / "out", batch_size=3, actors=1)

    after = in_folder(tmp_path / "out")
    assert keys(after) == every(samples)
    assert {row["status"] for row in after} == {"ok"}
    assert before < {row["record"] for row in after}


def test_answered_calls_of_a_block_are_not_asked_again_when_it_has_a_journal(tmp_path):
    judge = partial(Counting, tmp_path / "calls")

    dataset = ray.data.from_items(rows(6))
    journal = tmp_path / "journal"
    evaluate_dataset(dataset, PAIR, judge=judge, out=tmp_path / "a", cache=journal, batch_size=3, actors=1)
    first = asked(tmp_path / "calls")
    evaluate_dataset(dataset, PAIR, judge=judge, out=tmp_path / "b", cache=journal, batch_size=3, actors=1)

    assert asked(tmp_path / "calls") == first
    assert keys(in_folder(tmp_path / "b")) == keys(in_folder(tmp_path / "a")) == every(rows(6))


DRIVER = """
import asyncio, json, os, signal, sys
from pathlib import Path
import ray
from ragmetrics_embedded import LexicalJudge
from ragmetrics_ray import evaluate_dataset

def main(address, out, rows):
    driver = os.getpid()

    class Deadly:
        identity = "embedded:support.5+vectors"

        async def agenerate(self, request):
            if "mast7x" in request.messages[-1].content and any(Path(out).glob("*.parquet")):
                os.kill(driver, signal.SIGKILL)
                await asyncio.Event().wait()  # the actor goes down with its driver
            return await LexicalJudge().agenerate(request)

    ray.init(address=address, log_to_driver=False, logging_level="error")
    dataset = ray.data.from_items(rows, override_num_blocks=4)
    evaluate_dataset(dataset, ("faithfulness", "factual_correctness"), judge=Deadly, actors=1, concurrency=1,
                     out=out, batch_size=2)

main(sys.argv[1], sys.argv[2], json.load(sys.stdin))
"""


def test_a_killed_driver_loses_only_the_blocks_that_were_open(cluster, tmp_path):
    samples, out = rows(8), tmp_path / "out"
    command = [sys.executable, "-c", DRIVER, cluster, str(out)]
    done = subprocess.run(
        command, input=json.dumps(samples), text=True, capture_output=True, cwd=ROOT, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    kept = {row["record"] for row in in_folder(out)}
    assert 0 < len(kept) < 2 * 8

    measured(samples, judge="embedded", out=out, batch_size=2)

    found = in_folder(out)
    assert keys(found) == every(samples)
    assert kept < {row["record"] for row in found}


def test_results_of_other_metrics_or_another_judge_are_not_mixed(tmp_path):
    dataset, out = ray.data.from_items(rows(2)), tmp_path / "out"
    evaluate_dataset(dataset, "faithfulness", judge="embedded", out=out, actors=1)
    with pytest.raises(ConfigError, match="does not measure factual_correctness"):
        evaluate_dataset(dataset, PAIR, judge="embedded", out=out, actors=1)
    with pytest.raises(ConfigError, match=r"its judge is embedded:support\.5[^,]*, not counting"):
        evaluate_dataset(
            dataset, "faithfulness", judge=lambda: Counting(tmp_path / "calls"), out=out, actors=1
        )
    assert asked(tmp_path / "calls") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metrics": "faithfulnes", "judge": "embedded"}, "did you mean 'faithfulness'"),
        ({"metrics": "faithfulness"}, "faithfulness needs a judge"),
        ({"metrics": "faithfulness", "judge": lambda prompt: "yes"}, "this one has arguments"),
        ({"metrics": "faithfulness", "judge": LexicalJudge()}, "not a LexicalJudge"),
        (
            {"metrics": "faithfulness", "judge": "embedded", "num_cpus": 1, "actors": 2},
            "leaves less than one for reading",
        ),
        ({"metrics": "faithfulness", "judge": "embedded", "actors": (3, 2)}, "minimum, maximum"),
        (
            {"metrics": "faithfulness", "judge": "embedded", "concurrency": 0},
            "concurrency must be at least 1",
        ),
    ],
)
def test_a_mistake_is_told_before_an_actor_starts(arguments, message):
    metrics = arguments.pop("metrics")
    with pytest.raises(ConfigError, match=message):
        measured(rows(1), metrics, **arguments)


def test_a_mistake_that_only_an_actor_can_see_is_told_as_it_is(tmp_path):
    with pytest.raises(ConfigError, match="there is no judge 'nobody'"):
        measured(rows(1), "faithfulness", judge="nobody", out=tmp_path / "out")


def test_neither_models_nor_files_see_what_was_redacted(tmp_path):
    def redact(text: str) -> str:
        return text.replace("mast1x", "[mast]")

    measured(
        rows(3),
        PAIR,
        judge=lambda: Counting(tmp_path / "calls"),
        redact=redact,
        out=tmp_path / "out",
        actors=1,
    )
    assert keys(in_folder(tmp_path / "out")) == every(rows(3))
    assert "mast1x" not in json.dumps([in_folder(tmp_path / "out"), asked(tmp_path / "calls")])


def test_a_record_that_was_changed_in_the_file_does_not_become_part_of_a_run(tmp_path):
    measured(rows(1), "faithfulness", judge="embedded", out=tmp_path / "out")
    (file,) = (tmp_path / "out").glob("*.parquet")
    table = pq.read_table(file)
    forged = [re.sub(r'"value":[\d.]+', '"value":0.125', line) for line in table["record"].to_pylist()]
    assert forged != table["record"].to_pylist()
    place = table.schema.get_field_index("record")
    pq.write_table(table.set_column(place, "record", pa.array(forged)), file)
    with pytest.raises(RecordError, match="was changed after it was written"):
        to_run(tmp_path / "out", tmp_path / "run")


def test_of_two_samples_with_one_id_in_different_blocks_a_run_takes_one_and_says_so(tmp_path):
    other = {**rows(1)[0], "answer": "Something else."}
    results = evaluate_dataset(
        ray.data.from_items([*rows(1), other], override_num_blocks=2),
        "faithfulness",
        judge="embedded",
        actors=1,
    )
    run = to_run(results, tmp_path / "run")
    assert len(run) == 1
    assert list(run.audit()) == []
    assert [each.where for each in run.rejected] == ["sample s0"]


def test_an_empty_dataset_gives_no_rows(tmp_path):
    nothing = ray.data.from_items(rows(1)).limit(0)
    assert evaluate_dataset(nothing, PAIR, judge="embedded", out=tmp_path / "out", actors=1).count() == 0


def test_the_folder_holds_the_results_of_the_newest_call(tmp_path):
    out, calls = tmp_path / "out", tmp_path / "calls"

    def measured(given: list[dict[str, Any]]) -> dict[str, float]:
        make = partial(Counting, calls)
        results = evaluate_dataset(
            ray.data.from_items(given), "faithfulness", judge=make, out=out, actors=1, batch_size=4
        )
        scored = [row for row in results.iter_rows() if row["status"] != "rejected"]
        scores = {row["sample_id"]: row["value"] for row in scored}
        run = to_run(out, tmp_path / "run", overwrite=True)
        assert {name: run.score(name, "faithfulness").value for name in run.sample_ids} == scores
        return scores

    same = [{**row, "answer": row["contexts"][0]} for row in rows(10)]
    wrong = [{**row, "answer": "The moon is made of cheese."} for row in same]
    assert measured([*same, {"note": "no sample"}])["s1"] == 1.0
    assert any(row["status"] == "rejected" for row in in_folder(out))
    # changed and removed samples, and the row that was rejected, are gone
    assert measured(wrong[:6]) == {f"s{number}": 0.0 for number in range(6)}
    assert all(row["status"] == "ok" for row in in_folder(out))
    assert len(list((out / "_earlier").iterdir())) >= 1
    asked = len(calls.read_text().splitlines())
    assert measured([*wrong[:6], *same[6:7]])["s6"] == 1.0
    assert len(calls.read_text().splitlines()) == asked + 2


def test_a_field_is_read_from_the_column_that_is_named():
    row = {"question": "Q?", "Bot Answer": "A mast is high.", "contexts": ["A mast is high."]}
    dataset = ray.data.from_items([row])
    columns = {"answer": "Bot Answer"}
    (score,) = evaluate_dataset(
        dataset, "faithfulness", judge="embedded", actors=1, columns=columns
    ).iter_rows()
    assert score["value"] == 1.0


def test_equal_rows_without_ids_are_told_apart_in_a_block_and_reported_across_blocks(tmp_path):
    row = {name: value for name, value in rows(1)[0].items() if name != "id"}

    def measured(folder: str, batch_size: int) -> set[str]:
        results = evaluate_dataset(
            ray.data.from_items([row] * 4, override_num_blocks=1),
            "faithfulness",
            judge="embedded",
            out=tmp_path / folder,
            actors=1,
            batch_size=batch_size,
        )
        return {each["sample_id"] for each in results.iter_rows()}

    assert len(measured("one", 4)) == 4
    with pytest.warns(UserWarning, match="rows? equals? "):
        assert len(measured("two", 2)) == 2


def test_a_run_of_results_knows_where_lower_is_better(tmp_path):
    results = measured(rows(1), "hallucination", judge="embedded")
    (entry,) = to_run(results, tmp_path / "run").metrics
    assert (entry.name, entry.higher_is_better) == ("hallucination", False)
