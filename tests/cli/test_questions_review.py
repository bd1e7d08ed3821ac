"""`ragmetrics questions review`, `decisions`, `coverage` and `report`."""

import json
import re

import pytest

pytest.importorskip("scipy", reason="needs the extra report: pip install 'ragmetrics-core[report]'")

from ragmetrics_core import Run, evaluate
from ragmetrics_core.questions import QuestionSet, generate_questions
from ragmetrics_core.questions.reviewing import digest_of_shown
from tests.questions.towers import Towers, documents


@pytest.fixture
def folder(tmp_path):
    """A test set of five questions; the passage on Oslo has none."""
    judge = Towers(Oslo="unclear").judge
    settings = {"per": 6, "tries": 1, "first_hit_share": 1.0, "progress": False}
    return generate_questions(documents(), out=tmp_path / "set", judge=judge, **settings).path


@pytest.fixture
def export(folder, tmp_path):
    """Write an export of the sheet: a decision for each of the first questions."""

    def export(*decisions, who="ann", **more):
        items = []
        for question, decision in zip(QuestionSet.read(folder).checked, decisions, strict=False):
            item = {"question_id": question.id, "shown": digest_of_shown(question), "decision": decision}
            texts = {"reject": {"reason": "wrong"}, "edit": {"question": "New?", "answer": "Yes."}}
            items.append(item | texts.get(decision, {}) | more)
        file = {"format": "ragmetrics-question-decisions", "version": 1, "annotator": who, "items": items}
        path = tmp_path / f"{who}.json"
        path.write_text(json.dumps(file))
        return path

    return export


def test_a_sheet_of_a_random_sample_is_written(command, folder, tmp_path):
    sheet = tmp_path / "sheet.html"
    done = command("questions review", folder, "--out", sheet, "--sample", 3, "--annotator", "ann")
    assert done.code == 0
    assert "3 questions of 5 to review in" in " ".join(done.err.split())
    assert sheet.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_imported_decisions_print_the_share_and_write_the_remaining_questions(command, folder, export):
    file = export("accept", "accept", "accept", "edit", "reject")
    done = command("questions decisions", folder, file, "--format", "json")
    assert done.code == 0
    shares, rejected = json.loads(done.out)
    # 3 of 5 as written, 4 of 5 usable
    assert [row["questions"] for row in shares["rows"]] == [3, 4]
    assert len(rejected["rows"]) == 1
    assert "5 new decisions; 4 questions in" in " ".join(done.err.split())
    again = command("questions decisions", folder, file)
    assert "0 new decisions" in again.err
    assert len((folder / "decisions.jsonl").read_text().splitlines()) == 5


def test_evaluate_reads_the_reviewed_questions(command, folder, export, tmp_path):
    command("questions decisions", folder, export("accept", "reject", "edit"))
    run = evaluate(folder / "reviewed.jsonl", metrics="context_recall", judge="embedded", out=tmp_path / "r")
    labels = [run.sample(each).labels.get("reviewed") for each in run.sample_ids]
    assert labels == ["accepted", "edited", None, None]
    assert Run.load(run.path).sample(list(run.sample_ids)[1]).question == "New?"


def test_conflicts_are_listed(command, folder, export):
    files = export("accept", who="ann"), export("reject", who="bob")
    done = command("questions decisions", folder, *files)
    assert done.code == 0
    assert "Questions on which annotators differ" in done.out


def test_a_decision_on_another_text_is_refused_and_nothing_is_stored(command, folder, export):
    done = command("questions decisions", folder, export("accept", shown="0" * 32))
    assert done.code == 2
    assert re.search("question q-[0-9a-f]{16} has changed since the sheet was written", done.err)
    assert not (folder / "decisions.jsonl").exists()


def test_the_passages_that_no_question_covers_are_listed(command, folder):
    done = command("questions coverage", folder, "--format", "json")
    found, uncovered = json.loads(done.out)
    # Oslo comes first, because it is covered least
    assert found["rows"][0]["document"] == "Oslo"
    assert [row["document"] for row in uncovered["rows"]] == ["Oslo"]
    assert "5 of 6 passages" in found["notes"][0]


def test_a_report_is_written(command, folder, tmp_path):
    done = command("questions report", folder, "--out", tmp_path / "page.html")
    assert done.code == 0
    assert (tmp_path / "page.html").stat().st_size > 10_000


@pytest.mark.parametrize("name", ["review", "decisions", "coverage", "report"])
def test_a_folder_without_a_test_set_is_refused(command, tmp_path, name):
    out = ("--out", tmp_path / "x.html") if name in ("review", "report") else ()
    done = command(f"questions {name}", tmp_path, *out)
    assert done.code == 2
    assert "holds no test set" in done.err
