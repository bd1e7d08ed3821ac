"""Somebody has answered the first wave of the batch."""

import json
from pathlib import Path

from benchmarks.replies import judge_reply
from tests.docs.commands import Command, carry_out


def given():
    export = "ragmetrics batch export data.jsonl --judge openai:gpt-4.1-mini --out runs/apart"
    carry_out(Command(f"{export} --requests apart.jsonl", ""))
    requests = [json.loads(line) for line in Path("apart.jsonl").read_text().splitlines()]
    replies = [
        {
            "custom_id": request["custom_id"],
            "reply": judge_reply("\n".join(message["content"] for message in request["body"]["messages"])),
        }
        for request in requests
    ]
    Path("replies.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    return {}


def then(names, page):
    assert "replies imported" in page.printed
