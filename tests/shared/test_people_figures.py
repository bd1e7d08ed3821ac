"""The commands of docs/study.md over two published sets, and the figures that they print there."""

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")
pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")
pytest.importorskip("wordllama", reason="needs the extra embedded: pip install 'ragmetrics-core[embedded]'")

from scipy import stats

from ragmetrics_core import Run
from ragmetrics_core.study import read_scores

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def page():
    text = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    _, _, section = text.partition("## Two published sets")
    return section.partition("\n## ")[0]


@pytest.fixture(scope="module")
def done(page, shared_data, tmp_path_factory):
    """What each command of the page printed, those of the study as JSON."""
    folder = tmp_path_factory.mktemp("sets")
    for name in ("ragchecker_pairs", "mtrag_human"):
        (folder / f"{name}.jsonl").symlink_to(shared_data(f"{name}/{name}.jsonl"))
    printed = {}
    for line in re.findall(r"^\$ (.*)$", page, re.MULTILINE):
        program, *words = shlex.split(line)
        if program == "python":
            run = [sys.executable, str(ROOT / words[0]), *words[1:]]
        else:
            run = [sys.executable, "-m", "ragmetrics_core.cli", *words]
        if words[0] == "study":
            run += ["--format", "json"]
        finished = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
        assert finished.returncode == 0, f"{line}\n{finished.stderr}"
        if words[0] == "study":
            printed[line] = {table["name"]: table for table in json.loads(finished.stdout)}
        if words[0].endswith("ceiling.py"):
            printed[line] = dict(each.split(": ") for each in finished.stdout.splitlines())
    return folder, printed


def tables(done, ends):
    """What the command whose line ends so printed, by table."""
    (found,) = (printed for line, printed in done[1].items() if line.endswith(ends))
    return found


def on_page(page, words):
    """The first number of the row of the page's table that has these words."""
    (row,) = (line for line in page.splitlines() if line.startswith("|") and words in line)
    return float(re.findall(r"(?<=\| )-?\d[\d.]*", row)[-1])


def rows_of(table, **wanted):
    (found,) = (row for row in table["rows"] if wanted.items() <= row.items())
    return found


def test_people_agree_with_each_other_on_ragcheckers_pairs_as_the_page_says(done, page, shared_data):
    rows = map(json.loads, shared_data("ragchecker_pairs/ragchecker_pairs.jsonl").read_text().splitlines())
    said = [row["preference_overall"] for row in rows]
    found = float(tables(done, "ceiling.py data/preferences.csv")["person 1"].partition(" ")[0])
    assert found == pytest.approx(stats.spearmanr(*zip(*said, strict=True)).statistic, abs=0.0005)
    assert found == on_page(page, "the two people")
    assert sum(one != other for one, other in said) == on_page(page, "do not say the same")


def test_differences_of_scores_go_with_preferences_as_scipy_says(done, page):
    folder, _ = done
    scores = [scores_of(folder / "runs" / name) for name in "ab"]
    said = labels_of(folder / "data" / "preferences.csv")
    ids = [each for each in said if all(each in of for of in scores)]
    differences = [round(scores[1][each] - scores[0][each], 12) for each in ids]
    expected = stats.spearmanr(differences, [mean(said[each]) for each in ids]).statistic
    found = rows_of(tables(done, "runs/b data/preferences.csv")["preferences"], metric="factual_correctness")
    assert found["spearman"] == pytest.approx(expected)
    assert found["spearman"] == pytest.approx(on_page(page, "mean preference"), abs=0.0005)


def test_raters_agree_with_each_other_on_mtrag_as_the_page_says(done, page):
    said = labels_of(done[0] / "data" / "mtrag_labels.csv")
    own, others = [], []
    for values in said.values():
        for place, value in enumerate(values):
            if rest := values[:place] + values[place + 1 :]:
                own.append(value)
                others.append(mean(rest))
    ceiling = tables(done, "mtrag_labels.csv runs/mtrag")
    found = float(ceiling["people, each against the others"].partition(" ")[0])
    assert found == pytest.approx(stats.spearmanr(own, others).statistic, abs=0.0005)
    assert found == on_page(page, "each person against the others")
    judge = next(figure for name, figure in ceiling.items() if name.startswith("faithfulness"))
    assert float(judge.partition(" ")[0]) == on_page(page, "against the same people")


def test_a_majority_of_exact_values_flatters_the_judge_on_mtrag(done, page):
    by_mean, by_majority = (
        tables(done, f"--correct-from 4{more}")["detection"]["rows"][0]
        for more in ("", " --consensus majority")
    )
    assert by_mean["area"] == pytest.approx(on_page(page, "by the mean rating"), abs=0.0005)
    assert by_majority["area"] == pytest.approx(on_page(page, "a majority gives"), abs=0.0005)
    assert by_majority["area"] > by_mean["area"]


def test_the_systems_of_mtrag_are_ranked(done):
    found = tables(done, "--question task --labels data/mtrag_labels.csv")
    assert {row["n"] for row in found["systems"]["rows"]} == {54}
    assert found["ranking"]["rows"][0]["note"] == "3 systems are too few for an interval: it needs 6"


def scores_of(run):
    (column,) = read_scores(Run.load(run)).values.values()
    return column


def labels_of(path):
    found = defaultdict(list)
    for row in csv.DictReader(io.StringIO(path.read_text())):
        found[row["sample_id"]].append(float(row["value"]))
    return found


def mean(values):
    return sum(values) / len(values)
