"""Captures and judges that the tests of live scoring share."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from ragmetrics_core import Sample
from ragmetrics_core.live import Capture
from ragmetrics_core.protocol import Generate
from ragmetrics_core.testing import ScriptedJudge
from tests.live.suite import ROOT

NOTHING = '{"statements": [], "declined": true}'
ANSWER = "The SMF selects the UPF."


def sample_of(capture: Capture) -> Sample:
    return Sample(question=capture.question, contexts=tuple(capture.contexts), answer=capture.answer)


def capture_of(question: str = "Who selects the UPF?", **fields: Any) -> Capture:
    """A capture whose answer is what its one context says."""
    known = {"translate": sample_of, "question": question, "contexts": [ANSWER], "answer": ANSWER}
    return Capture(**known | fields)


def faithful() -> Capture:
    """Its score is 1, by the judge of `by_context`."""
    return capture_of(contexts=["this supports it"])


def unfaithful() -> Capture:
    """Its score is 0, likewise."""
    return capture_of(contexts=["this does not"])


def by_context() -> ScriptedJudge:
    """A judge that finds one statement in every answer; a context with "supports" supports it."""

    def reply(request: Generate[Any]) -> dict[str, Any]:
        if request.prompt.name == "statements":
            return {"statements": [ANSWER], "declined": False}
        supported = any("supports" in message.content for message in request.messages[-1:])
        return {"verdicts": [{"number": 1, "verdict": "yes" if supported else "no", "reason": "so it says"}]}

    return ScriptedJudge(reply)


def supports(text: str) -> str:
    """A judge as a function: one statement in every answer, supported."""
    if "Split the answer" in text:
        return '{"statements": ["The SMF selects the UPF."], "declined": false}'
    return '{"verdicts": [{"number": 1, "verdict": "yes"}]}'


async def hangs(text: str) -> str:
    """A judge that never answers."""
    await asyncio.get_running_loop().create_future()
    return ""


def raising(error: BaseException) -> Callable[[Capture], Sample]:
    """A translation that raises this."""

    def translate(capture: Capture) -> Sample:
        raise error

    return translate


def python(code: str, *arguments: object, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """What a program of its own prints; it must not fail."""
    done = subprocess.run(
        [sys.executable, *options, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done
