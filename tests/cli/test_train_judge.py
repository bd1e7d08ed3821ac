"""`ragmetrics train-judge`, and runs by the judge that it writes."""

import json
from pathlib import Path

import pytest

from ragmetrics_core import as_judge, evaluate
from ragmetrics_core.probe import train_judge
from tests.labelled_claims import house_style

TEXT = "The tower is 96 metres high and has 412 steps."


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trained") / "house.json"
    train_judge(house_style(120), name="house").write(path)
    return path


def test_the_command_prints_the_card_and_writes_the_file(command, tmp_path: Path):
    data = _jsonl(tmp_path, house_style(120))
    outcome = command("train-judge", data, "--out", tmp_path / "judge.json", columns=120)
    assert outcome.code == 0
    assert "120 claims, 60 of them supported, of 40 sources (by source_id)" in outcome.words
    assert "each claim is judged without its source" in outcome.words
    card = json.loads((tmp_path / "judge.json").read_text("utf-8"))["card"]
    shown = command("train-judge", data, "--format json")
    assert json.loads(shown.out) == card
    assert card["set_digest"]
    by_item = command("train-judge", _jsonl(tmp_path, [_without_source(row) for row in house_style(120)]))
    assert "(by contexts)" in by_item.words
    assert "The judge was not kept" in by_item.words


def test_the_file_of_the_command_ends_in_json(command, tmp_path: Path):
    outcome = command("train-judge", _jsonl(tmp_path, house_style(9)), "--out judge.bin")
    assert outcome.code == 2
    assert "--out takes a file that ends in .json, not 'judge.bin'" in outcome.err


def _without_source(row: dict[str, object]) -> dict[str, object]:
    return {name: cell for name, cell in row.items() if name != "source_id"}


def test_records_by_a_trained_judge_audit_and_are_not_mixed_with_others(
    trained: Path, tmp_path: Path, command
):
    sample = {"id": "s", "question": "How high?", "answer": "The tower has 412 steps.", "contexts": [TEXT]}
    judge, name = f"embedded:{trained}", as_judge(f"embedded:{trained}").identity
    cache = tmp_path / "cache"
    for out, by in (("first", "embedded"), ("second", judge)):
        evaluate([sample], metrics="faithfulness", judge=by, out=tmp_path / out, cache=cache)
    record = evaluate([sample], metrics="faithfulness", judge=judge, out=tmp_path / "second").score(
        "s", "faithfulness"
    )

    assert next(iter(record.generate_steps)).model == name.removeprefix("embedded:")
    assert "+trained-" in name
    assert str(trained) not in name
    assert command("audit", tmp_path / "second").code == 0
    outcome = command("evaluate", _jsonl(tmp_path, [sample]), "--judge", judge, "--out", tmp_path / "first")
    assert outcome.code == 2
    assert name in outcome.err


def _jsonl(folder: Path, rows: list[dict[str, object]]) -> Path:
    path = folder / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path
