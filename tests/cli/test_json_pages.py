"""What commands print with `--json`: a shape each that stays, and nothing else."""

import json
import math
from pathlib import Path

import pytest
from packaging.version import Version
from pydantic import VERSION

from ragmetrics_core import Run, evaluate
from ragmetrics_core.metrics import METRICS
from ragmetrics_core.report import json_pages

GOLDEN = Path(__file__).with_name("json_pages.json")
PAGES = ["AuditPage", "CataloguePage", "EvaluationPage", "PlanPage", "RunsPage"]


def numbers(content):
    """All numbers in a page."""
    match content:
        case dict():
            for each in content.values():
                yield from numbers(each)
        case list():
            for each in content:
                yield from numbers(each)
        case bool():
            pass
        case int() | float():
            yield content


def shape(schema):
    """A schema without its prose."""
    match schema:
        case dict():
            return {
                name: shape(each)
                for name, each in schema.items()
                if name not in ("title", "description") or isinstance(each, dict)
            }
        case list():
            return [shape(each) for each in schema]
        case _:
            return schema


def parsed(outcome, page):
    """What was printed, which must be this page and nothing else."""
    content = outcome.json
    assert outcome.out == json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    assert all(map(math.isfinite, numbers(content)))
    getattr(json_pages, page).model_validate(content)
    return content


@pytest.mark.skipif(Version(VERSION) < Version("2.10"), reason="older schemas leave out keys")
def test_the_shapes_are_the_ones_that_other_programs_know():
    # a change here breaks programs: fields may be added, and the file with them; nothing else
    shapes = {name: shape(getattr(json_pages, name).model_json_schema()) for name in PAGES}
    assert json.loads(GOLDEN.read_text(encoding="utf-8")) == shapes


def test_an_evaluation_as_json(command, data, tmp_path):
    run = tmp_path / "run"
    outcome = command("evaluate --judge embedded --json", data, "--metrics faithfulness --out", run)
    page = parsed(outcome, "EvaluationPage")
    assert (outcome.code, outcome.err) == (0, "")
    assert (page["run"], page["samples"], page["gate"]) == (str(run), 3, None)
    assert [mean["metric"] for mean in page["metrics"]] == ["faithfulness/strict.1"]
    assert page["left_out"][0]["where"] == "line 2"


def test_an_evaluation_without_any_score_is_null_and_not_a_number(command, tmp_path):
    (tmp_path / "data.jsonl").write_text('{"question": "Who?", "answer": "He."}\n')
    outcome = command("evaluate --judge embedded", tmp_path / "data.jsonl", "--metrics faithfulness --json")
    (mean,) = parsed(outcome, "EvaluationPage")["metrics"]
    assert outcome.code == 1
    assert (mean["value"], mean["sd"], mean["worst"], mean["statuses"]) == (None, None, None, {"skipped": 1})


def test_mistakes_are_sentences_on_standard_error_and_no_json(command, data, tmp_path):
    for words in (
        ("evaluate", data, "--metrics", "no_such_metric"),
        ("evaluate", tmp_path / "none.jsonl", "--judge", "embedded"),
        ("evaluate", data, "--judge", "embedded", "--metrics", "faithfulness", "--min", "faithful=0.5"),
        ("plan", data, "--metrics", "no_such_metric"),
        ("runs", tmp_path / "none"),
        ("metrics", "no_such_metric"),
        ("audit", tmp_path / "none"),
    ):
        outcome = command(*words, "--json")
        assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1), words
        assert outcome.err.startswith("ragmetrics: ")


def test_progress_is_not_among_the_json(command, data, monkeypatch):
    # a line of progress after every sample
    monkeypatch.setattr("ragmetrics_core.cli._progress.EVERY", -1.0)
    outcome = command("evaluate --judge embedded", data, "--metrics faithfulness --json")
    parsed(outcome, "EvaluationPage")
    assert "3 of 4 samples" in outcome.err


def test_a_plan_as_json(command, data, tmp_path):
    (tmp_path / "prices.json").write_text('{"m": {"prompt": 2, "completion": 4}}')
    words = ("--metrics", "faithfulness,rouge", "--judge", "openai:m", "--prices", tmp_path / "prices.json")
    found = parsed(command("plan", data, *words, "--json"), "PlanPage")
    assert [each["metric"] for each in found["metrics"]] == ["faithfulness/strict.1", "rouge/strict.1"]
    total = found["total"]
    # two calls each, but for the answer that declines: it makes no statement that a verdict could be asked of
    assert total["calls"] == sum(each["calls"] for each in found["metrics"]) == 5
    cost = (2 * total["prompt_tokens"] + 4 * total["completion_tokens"]) / 1e6
    assert (found["samples"], found["left_out"], total["cost"]) == (3, 1, pytest.approx(cost))


def test_runs_as_json(command, folder, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text("{")
    broken, run = parsed(command("runs", tmp_path, "--json"), "RunsPage")["runs"]
    assert (broken["state"], broken["metrics"], broken["started"]) == ("unreadable", [], None)
    assert broken["means"] == {}
    assert run["means"] == {mean.metric: mean.value for mean in Run.load(folder).means()}
    assert "manifest" in broken["problem"]
    assert (run["path"], run["state"], run["samples"]) == (str(folder), "finished", 6)
    assert (run["judge"], run["started"][-6:]) == ("scripted", "+00:00")
    (tmp_path / "none").mkdir()
    assert parsed(command("runs", tmp_path / "none", "--json"), "RunsPage") == {"runs": []}


def test_the_catalogue_as_json(command):
    found = parsed(command("metrics --json"), "CataloguePage")["metrics"]
    assert [each["name"] for each in found] == list(METRICS)
    (one,) = parsed(command("metrics FaiFul --json"), "CataloguePage")["metrics"]
    assert one == next(each for each in found if each["name"] == "faithfulness")
    assert (one["inputs"], one["low"], one["high"]) == (["question", "answer", "contexts"], 0.0, 1.0)


def test_an_audit_as_json(command, folder):
    page = parsed(command("audit", folder, "--json"), "AuditPage")
    whole = {"passed": True, "records": 18, "finished": True, "still_written": False}
    shown = {"shown": {}, "contradicted": {}, "words": 0, "accounted": 0, "unaccounted": []}
    assert page == {**whole, "differences": [], **shown}
    file = folder / "records.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:5]))
    outcome = command("audit", folder, "--json")
    (difference,) = parsed(outcome, "AuditPage")["differences"]
    assert outcome.code == 1
    assert (difference["sample"], difference["file"]) == (None, "records.jsonl")


def test_a_name_that_no_file_system_spells_right_is_an_escape(command, tmp_path):
    # a byte that is no UTF-8 in the folder's name, and one that would colour the terminal
    folder = tmp_path / "run\udcff\x1b[31m"
    try:
        folder.mkdir()
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system takes no such name")
    row = {"question": "?", "answer": "A.", "contexts": ["A."]}
    evaluate([row], metrics="faithfulness", judge="embedded", out=folder)
    outcome = command("runs", tmp_path, "--json")
    assert "\x1b" not in outcome.out
    assert outcome.json["runs"][0]["path"] == str(folder)
