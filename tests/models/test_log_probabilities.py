"""Verdicts with probabilities from the log-probabilities of a language model's yes and no tokens."""

import json
from math import log

import pytest

pytest.importorskip("aiohttp")

from ragmetrics_core import evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import CalibratedJudge, OpenAIJudge
from ragmetrics_core.runs import export_wave
from tests.models.test_calibrated import card
from tests.servers import Answer, OpenAIServer

SAMPLE = {
    "id": "q1",
    "question": "Where?",
    "answer": "Ada was born in Ulm. It was cold.",
    "contexts": ["Ada was born in Ulm."],
}
LINES, JSON = "faithfulness(verify=verdicts.v6)", "faithfulness"
IN_JSON = [
    '{"verdicts": [{"number": 1, "reason": "a \\"verdict\\": \\"no\\"", "evidence": "", "verdict": "',
    "yes",
]
IN_JSON += ['"}, {"number": 2, "reason": "", "evidence": "", "verdict": "', "no", '"}]}']


def entry(token, **shares):
    """A token with the probabilities of the likeliest ones at its place, by their texts."""
    top = [
        {"token": each.replace("_", " "), "logprob": log(share), "bytes": None}
        for each, share in shares.items()
    ]
    return {"token": token, "logprob": -0.1, "bytes": None, "top_logprobs": top}


def tokens(parts, first, second):
    """The entries of a reply with two verdicts, whose alternatives are given."""
    own = iter((first, second))
    return [entry(part, **(next(own) if part.strip() in ("yes", "no") else {"x": 1.0})) for part in parts]


def measured(content, metrics=LINES, text=None, judge=lambda made: made, **settings):
    """The record, and the bodies of the requests."""

    def reply(seen):
        is_split = "Decide for each numbered" not in seen.body["messages"][1]["content"]
        told = SPLIT if is_split else text or "".join(each["token"] for each in content)
        choice = {"message": {"role": "assistant", "content": told}, "finish_reason": "stop"}
        if seen.body.get("logprobs"):
            choice["logprobs"] = {"content": content}
        return Answer(body={"model": "m", "choices": [choice]})

    with OpenAIServer(reply) as server:
        made = judge(OpenAIJudge("m", base_url=server.base_url, **{"logprobs": True, **settings}))
        (record,) = evaluate([SAMPLE], metrics=metrics, judge=made).records()
        return record, [seen.body for seen in server.seen]


SPLIT = json.dumps(
    {
        "sentences": [
            {"sentence": 1, "kind": "claim", "statements": ["Ada was born in Ulm."]},
            {"sentence": 2, "kind": "claim", "statements": ["It was cold."]},
        ]
    }
)
YES = {"yes": 0.6, "_Yes": 0.2, "no": 0.2}
NO = {"no": 0.9, "yes": 0.1}


@pytest.mark.parametrize(
    ("metric", "parts"),
    [(LINES, ["1", ".", " yes", "\n", "2", ".", " no"]), (JSON, IN_JSON)],
)
def test_a_verdict_has_the_share_of_yes_at_its_place(metric, parts):
    record, bodies = measured(tokens(parts, YES, NO), metric)
    assert record.value == 0.5
    # (0.6 + 0.2) / 1.0 and 0.1 / 1.0
    assert [verdict.confidence for verdict in record.verdicts] == pytest.approx([0.8, 0.1], abs=1e-12)
    assert [body.get("top_logprobs") for body in bodies] == [None, 20]
    assert audit(record) == []
    held = json.loads([*record.generate_steps][-1].reply)
    assert held["reply"] == "".join(parts)
    assert [each["token"].strip() for each in held["logprobs"]] == ["yes", "no"]


@pytest.mark.parametrize(
    ("parts", "first", "text", "expected"),
    [
        (["1. ", "y", "es", "\n2. ", "no"], NO, None, [None, 0.1]),  # no token is the first verdict
        (
            ["1. ", "yes", "\n2. ", "no"],
            {"maybe": 1.0},
            None,
            [None, 0.1],
        ),  # neither is among the likely tokens
        (["1. ", "yes", "\n2. ", "no"], YES, "1. yes\n2. no.", [None, None]),  # the tokens are another text
        (["<think>1. ", "no", "</think>1. ", "yes", "\n2. no"], YES, None, [None, None]),
    ],
)
def test_a_verdict_whose_token_is_not_found_has_no_probability(parts, first, text, expected):
    record, _ = measured(tokens(parts, first, NO), text=text)
    assert [verdict.supported for verdict in record.verdicts] == [True, False]
    found = [verdict.confidence for verdict in record.verdicts]
    assert [each is None for each in found] == [each is None for each in expected]
    assert audit(record) == []


def test_a_server_without_log_probabilities_gives_verdicts_without_probabilities():
    record, _ = measured(tokens(["1. ", "yes", "\n2. ", "no"], YES, NO), logprobs=False)
    assert [verdict.confidence for verdict in record.verdicts] == [None, None]


def test_a_judge_that_is_asked_again_sees_what_it_wrote():
    record, bodies = measured([entry("1. ", x=1.0), entry("yes", **YES)])
    assert record.status == "incomplete"
    assert record.verdicts[0].confidence == pytest.approx(0.8)
    assert bodies[-1]["messages"][2] == {"role": "assistant", "content": "1. yes"}
    assert audit(record) == []


def test_the_identity_names_the_setting():
    plain, own = (OpenAIJudge("m", base_url="http://127.0.0.1:1/v1", logprobs=each) for each in (False, True))
    assert own.identity == f"{plain.identity}&logprobs=20"


def test_replies_by_file_are_refused(tmp_path):
    judge = OpenAIJudge("m", base_url="http://127.0.0.1:1/v1", logprobs=True)
    with pytest.raises(ConfigError, match="cannot answer by file"):
        export_wave([SAMPLE], tmp_path / "requests.jsonl", metrics=LINES, judge=judge, out=tmp_path / "run")


def test_they_can_be_calibrated():
    from ragmetrics_core.metrics import get

    prompt = get(LINES).verify

    def calibrated(judge):
        return CalibratedJudge(judge, card=card(judge.identity, prompts={prompt.id: prompt.digest}))

    record, _ = measured(tokens(["1. ", "yes", "\n2. ", "no"], YES, NO), judge=calibrated)
    # the curve of the card is 0.75 from 0.8 on and 0 up to 0.5
    assert [verdict.confidence for verdict in record.verdicts] == pytest.approx([0.75, 0.0])
    assert audit(record) == []
