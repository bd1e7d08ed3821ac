"""A person fills in the annotation sheet in a real browser, and the run takes the answers in."""

import json
import shutil

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")

from ragmetrics_core import Run, evaluate
from ragmetrics_core.cli._app import app
from ragmetrics_core.testing import ScriptedJudge

sync_api = pytest.importorskip("playwright.sync_api")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium or google-chrome on this machine")

SAMPLES = [
    {
        "id": "one",
        "question": "Is <b>this</b> text?",
        "contexts": ["A context."],
        "answer": "It is & stays.",
        "references": ["It is.", "It <b>stays</b>.", "It is. "],
    },
    {
        "id": "two",
        "question": "And this?",
        "contexts": ["Another."],
        "answer": "It is too.",
        "reference": "Too.",
    },
]


def reply(request):
    asked = request.variables
    if request.prompt.name == "statements":
        return {"statements": [f"{asked['answer']} first", f"{asked['answer']} second"], "declined": False}
    return {"verdicts": [{"number": item.number, "reason": "r", "verdict": "yes"} for item in asked["items"]]}


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def run(tmp_path):
    out = tmp_path / "run"
    evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(reply), out=out)
    return out


def command(*arguments) -> int:
    from typer.testing import CliRunner

    return CliRunner().invoke(app, [str(each) for each in arguments]).exit_code


@pytest.fixture
def page(browser, run, tmp_path):
    sheet = tmp_path / "sheet.html"
    assert command("study", "annotate", run, "--out", sheet) == 0
    context = browser.new_context(offline=True)
    opened = context.new_page()
    problems: list[str] = []
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.goto(sheet.as_uri())
    yield opened
    assert problems == []
    context.close()


def article(page, question):
    return page.locator("article").filter(has_text=question)


def export(page, path):
    with page.expect_download() as download:
        page.get_by_role("button", name="Save annotations").click()
    download.value.save_as(path)
    return json.loads(path.read_text())


def test_texts_of_the_data_are_shown_as_text(page):
    assert (
        "Is <b>this</b> text?"
        in page.locator("h2").all_inner_texts()[0] + page.locator("h2").all_inner_texts()[1]
    )
    assert page.locator("b").count() == 0


def test_every_expected_answer_is_shown_once(page):
    first, second = (article(page, name) for name in ("Is <b>this</b> text?", "And this?"))

    titles = first.locator("h3").all_inner_texts()
    assert titles == ["Expected answer 1", "Expected answer 2", "Answer"]
    assert first.locator(".text").all_inner_texts()[:2] == ["It is.", "It <b>stays</b>."]
    assert second.locator("h3").all_inner_texts() == ["Expected answer", "Answer"]


def test_without_a_name_nothing_is_exported(page):
    page.get_by_role("button", name="Save annotations").click()
    assert page.locator("#problem").inner_text().startswith("Enter your name first")


def test_what_a_person_says_comes_back_into_the_run(page, run, tmp_path):
    page.get_by_label("Your name").fill("ann")
    part = article(page, "And this?")
    part.get_by_role("radio").nth(3).check()
    part.get_by_text("2 statements").click()
    part.get_by_label("Does the text say statement 1?").select_option("yes, it says this")
    part.get_by_label("Verdict on statement 1").select_option("no")
    part.get_by_label("Missing statements").fill("It is late.\n\n")
    assert page.locator("#progress").inner_text() == "1 of 2 rated"
    found = export(page, tmp_path / "ann.json")
    (item,) = found["items"]
    assert item["rating"] == 4
    assert item["metrics"] == [
        {
            "metric": "faithfulness/strict.1",
            "statements": [{"number": 1, "extracted": True, "verdict": False}],
            "added": ["It is late."],
        }
    ]
    labels = tmp_path / "labels.jsonl"
    assert command("study", "annotations", run, tmp_path / "ann.json", "--apply", "--labels", labels) == 0
    assert json.loads(labels.read_text()) == {
        "sample_id": "two",
        "annotator": "ann",
        "label": "rating",
        "value": 4.0,
    }
    # one of two statements is left
    assert Run.load(run).score("two", "faithfulness").value == 0.5
    assert list(Run.load(run).audit()) == []


def test_an_export_can_be_gone_on_with(page, tmp_path):
    page.get_by_label("Your name").fill("bob")
    article(page, "And this?").get_by_role("radio").nth(0).check()
    first = export(page, tmp_path / "bob.json")
    page.get_by_label("Your name").fill("nobody")
    article(page, "And this?").get_by_role("radio").nth(4).check()
    page.locator("#load").set_input_files(tmp_path / "bob.json")
    sync_api.expect(page.get_by_label("Your name")).to_have_value("bob")
    assert export(page, tmp_path / "again.json") == first


def test_a_file_that_is_no_export_is_refused_in_words(page, tmp_path):
    (tmp_path / "other.json").write_text('{"format": "other"}')
    page.locator("#load").set_input_files(tmp_path / "other.json")
    sync_api.expect(page.locator("#problem")).to_contain_text("this file is not an export of this sheet")
