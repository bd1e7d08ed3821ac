"""`ragmetrics send`: scores at the tool that holds the traces, and back from there to the proof."""

import json
from typing import Any

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")
pytest.importorskip("phoenix.client", reason="needs the extra phoenix")

from typer.testing import CliRunner, Result

from ragmetrics_core.cli._app import app
from tests.feedback.conftest import SCORES, SPANS, MakeRun
from tests.feedback.receivers import Tool
from tests.servers import closed_port


def command(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


def test_the_scores_of_a_run_are_sent_and_their_digests_open_the_proofs(make_run: MakeRun, server: Tool):
    run = make_run()
    done = command("send", run.path, "--to", "phoenix", "--url", server.url, "--threshold", "token_f1=0.5")

    assert done.exit_code == 0
    assert f"{SCORES} scores sent to phoenix" in done.stderr
    sent = server.kept[SPANS[0], "token_f1", "token_f1/strict.1", None]
    assert sent["result"]["label"] == "pass"
    shown = command("show", run.path, "--digest", sent["metadata"]["ragmetrics_digest"], "--json")
    record: dict[str, Any] = json.loads(shown.stdout)
    assert (record["sample_id"], record["signature"]) == ("q0", "token_f1/strict.1")


def test_a_tool_that_is_not_there_ends_with_1_and_says_what_to_do(make_run: MakeRun):
    url = f"http://127.0.0.1:{closed_port()}"
    done = command("send", make_run().path, "--to", "phoenix", "--url", url)

    assert done.exit_code == 1
    assert "0 scores sent to phoenix" in done.stderr
    assert (
        "stopped: phoenix does not take scores (ConnectError); the same command sends the rest" in done.stderr
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--to", "phoenix", "--threshold", "faithfulness"],
            "--threshold takes METRIC=0.8, not 'faithfulness'",
        ),
        (["--to", "phoenix", "--threshold", "bleu=1"], "the run has no metric 'bleu'"),
        (["--to", "phoenix", "--project", "books"], "project is a setting for langsmith, not for phoenix"),
        (["--to", "phoenix", "--corrections"], "corrections is a setting for langfuse, not for phoenix"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_sent(
    make_run: MakeRun,
    server: Tool,
    options: list[str],
    message: str,
):
    done = command("send", make_run().path, "--url", server.url, *options)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not server.requests


def test_a_digest_and_a_sample_cannot_be_combined(make_run: MakeRun):
    done = command("show", make_run().path, "q0", "--digest", "abc")
    assert (done.exit_code, "leave out sample and metric" in done.stderr) == (2, True)
