"""LangChain's decision models as judges."""

from typing import Any

import pytest

pytest.importorskip("langchain_core.decisions", reason="langchain-core has no decision models yet")

from langchain_core.decisions import BaseDecisionModel, ClassifierResponse
from langchain_core.runnables import RunnableLambda

from ragmetrics_core import ConfigError, as_judge, evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.models import DecisionJudge
from ragmetrics_langchain import LangChainDecisions, LangChainJudge, RagMetricsCallbackHandler

SAMPLE = {
    "id": "q1",
    "question": "Where was Einstein born?",
    "answer": "Einstein was born in Ulm. He liked cats.",
    "contexts": ["Einstein was born in Ulm."],
}
SEEN: list[tuple[Any, Any]] = []


class Decides(BaseDecisionModel):
    """A decision model with an answer to every question."""

    model: str = "jev"
    shares: tuple[float, ...] = (0.75, 0.25)
    left_out: frozenset[str] = frozenset()

    @property
    def _provider(self) -> str:
        return "here"

    def _classify(self, state: Any, questions: Any) -> ClassifierResponse:
        SEEN.append((state, questions))
        answers: dict[str, Any] = {}
        for place, (name, asked) in enumerate(questions.items()):
            if asked.type == "score":
                levels = range(len(asked.criteria))
                answers[name] = {
                    "type": "score",
                    "score": 2.5,
                    "legend": dict(enumerate(asked.criteria)),
                    "probabilities": {level: 1 / len(levels) for level in levels},
                    "confidence": 0.9,
                }
            elif name not in self.left_out:
                answers[name] = {"type": "noul", "noul": self.shares[place % len(self.shares)]}
        usage = {"input_tokens": 9, "output_tokens": 1}
        return ClassifierResponse.model_validate({"model": "jev-1", "answers": answers, "usage": usage})


def judged(model: Any, metric: str = "faithfulness") -> Any:
    (record,) = evaluate(
        [SAMPLE], metrics=metric, judge=DecisionJudge(decisions=LangChainDecisions(model))
    ).records()
    assert audit(record) == []
    return record


def test_a_decision_model_gives_verdicts_with_probabilities():
    SEEN.clear()
    record = judged(Decides())

    assert record.value == 0.5
    assert [verdict.confidence for verdict in record.verdicts] == [0.75, 0.25]
    ((state, questions),) = SEEN
    assert "Einstein was born in Ulm." in state
    assert [(name, asked.type) for name, asked in questions.items()] == [("1", "noul"), ("2", "noul")]
    step = next(step for step in record.steps if step.model == "jev-1")
    assert (step.prompt_tokens, step.completion_tokens) == (9, 1)


def test_a_decision_model_gives_ratings():
    # levels 0 to 10: 2.5 of 10
    assert judged(Decides(), "answer_relevance_rating").value == 0.25


def test_a_question_that_the_model_leaves_out_has_no_verdict():
    record = judged(Decides(left_out=frozenset({"2"})))

    assert (record.status, record.bounds) == ("incomplete", (0.5, 1.0))


def test_the_identity_names_the_model_or_the_name_that_it_is_given():
    assert "/jev" in DecisionJudge(decisions=LangChainDecisions(Decides())).identity
    named = DecisionJudge(decisions=LangChainDecisions(Decides(), name="mine"))
    assert named.identity.startswith("mine,questions 1,others ")


def test_live_scoring_takes_a_decision_model_as_it_is():
    RagMetricsCallbackHandler("faithfulness", judge=Decides())


def test_other_ways_to_pass_a_decision_model_name_the_line_to_write():
    line = r"DecisionJudge\(decisions=LangChainDecisions\(model\)\)"
    with pytest.raises(ConfigError, match=line):
        as_judge(Decides())
    with pytest.raises(ConfigError, match=line):
        LangChainJudge(Decides())
    with pytest.raises(ConfigError, match="expected BaseDecisionModel"):
        LangChainDecisions(RunnableLambda(str))


def test_openais_decisions_name_the_judge_to_write():
    made = pytest.importorskip("langchain_openai.decisions")
    model = made.OpenAIDecisions(model="gpt-6-luna", api_key="none")
    with pytest.raises(ConfigError, match='judge="decisions:MODEL"'):
        as_judge(model)
