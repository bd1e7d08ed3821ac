"""A model that refuses whoever asks is not asked four hundred times."""

from collections.abc import Sequence
from typing import Any

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import AccessRefused, ModelRefused, RunStopped
from ragmetrics_core.models import model_error
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.testing import ScriptedJudge

ROWS = [
    {"id": f"s{n}", "question": "Where?", "answer": f"Paris {n}.", "contexts": ["Paris."]} for n in range(40)
]
REPLIES: dict[str, Any] = {
    "statements": {"statements": ["Paris."], "declined": False},
    "verdicts": {"verdicts": [{"number": 1, "verdict": "yes"}]},
}


class Locked(ScriptedJudge):
    """Answers some calls, and refuses what comes then."""

    answered = 0
    refusal: Exception = AccessRefused("wrong key (401): set OPENAI_API_KEY")

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        replies = await super().agenerate(request)
        if len(self.asked) > self.answered:
            raise self.refusal
        return replies


def test_a_refused_key_stops_the_run_after_the_first_answers_and_the_same_call_goes_on(tmp_path):
    judge = Locked(REPLIES)
    with pytest.raises(RunStopped, match=r"set OPENAI_API_KEY.*the same command resumes"):
        evaluate(ROWS, metrics="faithfulness", judge=judge, out=tmp_path / "run", concurrency=4)
    assert len(judge.asked) <= 4
    run = evaluate(ROWS, metrics="faithfulness", judge=ScriptedJudge(REPLIES), out=tmp_path / "run")
    assert run.mean("faithfulness").statuses == {"ok": 40}


def test_a_key_that_is_refused_half_way_stops_the_run_and_what_was_measured_stays(tmp_path):
    judge = Locked(REPLIES)
    judge.answered = 20
    with pytest.raises(RunStopped):
        evaluate(ROWS, metrics="faithfulness", judge=judge, out=tmp_path / "run", concurrency=1)
    # three refusals in a row after twenty replies
    assert len(judge.asked) == 23
    replied = {request.digest for request in judge.asked[:20]}
    again = ScriptedJudge(REPLIES)
    evaluate(ROWS, metrics="faithfulness", judge=again, out=tmp_path / "run")
    assert replied.isdisjoint(request.digest for request in again.asked)


class AuthenticationError(Exception):
    """As provider's clients name it."""


def test_the_client_of_a_function_whose_key_is_refused_stops_the_run_too():
    asked: list[str] = []

    def judge(prompt: str) -> str:
        asked.append(prompt)
        raise AuthenticationError("wrong key")

    with pytest.raises(RunStopped, match="AuthenticationError: wrong key"):
        evaluate(ROWS, metrics="faithfulness", judge=judge, concurrency=2)
    assert len(asked) <= 2


def test_a_request_that_is_refused_for_what_it_asks_stops_nothing():
    judge = Locked(REPLIES)
    judge.refusal = ModelRefused("too long (400)")
    run = evaluate(ROWS, metrics="faithfulness", judge=judge)
    assert run.mean("faithfulness").statuses == {"model_error": 40}


def test_a_name_that_speaks_of_authentication_is_a_refused_key():
    assert type(model_error(AuthenticationError("no"))) is AccessRefused
