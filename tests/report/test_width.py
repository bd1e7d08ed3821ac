"""No text of the data makes the page wider than its window."""

import pytest

from ragmetrics_core import evaluate, write_report
from ragmetrics_core.testing import ScriptedJudge

WORD = "w" * 3000


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    def reply(request):
        if request.prompt.name == "statements":
            return {"statements": [WORD], "declined": False}
        return {"verdicts": [{"number": 1, "reason": WORD, "evidence": WORD[:200], "verdict": "yes"}]}

    folder = tmp_path_factory.mktemp("wide")
    row = {
        "id": "q1",
        **dict.fromkeys(("question", "answer", "reference"), WORD),
        "contexts": [WORD],
        "context_ids": [WORD],
        "reference_contexts": [WORD],
        "history": [{"role": "user", "content": WORD}],
        "labels": {WORD[:300]: WORD},
    }
    judge = ScriptedJudge(reply, identity=WORD)
    failing = {"id": WORD, "question": WORD, "answer": WORD}
    rows = [row, failing, {"id": "x", WORD: [WORD]}]
    run = evaluate(rows, metrics="faithfulness", judge=judge, out=folder / WORD[:200])
    return write_report(run, folder / "report.html")


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("fragment", ["", "#samples", "#sample=q1", "#row=1"])
def test_a_word_of_3000_characters_makes_no_page_wider_than_the_window(opened, wide, fragment, width):
    opened.page.set_viewport_size({"width": width, "height": 900})
    page = opened.go(wide, fragment)
    if fragment.startswith(("#sample=", "#row=")):
        page.wait_for_selector(".proof")
        page.get_by_role("button", name="Annotate").click()
        page.wait_for_selector(".marking")
        for folded in page.locator("summary").all():
            folded.click()
    # wider than the window nothing can be scrolled to
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# For each header: the lines of each of its words, to see that none is broken.
WORD_LINES = """heads => heads.flatMap((head) => head.innerText.split(/\\s+/).filter(Boolean).map((word) => {
  const walker = document.createTreeWalker(head, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const at = node.data.indexOf(word);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + word.length);
    return [word, range.getClientRects().length];
  }
}))"""


@pytest.fixture(scope="module")
def long_names(tmp_path_factory):
    """Two runs of metrics with long names and many statuses."""
    folder = tmp_path_factory.mktemp("long")
    metrics = [f"faithfulness(per_call={count})" for count in (19, 20)] + ["factual_correctness/ragas-0.4"]
    rows = [
        {"id": f"q{n}", "question": "Q?", "contexts": ["A."], "answer": "A.", "reference": "A."}
        for n in range(8)
    ]
    runs = [evaluate(rows, metrics=metrics, judge="embedded", out=folder / name) for name in ("a", "b")]
    return write_report(runs[0], folder / "report.html", other=runs[1])


@pytest.mark.parametrize("width", [1160, 1280, 1500])
def test_no_word_of_a_header_is_broken(opened, long_names, width):
    opened.page.set_viewport_size({"width": width, "height": 900})
    words = opened.go(long_names).eval_on_selector_all(".means thead th", WORD_LINES)
    assert ["Pairs", 1] in words
    assert [word for word, lines in words if lines != 1] == []


def test_every_column_of_a_table_of_means_has_a_header(opened, files):
    heads = opened.go(files["two"]).locator(".means thead th").all_text_contents()
    assert all(heads)
    # the picture of the interval is under it
    assert opened.page.locator(".means td[data-head='95% interval'] .picture").count() > 0


@pytest.mark.parametrize("width", [390, 700, 1100])
@pytest.mark.parametrize("name", ["telecom", "two"])
def test_a_narrow_screen_shows_every_column_of_the_means_with_its_header(opened, files, name, width):
    opened.page.set_viewport_size({"width": width, "height": 900})
    page = opened.go(files[name])
    hidden = """all => all.filter(
      (each) => each.scrollWidth > each.clientWidth || each.getBoundingClientRect().right > innerWidth
    ).length"""
    assert page.eval_on_selector_all(".wide, .means td, .means th", hidden) == 0
    shown = """all => all.filter(
      (each) => getComputedStyle(each, "::before").content === `"${each.dataset.head}"`).length"""
    assert page.eval_on_selector_all(".means td", shown) == page.locator(".means td").count() > 0


def test_the_lines_under_scores_are_explained(opened, files):
    page = opened.go(files["telecom"], "#samples")
    assert page.locator("td.bar").count() > 0
    assert "The line under a score shows its place in the metric’s range." in page.inner_text("main")
    page = opened.go(files["two"], "#samples")
    assert page.locator("td.bar").count() == 0
    assert "line under a score" not in page.inner_text("main")
