"""Every prompt of an evaluator can be read and changed as a LlamaIndex template."""

import pytest
from llama_index.core import ChatPromptTemplate, PromptTemplate
from llama_index.core.base.llms.types import ChatMessage

from ragmetrics_core.errors import PromptError
from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.prompts import VERDICTS, marked_sentences
from ragmetrics_core.testing import ScriptedJudge
from ragmetrics_llama_index import (
    AnswerRelevancyEvaluator,
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
    RagMetricsEvaluator,
    SemanticSimilarityEvaluator,
)
from tests.integrations.llama_index.fakes import CONTEXTS, HALF, QUERY, judge_llm

EVERY = ["faithfulness", "answer_relevance", "context_relevance", "answer_correctness", "context_precision"]


@pytest.mark.parametrize("metric", [*EVERY, "context_recall", "context_entity_recall", "ragas_score"])
def test_putting_back_what_was_read_changes_nothing(metric):
    made = RagMetricsEvaluator(metric)
    before = made.metrics[0].signature

    made.update_prompts(made.get_prompts())

    assert {name: each.get_template() for name, each in made.get_prompts().items()} == {
        name: each.get_template() for name, each in RagMetricsEvaluator(metric).get_prompts().items()
    }
    assert made.metrics[0].signature.partition("(")[0] == before


def test_every_step_has_its_prompt():
    assert set(FaithfulnessEvaluator().get_prompts()) == {"statements_template", "verdicts_template"}
    # also those of the parts of a metric
    assert {"statements_template", "answer_verdicts_template"} <= set(CorrectnessEvaluator().get_prompts())
    assert "questions_template" in AnswerRelevancyEvaluator().get_prompts()
    assert SemanticSimilarityEvaluator().get_prompts() == {}


def test_a_template_renders_what_the_judge_is_asked():
    statements = {"statements": ["One."], "declined": False}
    judge = ScriptedJudge({"statements": statements, "verdicts": {"verdicts": []}})
    made = FaithfulnessEvaluator(judge)
    made.evaluate(query=QUERY, response=HALF, contexts=CONTEXTS)

    template = made.get_prompts()["statements_template"]
    numbered = marked_sentences(HALF, split_sentences(HALF))
    rendered = template.format_messages(question=QUERY, answer_sentences=numbered)

    sent = judge.asked[0].messages
    assert [(each.role.value, each.content) for each in rendered] == [tuple(each) for each in sent]


@pytest.mark.parametrize(
    "template",
    [
        PromptTemplate('Split «{answer}» for «{question}». Reply: {"statements": []}'),
        ChatPromptTemplate(
            [
                ChatMessage(role="system", content="Be strict."),
                ChatMessage(role="user", content="Split «{answer}» for «{question}»."),
            ]
        ),
    ],
)
def test_a_changed_prompt_is_what_the_judge_is_asked_and_what_the_record_names(template):
    statements = {"statements": ["One."], "declined": False}
    judge = ScriptedJudge({"statements": statements, "verdicts": {"verdicts": []}})
    made = FaithfulnessEvaluator(judge)
    before = made.metrics[0].signature

    made.update_prompts({"statements_template": template})
    result = made.evaluate(query=QUERY, response=HALF, contexts=CONTEXTS)

    assert f"Split «{HALF}» for «{QUERY}»." in judge.asked[0].messages[1].content
    assert result.records[0].signature != before
    assert "statements" in str(result.records[0].settings)


def test_a_prompt_of_a_part_can_be_changed():
    judge = judge_llm()
    made = CorrectnessEvaluator(judge)
    old = made.get_prompts()["answer_verdicts_template"]
    made.update_prompts(
        {"answer_verdicts_template": PromptTemplate("STRICTLY\n" + old.message_templates[1].content)}
    )
    made.evaluate(query=QUERY, response=HALF, reference=HALF)
    assert any("STRICTLY" in each for each in judge.asked)


@pytest.mark.parametrize(
    ("name", "template", "said"),
    [
        ("no_such_template", PromptTemplate("{x}"), "no_such_template"),
        ("statements_template", PromptTemplate("{answer} only"), "question"),
        ("statements_template", PromptTemplate("{answer} {question} {more}"), "more"),
        ("statements_template", ChatPromptTemplate([ChatMessage(role="tool", content="x")]), "user"),
    ],
)
def test_a_template_that_does_not_fit_is_refused_and_changes_nothing(name, template, said):
    made = FaithfulnessEvaluator()
    with pytest.raises(PromptError, match=said):
        made.update_prompts({name: template})
    assert made.metrics == FaithfulnessEvaluator().metrics


def test_an_eval_template_with_the_variables_of_a_prompt_takes_its_place():
    text = PromptTemplate("LOOK at {contexts} and judge {items}.")
    made = FaithfulnessEvaluator(eval_template=text)
    assert "LOOK at" in made.get_prompts()["verdicts_template"].get_template()
    assert VERDICTS.name == "verdicts"
