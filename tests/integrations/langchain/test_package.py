"""The adapter needs langchain-core and nothing else, and does nothing when it is imported."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

WITHOUT_LANGCHAIN = """
import sys
sys.modules["langchain"] = None
try:
    from ragmetrics_langchain import RagMetricsMiddleware
except ImportError as error:
    print(error)
"""

# What must not be there is made impossible to import.
ALONE = """
import sys
for name in ("langchain", "langchain_classic", "langchain_community", "langgraph", "openai"):
    sys.modules[name] = None

import socket
def refuse(*args, **kwargs):
    raise AssertionError("no network")
socket.socket.connect = refuse

import threading
from ragmetrics_langchain import RagMetricsCallbackHandler
assert threading.active_count() == 1, threading.enumerate()

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from langchain_core.prompts import ChatPromptTemplate

class One(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(page_content="Tea is green.")]

handler = RagMetricsCallbackHandler("faithfulness", judge="embedded")
assert threading.active_count() == 1, threading.enumerate()
prompt = ChatPromptTemplate.from_template("{context} {question}")
model = FakeListChatModel(responses=["Tea is green."])
chain = {"context": One(), "question": RunnablePassthrough()} | prompt | model
chain.invoke("Which tea?", {"callbacks": [handler]})
handler.flush()
print(handler.means["faithfulness"])
"""


def python(code: str) -> str:
    keys = ("KEY", "TOKEN", "LANGSMITH", "LANGCHAIN")
    environment = {name: value for name, value in os.environ.items() if not any(k in name for k in keys)}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "integrations")])
    done = subprocess.run(
        [sys.executable, "-c", f"from tests import warning_rule; warning_rule.apply()\n{code}"],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout.strip()


def test_it_works_with_langchain_core_alone_without_a_key():
    assert python(ALONE) == "LiveMean(mean=1.0, n=1)"


def test_the_core_knows_nothing_of_it():
    listed = "[name for name in sys.modules if name.startswith(('lang', 'ragmetrics_lang'))]"
    assert python(f"import sys, ragmetrics_core.live; print({listed})") == "[]"


def test_without_the_package_langchain_the_middleware_says_what_to_install():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LANGCHAIN],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")])},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "RagMetricsMiddleware needs the package langchain, which is not installed: pip install langchain\n"
    )
