"""What is loaded: llama-index-core and nothing else, and no default model."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

ALONE = """
import sys

ELSEWHERE = (
    "openai", "llama_index.llms", "llama_index.embeddings", "langchain", "nest_asyncio", "opentelemetry",
    "cohere", "pandas",
)

class Refused:
    '''As if no other package were installed.'''
    def find_spec(self, name, path=None, target=None):
        if name.startswith(ELSEWHERE):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Refused())

import threading
from tests import warning_rule
warning_rule.apply()
import ragmetrics_llama_index as r
assert threading.active_count() == 1

from llama_index.core.llms.mock import MockLLM
from llama_index.core.settings import Settings

contexts = ["The tower is 300 m high."]
given = dict(query="How high?", response="The tower is 300 m high.", contexts=contexts)
assert r.FaithfulnessEvaluator("embedded").evaluate(**given).score == 1.0
assert r.FaithfulnessEvaluator(MockLLM()).evaluate(**given).invalid_result
assert r.CorrectnessEvaluator("embedded").evaluate(**given, reference=given["response"]).score == 5.0
live = r.instrument("faithfulness", "embedded")
live.close()
for name in r.__all__:
    getattr(r, name)
r.AnswerRelevancyEvaluator(), r.SemanticSimilarityEvaluator()
assert Settings._llm is None and Settings._embed_model is None
print("alone")
"""


def test_it_works_with_llama_index_core_alone_and_makes_no_default_model():
    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("alone", 0), done.stderr
