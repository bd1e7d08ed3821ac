"""An asynchronous function as judge: its client belongs to the loop of the application, and to no other."""

import asyncio
from typing import Any

import pytest

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import Capture, LiveScorer
from tests.live.captures import capture_of


def capture() -> Capture:
    return capture_of("Where?", contexts=["In Ulm."], answer="In Ulm.")


class Client:
    """What an asynchronous HTTP client is: used on another loop than its first one, it fails."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.asked = 0

    async def ask(self, prompt: str) -> str:
        if asyncio.get_running_loop() is not self.loop:
            raise RuntimeError("Event is bound to a different event loop")
        self.asked += 1
        await asyncio.sleep(0)
        if "verdicts" in prompt:
            return '{"verdicts": [{"number": 1, "reason": "so", "evidence": "In Ulm.", "verdict": "yes"}]}'
        return '{"statements": ["In Ulm."], "declined": false}'

    async def __call__(self, prompt: str) -> str:
        return await self.ask(prompt)


@pytest.mark.parametrize("kind", ["method", "object", "function"])
def test_it_is_asked_on_the_loop_where_the_scorer_was_made(kind: str):
    async def application() -> tuple[Client, Any]:
        client = Client()

        async def function(prompt: str) -> str:
            return await client.ask(prompt)

        judge = {"method": client.ask, "object": client, "function": function}[kind]
        async with LiveScorer("faithfulness", judge=judge, attempts=1) as live:
            for _ in range(20):
                live.submit(capture())
            assert await live.aflush(60)
            result = await live.ascore(capture())
            assert result.records[0].value == 1.0
            return client, live.stats

    client, stats = asyncio.run(application())

    assert stats.scored == 21
    assert list(stats.errors) == []
    assert client.asked > 0


def test_who_would_hold_the_loop_up_is_told_or_does_not_wait():
    async def application() -> Any:
        live = LiveScorer("faithfulness", judge=Client().ask, attempts=1)
        with pytest.raises(ConfigError, match="await ascore"):
            live.score(capture())
        live.submit(capture())
        assert not live.flush()
        assert await live.aflush(60)
        live.close()
        return live.stats

    assert asyncio.run(application()).scored == 1


def test_a_loop_that_has_ended_is_told_and_nothing_waits_for_it():
    async def begin() -> LiveScorer:
        return LiveScorer("faithfulness", judge=Client().ask, attempts=1)

    live = asyncio.run(begin())
    live.submit(capture())
    assert live.flush(60)
    live.close(60)

    assert "which has ended" in next(iter(live.stats.errors))


def test_without_a_running_loop_it_is_asked_on_the_scorers_own():
    async def judge(prompt: str) -> str:
        return '{"statements": [], "declined": true, "reason": "it says so"}'

    with LiveScorer("faithfulness", judge=judge, attempts=1) as live:
        assert live.score(capture()).records[0].status == "undefined"
