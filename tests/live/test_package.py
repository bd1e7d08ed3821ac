"""Importing the package costs and starts nothing."""

from tests.live.captures import python

CODE = """
import sys, threading
import ragmetrics_core.live
import ragmetrics_core.live as live
print([name for name in live.__all__ if not hasattr(live, name)], threading.active_count())
print([name for name in ("opentelemetry", "openai", "langchain_core") if name in sys.modules])
live.LiveScorer("faithfulness", judge="embedded")
print(threading.active_count())
"""


def test_importing_loads_no_tracer_and_making_a_scorer_starts_no_thread():
    done = python(CODE)

    assert done.stdout.splitlines() == ["[] 1", "[]", "1"]
