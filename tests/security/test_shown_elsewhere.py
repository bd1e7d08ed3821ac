"""What the data holds steers no terminal through a failed test, and hides nothing in a page or notebook."""

import csv
import io
import logging

import pytest

from ragmetrics_core import Run, Sample, evaluate
from ragmetrics_core.live import Capture, LiveScorer, LoggingSink
from ragmetrics_core.report._text import cut, one_line
from ragmetrics_core.report.study_files import csv_text
from ragmetrics_core.study import StudyTable
from ragmetrics_core.study._tables import TableColumn
from ragmetrics_core.texts.wording import visible

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


def test_a_failed_test_says_no_megabytes():
    from ragmetrics_pytest import assert_scores

    row = {**ROW, "id": "a" * 3_000_000, "reference": "b" * 3_000_000}
    run = evaluate([row], metrics="exact_match")
    with pytest.raises(AssertionError, match="more characters") as raised:
        assert_scores(run, each={"exact_match": 1.0})
    assert len(str(raised.value)) < 30_000


MARKUP = "<img src=x onerror=alert(1)>\"'`&<script>"


def test_a_notebook_shows_markup_in_names_as_text(tmp_path):
    folder = tmp_path / "run"
    evaluate([{**ROW, "id": MARKUP}], metrics="faithfulness", judge="embedded", out=folder)
    manifest = folder / "manifest.json"
    text = manifest.read_text(encoding="utf-8").replace('"judge":"', '"judge":"<script>alert(1)</script>')
    manifest.write_text(text.replace('"name":"faithfulness"', '"name":"<b onclick=x>"'), encoding="utf-8")

    shown = Run.load(folder)._repr_html_()

    assert "<script" not in shown
    assert "<b onclick" not in shown
    assert "<img" not in shown


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "\n="])
def test_the_header_of_a_table_is_no_formula(start: str):
    evil = f"{start}HYPERLINK(1)"
    table = StudyTable(name="t", title="t", columns=(TableColumn(evil, "text"),), rows=((evil,),))
    rows = list(csv.reader(io.StringIO(csv_text(table), newline="")))

    assert [row[0][:1] for row in rows] == ["'", "'"]


# Live logs


def live(caplog: pytest.LogCaptureFixture, sample_id: str, judge: object = "embedded") -> list[str]:
    """What a live scorer logs of one sample, line by line, and what it counts."""
    sample = Sample(id=sample_id, question="Who?", answer="Bob did.", contexts=("Ann did.",))
    capture = Capture(
        question="Who?", contexts=[], answer="Bob did.", translate=lambda _: sample, name=sample_id
    )
    with (
        caplog.at_level(logging.INFO, logger="ragmetrics.live"),
        LiveScorer("faithfulness", judge=judge, sinks=[LoggingSink()], attempts=1) as scorer,
    ):
        scorer.submit(capture)
        scorer.flush(60)
    return [*(record.getMessage() for record in caplog.records), *scorer.stats.errors]


@pytest.mark.parametrize("char", [*HIDDEN, "\n", "\r", "\u2028"], ids=lambda char: f"U+{ord(char):04X}")
@pytest.mark.parametrize("fails", [True, False])
def test_no_log_line_of_a_live_scorer_is_steered_or_forged(
    char: str, fails: bool, caplog: pytest.LogCaptureFixture
):
    def judge(prompt: str) -> str:
        raise RuntimeError(f"no{char}2026-01-01 ERROR forged")

    lines = live(caplog, f"a{char}2026-01-01 ERROR forged", judge if fails else "embedded")

    assert lines
    assert not any(char in line for line in lines)


def test_no_log_line_of_a_live_scorer_has_megabytes(caplog: pytest.LogCaptureFixture):
    def judge(prompt: str) -> str:
        raise RuntimeError("no " * 1_000_000)

    lines = live(caplog, "a" * 3_000_000, judge)

    assert lines
    assert max(map(len, lines)) < 10_000
