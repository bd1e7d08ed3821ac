"""Metrics of one's own on the command line: by module and name, with settings; and ids by their beginning."""

import json
from pathlib import Path

import pytest

from ragmetrics_core import evaluate

ROW = {"id": "one", "question": "Who?", "contexts": ["Ann did."], "answer": "Ann did it all."}
JARGON = '''
from dataclasses import dataclass

from ragmetrics_core.measurement import Measurement, valued
from ragmetrics_core.metrics import Metric
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Answered


@dataclass(frozen=True, kw_only=True)
class Jargon(Metric[Answered]):
    """Share of the words that are long."""

    name = "jargon"
    inputs = Answered
    least: int = 8
    only: str = ""

    def measure(self, sample: Answered) -> Steps[Measurement]:
        words = [word for word in sample.answer.split() if self.only in word]
        long = sum(len(word) >= self.least for word in words)
        yield from ()
        counts = {"long": long, "words": len(words)}
        return valued(long / len(words), counts=counts, spelled="{long} / {words}")


@dataclass(frozen=True, kw_only=True)
class Strict(Jargon):
    name = "strict_jargon"
    tongue: str
'''


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "jargon_of_mine.py").write_text(JARGON)
    (tmp_path / "data.jsonl").write_text(json.dumps(ROW) + "\n")
    return tmp_path


def test_settings_are_given_in_brackets_and_stand_in_the_signature(command, place):
    outcome = command(
        "evaluate --judge embedded data.jsonl --metrics jargon_of_mine:Jargon(least=3,only=d) --out r"
    )
    assert (outcome.code, outcome.err) == (0, "")
    shown = command("show r one jargon --metrics jargon_of_mine:Jargon")
    assert "least=3" in shown.words
    assert command("audit r --metrics jargon_of_mine:Jargon(least=3,only=d)").code == 0


def test_a_setting_without_a_default_is_told(command, place):
    outcome = command("evaluate --judge embedded data.jsonl --metrics jargon_of_mine:Strict")
    assert (outcome.code, "cannot be created" in outcome.err, "tongue" in outcome.err) == (2, True, True)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "jargon_of_mine:Jargon(most=3)",
            "jargon has no setting 'most'; it has ['least', 'only', 'standalone', 'window']",
        ),
        ("jargon_of_mine:Jargon(least)", "a setting is written setting=value, not 'least'"),
        ("jargon_of_mine:Jargon(least=long)", "least"),
        ("jargon_of_mine:Jargon(least=1,least=2)", "least is given twice"),
        ("jargon_of_mine:Nothing(least=1)", "there is no metric 'jargon_of_mine:Nothing(least=1)'"),
        ("jargon_of_mine:dataclass(least=1)", "not a metric"),
    ],
)
def test_what_cannot_be_is_one_sentence(command, place, written, said):
    outcome = command("evaluate --judge embedded data.jsonl --metrics", written)
    assert outcome.code == 2
    assert said in outcome.err
    assert len(outcome.err.splitlines()) == 1


@pytest.fixture
def live(tmp_path: Path) -> Path:
    """A run whose ids are those of a live application."""
    rows = [ROW | {"id": f"{first}9f3c2d4e5b64f7a8c1e0d2b3a4f5e6d"} for first in ("0a", "0b", "1c")]
    evaluate(rows, metrics=["faithfulness", "answer_relevance"], judge="embedded", embedder="embedded",
             out=tmp_path / "live")  # fmt: skip
    return tmp_path / "live"


def test_a_sample_is_found_by_the_beginning_that_only_it_has_and_its_id_is_shown_whole(command, live):
    several = command("show", live, "0")

    assert command("show", live, "1c").code == 0
    assert "Ann did" in command("show", live, "1", "faithfulness").out
    assert (several.code, "with it: 0b9f3c2d" in several.err, "2 ids start" in several.err) == (
        2,
        True,
        True,
    )
    assert "1c9f3c2d4e5b64f7a8c1e0d2b3a4f5e6d" in command("show", live, columns=80).out
    # what a program reads has whole names too
    assert str(live) in command("runs", live.parent, columns=40).out
