"""`ragmetrics merge`: several runs in one, from the command line."""

import pytest

from ragmetrics_core import Run, evaluate
from tests.cli.conftest import SAMPLES


@pytest.fixture
def halves(tmp_path):
    """Two runs of one sample each, by the embedded judge."""
    for name, rows in (("a", SAMPLES[:1]), ("b", SAMPLES[2:3])):
        evaluate(rows, metrics="faithfulness", judge="embedded", out=tmp_path / name)
    return tmp_path / "a", tmp_path / "b"


def test_two_runs_become_one_and_its_means_are_shown(command, halves, tmp_path):
    outcome = command("merge", *halves, "--out", tmp_path / "both")
    run = Run.load(tmp_path / "both")
    assert (outcome.code, list(run.sample_ids)) == (0, ["q1", "q3"])
    (line,) = [line.split() for line in outcome.out.splitlines() if "faithfulness/strict.1" in line]
    assert line[1] == f"{run.mean('faithfulness').value:.3f}"
    assert command("audit", tmp_path / "both").code == 0


def test_the_merged_run_goes_on_with_the_same_command(command, halves, tmp_path, data):
    command("merge", *halves, "--out", tmp_path / "both")
    outcome = command("evaluate --judge embedded", data, "--metrics faithfulness --out", tmp_path / "both")
    assert outcome.code == 0
    assert set(Run.load(tmp_path / "both").sample_ids) == {"q1", "q2", "q3"}


def test_any_number_of_runs_becomes_one(command, tmp_path):
    for name, row in zip("abc", SAMPLES, strict=False):
        evaluate([row], metrics="faithfulness", judge="embedded", out=tmp_path / name)
    parts = [tmp_path / name for name in "abc"]
    assert command("merge", *parts, "--out", tmp_path / "three").code == 0
    assert command("merge", parts[0], "--out", tmp_path / "one").code == 0
    assert set(Run.load(tmp_path / "three").sample_ids) == {"q1", "q2", "q3"}
    assert set(Run.load(tmp_path / "one").sample_ids) == {"q1"}
    assert command("audit", tmp_path / "three").code == command("audit", tmp_path / "one").code == 0


@pytest.mark.parametrize(
    ("second", "out", "said"),
    [
        ("other", "both", "the judge of the first is embedded:support.5+vectors, not scripted\n"),
        ("b", "a", "a is not empty: a merged run needs a folder of its own\n"),
        ("none", "both", "there is no run in "),
        ("b", None, "--out"),
    ],
)
def test_what_cannot_be_merged_exits_with_2_and_one_sentence(
    command, halves, evaluated, tmp_path, second, out, said
):
    places = {"other": evaluated, "a": halves[0], "b": halves[1], "none": tmp_path / "none"}
    where = () if out is None else ("--out", tmp_path / out)
    outcome = command("merge", halves[0], places[second], *where)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert said in outcome.err
    assert not (tmp_path / "both").exists()
