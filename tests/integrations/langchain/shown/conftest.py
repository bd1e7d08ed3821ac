"""Trials for the tests; what each application gives is on the page, word by word."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from tests.integrations.capture_page import outcomes

pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
OUTCOMES = outcomes("LangChain: what the request held")


@pytest.fixture
def begin() -> Iterator[Any]:
    """Starts a trial: the model's replies by what stands in the request, and the handler's options."""
    from tests.integrations.langchain.shown.trial import Trial, trial

    with ExitStack() as stack:

        def begin(replies: Mapping[str, Any] | None = None, **options: Any) -> Trial:
            return stack.enter_context(trial(replies or {}, **options))

        yield begin


@pytest.fixture
def start(begin: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Likewise, and the outcome is the one on the page."""
    begun: list[Any] = []

    def start(*replies: Any, **options: Any) -> Any:
        begun.append(begin(*replies, **options))
        return begun[-1]

    yield start
    # one of a table, or a test of its own
    name, _, listed = request.node.name.removesuffix("]").partition("[")
    application = listed or name.removeprefix("test_").replace("_", " ")
    assert OUTCOMES.get(application) == begun[-1].outcome(), application
