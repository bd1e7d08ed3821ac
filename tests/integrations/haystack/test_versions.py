"""All components of the adapter in a process of their own, with the Haystack that is installed.

`make compat` runs this and the other tests with the oldest and the newest version that the extra allows.
"""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

CODE = """
import asyncio
from inspect import signature
from haystack.components.agents import Agent
from tests.integrations.haystack.mocks import MockChatGenerator
from haystack.dataclasses import ChatMessage
from haystack_integrations.components.evaluators.ragmetrics import (
    RagMetricsAgentHook, RagMetricsConnector, RagMetricsEvaluator, RagMetricsLiveEvaluator,
)
from tests.integrations.haystack.generators import AsyncPipeline, question_data, rag_pipeline

question = "What is the capital of France?"
data = question_data(question, with_answers=True)
generator = MockChatGenerator(responses="Paris is the capital of France.")
pipeline = rag_pipeline(generator, with_answers=True, kind=AsyncPipeline)
pipeline.add_component("live", RagMetricsLiveEvaluator(chat_generator="embedded", mode="inline"))
pipeline.add_component("scores", RagMetricsConnector(chat_generator="embedded"))
pipeline.connect("answer_builder.answers", "live.answers")
again = AsyncPipeline.loads(pipeline.dumps())
assert again.to_dict()["components"] == pipeline.to_dict()["components"]
for result in (pipeline.run(data), asyncio.run(pipeline.run_async(data))):
    assert set(result) == {"live"}
    assert result["live"]["scores"] == {"faithfulness": 1.0}
connector = pipeline.get_component("scores")
assert connector.flush()
assert [each.scores for each in connector.live.results] == [{"faithfulness": 1.0}] * 2
hook = RagMetricsAgentHook(chat_generator="embedded")
if "hooks" in signature(Agent).parameters:
    agent = Agent(chat_generator=MockChatGenerator(responses="Paris."), hooks={"after_run": [hook]})
    agent.run([ChatMessage.from_user(question)])
    assert hook.flush() and len(hook.live.results) == 1
found = RagMetricsEvaluator("faithfulness", chat_generator="embedded", progress_bar=False).run(
    questions=[question], contexts=[["Paris is the capital."]], predicted_answers=["Paris is the capital."]
)
assert found["score"] == 1.0
"""


# Haystack's OpenAI classes need packages that an older Haystack does not bring.
EMBEDDED = """
import sys
from haystack_integrations.components.evaluators.ragmetrics import FaithfulnessEvaluator
FaithfulnessEvaluator(chat_generator="embedded", progress_bar=False).run(
    questions=["Where?"], contexts=[["It is in Paris."]], predicted_answers=["It is in Paris."]
)
loaded = [name for name in sys.modules if name.startswith("haystack.components.generators.chat.")]
assert all(name.startswith("haystack.components.generators.chat.types") for name in loaded), loaded
"""


@pytest.mark.integration
@pytest.mark.parametrize("code", [CODE, EMBEDDED], ids=["every component works", "embedded loads no chat generator"])
def test_in_a_process_of_its_own(code: str):
    assert tuple(map(int, version("haystack-ai").split(".")[:2])) >= (2, 20)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "integrations"))),
        "HAYSTACK_TELEMETRY_ENABLED": "False",
    }
    done = subprocess.run(  # noqa: S603  (our own interpreter)
        [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
