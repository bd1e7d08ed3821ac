"""A person overrules the verdict that ended the asking about references: going on asks about the others."""

import json

import pytest

from ragmetrics_core import Run, evaluate
from ragmetrics_core.models import CallableJudge

SAMPLE = {
    "id": "q",
    "question": "Where?",
    "contexts": ["It is in Ulm."],
    "references": ["It is Bonn.", "It is Ulm.", "In Ulm it is.", "It is Rome."],
}
METRIC = "context_recall(granularity=sentence)"


class Judge:
    """Finds in the contexts what is about Ulm; `broken` it cannot be reached."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.broken = False
        self.found = "Ulm"

    def __call__(self, prompt: str) -> str:
        self.asked.append(prompt)
        if self.broken:
            raise ValueError("no such host")
        sentence = prompt.partition("<items>")[2].partition("</items>")[0]
        verdict = "yes" if self.found in sentence else "no"
        return json.dumps({"verdicts": [{"number": 1, "verdict": verdict}]})


@pytest.fixture
def judge():
    return Judge()


@pytest.fixture
def again(judge, tmp_path):
    """The same command, however often."""
    named = CallableJudge(function=judge, identity="finds-ulm")

    def run(**settings) -> Run:
        return evaluate([SAMPLE], metrics=METRIC, judge=named, out=tmp_path / "run", attempts=1, **settings)

    return run


def references(record):
    counts = record.counts
    return counts["reference"], counts["references"], counts.get("references_not_asked", 0)


def test_going_on_asks_about_the_next_references_until_one_has_the_full_score(judge, again):
    run = again()
    # Bonn: no, Ulm: yes
    assert (len(judge.asked), references(run.score("q", METRIC))) == (2, (2, 4, 2))
    run.correct("q", METRIC, 2, False, by="ann")

    score = again().score("q", METRIC)

    # "In Ulm it is." alone is asked about
    assert len(judge.asked) == 3
    assert (score.value, references(score)) == (1.0, (3, 4, 1))
    assert [(each.item, each.supported, each.by) for each in score.corrections] == [(1, False, "ann")]
    assert not any(differences for _, differences in again().audit())


def test_when_no_other_reference_is_right_the_score_is_the_best_of_all(judge, again):
    again().correct("q", METRIC, 2, False)
    judge.found = "nowhere"

    score = again().score("q", METRIC)

    # 0 of 1 sentence with each of the four
    assert (score.status, score.value, references(score)) == ("ok", 0.0, (1, 4, 0))
    again()
    assert len(judge.asked) == 4  # each reference once


def test_a_correction_is_kept_where_the_others_cannot_be_asked(judge, again):
    again().correct("q", METRIC, 2, False)
    judge.broken = True

    score = again().score("q", METRIC)

    assert (score.status, score.bounds, len(score.corrections)) == ("incomplete", (0.0, 1.0), 1)
    judge.broken = False
    assert again().score("q", METRIC).value == 1.0


def test_a_correction_stays_with_the_replies_that_it_is_about(judge, again, tmp_path):
    again().correct("q", METRIC, 2, False)
    (tmp_path / "run" / "journal.sqlite").unlink()
    judge.found = "nowhere"  # asked anew, it says something else of "Ulm"

    score = again().score("q", METRIC)

    assert (score.status, references(score)) == ("incomplete", (1, 4, 2))
    assert [each.overruled for each in score.verdicts] == [None, True]
