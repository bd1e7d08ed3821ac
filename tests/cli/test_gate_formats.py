"""The verdict of a gate where people look: texts of the data in it are nothing but text."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from ragmetrics_core import evaluate
from ragmetrics_core.report.gate_files import MARKER
from tests.cli.conftest import judged_by

GOLDEN = Path(__file__).with_name("gate_comment.md")
HOSTILE = (
    "<img src=x onerror=alert(1)> **bold** [link](javascript:alert(1)) @team #1 `code` | ``` <!-- --> "
    "https://evil.example www.evil.example\n## heading\x1b[31m ::error::x %0A"
)


def run(out, right):
    """A run of which so many of 12 answers are right; each answer and quote is hostile."""
    rows = [
        {"id": f"q{n} {HOSTILE}", "question": "Who?", "answer": f"{HOSTILE} {n}", "contexts": [HOSTILE]}
        for n in range(12)
    ]
    hostile = {"reason": f"because {HOSTILE}", "evidence": HOSTILE[:30]}
    judge = judged_by(
        lambda text: int(text.split()[-1]) < right, lambda answer: [" ".join(answer.split())], **hostile
    )
    evaluate(rows, metrics="faithfulness", judge=judge, out=out)
    return out


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return run(folder / "main", 12), run(folder / "branch|@you", 2)


GATE = ("--fail-if", "worse", "--link", "https://example.org/report.html)")


def test_the_comment_of_two_runs_is_the_golden_one(command, runs, tmp_path):
    outcome = command("study compare", *runs, *GATE, "--comment", tmp_path / "comment.md")
    assert outcome.code == 1
    assert (tmp_path / "comment.md").read_text(encoding="utf-8") == GOLDEN.read_text(encoding="utf-8")


def test_hostile_texts_in_the_comment_render_as_text():
    text = GOLDEN.read_text(encoding="utf-8")
    tokens = list(flat(MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)))
    html = [token.content.strip() for token in tokens if token.type.startswith("html")]
    links = [token.attrs["href"] for token in tokens if token.type == "link_open"]
    assert html == ["<!-- ragmetrics gate -->"]
    assert links == ["https://example.org/report.html%29"]
    assert not [token for token in tokens if token.type in ("image", "fence")]
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h3"]
    plain = "".join(token.content for token in tokens if token.type == "text")
    assert "@you" not in plain
    assert "evil" not in plain


def flat(tokens):
    for token in tokens:
        yield token
        yield from flat(token.children or ())


def test_a_link_that_is_no_address_leads_nowhere(command, runs, tmp_path):
    words = ("--comment", tmp_path / "c.md", "--link", "javascript:alert(1)")
    assert command("study compare", *runs, *words).code == 0
    assert (tmp_path / "c.md").read_text(encoding="utf-8").endswith("[Report](#)\n")


def test_junit_has_a_case_for_each_metric_and_a_failure_that_says_why(command, runs, tmp_path):
    outcome = command("study compare", *runs, "--fail-if worse --out", tmp_path / "gate.xml")
    assert outcome.code == 1
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert [case.get("name") for case in suite] == ["runs", "faithfulness/strict.1"]
    assert [each.get("message") for each in suite.iter("failure")] == [
        "faithfulness/strict.1 is worse by 0.833"
    ]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    passed = command("study compare", *runs, "--format junit")
    assert ElementTree.fromstring(passed.out.strip()).get("failures") == "0"


def test_github_gets_an_error_and_a_step_summary(command, runs, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    outcome = command("study compare", *runs, "--fail-if worse --format github")
    assert outcome.code == 1
    told = "12 answered, 0 declined, 0 undecided"
    # a name of the data is no command, and 12 answers of each run were seen to answer
    notice = f"{told} in main; {told} in branch|@you"
    assert outcome.out == (
        "::error title=ragmetrics::faithfulness/strict.1 is worse by 0.833\n"
        f"::notice title=ragmetrics::Answers: {notice}\n"
    )
    assert "### ❌ ragmetrics: failed" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    passed = command("study compare", runs[0], runs[1], "--max faithfulness=1 --format github")
    assert passed.out == (
        f"::notice title=ragmetrics::passed\n::notice title=ragmetrics::Answers: {notice}\n"
    )


def test_what_no_condition_was_set_for_has_not_passed(command, runs, tmp_path):
    outcome = command("study compare", *runs, "--format github --comment", tmp_path / "comment.md")
    assert outcome.code == 0
    assert outcome.out.startswith("::notice title=ragmetrics::no condition\n")
    assert "### ℹ️ ragmetrics: no condition" in (tmp_path / "comment.md").read_text(encoding="utf-8")


def test_json_and_markdown_have_the_gate(command, runs):
    tables = command("study compare", *runs, "--fail-if worse --format json").json
    why = "faithfulness/strict.1 is worse by 0.833"
    assert tables[-1]["name"] == "gate"
    assert tables[-1]["rows"] == [{"verdict": "failed", "metric": "faithfulness/strict.1", "why": why}]
    assert tables[0]["rows"][0]["lost"] == 0
    markdown = command("study compare", *runs, "--fail-if worse --format markdown").out
    assert "| failed | faithfulness/strict.1 |" in markdown


def test_the_trace_shows_samples_the_way_of_the_verdict(command, tmp_path):
    # ten answers turn wrong and two turn right: those that fell come first
    rows = [
        {"id": f"s{n}", "question": "Who?", "answer": f"It is {n}", "contexts": ["It."]} for n in range(14)
    ]
    for name, right in (("a", range(2, 14)), ("b", range(4))):
        judge = judged_by(lambda text, right=right: int(text.split()[-1]) in right)
        evaluate(rows, metrics="faithfulness", judge=judge, out=tmp_path / name)
    outcome = command("study compare", tmp_path / "a", tmp_path / "b", "--trace 2 --format json")
    moved = next(table for table in outcome.json if table["name"] == "moved")
    assert [row["sample"] for row in moved["rows"]] == ["s10", "s11"]


ROOT = Path(__file__).resolve().parents[2]


def test_the_action_knows_its_comment_again_and_uses_options_that_there_are(command):
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    steps = action["runs"]["steps"]
    assert any(MARKER in step["run"] for step in steps)
    options = command("study compare --help", columns=200).out
    for option in ("--margin", "--fail-if", "--min", "--link", "--format", "--comment"):
        assert any(option in step["run"] for step in steps)
        assert option in options
    # no input stands in a script itself, where it would be run
    assert not [step for step in steps if "${{" in step["run"]]


def test_the_workflow_of_the_page_has_ten_lines_and_uses_inputs_that_there_are():
    yaml = pytest.importorskip("yaml")
    page = (ROOT / "docs" / "gates.md").read_text(encoding="utf-8")
    text = page.partition("```yaml\n")[2].partition("```")[0]
    assert len(text.splitlines()) <= 10
    *_, last = yaml.safe_load(text)["jobs"]["gate"]["steps"]
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(last["with"]) <= set(action["inputs"])
