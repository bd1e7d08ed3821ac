"""Captures and judges that the tests of live scoring share."""

from typing import Any

from ragmetrics_core import Sample
from ragmetrics_core.live import Capture
from ragmetrics_core.protocol import Generate
from ragmetrics_core.testing import ScriptedJudge

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
        return '{"statements": ["one"], "declined": false}'
    return '{"verdicts": [{"number": 1, "verdict": "yes"}]}'
