"""The paper's tables as numbers: complete, and the numbers that the paper prints."""

import csv
import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "examples" / "data"
SHARED = Path(os.environ.get("RAGMETRICS_SHARED") or ROOT.parent / "shared")


def rows(number):
    with (DATA / f"telecom_table{number}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def paper() -> str:
    found = [
        text
        for path in sorted((SHARED / "seeds").glob("*.txt"))
        if "Evaluation of RAG Metrics for Question Answering in the Telecom Domain"
        in (text := path.read_text(encoding="utf-8"))
    ]
    if not found:
        pytest.skip("the telecom paper's text (shared seeds) is not present; set RAGMETRICS_SHARED")
    return found[0]


def printed_pairs(text):
    """Every "mean(s.d.)" of a text; one s.d. is printed without its point."""
    pairs = re.findall(r"(\d\.\d+) ?\((\d\.\d+|039)\)", text)
    return Counter((float(mean), 0.39 if sd == "039" else float(sd)) for mean, sd in pairs)


@pytest.mark.parametrize(("number", "count"), [(1, 24), (2, 84), (3, 96), (4, 18)])
def test_no_figure_is_missing_or_doubled(number, count):
    found = rows(number)
    names = {
        tuple(value for name, value in row.items() if name not in ("mean", "sd", "share", "n"))
        for row in found
    }
    assert len(found) == len(names) == count


def test_every_mean_and_sd_of_tables_2_and_3_is_printed_as_often_in_the_paper(paper):
    ours = Counter((float(row["mean"]), float(row["sd"])) for number in (2, 3) for row in rows(number))
    assert ours == printed_pairs(paper)


def test_every_share_of_table_1_stands_in_the_line_of_its_model(paper):
    short = {"BGE-LARGE": "BGE", "LLM-EMBEDDER": "LLM"}
    for row in rows(1):
        model = row["embedder"] if row["tuning"] == "Base" else f"{short[row['embedder']]}-{row['tuning']}"
        (line,) = (line for line in paper.splitlines() if re.match(rf"{model}\t\d\d\.\d\d\t", line))
        assert f"{100 * float(row['share']):.2f}" in line.split("\t")


def test_the_numbers_of_questions_of_table_2_are_the_papers():
    # every pair of rows adds up to the 715 questions of the test set
    sizes = [int(row["n"]) for row in rows(2) if row["metric"] == "FaiFul"]
    assert [sum(sizes[place : place + 2]) for place in range(0, 14, 2)] == [715] * 7


def test_every_claim_is_about_one_of_the_tables():
    claims = json.loads((DATA / "telecom_claims.json").read_text(encoding="utf-8"))
    assert {claim["table"] for claim in claims} == {f"telecom_table{number}.csv" for number in (1, 2, 3, 4)}
