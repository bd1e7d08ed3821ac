"""A person marks verdicts and answers in the report, in a real browser, and the study takes the file in."""

import json

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")

from typer.testing import CliRunner

from ragmetrics_core import Run, evaluate, write_report
from ragmetrics_core.cli._app import app
from ragmetrics_core.testing import ScriptedJudge

HOSTILE = "<img src=x onerror=alert(1)>"
SAMPLES = [
    {"id": name, "question": f"Is {name} {HOSTILE}?", "contexts": ["A context."], "answer": f"{name} stays."}
    for name in ("one", "two")
]


def reply(request):
    asked = request.variables
    if request.prompt.name == "statements":
        return {
            "statements": [f"{asked['answer']} first {HOSTILE}", f"{asked['answer']} second"],
            "declined": False,
        }
    # no verdict on the second statement of "two"
    items = [item for item in asked["items"] if item.text != "two stays. second"]
    return {"verdicts": [{"number": item.number, "reason": "r", "verdict": "yes"} for item in items]}


@pytest.fixture
def run(tmp_path):
    return evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(reply), out=tmp_path / "run")


@pytest.fixture
def page(opened, run, tmp_path):
    page = opened.go(write_report(run, tmp_path / "report.html"), "#sample=one&metric=faithfulness")
    page.wait_for_selector(".proof")
    page.get_by_role("button", name="Annotate").click()
    page.wait_for_selector(".marking")
    yield page
    assert opened.errors == []
    # the saved file is a blob of the page itself
    assert [url for url in opened.left if not url.startswith("blob:")] == []


def saved(page, path):
    with page.expect_download() as download:
        page.get_by_role("button", name="Save annotations").click()
    download.value.save_as(path)
    return json.loads(path.read_text())


def command(*words):
    result = CliRunner().invoke(app, [str(each) for each in words])
    assert result.exit_code == 0, result.output
    return result


def press(page, name, exact=True):
    page.get_by_role("button", name=name, exact=exact).click()


def test_a_report_that_is_only_read_has_no_marks(opened, run, tmp_path):
    page = opened.go(write_report(run, tmp_path / "report.html"), "#sample=one")
    page.wait_for_selector(".proof")
    assert page.locator(".marking").count() == 0
    assert not page.locator("#annotating").is_visible()


def test_what_a_person_marks_comes_back_into_the_run(page, run, tmp_path):
    page.get_by_label("Your name").fill("Ann B.")
    for name in ("Verdict 1: right", "Verdict 2: wrong", "The answer: good"):
        press(page, name)
    page.get_by_label("Note on the answer").fill(f"fine {HOSTILE}")
    assert page.locator("#progress").inner_text().startswith("1 answer marked, ")
    (item,) = saved(page, tmp_path / "ann.json")["items"]
    assert page.locator("#progress").inner_text() == "1 answer marked"
    assert (item["rating"], item["note"]) == (4, f"fine {HOSTILE}")
    verdicts = [{"number": n, "extracted": None, "verdict": n == 1} for n in (1, 2)]
    assert item["metrics"] == [{"metric": "faithfulness/strict.1", "statements": verdicts, "added": []}]
    labels = tmp_path / "labels.jsonl"
    given = (run.path, tmp_path / "ann.json", "--apply", "--labels", labels, "--format", "json")
    (table,) = json.loads(command("study", "annotations", *given).stdout)
    # of two verdicts that were looked at one is shared
    assert (table["rows"][0]["verdicts"], table["rows"][0]["judged"]) == (0.5, 2)
    assert json.loads(labels.read_text())["value"] == 4.0
    after = Run.load(run.path)
    assert (after.score("one", "faithfulness").value, list(after.audit())) == (0.5, [])
    assert after.score("one", "faithfulness").corrections[0].by == "Ann B."


def test_a_statement_is_marked_with_the_keyboard_alone(page):
    def is_pressed(name):
        return page.get_by_role("button", name=name).get_attribute("aria-pressed") == "true"

    page.locator(".verdicts li").first.focus()
    page.keyboard.press("w")
    assert is_pressed("Verdict 1: wrong")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("r")
    assert is_pressed("Verdict 2: right")
    # the same key takes it back; a button is reached with the tabulator
    page.keyboard.press("r")
    assert not is_pressed("Verdict 2: right")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert is_pressed("Verdict 2: right")


def test_a_missing_verdict_can_be_given(page, run, tmp_path):
    page.goto(page.url.replace("=one", "=two"))
    page.wait_for_selector("[aria-label='Verdict 2: not supported']")
    press(page, "Verdict 2: not supported")
    page.get_by_label("Your name").fill("ann")
    saved(page, tmp_path / "ann.json")
    command("study", "annotations", run.path, tmp_path / "ann.json", "--apply")
    assert Run.load(run.path).score("two", "faithfulness").value == 0.5


def test_marks_stay_while_other_samples_are_looked_at_and_when_the_file_is_opened_again(
    page, opened, tmp_path
):
    press(page, "Verdict 1: wrong")
    page.get_by_label("Your name").fill("ann")
    page.goto(page.url.replace("=one", "=two"))
    page.wait_for_selector("h1:has-text('two')")
    press(page, "Verdict 1: right")
    page.goto(page.url.replace("=two", "=one"))
    page.wait_for_selector("h1:has-text('one')")
    assert page.get_by_role("button", name="Verdict 1: wrong").get_attribute("aria-pressed") == "true"
    first = saved(page, tmp_path / "ann.json")
    assert len(first["items"]) == 2
    page.evaluate("localStorage.clear()")
    again = opened.go(tmp_path / "report.html", "#sample=one&metric=faithfulness")
    again.get_by_role("button", name="Annotate").click()
    assert again.locator("#progress").inner_text() == "0 answers marked"
    again.locator("#load").set_input_files(tmp_path / "ann.json")
    again.wait_for_selector("[aria-label='Verdict 1: wrong'][aria-pressed=true]")
    assert saved(again, tmp_path / "again.json") == first


def test_without_a_name_nothing_is_saved_and_a_wrong_file_is_refused_in_words(page, tmp_path):
    press(page, "Save annotations")
    assert "Enter your name first" in page.get_by_role("alert").inner_text()
    (tmp_path / "other.json").write_text('{"format": "other"}')
    page.locator("#load").set_input_files(tmp_path / "other.json")
    page.wait_for_selector("#problem:has-text('it is not a file of annotations')")


def test_of_two_runs_each_side_has_marks_of_its_own(opened, run, tmp_path):
    other = evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(reply), out=tmp_path / "second")
    page = opened.go(write_report(run, tmp_path / "two.html", other=other), "#sample=one&metric=faithfulness")
    page.get_by_role("button", name="Annotate").click()
    page.get_by_role("button", name="Verdict 1: wrong").nth(1).click()
    page.get_by_label("Your name").fill("ann")
    saved(page, tmp_path / "ann.json")
    command("study", "annotations", other.path, tmp_path / "ann.json", "--apply")
    values = [Run.load(each.path).score("one", "faithfulness").value for each in (run, other)]
    assert values == [1.0, 0.5]


def test_a_run_in_memory_has_nothing_that_annotations_could_name(opened, tmp_path):
    run = evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(reply))
    page = opened.go(write_report(run, tmp_path / "memory.html"), "#sample=one")
    page.get_by_role("button", name="Annotate").click()
    page.wait_for_selector(".proof")
    assert page.locator(".marking").count() == 0


@pytest.mark.parametrize("width", [400, 1280])
def test_the_marks_make_no_page_wider_than_the_window(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
