"""`ragmetrics catch-up`: what a live application captured and did not score."""

from pathlib import Path

import pytest

from ragmetrics_core import Run, Sample
from ragmetrics_core.live._kept_captures import KeptCaptures
from ragmetrics_core.live.places import Places
from tests.cli.conftest import Command

TEXT = "The SMF selects the UPF."


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A folder with two captures of a process that was killed."""
    kept = KeptCaptures(Places(tmp_path / "live"))
    for name in ("a", "b"):
        kept.keep(Sample(id=name, question="Who?", contexts=[TEXT], answer=TEXT))
    kept.close()
    return tmp_path / "live"


def test_what_was_left_is_scored_once(command: Command, left: Path):
    first = command("catch-up", left, "--judge embedded --metrics faithfulness")
    again = command("catch-up", left, "--judge embedded")

    assert (first.code, again.code) == (0, 0)
    assert "2 captures were left" in first.out
    assert "0 captures were left" in again.out
    assert Run.load(left).mean("faithfulness").n == 2


def test_without_a_score_that_says_so_the_metrics_are_asked_for(command: Command, left: Path):
    refused = command("catch-up", left, "--judge embedded")

    assert refused.code == 2
    assert "--metrics" in refused.err


def test_what_a_daily_application_left_is_scored_into_the_run_of_today(command: Command, tmp_path: Path):
    folder = tmp_path / "live"
    kept = KeptCaptures(Places(folder, "day"))  # killed before anything was scored
    kept.keep(Sample(id="a", question="Who?", contexts=[TEXT], answer=TEXT))
    kept.close()
    first = command("catch-up", folder, "--judge embedded --metrics faithfulness")
    kept = KeptCaptures(Places(folder, "day"))
    kept.keep(Sample(id="b", question="Who?", contexts=[TEXT], answer=TEXT))
    kept.close()
    again = command("catch-up", folder, "--judge embedded")

    assert (first.code, again.code) == (0, 0)
    runs = [Run.load(path.parent) for path in folder.glob("20*/manifest.json")]
    assert sum(len(run) for run in runs) == 2
    assert not (folder / "manifest.json").exists()
    assert command("runs", folder).out.count("finished") == len(runs)


def test_another_metric_than_the_applications_is_refused_and_nothing_is_lost(command: Command, left: Path):
    command("catch-up", left, "--judge embedded --metrics faithfulness")
    kept = KeptCaptures(Places(left))
    kept.keep(Sample(id="c", question="Who?", contexts=[TEXT], answer=TEXT))
    kept.close()

    refused = command("catch-up", left, "--judge embedded --metrics context_relevance")

    assert refused.code == 2
    assert "holds another run" in refused.err
    assert "1 capture was left" in command("catch-up", left, "--judge embedded").out
