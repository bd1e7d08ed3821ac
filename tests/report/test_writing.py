"""What is in the file, what in the folder beside it, and what is said when it cannot be written."""

import json
import random
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")

from typer.testing import CliRunner

from ragmetrics_core import Run, evaluate, write_report
from ragmetrics_core.cli._app import app
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._marks import Sought
from ragmetrics_core.report._text import cut, one_line
from ragmetrics_core.testing import HashEmbedder
from ragmetrics_core.texts.wording import visible
from tests.report.conftest import data_of


@pytest.fixture(scope="module")
def long(tmp_path_factory) -> Run:
    """1,300 samples: more than one file has the proofs of."""
    rows = [
        {"id": f"s{n:04}", "answer": f"word{n % 7} and more", "reference": f"word{n % 5} and more"}
        for n in range(1300)
    ]
    folder = tmp_path_factory.mktemp("runs") / "long"
    return evaluate(rows, metrics=["answer_similarity"], embedder=HashEmbedder(), out=folder)


def test_a_report_has_every_sample_and_the_proof_of_every_sample_when_there_is_room(files, telecom):
    data = data_of(files["telecom"])

    assert sorted(data["table"]["ids"]) == sorted(telecom.sample_ids)
    assert -1 not in data["table"]["chunks"]
    row = data["table"]["ids"].index("tc-49")
    proof = data[str(data["table"]["chunks"][row])][str(row)]
    assert proof["sides"][0]["records"]["0"]["headline"] == "1 / 2 = 0.5"


def test_the_exact_prompts_and_replies_are_in_the_proof(files, telecom):
    data = data_of(files["telecom"])
    row = data["table"]["ids"].index("tc-49")
    side = data[str(data["table"]["chunks"][row])][str(row)]["sides"][0]
    record = telecom.score("tc-49", "faithfulness")

    steps = side["records"]["0"]["steps"]
    assert [step["reply"][0] for step in steps] == [step.reply for step in record.generate_steps]
    asked = [side["messages"][number][0] for _, number in steps[0]["messages"]]
    assert any(record.sample.question in text for text in asked)


def test_the_same_run_gives_the_same_file(telecom, files, tmp_path):
    assert write_report(telecom, tmp_path / "telecom.html").read_bytes() == files["telecom"].read_bytes()


def test_a_long_run_has_all_rows_and_the_proofs_of_the_worst_samples(long, tmp_path):
    path = write_report(long, tmp_path / "report.html")

    assert len(data_of(path)["table"]["ids"]) == 1300
    assert check_worst_are_proven(path) == 1000


def test_with_all_every_other_proof_is_in_a_folder_beside_the_file_in_place_of_older(long, opened, tmp_path):
    folder = tmp_path / "report-samples"
    folder.mkdir()
    (folder / "0009.html").write_text("of a longer report", encoding="utf-8")
    (folder / "notes.html").write_text("mine", encoding="utf-8")
    path = write_report(long, tmp_path / "report.html", everything=True)
    *pages, notes = sorted(folder.iterdir())
    assert [each.name for each in (*pages, notes)] == ["0001.html", "0002.html", "notes.html"]
    proven = [name for each in [path, *pages] for name in proven_in(each)]
    assert sorted(proven) == sorted(long.sample_ids)

    page = opened.go(path, "#samples=&sort=m0&down=1")
    name = page.locator("tr[data-row] a").first.inner_text()
    page.locator("tr[data-row] a").first.click()
    page.wait_for_selector(".proof")
    assert "report-samples/" in page.url
    assert page.inner_text("h1.id") == name
    page.click("text=Whole report")
    page.wait_for_selector(".means")
    assert page.url.endswith("report.html")
    assert opened.errors == []


def proven_in(path: Path) -> list[str]:
    table = data_of(path)["table"]
    return [name for name, chunk in zip(table["ids"], table["chunks"], strict=True) if chunk >= 0]


def check_worst_are_proven(path: Path) -> int:
    """How many samples have their proof in the file: those with the lowest values."""
    table = data_of(path)["table"]
    pairs = sorted(zip(table["metrics"][0][0]["values"], table["chunks"], strict=True))
    proven = [value for value, chunk in pairs if chunk >= 0]
    assert max(proven) <= min(value for value, chunk in pairs if chunk < 0)
    return len(proven)


def test_a_file_stays_under_20_megabytes_and_has_the_worst_proofs(tmp_path):
    # 120 samples with 400,000 random digits each: packed they would take about 27 MB
    generator = random.Random(0)
    rows = [
        {
            "id": f"s{n:03}",
            "answer": f"word{n % 7} and more",
            "reference": f"word{n % 5} and more",
            "contexts": [generator.randbytes(50_000).hex() for _ in range(4)],
        }
        for n in range(120)
    ]
    run = evaluate(rows, metrics=["answer_similarity"], embedder=HashEmbedder())
    path = write_report(run, tmp_path / "report.html")

    assert 15_000_000 < path.stat().st_size <= 20_000_000
    assert 0 < check_worst_are_proven(path) < 120


def test_a_place_that_is_no_file_is_refused_with_a_sentence(telecom, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    refused = "is a folder: name the file to write"
    for place, told in (
        (tmp_path, refused),
        (Path(), refused),
        (Path("file/report.html"), "cannot be written"),
    ):
        with pytest.raises(ConfigError, match=told):
            write_report(telecom, place)


def test_a_long_table_keeps_few_rows_on_the_page_and_scrolls_to_its_end(long, opened, tmp_path):
    page = opened.go(write_report(long, tmp_path / "report.html"), "#samples=&sort=id")
    assert page.locator("tr[data-row]").count() < 80

    page.locator("tr[tabindex='0']").focus()
    page.keyboard.press("End")
    page.wait_for_selector("tr[data-row]:focus >> text=s1299")
    assert page.get_attribute("table.samples", "aria-rowcount") == "1301"
    assert page.locator("tr[data-row]").count() < 80


def test_a_sample_without_its_proof_says_where_it_is(long, opened, tmp_path):
    page = opened.go(write_report(long, tmp_path / "report.html"), "#samples=&sort=m0&down=1")
    page.locator("tr[data-row] a").first.click()
    page.wait_for_selector(".notice")

    assert "ragmetrics show" in page.inner_text(".notice")


def test_the_command_writes_a_report_of_one_run_or_two(telecom, changed, tmp_path):
    out = tmp_path / "folder" / "report.html"
    done = CliRunner().invoke(app, ["report", str(telecom.path), str(changed.path), "-o", str(out)])

    assert done.exit_code == 0
    assert [run["name"] for run in data_of(out)["overview"]["runs"]] == ["telecom", "changed"]


def test_a_run_in_a_notebook_is_its_table_of_means(telecom, troubled):
    shown = troubled._repr_html_()

    assert f"<td>{telecom.mean('faithfulness').value:.3f}</td>" in telecom._repr_html_()
    assert "1 of 5" in shown
    assert "1 incomplete" in shown
    assert "<script" not in shown


def test_names_of_the_data_are_text_in_a_notebook(troubled, tmp_path):
    manifest = json.loads((troubled.path / "manifest.json").read_text(encoding="utf-8"))
    manifest["judge"] = "<img src=x onerror=alert(1)>"
    manifest["metrics"][0]["signature"] = "</table><script>alert(1)</script>"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    shown = Run.load(tmp_path)._repr_html_()

    assert "<img" not in shown
    assert "<script" not in shown
    assert "&lt;img src=x" in shown


def test_texts_keep_their_length_and_show_what_would_be_hidden():
    text = "a\x00b\u202ec\u2028d\x7fe\tf\ng\ud800"

    assert len(visible(text)) == len(text)
    assert visible(text) == "a␀b\N{REPLACEMENT CHARACTER}c d␡e f\ng\N{REPLACEMENT CHARACTER}"
    assert (
        visible("a\u200f\u200e\U000e0041b")
        == "a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}b"
    )
    assert visible("नमस्ते\u200d می\u200cخواهم") == "नमस्ते\u200d می\u200cخواهم"
    assert cut("abcdef", 4) == ("abcd", 2)
    assert one_line("a\n b  c") == "a b c"


@pytest.mark.parametrize(
    ("text", "statement", "place"),
    [
        ("Einstein was born in Ulm. He played.", "Einstein was born in Ulm.", (0, 25, True)),
        ("He was born. He played the violin.", "Einstein played the violin.", (13, 34, False)),
        ("東京は日本の首都です。人口は多い。", "日本の首都は東京です。", (0, 11, False)),
        ("Einstein was born in Ulm.", "Bananas grow in hot places.", None),
        ("Einstein was born in Ulm.", "", None),
    ],
)
def test_a_statement_is_found_letter_for_letter_or_by_the_words_of_a_sentence(text, statement, place):
    assert Sought(text).find(statement) == place
