"""`probe --on --metrics` measures settings, and `--cards` lets a run take the one that suits its judge."""

import json
import re
from pathlib import Path

import pytest

from tests.servers import Answer, OpenAIServer, Seen, chat

pytest.importorskip("scipy", reason="intervals need the extra study")

TRUE, FALSE = "The mill was built in 1753.", "Pirates burned Rome."
WAYS = "faithfulness,faithfulness(verify=verdicts.v4)"
AWAY = "openai:tiny@http://127.0.0.1:9/v1"
SHORT = "faithfulness/strict.1(verify=verdicts.v4@2bfb1b8f)"


def reply(seen: Seen) -> Answer:
    """A judge that says yes in JSON to everything, and in lines the truth."""
    text = seen.body["messages"][-1]["content"]
    if "Split the answer" in text:
        answer = re.search(r"<answer>\n\[sentence 1\] (.*)\n</answer>", text)
        return chat(json.dumps({"statements": [answer and answer[1]], "declined": False}))
    if "Reply with one line" in text:
        return chat("1 yes" if f"1. {TRUE}" in text else "1 no")
    return chat('{"verdicts": [{"number": 1, "reason": "", "evidence": "", "verdict": "yes"}]}')


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def written(path: Path, n: int, **label: object) -> Path:
    rows = [
        {
            "id": f"a{k}",
            "question": "When?",
            "contexts": [f"{k // 2} {TRUE}"],
            "answer": FALSE if k % 2 else TRUE,
        }
        | dict.fromkeys(label, k % 2)
        for k in range(n)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def cards(command, tmp_path: Path) -> Path:
    """The folder of cards of the model "tiny", measured in two ways on twelve sources."""
    labelled = written(tmp_path / "labelled.jsonl", 24, hallucinated=True)
    with OpenAIServer(reply) as server:
        judge = f"openai:tiny@{server.base_url}"
        outcome = command(
            "probe --judge", judge, "--on", labelled, "--metrics", WAYS, "--out", tmp_path / "cards"
        )
    assert outcome.code == 0
    assert "strict.1(verify=" in outcome.words
    assert "0.500 (0.500, 0.500)" in outcome.words
    return tmp_path / "cards"


def test_a_run_takes_the_setting_that_suits_its_judge_and_its_record_says_so(command, cards, tmp_path):
    data = written(tmp_path / "data.jsonl", 4)
    run = tmp_path / "run"
    with OpenAIServer(reply) as server:
        given = ("evaluate", data, "--metrics", "faithfulness", "--judge", f"openai:tiny@{server.base_url}")
        first = command(*given, "--cards", cards, "--out", run, columns=200)
        calls = len(server.seen)
        again = command(*given, "--cards", cards / "people.json", "--out", run)
        without = command(*given, "--out", run)
        assert len(server.seen) == calls
    assert first.code == again.code == 0
    gained = "which gains area +0.50 (+0.50, +0.50) on labelled, 24 items"
    assert f"cards: faithfulness is measured as {SHORT}, {gained}" in first.err
    assert "measured as openai:http://127.0.0.1:" in first.err
    # two of four answers are supported
    assert "0.500" in first.words
    manifest = json.loads((run / "manifest.json").read_text())
    assert [entry["signature"] for entry in manifest["metrics"]] == [SHORT]
    assert without.code == 2
    assert "holds another run: it does not measure faithfulness/strict.1" in without.err


def test_a_plan_is_of_what_would_be_asked_and_each_remark_is_one_line_whatever_the_cards_hold(
    command, cards, tmp_path
):
    words = ("plan", written(tmp_path / "data.jsonl", 4), "--metrics faithfulness --judge", AWAY)
    without = command(*words)
    path = cards / "people.json"
    path.write_text(path.read_text().replace('"set_name": "labelled"', '"set_name": "a\\n\\u001b[31mb"'))
    outcome = command(*words, "--cards", cards, "--json")
    assert (without.err, "faithfulness/strict.1 " in without.out) == ("", True)
    assert (outcome.code, SHORT in outcome.out) == (0, True)
    assert f"cards: faithfulness is measured as {SHORT}" in outcome.err
    assert outcome.err.count("\n") == 1
    assert "\x1b" not in outcome.err


def test_another_model_is_told_in_one_line_and_nothing_is_changed(command, cards, tmp_path):
    data = written(tmp_path / "data.jsonl", 4)
    outcome = command("evaluate", data, "--judge embedded --metrics faithfulness --cards", cards)
    assert outcome.code == 0
    (line,) = [each for each in outcome.err.splitlines() if each.startswith("cards:")]
    assert "speaks of embedded:support.5" in line
    assert "every metric stays as it is" in line


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--cards chooses settings of the named metrics: add --metrics recommended"),
        (
            ["--metrics", "faithfulness", "--judge", "openai:tiny@http://127.0.0.1:9/v1"],
            "--cards needs exactly one --judge",
        ),
        (["--metrics", "faithfulness", "--prompts", "."], "--cards and --prompts cannot be combined"),
    ],
)
def test_what_cannot_stand_beside_cards_is_one_sentence(command, cards, tmp_path, options, said):
    data = written(tmp_path / "data.jsonl", 4)
    outcome = command("evaluate", data, "--judge embedded --cards", cards, *options)
    assert outcome.code == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_cards_as_json_are_as_their_file_has_them(command, tmp_path):
    labelled = written(tmp_path / "labelled.jsonl", 8, hallucinated=True)
    given = ("probe", "--judge", "embedded", "--on", labelled, "--out", tmp_path / "card", "--format", "json")
    outcome = command(*given, "--metrics faithfulness,faithfulness(granularity=sentence)")
    assert outcome.out == (tmp_path / "card" / "people.json").read_text(encoding="utf-8")
    assert [card["metric"] for card in outcome.json] == [
        "faithfulness/strict.1",
        "faithfulness/strict.1(granularity=sentence)",
    ]


def test_open_requests_are_those_of_the_chosen_settings(command, cards, tmp_path):
    data, requests = written(tmp_path / "data.jsonl", 4), tmp_path / "requests.jsonl"
    outcome = command(
        "batch export",
        data,
        "--judge openai:tiny@http://127.0.0.1:9/v1 --out",
        tmp_path / "run",
        "--requests",
        requests,
        "--metrics faithfulness --cards",
        cards,
    )
    assert outcome.code == 0
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert [entry["signature"] for entry in manifest["metrics"]] == [SHORT]
