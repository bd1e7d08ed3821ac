"""Conversations in the report: a table of sessions, and a page for each with its turns and their proofs."""

import pytest

from ragmetrics_core import Record, Sample, evaluate, write_report
from tests.conversations import GOODS, YEAR, conversation, literal_judge
from tests.report.conftest import data_of
from tests.report.test_page import CONTRASTS


def run_of(samples, out):
    return evaluate(samples, metrics="faithfulness", judge=literal_judge(), out=out)


@pytest.fixture(scope="module")
def talks(tmp_path_factory):
    """Conversations of three, two and one turns, in a file that mixes them, and a sample of none."""
    folder = tmp_path_factory.mktemp("talks")
    long, short, single = conversation("long"), conversation("short", 2), conversation("single", 1)
    alone = Sample(id="alone", question="Who?", answer=YEAR, contexts=[GOODS])
    mixed = [long[2], short[1], alone, long[0], single[0], short[0], long[1]]
    return write_report(run_of(mixed, folder / "run"), folder / "report.html")


def test_the_table_of_sessions_has_turns_means_and_the_lowest_turn(opened, talks):
    # turns score 0.5, 0 and 1: means 0.25 of the first two, 0.5 of all three and of the first alone
    page = opened.go(talks)
    page.click("#to-sessions")
    page.wait_for_selector("text=3 sessions, the lowest mean first")
    rows = [" ".join(row.split()) for row in page.locator("tbody tr").all_inner_texts()]
    assert rows[0].startswith("short 2 0.250 Turn 2")
    assert {each[:19] for each in rows[1:]} == {"long 3 0.500 Turn 2", "single 1 0.500 Turn"}
    page.click("tbody td a >> nth=0")
    page.wait_for_selector("h1.id")
    assert page.inner_text("h1.id").startswith("short#2")
    assert opened.errors == []


def test_the_page_of_a_session_has_its_turns_in_order_each_with_its_proof(opened, talks):
    page = opened.go(talks, "#session=long")
    page.wait_for_selector(".turn .proof")
    titles = page.locator(".turn h2 a").all_inner_texts()
    assert titles == ["Turn 1", "Turn 2", "Turn 3"]
    assert page.locator(".turn .question").all_inner_texts() == [
        "Who founded Acme?",
        "And when?",
        "What does it make?",
    ]
    assert page.locator(".turn .standalone .flow").all_inner_texts() == [
        "When was Acme founded?",
        "What does Acme make?",
    ]
    assert page.locator(".turn .score").all_inner_texts() == ["0.500", "0.000", "1.000"]
    verdicts = page.locator(".turn >> nth=1").locator(".verdicts li")
    assert f"only in an earlier answer {YEAR}" in verdicts.first.inner_text()
    # each turn has its own tabs, which lead nowhere else
    ids = page.eval_on_selector_all("[id]", "all => all.map((each) => each.id)")
    assert len(ids) == len(set(ids))
    page.click(".turn h2 a >> nth=1")
    page.wait_for_selector("h1.id")
    assert page.inner_text("h1.id").startswith("long#2")
    assert opened.errors == []


def test_a_sample_leads_to_its_session_and_to_the_turns_beside_it(opened, talks):
    page = opened.go(talks, "#sample=long%232")
    page.wait_for_selector(".proof")
    assert page.inner_text(".session") == "Session long, turn 2 of 3 · previous turn · next turn"
    page.click("text=next turn")
    page.wait_for_selector("h1.id:has-text('long#3')")
    assert page.inner_text(".session") == "Session long, turn 3 of 3 · previous turn"
    page.click(".session a >> nth=0")
    page.wait_for_selector(".turn")
    assert page.inner_text("h1") == "Session long"
    page = opened.go(talks, "#sample=alone")
    page.wait_for_selector(".proof")
    assert page.locator(".session").count() == 0


def test_a_sample_shows_both_questions_and_earlier_turns_with_chunks_and_calls_folded(opened, talks):
    page = opened.go(talks, "#sample=long%232")
    page.wait_for_selector(".proof")
    assert page.inner_text(".question") == "And when?"
    assert page.inner_text(".standalone .flow") == "When was Acme founded?"
    page.click("text=2 earlier turns")
    assert page.locator(".earlier summary").all_inner_texts() == ["1 tool call", "2 chunks"]
    assert not page.is_visible("text=Rockets fly.")
    page.click("text=2 chunks")
    assert page.is_visible("text=Rockets fly.")
    page.click("text=1 tool call")
    assert page.is_visible('text=search {"query": "Acme"}')


def test_a_stand_alone_question_that_says_the_same_is_not_repeated(opened, tmp_path):
    samples = conversation("talk", standalone="Who founded Acme?")
    page = opened.go(write_report(run_of(samples, tmp_path / "run"), tmp_path / "r.html"), "#session=talk")
    page.wait_for_selector(".turn .proof")
    assert page.locator(".turn >> nth=0").locator(".standalone").count() == 0
    assert page.locator(".standalone").count() == 2


def test_samples_without_sessions_have_no_page_of_sessions(opened, tmp_path):
    sample = Sample(id="alone", question="Who?", answer=YEAR, contexts=[GOODS])
    report = write_report(run_of([sample], tmp_path / "run"), tmp_path / "report.html")
    page = opened.go(report)
    assert page.locator("#to-sessions").count() == 0
    assert data_of(report)["table"]["sessions"] == []
    # and an address of one shows the first page
    assert opened.go(report, "#sessions").locator(".means").count() > 0
    assert opened.errors == []


def test_a_session_that_an_older_run_kept_as_a_label_has_a_page(opened, tmp_path):
    samples = conversation("x", session=None, turn=None, labels={"thread_id": 7})
    page = opened.go(write_report(run_of(samples[::-1], tmp_path / "run"), tmp_path / "r.html"), "#session=7")
    page.wait_for_selector(".turn .proof")
    # without numbers, the turn with the shorter history comes first
    assert page.locator(".turn h2 a").all_inner_texts() == ["x#1", "x#2", "x#3"]


def test_two_runs_have_each_turn_with_both_proofs(opened, tmp_path):
    first = run_of(conversation("talk"), tmp_path / "a")
    second = run_of(conversation("talk", 2, answer=GOODS), tmp_path / "b")
    page = opened.go(write_report(first, tmp_path / "r.html", other=second), "#session=talk")
    page.wait_for_selector(".turn .proof")
    assert page.locator(".turn").count() == 3
    assert page.locator(".turn >> nth=0").locator(".proof").count() == 2
    assert page.locator("#stage").count() == 0
    assert opened.errors == []


def test_turns_whose_proof_is_on_a_further_page_lead_there_and_back(opened, tmp_path):
    # of 1,020 samples the file has the proofs of 1,000: not those of the last turns, which are supported
    samples = [sample for number in range(340) for sample in conversation(f"talk-{number}")]
    report = write_report(run_of(samples, tmp_path / "run"), tmp_path / "r.html", everything=True)
    page = opened.go(report, "#session=talk-99")
    page.wait_for_selector(".turn .notice")
    assert page.locator(".turn .proof").count() == 2
    page.click(".turn h2 a >> nth=2")
    page.wait_for_selector(".proof")
    assert "r-samples/0001.html" in page.url
    page.click(".session a")
    page.wait_for_selector(".turn")
    assert page.url.endswith("r.html#session=talk-99")
    assert opened.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("fragment", ["#sessions", "#session=long", "#sample=long%232"])
def test_sessions_fit_the_window_and_can_be_read_in_light_and_dark(opened, talks, fragment, width, scheme):
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.page.emulate_media(color_scheme=scheme)
    page = opened.go(talks, fragment)
    page.wait_for_selector(".means, .proof")
    page.eval_on_selector_all("details", "all => all.forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRASTS) == []


def test_a_proof_in_a_notebook_and_an_explanation_have_both_questions_and_the_earlier_turns(tmp_path):
    run = run_of(conversation("talk"), tmp_path / "run")
    record: Record = run.score("talk#2", "faithfulness")
    page = record._repr_html_()
    assert page.index("And when?") < page.index("When was Acme founded?")
    assert "earlier, assistant" in page
    told = record.explain().splitlines()
    assert told[1:3] == ["  question: And when?", "  stand-alone question: When was Acme founded?"]
    assert "question" not in run.score("talk#1", "faithfulness").explain()
