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
