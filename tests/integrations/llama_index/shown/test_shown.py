"""docs/capture.md: each line of LlamaIndex's table, tried on an application with a model behind HTTP."""

from typing import Any

import pytest
from llama_index.core import Settings

from ragmetrics_core import Sample
from tests.integrations.body_keeping import BodyKeeper
from tests.integrations.capture_page import rows
from tests.integrations.llama_index.scored import settled
from tests.integrations.llama_index.shown.agents import AGENTS
from tests.integrations.llama_index.shown.applications import Application
from tests.integrations.llama_index.shown.chat_engines import CHAT_ENGINES
from tests.integrations.llama_index.shown.query_engines import QUERY_ENGINES
from tests.integrations.llama_index.shown.served import CORPUS, ServedLLM, replying

ROWS = rows("LlamaIndex")
APPLICATIONS = {**QUERY_ENGINES, **CHAT_ENGINES, **AGENTS}


def words(text: str) -> str:
    return " ".join(text.split())


def stands_in(sent: str, text: str, requests: int) -> bool:
    """Whether a text was sent; a long one in several requests, which cut it between two words each."""
    parts = text.split()
    triples = list(zip(parts, parts[1:], parts[2:], strict=False))
    if len(triples) < 100:
        return text in sent
    return sum(" ".join(triple) not in sent for triple in triples) <= 2 * (requests - 1)


@pytest.mark.parametrize("name", ROWS)
def test_the_contexts_are_what_stood_in_the_request_that_was_answered(live: Any, monkeypatch: Any, name: str):
    entry = APPLICATIONS[name]
    with BodyKeeper(replying(*entry.replies)) as server:
        llm = ServedLLM(url=f"{server.base_url}/chat/completions")
        monkeypatch.setattr(Settings, "_llm", llm)
        application = entry.make(llm)
        hooks = live(**application.options)
        application.ask()
        assert settled(hooks)
    assert (hooks.stats.errors, hooks.open_spans) == ([], 0)
    if (reason := ROWS[name].skipped) is not None:
        assert (hooks.stats.skipped, hooks.results) == ({reason: 1}, [])
        return
    (result,) = hooks.results

    assert_holds(result.sample, application)
    labels = {rule: found for rule, found in result.sample.labels.items() if rule.startswith("found_")}
    labels.pop("found_standalone", None)
    assert {"found_contexts": "none"} | labels == {"found_contexts": "none"} | ROWS[name].labels

    # nothing is recorded that was not sent, and nothing of the corpus was sent that is not recorded
    if result.sample.contexts is None:
        return  # nobody can know
    sent = words(" ".join(each.text for each in server.exchanges if each.reply in entry.written))
    recorded = [words(text) for text in result.sample.contexts]
    if "unseen" not in result.sample.shown:
        assert [text for text in recorded if not stands_in(sent, text, len(server.exchanges))] == []
    assert [text for text in CORPUS if text in sent and not any(text in each for each in recorded)] == []


def assert_holds(sample: Sample, application: Application) -> None:
    assert (sample.question, words(sample.answer or "")) == (application.question, words(application.answer))
    assert set(sample.shown) <= {application.shown}
    assert sample.contexts == application.contexts
    if application.unaccounted is not None:
        assert sample.shown_stage is not None
        pieces = sample.shown_stage.unaccounted or ()
        assert [words(piece.text).strip(".") for piece in pieces] == [
            text.strip(".") for text in application.unaccounted
        ]


def test_every_application_is_on_the_page():
    assert list(ROWS) == list(APPLICATIONS)
