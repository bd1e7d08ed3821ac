"""The report of a test set and its review sheet, in a real browser."""

import json

import pytest

from ragmetrics_core import Run
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.questions import QuestionSet, generate_questions
from ragmetrics_core.questions.reviewing import DecisionFile, digest_of_shown, read_decisions
from ragmetrics_core.report.html import review_sheet, write_test_set_report
from tests.questions.towers import Towers, documents, good

EVIL = "<img src=x onerror=window.ran=1></script><script>window.ran=1</script>"


@pytest.fixture
def made(tmp_path):
    """Five of six questions are kept: the one on Oslo is unclear."""
    judge = Towers(Oslo="unclear", known={"Bergen"}).judge
    settings = {"per": 6, "tries": 1, "first_hit_share": 1.0, "progress": False}
    return generate_questions(documents(), out=tmp_path / "set", judge=judge, **settings)


@pytest.fixture
def sheet(opened, made, tmp_path):
    path = tmp_path / "sheet.html"
    path.write_text(review_sheet(made, annotator="Ann B."), encoding="utf-8")
    yield opened.go(path)
    assert opened.errors == []
    assert [url for url in opened.left if not url.startswith("blob:")] == []


@pytest.fixture
def report(opened, made, tmp_path):
    path = write_test_set_report(made, tmp_path / "page.html")

    def report(fragment=""):
        return opened.go(path, fragment)

    yield report
    assert opened.errors == []
    assert opened.left == []


def saved(page, path):
    with page.expect_download() as download:
        page.get_by_role("button", name="Save decisions").click()
    download.value.save_as(path)
    return read_decisions(path)


def unfold(page):
    page.eval_on_selector_all("details", "all => all.forEach((each) => { each.open = true; })")
    page.wait_for_timeout(300)


def decide(page, number, word):
    page.locator(f"#question-{number}").get_by_role("button", name=word).click()


def test_the_sheet_shows_each_question_with_its_answer_and_its_quotes_in_place(sheet, made):
    assert sheet.locator("article").count() == 5
    for question in made.checked:
        (card,) = [each for each in sheet.locator("article").all() if question.question in each.inner_text()]
        assert question.answer in card.inner_text()
        assert card.locator("mark").all_text_contents() == [quote.text for quote in question.quotes]


def test_decisions_of_the_sheet_come_back_into_the_test_set(sheet, made, tmp_path):
    decide(sheet, 1, "Accept")
    decide(sheet, 2, "Edit")
    sheet.locator("#question-2").get_by_label("Question", exact=True).fill(f"Who was it? {EVIL}")
    decide(sheet, 3, "Reject")
    sheet.get_by_label("Reason").last.fill("Nobody would ask it.")
    assert sheet.locator("#progress").inner_text().startswith("3 of 5 decided")
    file = saved(sheet, tmp_path / "ann.json")
    assert (file.annotator, [item.decision for item in file.items]) == (
        "Ann B.",
        ["accept", "edit", "reject"],
    )
    made.decide(file)
    again = QuestionSet.read(made.path)
    _, edited, rejected = (item.question_id for item in file.items)
    texts = {question.id: question.question for question in again.questions}
    assert rejected not in texts
    assert texts[edited] == f"Who was it? {EVIL}"
    assert {question.labels.get("reviewed") for question in again.questions} == {"accepted", "edited", None}
    # what the checks made stays as it is
    assert (len(again.checked), again.audit()) == (5, [])
    rows = [json.loads(line) for line in (made.path / "reviewed.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == list(texts)


def test_a_question_is_decided_with_the_keyboard_alone(sheet):
    sheet.keyboard.press("j")
    sheet.keyboard.press("a")
    sheet.keyboard.press("j")
    sheet.keyboard.press("r")
    sheet.keyboard.type("The answer is wrong, really.")  # a, r and j are text here
    sheet.keyboard.press("Escape")
    sheet.keyboard.press("k")
    assert sheet.evaluate("document.activeElement.id") == "question-1"
    decisions = sheet.eval_on_selector_all("article", "all => all.map((each) => each.dataset.decision)")
    assert decisions == ["accept", "reject", "", "", ""]
    assert sheet.get_by_label("Reason").input_value() == "The answer is wrong, really."


@pytest.mark.parametrize(
    ("word", "told"),
    [("Reject", "Question 1 is rejected without a reason."), ("Edit", "Question 1 is not changed")],
)
def test_an_incomplete_decision_is_not_saved_and_the_sheet_says_why(sheet, word, told):
    decide(sheet, 1, word)
    sheet.get_by_role("button", name="Save decisions").click()
    assert told in sheet.get_by_role("alert").inner_text()


def test_a_saved_file_is_continued_and_a_file_of_another_sheet_refused(sheet, opened, made, tmp_path):
    decide(sheet, 1, "Accept")
    saved(sheet, tmp_path / "ann.json")
    sheet.evaluate("localStorage.clear()")
    again = opened.go(tmp_path / "sheet.html")
    assert again.locator("#progress").inner_text() == "0 of 5 decided"
    again.locator("#load").set_input_files(tmp_path / "ann.json")
    again.wait_for_selector("#question-1[data-decision=accept]")
    (tmp_path / "other.json").write_text('{"format": "other"}')
    again.locator("#load").set_input_files(tmp_path / "other.json")
    again.wait_for_selector("#problem:has-text('it is not a file of decisions on this sheet')")


def test_a_set_without_questions_has_no_sheet(tmp_path):
    judge = Towers(Oslo="unclear", Bergen="unclear", Bodo="unclear").judge
    settings = {"per": 1, "tries": 1, "progress": False}
    empty = generate_questions(documents()[:3], out=tmp_path / "set", judge=judge, **settings)
    with pytest.raises(ConfigError, match="has no question to review"):
        review_sheet(empty)


def test_the_report_counts_what_was_kept_and_dropped_and_covered(report):
    text = report().inner_text("main")
    assert "5 questions on 6 documents; 1 dropped by the checks, 0 rejected by reviewers" in text
    assert "5 of 6 questions asked for passed the checks." in text
    assert "it cannot be understood without its passage" in text
    assert "Quotes touch 5 of 6 passages" in text
    assert "Passages that no question covers (1)" in text


def test_a_reason_leads_to_its_candidates_and_their_proofs(report):
    page = report()
    page.locator("tr", has_text="refers_to_passage").get_by_role("link").click()
    page.wait_for_selector("article.dropped")
    assert page.locator("article").count() == 1
    assert page.locator(".why").inner_text().startswith("✗ it cannot be understood without its passage")
    page.locator(".checks summary", has_text="criteria of a good question").click()
    page.wait_for_selector(".proof .verdicts")
    assert "1 of 2 met = 0.5" in page.locator(".proof .formula").inner_text()


def test_questions_are_filtered_by_text_and_label(report):
    page = report("#questions")
    page.fill("input[type=search]", "bergen")
    assert page.locator("article").count() == 1
    page.get_by_role("button", name="Clear").click()
    page.locator("article").nth(5).wait_for()
    page.select_option("select[name=label]", "known_without_documents: yes")
    assert page.locator("article .question").all_text_contents() == ["Who built the tower of Bergen?"]


def test_the_report_shows_decisions_the_share_and_both_texts_of_an_edit(opened, made, tmp_path):
    def item(on, decision, **more):
        return {"question_id": on.id, "shown": digest_of_shown(on), "decision": decision, **more}

    one, two, three, *_ = made.checked
    edit = item(one, "edit", question=EVIL, answer="The guild.")
    file = {"format": "ragmetrics-question-decisions", "version": 1, "annotator": EVIL}
    items = [edit, item(two, "reject", reason=EVIL), item(three, "accept")]
    made.decide(DecisionFile.model_validate(file | {"items": items}))
    page = opened.go(write_test_set_report(made, tmp_path / "page.html"))
    # 1 of 3 accepted as written, 2 of 3 usable
    assert page.locator("tr", has_text="accepted as written").inner_text().split()[3:5] == ["33", "%"]
    assert "2 of 3" in page.locator("tr", has_text="accepted or edited").inner_text()
    page = opened.go(tmp_path / "page.html", f"#questions=&id={one.id}")
    page.locator("summary", has_text="Before the edit").click()
    assert page.locator(".question").inner_text() == EVIL
    assert one.question in page.inner_text("article")
    assert page.evaluate("window.ran") is None
    assert (opened.errors, opened.left) == ([], [])


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("fragment", ["", "#questions"])
def test_no_page_is_wider_than_the_window(report, opened, fragment, scheme, width):
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.page.emulate_media(color_scheme=scheme)
    page = report(fragment)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_texts_of_documents_questions_and_labels_run_nothing(opened, tmp_path):
    rows = [{**row, "text": f"{EVIL} {row['text']}", EVIL[:40]: EVIL} for row in documents()]

    def written(place):
        return good(place, question=f"Who built the tower of {place}? {EVIL}")

    settings = {"per": 3, "tries": 1, "first_hit_share": 1.0, "progress": False}
    made = generate_questions(rows, out=tmp_path / "set", judge=Towers(written=written).judge, **settings)
    page = opened.go(write_test_set_report(made, tmp_path / "page.html"), "#questions")
    assert EVIL in page.inner_text("article .question")
    unfold(page)
    page.wait_for_selector(".proof")
    (tmp_path / "sheet.html").write_text(review_sheet(made, title=EVIL, annotator=EVIL), encoding="utf-8")
    sheet = opened.go(tmp_path / "sheet.html")
    assert sheet.inner_text("h1") == EVIL
    assert sheet.evaluate("window.ran") is None
    assert (opened.errors, opened.left) == ([], [])


def test_a_proof_is_the_record_of_the_stage(made, report):
    page = report("#questions")
    page.locator("summary", has_text="Does the best other passage answer it?").first.click()
    page.wait_for_selector(".proof")
    record = Run.load(made.path / "without").score(made.checked[0].id, "sufficiency")
    assert page.locator(".formula code").inner_text() == record.headline
