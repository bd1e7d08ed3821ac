"""What the data holds steers no terminal through a failed test, and hides nothing in a page or notebook."""

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.report.html.text import cut, one_line
from ragmetrics_core.wording import visible

# controls, directions, what nobody sees, and tags that can carry a whole text
HIDDEN = ["\x1b", "\x07", "\x9b", "\u200b", "\u200e", "\u200f", "\u202e", "\u2066", "\u3164", "\U000e0041"]
ROW = {"question": "Who?", "contexts": ["Ann did."], "answer": "Bob did it."}


@pytest.mark.parametrize("char", HIDDEN, ids=lambda char: f"U+{ord(char):04X}")
def test_a_failed_test_shows_what_could_steer_or_hide(char: str):
    pytest.importorskip("ragmetrics_pytest", reason="comes with the package")
    from ragmetrics_pytest import assert_scores

    rows = [{**ROW, "id": f"a{char}[31mb", "answer": f"Bob{char} did it."}]
    run = evaluate(rows, metrics="faithfulness", judge="embedded")
    with pytest.raises(AssertionError) as raised:
        assert_scores(run, faithfulness=1.0, each={"faithfulness": 1.0})
    assert char not in str(raised.value)


@pytest.mark.parametrize("char", HIDDEN, ids=lambda char: f"U+{ord(char):04X}")
def test_reports_and_notebooks_show_the_same_characters_as_the_terminal(char: str):
    assert char not in one_line(f"a{char}b")
    assert cut(f"a{char}b", 9).text == visible(f"a{char}b")
    run = evaluate([{**ROW, "id": f"a{char}b"}], metrics="faithfulness", judge="embedded")
    assert char not in run._repr_html_()
