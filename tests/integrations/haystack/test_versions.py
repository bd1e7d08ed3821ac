"""The adapter works with every version of Haystack that the extra allows.

Other versions than the installed one are looked for in the folder that RAGMETRICS_HAYSTACK_VERSIONS names:
one unpacked wheel in each folder inside.
"""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDER = os.environ.get("RAGMETRICS_HAYSTACK_VERSIONS")
VERSIONS = sorted(Path(FOLDER).iterdir()) if FOLDER else []

CODE = """
import asyncio, haystack
from haystack import Pipeline
from haystack.components.agents import Agent
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage
from haystack_integrations.components.evaluators.ragmetrics import (
    RagMetricsAgentHook, RagMetricsConnector, RagMetricsEvaluator, RagMetricsLiveEvaluator,
)
from tests.integrations.haystack.generators import question_data, rag_pipeline

question = "What is the capital of France?"
data = question_data(question, with_answers=True)
pipeline = rag_pipeline(MockChatGenerator(responses="Paris is the capital of France."), with_answers=True)
pipeline.add_component("live", RagMetricsLiveEvaluator(chat_generator="embedded", mode="inline"))
pipeline.add_component("scores", RagMetricsConnector(chat_generator="embedded"))
pipeline.connect("answer_builder.answers", "live.answers")
again = Pipeline.loads(pipeline.dumps())
assert again.to_dict()["components"] == pipeline.to_dict()["components"]
for result in (pipeline.run(data), asyncio.run(pipeline.run_async(data))):
    assert set(result) == {"live"}
    assert result["live"]["scores"] == {"faithfulness": 1.0}
connector = pipeline.get_component("scores")
assert connector.flush()
assert [each.scores for each in connector.scorer.results] == [{"faithfulness": 1.0}] * 2
hook = RagMetricsAgentHook(chat_generator="embedded")
agent = Agent(chat_generator=MockChatGenerator(responses="Paris."), hooks={"after_run": [hook]})
agent.run([ChatMessage.from_user(question)])
assert hook.flush() and len(hook.scorer.results) == 1
found = RagMetricsEvaluator("faithfulness", chat_generator="embedded", progress_bar=False).run(
    questions=[question], contexts=[["Paris is the capital."]], predicted_answers=["Paris is the capital."]
)
assert found["score"] == 1.0
print(haystack.__file__)
"""


def works_with(*path: Path) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT, ROOT / "integrations"))),
        "HAYSTACK_TELEMETRY_ENABLED": "False",
    }
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_works_with_the_installed_version_in_a_process_of_its_own():
    assert tuple(map(int, version("haystack-ai").split(".")[:2])) >= (3, 0)
    assert works_with()


@pytest.mark.skipif(not VERSIONS, reason="set RAGMETRICS_HAYSTACK_VERSIONS to a folder of unpacked wheels")
@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_it_works_with_other_versions(folder: Path):
    assert str(folder) in works_with(folder)
