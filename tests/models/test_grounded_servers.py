"""Bespoke-MiniCheck and Granite Guardian: what is sent, and how the probabilities of tokens are read."""

import asyncio
import math

import pytest

pytest.importorskip("aiohttp")

from ragmetrics_core import as_judge, evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.models.grounded import BespokeMiniCheck, GraniteGuardian
from ragmetrics_core.models.grounded._formats import BESPOKE_SYSTEM, GUARDIAN_BLOCK
from tests.servers import Answer, OpenAIServer, chat

SAMPLE = {
    "id": "q1",
    "question": "Where was Einstein born?",
    "answer": "Einstein was born in Ulm.",
    "contexts": ["Einstein was born in Ulm.", "Ulm is on the Danube."],
}


def told(text, *steps):
    """A reply with the likeliest tokens of each step, by their probabilities."""
    answer = chat(text)
    content = [
        {"top_logprobs": [{"token": token, "logprob": math.log(share)} for token, share in step.items()]}
        for step in steps
    ]
    answer.body["choices"][0]["logprobs"] = {"content": content} if steps else None
    return answer


def check(checker, answer):
    with OpenAIServer(answer) as server:
        (found,) = asyncio.run(
            checker(model="m", base_url=server.base_url).acheck(["A claim."], ["One.", "Two."], None)
        )
        return found, server.seen


def test_bespoke_minicheck_gets_document_and_claim_and_its_yes_tokens_are_the_probability():
    found, (seen,) = check(BespokeMiniCheck, told("Yes", {"Yes": 0.6, "yes": 0.1, "No": 0.25, " Yes": 0.05}))

    # as the makers count it: "Yes" and "yes", without the token that begins with a space
    assert found.probability == pytest.approx(0.7)
    assert found.supported
    assert seen.body == {
        "model": "m",
        "temperature": 0,
        "logprobs": True,
        "top_logprobs": 5,
        "max_tokens": 1,
        "messages": [
            {"role": "system", "content": BESPOKE_SYSTEM},
            {"role": "user", "content": "Document: One.\nTwo.\nClaim: A claim."},
        ],
    }


def test_granite_guardian_gets_documents_and_its_block_and_a_yes_means_not_grounded():
    steps = [{"<think>": 1.0}, {"yes": 0.75, "no": 0.2, "maybe": 0.05}]
    found, (seen,) = check(GraniteGuardian, told("<think>\n</think><score> yes </score>", *steps))

    assert not found.supported
    assert found.probability == pytest.approx(0.2 / 0.95)
    assert seen.body["documents"] == [{"doc_id": "0", "text": "One.\nTwo."}]
    assert seen.body["messages"] == [
        {"role": "assistant", "content": "A claim."},
        {"role": "user", "content": GUARDIAN_BLOCK},
    ]


@pytest.mark.parametrize(
    ("checker", "text", "supported"),
    [
        (BespokeMiniCheck, "No", False),
        (BespokeMiniCheck, "Perhaps", None),
        (GraniteGuardian, "<score>no</score>", True),
        (GraniteGuardian, "yes, I think", None),
    ],
)
def test_without_probabilities_the_words_decide_and_without_readable_words_nothing(checker, text, supported):
    found, _ = check(checker, told(text))

    assert (found.supported, found.probability) == (supported, None)


@pytest.mark.parametrize(
    "logprobs", [7, {"content": [3, {"top_logprobs": [None, {"token": 1}]}]}, {"content": {}}]
)
def test_logprobs_of_another_shape_are_no_probability(logprobs):
    answer = chat("<score> no </score>")
    answer.body["choices"][0]["logprobs"] = logprobs

    found, _ = check(GraniteGuardian, Answer(body=answer.body))

    assert (found.supported, found.probability) == (True, None)


@pytest.mark.parametrize("name", ["bespoke-minicheck:7b", "granite-guardian-4.1-8b"])
def test_a_server_has_a_name_and_its_verdicts_are_proved_from_the_record(name):
    reply = told("Yes", {"Yes": 0.9}) if "bespoke" in name else told("<score> no </score>", {"no": 0.9})
    with OpenAIServer(reply) as server:
        judge = as_judge(f"grounded:{name}@{server.base_url}")
        (record,) = evaluate([SAMPLE], metrics="faithfulness", judge=judge).records()

    assert record.value == 1
    assert audit(record) == []
    assert all(verdict.confidence >= 0.9 for verdict in record.verdicts)
    assert name in record.judge
