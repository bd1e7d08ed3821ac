"""A contradicted statement looks different from one that is not mentioned; probabilities are printed."""

import io
import json

import pytest
from rich.console import Console

from ragmetrics_core import evaluate, write_report
from ragmetrics_core.protocol import Completion
from ragmetrics_core.report import terminal
from ragmetrics_core.testing import ScriptedJudge

CONTRARY = "He died in 1955."
ROW = {
    "id": "a",
    "question": "Who?",
    "contexts": [f"He was born in Ulm. {CONTRARY}"],
    "answer": "He was born in Ulm. He died in 1950. He liked cats. He died in 1951.",
    "reference": "He was born in Ulm.",
}
# Statement, verdict, evidence, probability, sign, class in the report.
STATEMENTS = [
    ("He was born in Ulm.", "supported", "He was born in Ulm.", 0.92, "✓", "yes"),
    ("He died in 1950.", "contradicted", CONTRARY, 0.03, "≠", "contradicted"),
    ("He liked cats.", "not mentioned", "", 0.11, "✗", "no"),
    # near 0.5, so that it is also unsure
    ("He died in 1951.", "contradicted", CONTRARY, 0.45, "≠", "contradicted"),
]


def reply(request):
    if request.prompt.name == "statements":
        return {"statements": [text for text, *_ in STATEMENTS], "declined": False}
    verdicts = [
        {"number": number, "evidence": evidence, "verdict": verdict, "probability": probability}
        for number, (_, verdict, evidence, probability, *_) in enumerate(STATEMENTS, start=1)
    ]
    return Completion(json.dumps({"verdicts": verdicts}), held_to="graded")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "three"
    return evaluate([ROW], metrics="faithfulness/strict.2", judge=ScriptedJudge(reply), out=folder)


@pytest.fixture(scope="module")
def report(run, tmp_path_factory):
    return write_report(run, tmp_path_factory.mktemp("report") / "report.html")


def probability_of(value):
    return "unsure: probability 0.45" if value == 0.45 else f"probability {value:.2f}"


def test_the_terminal_has_a_sign_and_a_style_of_its_own_for_contradictions(run):
    console = Console(file=io.StringIO(), width=160, force_terminal=True, color_system="standard")
    console.print(*terminal.proof(run.score("a", "faithfulness"), run.metrics[0]))
    coloured = console.file.getvalue()

    # 7 inverts 31, red; the sentence in the context too, underlined (4)
    assert "\x1b[1;7;31m≠" in coloured
    assert "\x1b[1;31m✗" in coloured
    assert f"\x1b[4;7;31m{CONTRARY}" in coloured
    for *_, probability, _, _ in STATEMENTS:
        assert probability_of(probability) in coloured


def test_explain_and_a_notebook_name_the_verdict_and_its_probability(run):
    record = run.score("a", "faithfulness")
    told, notebook = record.explain(), " ".join(record._repr_html_().split())
    for text, verdict, _, probability, sign, _ in STATEMENTS:
        assert f". {verdict}: {text}" in told
        assert probability_of(probability) in told
        assert f"{sign} {verdict}" in notebook
        assert probability_of(probability) in notebook


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_report_tells_contradicted_from_not_mentioned_at_a_glance(opened, report, scheme, width):
    from tests.report.test_page import CONTRASTS

    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.page.emulate_media(color_scheme=scheme)
    page = opened.go(report, "#sample=a")
    page.wait_for_selector(".proof")
    items = page.locator(".verdicts li")
    colours = set()
    for place, (_, verdict, _, probability, sign, look) in enumerate(STATEMENTS):
        item = items.nth(place)
        assert item.get_attribute("class") == look
        assert item.locator(".sign").inner_text() == sign
        assert item.locator("b").inner_text() == verdict
        assert probability_of(probability) in item.inner_text()
        colours.add(item.evaluate("each => getComputedStyle(each).borderLeftColor"))

    assert len(colours) == 3
    assert page.locator(".chunks mark.contradicted").inner_text() == CONTRARY
    assert page.evaluate(CONTRASTS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.errors == []


def test_a_contradiction_that_a_person_overruled_looks_supported(tmp_path):
    again = evaluate(
        [ROW], metrics="faithfulness/strict.2", judge=ScriptedJudge(reply), out=tmp_path / "again"
    )
    again.correct("a", "faithfulness", 2, True)
    console = Console(file=io.StringIO(), width=160)
    console.print(*terminal.proof(again.score("a", "faithfulness"), again.metrics[0]))
    assert "✓ 2 supported" in console.file.getvalue()
