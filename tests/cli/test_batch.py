"""`ragmetrics batch`: a run whose judge answers by file, wave by wave."""

import json

import pytest

from ragmetrics_core import Run

STATEMENTS = {"statements": ["He was born in Ulm."], "declined": False}
VERDICTS = {"verdicts": [{"number": 1, "verdict": "yes"}]}
ROWS = [
    {
        "id": f"q{n}",
        "question": "Where was he born?",
        "answer": f"In Ulm, {chr(97 + n)}.",
        "contexts": [f"Ulm {n}."],
    }
    for n in range(2)
]


class Exchange:
    """The two commands, and somebody who answers in between."""

    def __init__(self, command, folder) -> None:
        self.command = command
        self.data = folder / "data.jsonl"
        self.data.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        self.out = folder / "run"
        self.wave = folder / "wave.jsonl"
        self.replies = folder / "replies.jsonl"

    def export(self, *options):
        named = ("--judge", "openai:small", "--metrics", "faithfulness")
        return self.command(
            "batch", "export", self.data, "--out", self.out, "--requests", self.wave, *named, *options
        )

    def requests(self):
        return [json.loads(line) for line in self.wave.read_text().splitlines()]

    def answered(self):
        """A reply to each request, in the form of a batch interface."""
        for request in self.requests():
            reply = VERDICTS if "verdict" in request["body"]["messages"][-1]["content"] else STATEMENTS
            message = {"role": "assistant", "content": json.dumps(reply)}
            body = {"model": "small", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
            yield {"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}}

    def take(self, lines):
        self.replies.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return self.command("batch", "import", self.out, self.replies)


@pytest.fixture
def exchange(command, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")  # nobody listens there
    return Exchange(command, tmp_path)


def test_wave_after_wave_the_run_becomes_complete_and_is_audited_like_any_other(exchange, command):
    first = exchange.export()
    assert (first.code, len(exchange.requests())) == (0, 2)
    assert f"2 requests are in {exchange.wave}. Send it to the batch interface, then run:" in first.words
    assert f"ragmetrics batch import {exchange.out} REPLIES and this command again" in first.words

    taken = exchange.take(exchange.answered())
    assert taken.code == 0
    assert taken.out == "2 replies imported\nno request is open: run the export command again\n"

    assert "2 requests are in" in exchange.export().words
    exchange.take(exchange.answered())
    last = exchange.export()
    assert last.code == 0
    assert "faithfulness/strict.1 1.000" in last.words
    assert f"ragmetrics show {exchange.out}" in last.words
    assert exchange.wave.read_text() == ""
    run = Run.load(exchange.out)
    assert (run.mean("faithfulness").value, run.finished) == (1.0, True)
    assert command("audit", exchange.out).code == 0


def test_what_failed_is_told_with_its_reason_and_stays_open(exchange):
    exchange.export()
    good, bad = exchange.answered()
    bad["response"] = {"status_code": 500, "body": {"error": {"message": "overloaded"}}}
    outcome = exchange.take([good, bad])
    assert outcome.code == 0
    assert outcome.out.splitlines() == [
        "1 reply imported",
        f"1 request failed and stays open: {exchange.replies}, line 2: overloaded (500)",
        "1 request is still open",
    ]


def test_replies_that_are_all_to_something_else_or_were_taken_exit_with_1(exchange):
    exchange.export()
    outcome = exchange.take([{"custom_id": "0" * 32, "reply": "x"}])
    assert outcome.code == 1
    assert outcome.out.splitlines() == [
        "0 replies imported",
        "1 reply is not for an open request of this run (for another run, or already imported)",
        "2 requests are still open",
    ]
    replies = list(exchange.answered())
    assert (exchange.take(replies).code, exchange.take(replies).code) == (0, 1)


def test_votes_and_a_panel_are_asked_by_file_too(exchange):
    exchange.export("--judge", "openai:large", "--repeats", 3)
    exchange.take(exchange.answered())
    exchange.export("--judge", "openai:large", "--repeats", 3)
    models = [request["body"]["model"] for request in exchange.requests()]
    # of each of two samples three votes of each of two judges
    assert (models.count("small"), models.count("large")) == (6, 6)


def test_a_shared_journal_answers_what_another_run_has_asked(exchange, tmp_path):
    cache = tmp_path / "cache.sqlite"
    exchange.export("--cache", cache)
    exchange.replies.write_text("".join(json.dumps(line) + "\n" for line in exchange.answered()))
    outcome = exchange.command("batch", "import", exchange.out, exchange.replies, "--cache", cache)
    assert "2 replies imported" in outcome.words
    exchange.out = tmp_path / "other"
    exchange.export("--cache", cache)
    assert all("verdict" in each["body"]["messages"][-1]["content"] for each in exchange.requests())


def test_without_an_open_wave_importing_exits_with_2(exchange, command, tmp_path):
    outcome = exchange.take([])
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"ragmetrics: {exchange.out} has no open wave: ragmetrics batch export writes one\n"
    )


def test_a_file_that_is_no_json_exits_with_2_and_names_the_line(exchange):
    exchange.export()
    exchange.replies.write_text("{}{\n")
    outcome = exchange.command("batch", "import", exchange.out, exchange.replies)
    assert outcome.code == 2
    assert f"{exchange.replies}, line 1 is not JSON" in outcome.err


def test_another_run_in_the_folder_exits_with_2(exchange, command):
    exchange.export()
    assert "holds another run" in exchange.export("--repeats", 3).err


@pytest.mark.parametrize("missing", ["--out", "--requests"])
def test_both_files_must_be_named(command, tmp_path, missing):
    given = {"--out": tmp_path / "run", "--requests": tmp_path / "wave.jsonl"}
    del given[missing]
    outcome = command(
        "batch export", tmp_path / "data.jsonl", *(part for each in given.items() for part in each)
    )
    assert outcome.code == 2
    assert missing in outcome.err
