"""No text of the data makes the page wider than its window."""

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.testing import ScriptedJudge

WORD = "w" * 3000


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    def reply(request):
        if request.prompt.name == "statements":
            return {"statements": [WORD]}
        return {"verdicts": [{"number": 1, "reason": WORD, "evidence": WORD[:200], "verdict": "yes"}]}

    folder = tmp_path_factory.mktemp("wide")
    row = {"id": "q1", "question": WORD, "answer": WORD, "contexts": [WORD], WORD[:300]: WORD}
    run = evaluate([row], metrics="faithfulness", judge=ScriptedJudge(reply), out=folder / "run")
    return run.report(folder / "report.html")


@pytest.mark.parametrize("fragment", ["", "#samples", "#sample=q1"])
def test_a_word_of_3000_characters_makes_no_page_wider_than_the_window(opened, wide, fragment):
    page = opened.go(wide, fragment)
    if fragment.startswith("#sample="):
        page.wait_for_selector(".proof")
    # wider than the window nothing can be scrolled to
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
