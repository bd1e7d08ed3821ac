"""Verdicts with a probability near 0.5 look unsure on every page; the score and the verdict stay the same."""

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from ragmetrics_core import evaluate, write_report
from ragmetrics_core.probe import carried_cards
from ragmetrics_core.protocol import Completion
from ragmetrics_core.report import _proof_page, terminal
from ragmetrics_core.testing import ScriptedJudge
from ragmetrics_embedded import LexicalJudge

DOCS = Path(__file__).resolve().parents[2] / "docs"
# Identifier, probability, whether it is between 0.35 and 0.65.
CASES = [
    ("p34", 0.34, False),
    ("p35", 0.35, True),
    ("p50", 0.5, True),
    ("p65", 0.65, True),
    ("p66", 0.66, False),
    ("none", None, False),
]
every_case = pytest.mark.parametrize(
    ("name", "probability", "is_unsure"), CASES, ids=[each[0] for each in CASES]
)
LEGEND = f"≈ {_proof_page.LEGEND}"


def graded(*verdicts):
    """A reply of a judge of this library, which may give a probability."""
    return Completion(json.dumps({"verdicts": verdicts}), held_to="graded")


def replies(request):
    """One supported statement; two more for the sample "three"."""
    answer = str(request.variables.get("answer", ""))
    if request.prompt.name == "statements":
        texts = ["He sings.", "He plays.", "He rests."] if answer == "three" else [answer]
        return {"statements": texts, "declined": False}
    known = {f"It is {name}.": probability for name, probability, _ in CASES}
    known |= {"He sings.": 0.9, "He plays.": 0.52, "He rests.": 0.1}
    verdicts = []
    for item in request.variables["items"]:
        probability = known[item.text]
        verdict = "no" if probability is not None and probability < 0.5 else "yes"
        verdicts.append({"number": item.number, "evidence": "He is here.", "verdict": verdict})
        if probability is not None:
            verdicts[-1]["probability"] = probability
    return graded(*verdicts)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    samples = [
        {"id": name, "question": "Who?", "contexts": ["He is here."], "answer": answer}
        for name, answer in [*((name, f"It is {name}.") for name, _, _ in CASES), ("three", "three")]
    ]
    folder = tmp_path_factory.mktemp("runs") / "unsure"
    return evaluate(samples, metrics="faithfulness", judge=ScriptedJudge(replies), out=folder)


@pytest.fixture(scope="module")
def report(run, tmp_path_factory):
    return write_report(run, tmp_path_factory.mktemp("report") / "report.html", other=None)


def printed(record, run, **style):
    console = Console(file=io.StringIO(), width=120, **style)
    console.print(*terminal.proof(record, run.metrics[0]))
    return console.file.getvalue()


def words(text):
    return " ".join(text.split())


@every_case
def test_the_terminal_shows_a_near_miss_as_unsure(run, name, probability, is_unsure):
    record = run.score(name, "faithfulness")
    supported = name not in ("p34", "p35")
    sign = "≈" if is_unsure else "✓" if supported else "✗"
    label = "supported" if supported else "not supported"
    text = words(printed(record, run))

    assert record.value == supported
    assert f"{sign} 1 {label} It is {name}." in text
    assert (LEGEND in text) == is_unsure
    if is_unsure:
        assert f"1 of 1 {label}, 1 of these unsure" in text
        assert f"unsure: probability {probability:.2f}" in text
    else:
        assert "unsure" not in text


def test_a_near_miss_has_its_own_colour_on_the_terminal(run):
    text = printed(run.score("p50", "faithfulness"), run, force_terminal=True, color_system="standard")
    # 35 is magenta, 32 green
    assert "\x1b[1;35m≈" in text
    assert "\x1b[32m" not in text[text.index("Answer statements") :]


@every_case
def test_a_notebook_shows_a_near_miss_as_unsure(run, name, probability, is_unsure):
    shown = run.score(name, "faithfulness")._repr_html_()
    assert ("unsure: probability" in shown) == is_unsure
    assert ("≈ " in shown) == is_unsure
    assert ("a near miss, with a probability" in shown) == is_unsure
    assert f"It is {name}." in shown


@every_case
def test_explain_says_that_a_near_miss_is_unsure(run, name, probability, is_unsure):
    assert ("unsure: probability" in run.score(name, "faithfulness").explain()) == is_unsure


@every_case
def test_a_report_shows_a_near_miss_as_unsure(opened, run, report, name, probability, is_unsure):
    page = opened.go(report, f"#sample={name}")
    page.wait_for_selector(".proof")
    look = "unsure" if is_unsure else "no" if name == "p34" else "yes"
    sign = {"unsure": "≈", "no": "✗", "yes": "✓"}[look]

    assert page.get_attribute(".verdicts li", "class") == look
    assert page.inner_text(".verdicts .sign") == sign
    assert page.locator(".sources mark").get_attribute("class").strip() == look
    assert page.inner_text(".sources sup") == f"{sign}1"
    assert page.locator(".chunks mark").get_attribute("class").strip() == look
    text = page.inner_text("main")
    assert (LEGEND in text) == is_unsure
    assert ("unsure" in text) == is_unsure
    assert opened.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_an_unsure_verdict_has_its_own_readable_colour(opened, report, scheme, width):
    from tests.report.test_page import CONTRASTS

    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.page.emulate_media(color_scheme=scheme)
    page = opened.go(report, "#sample=three")
    page.wait_for_selector(".proof")
    colours = page.eval_on_selector_all(
        ".verdicts li", "all => all.map((each) => getComputedStyle(each).borderLeftColor)"
    )

    assert page.evaluate(CONTRASTS) == []
    assert len(set(colours)) == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_unsure_verdicts_are_counted_among_those_of_their_label(opened, run, report):
    # He sings 0.9, he plays 0.52, he rests 0.1
    count = "2 of 3 supported, 1 of these unsure"
    record = run.score("three", "faithfulness")
    page = opened.go(report, "#sample=three")
    page.wait_for_selector(".proof")

    assert record.value == pytest.approx(2 / 3)
    assert count in words(printed(record, run))
    assert count in page.inner_text("main")
    assert f">Answer statements: {count}</caption>" in record._repr_html_()


def test_a_verdict_that_a_person_decided_is_not_unsure(tmp_path):
    row = {"id": "p50", "question": "Who?", "contexts": ["He is here."], "answer": "It is p50."}
    run = evaluate([row], metrics="faithfulness", judge=ScriptedJudge(replies), out=tmp_path / "run")
    for supported in (True, False):
        run.correct("p50", "faithfulness", 1, supported)
        assert "unsure" not in printed(run.score("p50", "faithfulness"), run)


def test_a_verdict_on_a_chunk_is_unsure_at_the_chunk(opened, tmp_path):
    reply = graded({"number": 1, "verdict": "yes", "probability": 0.6})
    row = {"id": "a", "question": "Who?", "contexts": ["He is here."], "answer": "He.", "reference": "He."}
    run = evaluate(
        [row], metrics="context_precision", judge=ScriptedJudge(lambda _: reply), out=tmp_path / "run"
    )
    page = opened.go(write_report(run, tmp_path / "report.html"), "#sample=a")
    page.wait_for_selector(".proof")

    assert page.get_attribute(".chunks li", "class") == "unsure"
    assert "≈ relevant (unsure: probability 0.60)" in page.inner_text(".chunks .rank")


def test_what_moved_between_two_runs_says_which_verdict_is_unsure(opened, tmp_path):
    runs = []
    for number, probability in enumerate((0.9, 0.4)):
        verdict = "yes" if probability > 0.5 else "no"
        reply = graded({"number": 1, "verdict": verdict, "probability": probability})

        def judge(request, reply=reply):
            statements = {"statements": ["It is so."], "declined": False}
            return statements if request.prompt.name == "statements" else reply

        row = {"id": "a", "question": "Who?", "contexts": ["He is here."], "answer": "It is so."}
        folder = tmp_path / str(number)
        runs.append(evaluate([row], metrics="faithfulness", judge=ScriptedJudge(judge), out=folder))
    page = opened.go(write_report(runs[0], tmp_path / "report.html", other=runs[1]), "#sample=a")
    page.wait_for_selector(".changes")

    change = words(page.inner_text(".changes li"))
    assert change == "✓ supported → ≈ not supported (unsure: probability 0.40): It is so."


def test_every_view_of_the_embedded_judge_states_its_limits_once(opened, tmp_path):
    row = {"id": "a", "question": "Who?", "contexts": ["Nobody."], "answer": "Nobody."}
    run = evaluate([row], metrics="faithfulness", judge="embedded", out=tmp_path / "run")
    record = run.score("a", "faithfulness")
    console = Console(file=io.StringIO(), width=120)
    console.print(*terminal.sample_page(run.sample("a"), run.scores("a"), [], run.metrics))
    page = opened.go(write_report(run, tmp_path / "report.html"))
    overview = page.inner_text("main")
    page = opened.go(tmp_path / "report.html", "#sample=a")
    page.wait_for_selector(".proof")
    views = [
        run._repr_html_(),
        record._repr_html_(),
        words(printed(record, run)),
        words(console.file.getvalue()),
        overview,
        page.inner_text("main"),
    ]

    assert [view.count(LexicalJudge.note) for view in views] == [1] * len(views)


@pytest.mark.parametrize("page", ["index.md", "judges.md"])
def test_the_docs_give_the_card_s_figure_for_the_embedded_judge(page):
    (card,) = (
        each for each in carried_cards() if each.set_name == "ragtruth" and each.judge.endswith("+vectors")
    )
    (area,) = (each.area for each in card.groups if each.value == "QA")
    (found,) = re.findall(
        r"in (\d+) of 100 pairs on RAGTruth questions; a coin: 50", (DOCS / page).read_text("utf-8")
    )
    assert int(found) == round(100 * area.value)
