"""The ragas score: the harmonic mean of its four parts."""

import asyncio

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.metrics import RagasScore
from ragmetrics_core.protocol import Part
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge

SAMPLE = {
    "question": "Where was Einstein born?",
    "contexts": ["Einstein was born in Ulm.", "He played the violin."],
    "answer": "Einstein was born in Ulm in 1879.",
    "reference": "Einstein was born in Ulm.",
}
# the cosine of (1, 0) and (0.8, 0.6) is 0.8
VECTORS = {SAMPLE["question"]: [1, 0], "Where?": [4, 3], "Opposite?": [-1, 0], "Across?": [0, 1]}


def replies(verdicts, *, faithful=("yes", "no"), chunks=("yes", "no"), question="Where?"):
    """Faithfulness by `faithful`, context precision by `chunks`; context recall is 1."""

    def reply(request):
        match request.prompt.name:
            case "statements":
                return {
                    "statements": [f"Statement {n} stands." for n in range(1, len(faithful) + 1)],
                    "declined": False,
                }
            case "reference_statements":
                return {"statements": ["Einstein was born in Ulm."]}
            case "verdicts" if request.variables["items"][0].text.startswith("Statement"):
                return verdicts(*faithful)
            case "verdicts":
                return verdicts("yes")
            case "chunk_verdicts":
                return verdicts(*chunks)
            case _:
                return {"questions": [{"question": question, "noncommittal": False}] * 3}

    return reply


def test_it_is_the_harmonic_mean_of_its_four_parts(measure, verdicts):
    # faithfulness 1/2, relevance 0.8, precision 1, recall 1: 4 / (2 + 1.25 + 1 + 1) = 0.762
    score = measure(RagasScore(), replies(verdicts), vectors=VECTORS, **SAMPLE).score

    assert score.value == pytest.approx(4 / 5.25, abs=1e-15)
    assert score.formula == "4 / (1/0.5 + 1/0.8 + 1/1 + 1/1) = 0.762"
    assert {part.metric: part.value for part in score.parts} == {
        "faithfulness": 0.5,
        "answer_relevance": pytest.approx(0.8),
        "context_precision": 1.0,
        "context_recall": 1.0,
    }


def test_a_part_of_zero_makes_it_zero(measure, verdicts):
    script = replies(verdicts, chunks=("no", "no"))
    assert measure(RagasScore(), script, vectors=VECTORS, **SAMPLE).score.value == 0.0


def test_a_negative_part_makes_it_undefined(measure, verdicts):
    score = measure(RagasScore(), replies(verdicts, question="Opposite?"), vectors=VECTORS, **SAMPLE).score
    assert (score.status, score.reason, score.value) == ("undefined", "negative_part", None)


def test_an_undefined_part_makes_it_undefined_and_is_named(measure, verdicts):
    score = measure(RagasScore(), replies(verdicts, faithful=()), vectors=VECTORS, **SAMPLE).score
    assert (score.status, score.reason) == ("undefined", "faithfulness: no_statements")


def test_a_missing_verdict_in_a_part_gives_bounds(measure, verdicts):
    # faithfulness between 1/2 and 1: 4 / (2 + 3.25) and 4 / (1 + 3.25)
    script = replies(verdicts, faithful=("yes", None))

    score = measure(RagasScore(), script, vectors=VECTORS, **SAMPLE).score

    assert (score.status, score.reason) == ("incomplete", "faithfulness: missing_verdicts")
    assert score.bounds == pytest.approx((4 / 5.25, 4 / 4.25), abs=1e-15)


def test_a_part_that_fails_fails_the_whole(measure, verdicts):
    def script(request):
        reply = replies(verdicts)(request)
        return "I cannot." if request.prompt.name == "questions" else reply

    score = measure(RagasScore(), script, vectors=VECTORS, **SAMPLE).score
    assert (score.status, score.reason) == (
        "parse_error",
        "questions.v2: the reply could not be read: it holds no JSON object",
    )


@pytest.mark.parametrize("late", ["statements", "questions"])
def test_whether_the_answer_declines_does_not_depend_on_which_reply_comes_last(verdicts, late):
    # faithfulness' statements say that it declines, answer relevance's questions that it does not: answer
    # relevance is the later part, so its word counts
    class Racing(ScriptedJudge):
        async def agenerate(self, request):
            if request.prompt.name == late:
                await asyncio.wait_for(early.wait(), 60)
            replies = await super().agenerate(request)
            if request.prompt.name in {"statements", "questions"}:
                early.set()
            return replies

    def script(request):
        match request.prompt.name:
            case "statements":
                statements = ["Statement 1 stands.", "Statement 2 stands."]
                return {"statements": statements, "declined": True, "reason": "it evades"}
            case "questions":
                return {"questions": [{"question": "Where?", "noncommittal": False}] * 3}
            case _:
                return replies(verdicts)(request)

    early = asyncio.Event()
    embedder = HashEmbedder(vectors=VECTORS)
    run = evaluate([SAMPLE], metrics="ragas_score", judge=Racing(script), embedder=embedder)
    (record,) = run.records()
    assert record.abstained.declined is False
    assert audit(record) == []


def test_its_parts_can_be_chosen(measure, verdicts):
    # faithfulness 1/2 and recall 1: 2 / (2 + 1)
    metric = RagasScore(parts=(Part("faithfulness"), Part("context_recall")))
    score = measure(metric, replies(verdicts), **SAMPLE).score
    assert score.value == pytest.approx(2 / 3, abs=1e-15)
