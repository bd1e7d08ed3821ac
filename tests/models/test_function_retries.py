"""A function as a judge is asked again after the errors of its client that may pass."""

from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the openai package")

import openai

from ragmetrics_core import Run, Traffic, evaluate
from tests.servers import Answer, OpenAIServer, chat

DECLINING = (
    '{"sentences": [{"sentence": 1, "kind": "refusal", "statements": []}], "declined": true,'
    ' "reason": "it does not know"}'
)
PATIENT = Traffic(attempts=4, concurrency=1, first_delay=0.0)


def rows(number: int) -> list[dict[str, Any]]:
    return [
        {"id": f"q{n}", "question": "Where?", "answer": f"Who knows {n}.", "contexts": ["C."]}
        for n in range(number)
    ]


def judged(judge: Any, samples: int = 8) -> Run:
    return evaluate(rows(samples), metrics="faithfulness", judge=judge, traffic=PATIENT)


def statuses(run: Run) -> Counter[str]:
    return Counter(record.status for record in run.records())


def every_third(answer: Answer, otherwise: Answer) -> Callable[[object], Answer]:
    numbers = count(1)
    return lambda _: otherwise if next(numbers) % 3 else answer


@pytest.mark.parametrize(
    "failing",
    [
        Answer(status=429, body={"error": {"message": "slow down"}}, headers={"Retry-After": "0"}),
        Answer(status=503, body={"error": {"message": "busy"}}),
        Answer(status=500, body={}),
        Answer(cut=0),
    ],
    ids=["429", "503", "500", "lost connection"],
)
def test_a_function_whose_client_fails_on_every_third_call_loses_no_sample(failing: Answer):
    with (
        OpenAIServer(every_third(failing, chat(DECLINING))) as server,
        openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0) as client,
    ):

        def judge(prompt: str) -> str:
            messages: Any = [{"role": "user", "content": prompt}]
            return (
                client.chat.completions.create(model="m", messages=messages).choices[0].message.content or ""
            )

        run = judged(judge)

    # calls 3, 6 and 9 fail, and each is repeated at once: 8 replies take 11 calls
    assert statuses(run) == {"undefined": 8}
    assert len(server.seen) == 11


def test_an_asynchronous_function_is_asked_again_too():
    numbers = count(1)

    async def judge(prompt: str) -> str:
        if next(numbers) % 3 == 0:
            raise TimeoutError("too slow")
        return DECLINING

    assert statuses(judged(judge)) == {"undefined": 8}


class Refusal(Exception):
    """As clients tell that the server refuses a request."""

    status_code = 400


@pytest.mark.parametrize(
    "error",
    [KeyError("choices"), ValueError("a mistake in the function"), Refusal("no")],
    ids=["KeyError", "ValueError", "400"],
)
def test_any_other_error_of_a_function_fails_at_once(error: Exception):
    calls: list[str] = []

    def judge(prompt: str) -> str:
        calls.append(prompt)
        raise error

    run = judged(judge, samples=1)

    assert statuses(run) == {"model_error": 1}
    assert len(calls) == 1
