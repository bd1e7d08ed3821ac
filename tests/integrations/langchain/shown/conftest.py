"""Trials for the tests."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest

pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")


@pytest.fixture
def start() -> Iterator[Any]:
    """Starts a trial: the model's replies by what stands in the request, and the handler's options."""
    from tests.integrations.langchain.shown.trial import trial

    with ExitStack() as stack:

        def begin(replies: Mapping[str, Any] | None = None, **options: Any) -> Any:
            return stack.enter_context(trial(replies or {}, **options))

        yield begin
