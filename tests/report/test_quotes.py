"""A quote that itself holds quotation marks is printed in one pair of marks, everywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import Run, write_report
from ragmetrics_core.texts.wording import quoted
from tests.report.conftest import scripted

MARKED = '"Bingley'


@pytest.fixture(scope="module")
def marked(tmp_path_factory) -> Run:
    """A quote and an unsupported statement, each with a quotation mark at its beginning."""
    sample = {"id": "a", "question": "Who?", "contexts": [f"He said {MARKED}."], "answer": f"{MARKED}."}

    def reply(request):
        if request.prompt.name == "statements":
            return {"statements": [f"{MARKED}."], "declined": False}
        return {"verdicts": [{"number": 1, "reason": "", "evidence": f"{MARKED}.", "verdict": "no"}]}

    return scripted([sample], reply, tmp_path_factory.mktemp("runs") / "marked")


@given(st.text('ab"“”„‟«»＂', max_size=12))
def test_a_quoted_text_has_one_pair_of_double_marks(text):
    assert sum(mark in '"“”„‟«»＂' for mark in quoted(text)) == 2


def test_a_record_prints_a_quote_in_one_pair_of_marks(marked):
    assert "“Bingley.” (chunk 1)" in marked.score("a", "faithfulness").explain()


def test_the_page_of_a_sample_prints_quotes_in_one_pair_of_marks(marked, opened, tmp_path):
    page = opened.go(write_report(marked, tmp_path / "report.html"), "#sample=a")
    assert "“Bingley.”" in page.locator(".quote").inner_text()
    assert "“Bingley.”" in page.locator(".diagnosis").inner_text()
