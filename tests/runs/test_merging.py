"""Several runs in one: parts of a data set measured apart give the whole, and none is paid twice."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragmetrics_core import Run, evaluate
from ragmetrics_core.errors import ConfigError, ModelError, RecordError
from ragmetrics_core.protocol import Generate
from ragmetrics_core.runs import merge
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge
from tests.lines import plain

PAIR = ["faithfulness", "factual_correctness"]
ROWS: list[dict[str, Any]] = [
    {
        "id": f"q{number}",
        "question": "Where was Einstein born?",
        "answer": f"Einstein was born in Ulm in {1877 + number}.",
        "contexts": ["Einstein was born in Ulm in 1879."],
        "reference": "Einstein was born in Ulm.",
    }
    for number in range(5)
]


def reply(request: Generate[Any]) -> Any:
    """One statement, which is supported where the year is right."""
    if request.prompt.name == "statements":
        return {"statements": [str(request.variables["answer"])], "declined": False}
    if request.prompt.name == "reference_statements":
        return {"statements": ["Einstein was born in Ulm."]}
    text = str(request.variables["items"][0].text)
    return {"verdicts": [{"number": 1, "verdict": "no" if "in 18" in text and "1879" not in text else "yes"}]}


def judge(identity: str = "scripted", **replies: Any) -> ScriptedJudge:
    return ScriptedJudge(lambda request: replies.get(request.prompt.name, reply(request)), identity=identity)


def measured(out: Path, rows: Any = ROWS, **arguments: Any) -> Run:
    return evaluate(rows, out=out, **{"metrics": PAIR, "judge": judge(), **arguments})


def records(run: Run) -> dict[tuple[str, str], Any]:
    return {(each.sample_id, each.signature): plain(each.stored()) for each in run.records()}


def contents(folder: Path) -> dict[str, bytes]:
    """What the files of a run hold; the database may tidy up its own."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".json", ".jsonl")}


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A run of the first three samples."""
    measured(tmp_path / "one", ROWS[:3])
    return tmp_path / "one"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


# -- the run of all of it


@settings(max_examples=5)
@given(
    first=st.lists(st.sampled_from(ROWS), min_size=1, unique_by=lambda row: row["id"]),
    second=st.lists(st.sampled_from(ROWS), min_size=1, unique_by=lambda row: row["id"]),
    metrics=st.tuples(*[st.sampled_from([PAIR, PAIR[:1], PAIR[1:]])] * 2),
)
def test_parts_that_overlap_or_not_give_the_records_of_the_whole(tmp_path_factory, first, second, metrics):
    place = tmp_path_factory.mktemp("merging")
    expected: dict[tuple[str, str], Any] = {}
    for name, rows, wanted in zip("ab", (first, second), metrics, strict=True):
        expected |= records(measured(place / name, rows, metrics=wanted))
    merged = merge(place / "a", place / "b", out=place / "c")
    assert records(merged) == expected == records(Run.load(place / "c"))
    assert set(merged.sample_ids) == {row["id"] for row in (*first, *second)}
    assert list(merged.audit()) == []


def test_the_merged_run_goes_on_and_asks_nothing_again(tmp_path, one, out):
    measured(tmp_path / "two", ROWS[3:4])
    merge(one, tmp_path / "two", out=out)
    silent = ScriptedJudge({})
    measured(out, ROWS[:4], judge=silent)
    assert silent.asked == []
    rest = judge()
    run = measured(out, ROWS, judge=rest)
    # of the last sample all is new but the question about the reference: statements and three verdict calls
    assert sorted(request.prompt.name for request in rest.asked) == [
        "answer_verdicts",
        "reference_verdicts",
        "statements",
        "verdicts",
    ]
    assert records(run) == records(measured(tmp_path / "whole"))


def test_runs_that_shared_a_journal_have_none_to_merge(tmp_path, out):
    for name, rows in (("a", ROWS[:2]), ("b", ROWS[2:])):
        measured(tmp_path / name, rows, cache=tmp_path / "cache.sqlite")
    merged = merge(tmp_path / "a", tmp_path / "b", out=out)
    assert len(merged) == 5
    assert not (out / "journal.sqlite").exists()


def test_neither_run_is_changed(tmp_path, one, out):
    measured(tmp_path / "two", ROWS[2:])
    before = contents(one), contents(tmp_path / "two")
    merge(one, tmp_path / "two", out=out)
    assert (contents(one), contents(tmp_path / "two")) == before


# -- which score counts


@pytest.mark.parametrize("order", ["one", "other"])
def test_a_finished_score_counts_before_one_that_failed(tmp_path, one, out, order):
    measured(tmp_path / "failed", ROWS[:3], judge=judge(verdicts=ModelError("down")))
    folders = [one, tmp_path / "failed"]
    merged = merge(*(folders if order == "one" else folders[::-1]), out=out)
    assert merged.mean("faithfulness").statuses == {"ok": 3}


def test_runs_that_contradict_each_other_are_refused_with_a_list(tmp_path, one, out):
    no = {"verdicts": [{"number": 1, "verdict": "no"}]}
    measured(tmp_path / "two", ROWS[:3], judge=judge(verdicts=no))
    # by the years 1877, 1878 and 1879, one of three answers is right; the second judge denies all
    with pytest.raises(ConfigError) as refused:
        merge(one, tmp_path / "two", out=out)
    assert str(refused.value) == (
        f"{one} and {tmp_path / 'two'} contradict each other in 1 place: "
        "q2, faithfulness/strict.1: 1.000 in the first, 0.000 in the second. "
        "Say which run counts there: --prefer first or --prefer second"
    )
    assert not out.exists()


@pytest.mark.parametrize(("prefer", "mean"), [("first", 1 / 3), ("second", 0.0)])
def test_of_two_finished_scores_the_preferred_runs_counts_and_the_notes_say_so(
    tmp_path, one, out, prefer, mean
):
    no = {"verdicts": [{"number": 1, "verdict": "no"}]}
    measured(tmp_path / "two", ROWS[:3], judge=judge(verdicts=no))
    merged = merge(one, tmp_path / "two", out=out, prefer=prefer)
    assert merged.mean("faithfulness").value == pytest.approx(mean)
    assert "merged: 1 place decided for" in merged.notes[-1]
    assert list(merged.audit()) == []


def test_a_preference_that_there_is_not_is_refused(one, tmp_path, out):
    with pytest.raises(ConfigError, match="prefer is 'first' or 'second', not 'third'"):
        merge(one, one, out=out, prefer="third")


@pytest.mark.parametrize("order", ["one", "other"])
def test_a_correction_in_either_run_survives(tmp_path, one, out, order):
    measured(tmp_path / "two", ROWS[:3])
    Run.load(tmp_path / "two").correct("q0", "faithfulness", 1, True, by="Ada")
    folders = [one, tmp_path / "two"]
    merged = merge(*(folders if order == "one" else folders[::-1]), out=out)
    record = merged.score("q0", "faithfulness")
    assert ([each.by for each in record.corrections], record.value) == (["Ada"], 1.0)
    assert list(merged.audit()) == []


def two_statements(request: Generate[Any]) -> Any:
    if "statements" in request.prompt.name:
        return {"statements": ["One.", "Two."], "declined": False}
    numbers = [each.number for each in request.variables["items"]]
    return {"verdicts": [{"number": number, "verdict": "no"} for number in numbers]}


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs of one sample with the same two statements, neither supported."""
    for name in ("a", "b"):
        measured(tmp_path / name, ROWS[:1], metrics=PAIR[0], judge=ScriptedJudge(two_statements))
    return tmp_path / "a", tmp_path / "b"


@pytest.mark.parametrize("prefer", [None, "first", "second"])
def test_corrections_of_both_runs_are_put_together(twins, out, prefer):
    Run.load(twins[0]).correct("q0", "faithfulness", 1, True, by="Ada")
    Run.load(twins[1]).correct("q0", "faithfulness", 2, True, by="Ben")
    merged = merge(*twins, out=out, prefer=prefer)
    record = merged.score("q0", "faithfulness")
    assert ({each.by for each in record.corrections}, record.value) == ({"Ada", "Ben"}, 1.0)
    assert list(merged.audit()) == []


def test_corrections_that_contradict_each_other_are_refused_or_decided(twins, out):
    Run.load(twins[0]).correct("q0", "faithfulness", 1, True, by="Ada")
    Run.load(twins[1]).correct("q0", "faithfulness", 1, False, by="Ben")
    with pytest.raises(
        ConfigError, match="a correction by Ada and a correction by Ben contradict each other"
    ):
        merge(*twins, out=out)
    assert merge(*twins, out=out, prefer="second").score("q0", "faithfulness").value == 0.0


def test_a_correction_of_other_replies_is_never_dropped_without_a_word(tmp_path, one, out):
    def longer(request: Generate[Any]) -> Any:
        return json.dumps(reply(request), indent=2)

    measured(tmp_path / "two", ROWS[:3], judge=ScriptedJudge(longer))
    Run.load(tmp_path / "two").correct("q2", "faithfulness", 1, False)
    with pytest.raises(ConfigError, match="q2, faithfulness"):
        merge(one, tmp_path / "two", out=out)
    merged = merge(one, tmp_path / "two", out=out, prefer="second")
    assert len(merged.score("q2", "faithfulness").corrections) == 1


def test_labels_of_both_runs_are_kept(tmp_path, out):
    measured(tmp_path / "a", [{**ROWS[0], "right": True}])
    measured(tmp_path / "b", [{**ROWS[0], "model": "small"}])
    merged = merge(tmp_path / "a", tmp_path / "b", out=out)
    assert merged.sample("q0").labels == {"right": True, "model": "small"}
    assert list(merged.audit()) == []


def test_labels_that_contradict_each_other_are_refused_or_decided(tmp_path, out):
    measured(tmp_path / "a", [{**ROWS[0], "right": True}])
    measured(tmp_path / "b", [{**ROWS[0], "right": False}])
    with pytest.raises(ConfigError, match="q0: its label 'right' is True in the first, False in the second"):
        merge(tmp_path / "a", tmp_path / "b", out=out)
    merged = merge(tmp_path / "a", tmp_path / "b", out=out, prefer="second")
    assert merged.sample("q0").labels == {"right": False}


def test_many_conflicts_are_counted_and_the_first_are_listed(tmp_path, out):
    rows = [{**ROWS[2], "id": f"x{number}"} for number in range(13)]
    no = {"verdicts": [{"number": 1, "verdict": "no"}]}
    measured(tmp_path / "a", rows, metrics=PAIR[0])
    measured(tmp_path / "b", rows, metrics=PAIR[0], judge=judge(verdicts=no))
    with pytest.raises(ConfigError, match=r"in 13 places: .*; and 3 more\. Say"):
        merge(tmp_path / "a", tmp_path / "b", out=out)


def test_other_decisions_that_come_to_the_same_score_are_a_conflict(tmp_path, out):
    def half(right: int) -> ScriptedJudge:
        def said(request: Generate[Any]) -> Any:
            if "statements" in request.prompt.name:
                return {"statements": ["One.", "Two."], "declined": False}
            numbers = [each.number for each in request.variables["items"]]
            return {
                "verdicts": [
                    {"number": number, "verdict": "yes" if number == right else "no"} for number in numbers
                ]
            }

        return ScriptedJudge(said)

    for right in (1, 2):
        measured(tmp_path / str(right), ROWS[:1], metrics=PAIR[0], judge=half(right))
    with pytest.raises(ConfigError, match=r"0\.500 in the first, 0\.500 in the second"):
        merge(tmp_path / "1", tmp_path / "2", out=out)


def test_of_two_failed_scores_the_first_runs_counts_and_is_measured_again(tmp_path, out):
    for name in ("first", "second"):
        measured(tmp_path / name, ROWS[:1], judge=judge(verdicts=ModelError(name)), metrics=PAIR[0])
    merged = merge(tmp_path / "first", tmp_path / "second", out=out)
    assert merged.score("q0", "faithfulness").reason == "verdicts.v5: first"
    assert measured(out, ROWS[:1], metrics=PAIR[0]).score("q0", "faithfulness").status == "ok"


def test_a_part_that_was_interrupted_makes_the_whole_unfinished(tmp_path, one, out):
    def rows():
        yield ROWS[3]
        raise OSError("the disk went away")

    with pytest.raises(OSError, match="the disk went away"):
        measured(tmp_path / "two", rows(), concurrency=1)
    assert not merge(one, tmp_path / "two", out=out).finished


def test_rows_that_are_no_samples_are_kept_from_both(tmp_path, out):
    measured(tmp_path / "a", [ROWS[0], {"id": "x"}])
    measured(tmp_path / "b", [ROWS[1], ROWS[2], "no row"])
    merged = merge(tmp_path / "a", tmp_path / "b", out=out)
    assert [row.where for row in merged.rejected] == ["row 2", "row 3"]


# -- any number


def test_eight_parts_are_the_whole_and_audit_clean(tmp_path, out):
    for part in range(8):
        # each has a sample of its own and one that its neighbour has, too
        rows = [{**ROWS[2], "id": f"x{number}"} for number in (part, part + 1)]
        measured(tmp_path / f"{part}", rows)
    merged = merge(*(tmp_path / f"{part}" for part in range(8)), out=out)
    whole = measured(tmp_path / "whole", [{**ROWS[2], "id": f"x{number}"} for number in range(9)])
    assert records(merged) == records(whole)
    assert list(merged.sample_ids) == list(whole.sample_ids)
    # six calls for a sample, of which eight parts have two: none counts twice that was asked once
    assert merged.tally["calls"] == sum(Run.load(tmp_path / f"{part}").tally["calls"] for part in range(8))
    assert merged.finished
    assert list(merged.audit()) == []


def test_one_run_alone_is_copied(one, out):
    assert records(merge(one, out=out)) == records(Run.load(one))


def test_no_run_at_all_is_refused(out):
    with pytest.raises(ConfigError, match="give the folders of the runs"):
        merge(out=out)


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """Runs of one sample: failed, right, and denied."""
    no = {"verdicts": [{"number": 1, "verdict": "no"}]}
    judges = {"failed": judge(verdicts=ModelError("down")), "right": judge(), "denied": judge(verdicts=no)}
    for name, asked in judges.items():
        measured(tmp_path / name, ROWS[2:3], metrics=PAIR[0], judge=asked)
    return [tmp_path / name for name in judges]


def test_of_three_that_contradict_each_other_all_are_named(three, out):
    with pytest.raises(ConfigError) as refused:
        merge(*three, out=out)
    failed, right, denied = three
    assert str(refused.value).startswith(
        f"{failed}, {right} and {denied} contradict each other in 1 place: q2"
    )
    assert not out.exists()


@pytest.mark.parametrize(("prefer", "value"), [("first", 1.0), ("second", 0.0)])
def test_of_three_the_first_or_the_last_finished_score_counts(three, out, prefer, value):
    merged = merge(*three, out=out, prefer=prefer)
    assert merged.score("q2", "faithfulness").value == value
    assert merged.notes[-1].startswith(f"merged: 1 place decided for the {prefer} of two: q2")
    assert list(merged.audit()) == []


def test_labels_and_corrections_of_three_runs_are_all_kept(tmp_path, out):
    for number, name in enumerate("abc"):
        measured(tmp_path / name, [{**ROWS[0], name: number}])
    Run.load(tmp_path / "c").correct("q0", "faithfulness", 1, True, by="Ada")
    merged = merge(*(tmp_path / name for name in "abc"), out=out)
    assert merged.sample("q0").labels == {"a": 0, "b": 1, "c": 2}
    assert merged.score("q0", "faithfulness").value == 1.0


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 1, 0), (1, 0, 2)])
def test_a_sample_without_scores_gives_way_wherever_it_stands(tmp_path, one, out, order):
    changed = [{**ROWS[1], "answer": "In Bern."}]
    measured(tmp_path / "two", changed, metrics=PAIR[0])
    (tmp_path / "two" / "records.jsonl").write_text("")
    measured(tmp_path / "three", ROWS[1:2])
    folders = [one, tmp_path / "two", tmp_path / "three"]
    merged = merge(*(folders[place] for place in order), out=out)
    assert merged.sample("q1").answer == ROWS[1]["answer"]


# -- what is refused


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"judge": judge("other")}, "the judge of the first is scripted, not other"),
        ({"repeats": 3}, "verdicts were asked for 1 times in one, 3 in the other"),
        (
            {"judge": None, "panel": [judge(), judge("other")]},
            r"the judge of the first is scripted, not panel\(scripted \| other\)",
        ),
    ],
)
def test_other_models_are_refused_with_what_differs(tmp_path, one, out, arguments, told):
    measured(tmp_path / "two", ROWS[3:], **arguments)
    with pytest.raises(ConfigError, match=told):
        merge(one, tmp_path / "two", out=out)
    assert not out.exists()


def test_a_run_without_a_judge_goes_with_any(tmp_path, one, out):
    measured(tmp_path / "two", ROWS[:3], metrics="answer_similarity", judge=None, embedder=HashEmbedder())
    merged = merge(tmp_path / "two", one, out=out)
    assert (merged.judge, merged.embedder, len(merged.keys)) == ("scripted", "hash-64", 9)


def test_an_id_that_stands_for_two_contents_is_refused_and_named(tmp_path, one, out):
    measured(tmp_path / "two", [{**ROWS[1], "answer": "In Bern."}])
    with pytest.raises(ConfigError, match=r"the sample 'q1' has other content in .*one than in .*two"):
        merge(one, tmp_path / "two", out=out)
    assert not out.exists()


def test_a_folder_that_holds_something_is_refused_and_stays(tmp_path, one, out):
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    for target in (out, out / "notes.txt", one):
        with pytest.raises(ConfigError, match="is not empty: a merged run needs a folder of its own"):
            merge(one, one, out=target)
    assert (out / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("damaged", ["journal.sqlite", "records.jsonl"])
def test_a_run_that_cannot_be_read_leaves_no_half_of_a_merged_one(tmp_path, one, out, damaged):
    measured(tmp_path / "two", ROWS[3:])
    file = tmp_path / "two" / damaged
    file.write_bytes(b"neither a line of JSON nor a database, but long enough to be taken for one\n" * 40)
    with pytest.raises(RecordError, match=damaged):
        merge(one, tmp_path / "two", out=out)
    assert not out.exists()


@dataclass
class FixedEmbedder:
    """Has a vector for each text."""

    vectors: dict[str, list[float]]
    identity: str = "fixed"

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return np.array([self.vectors[text] for text in texts])


def test_scores_that_differ_by_rounding_are_no_conflict(tmp_path, out):
    def reference(scale: float) -> Run:
        embedder = FixedEmbedder({"answer": [1.0, 3.0 * scale], "reference": [2.0, 0.7]})
        sample = {"id": "q", "answer": "answer", "reference": "reference"}
        name = tmp_path / str(scale)
        return evaluate([sample], metrics="answer_similarity", embedder=embedder, out=name)

    first, second = reference(1.0), reference(1.0 + 2**-51)
    values = [run.mean("answer_similarity").value for run in (first, second)]
    assert values[0] != values[1] == pytest.approx(values[0], rel=1e-15)
    assert len(merge(first.path, second.path, out=out)) == 1
