"""Batch evaluators: inputs, outputs and failures as Haystack's own."""

import inspect
import json
from math import isnan
from typing import Any

import pytest
from haystack.components.evaluators import (
    ContextRelevanceEvaluator as HaystackContextRelevanceEvaluator,
)
from haystack.components.evaluators import FaithfulnessEvaluator as HaystackFaithfulnessEvaluator
from haystack.dataclasses import ChatMessage
from haystack.evaluation import EvaluationRunResult
from ragmetrics_core import Record, Run, recompute
from ragmetrics_core.errors import ConfigError, RagMetricsError
from ragmetrics_core.metrics import METRICS

from haystack_integrations.components.evaluators import ragmetrics
from haystack_integrations.components.evaluators.ragmetrics import (
    AnswerSimilarityEvaluator,
    ContextRelevanceEvaluator,
    EvaluationFailed,
    InputError,
    RagMetricsEvaluator,
    metric_evaluators,
)
from tests.catalogue import NOT_EMBEDDED, reason_to_skip
from tests.integrations.haystack.asked import INPUTS, QUESTIONS, faithfulness
from tests.integrations.haystack.generators import Broken, Synchronous, judged
from tests.integrations.haystack.mocks import MockChatGenerator, MockTextEmbedder


def test_inputs_outputs_and_results_have_the_names_and_types_of_haystacks_own_evaluators():
    reply = '{"statements": ["Paris is the capital."], "statement_scores": [1]}'
    theirs = HaystackFaithfulnessEvaluator(chat_generator=MockChatGenerator(responses=reply), progress_bar=False)
    ours = faithfulness()

    expected, found = theirs.run(**INPUTS), ours.run(**INPUTS)

    assert set(found) == set(expected)
    assert set(found["results"][0]) >= set(expected["results"][0])
    assert found["results"][0]["statements"] == expected["results"][0]["statements"]
    assert found["results"][0]["statement_scores"] == expected["results"][0]["statement_scores"]
    assert found["results"][0]["status"] == expected["results"][0].get("status", "evaluated") == "evaluated"
    assert_sockets_of(theirs, ours)


def test_context_relevance_has_the_names_of_haystacks_own():
    theirs = HaystackContextRelevanceEvaluator(
        chat_generator=MockChatGenerator(responses='{"relevant_statements": ["Paris"]}'), progress_bar=False
    )
    ours = ContextRelevanceEvaluator(chat_generator="embedded", progress_bar=False)
    inputs = {"questions": QUESTIONS[:1], "contexts": INPUTS["contexts"][:1]}

    expected, found = theirs.run(**inputs), ours.run(**inputs)

    assert set(found["results"][0]) >= set(expected["results"][0])
    assert found["results"][0]["relevant_statements"] == ["Paris is the capital of France."]
    assert_sockets_of(theirs, ours)


def sockets(evaluator: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The mandatory inputs and the outputs, with their types."""
    return (
        {
            name: socket.type
            for name, socket in evaluator.__haystack_input__._sockets_dict.items()
            if socket.is_mandatory
        },
        {name: socket.type for name, socket in evaluator.__haystack_output__._sockets_dict.items()},
    )


def assert_sockets_of(theirs: Any, ours: Any) -> None:
    assert sockets(ours)[0] == sockets(theirs)[0]
    if "meta" in sockets(theirs)[1]:
        assert sockets(ours)[1] == sockets(theirs)[1]
    else:  # before Haystack 3 its evaluators put out no "meta" and declared other numbers
        assert set(sockets(ours)[1]) > set(sockets(theirs)[1])


def test_the_score_is_the_mean_of_the_samples_in_plain_floats():
    # one statement each: supported, not supported
    found = faithfulness().run(**INPUTS)

    assert found["individual_scores"] == [1.0, 0.0]
    assert found["score"] == 0.5
    assert {type(each) for each in [found["score"], *found["individual_scores"]]} == {float}
    assert json.loads(json.dumps(found)) == found
    # and can be recomputed from a result without a model
    assert recompute(Record.from_json(json.dumps(found["results"][1]["record"]))).value == 0.0


def test_meta_has_model_and_tokens_of_every_reply():
    # two calls for each of two samples; the mock counts words
    found = faithfulness().run(**INPUTS)

    assert len(found["meta"]) == 4
    assert {each["model"] for each in found["meta"]} == {"mock-model"}
    assert all(each["usage"]["prompt_tokens"] > 10 for each in found["meta"])


def test_several_metrics_go_straight_into_an_evaluation_run_result():
    evaluator = RagMetricsEvaluator(
        ["faithfulness", {"name": "answer_correctness", "weights": [1, 0]}],
        chat_generator="embedded",
        progress_bar=False,
    )
    truths = ["Paris is the capital.", "Madrid is the capital."]
    found = evaluator.run(**INPUTS, ground_truth_answers=truths)

    result = EvaluationRunResult("ours", inputs={"questions": QUESTIONS}, results=found["by_metric"])

    assert result.aggregated_report() == {
        "metrics": ["faithfulness", "answer_correctness"],
        "score": [0.5, 1.0],
    }
    assert result.detailed_report()["answer_correctness"] == [1.0, 1.0]
    pytest.importorskip("pandas", reason="pandas is not installed")
    assert len(result.detailed_report("df")) == 2


def test_samples_without_a_score_are_nan_and_no_part_of_the_mean():
    # the second answer is blank
    inputs = INPUTS | {"predicted_answers": ["Paris is the capital.", ""]}
    evaluator = faithfulness()

    found = evaluator.run(**inputs)

    assert found["score"] == 1.0
    assert isnan(found["individual_scores"][1])
    assert found["results"][1]["status"] == "error"
    assert found["results"][1]["ragmetrics_status"] == "undefined"
    assert found["results"][1]["reason"] == "no_answer"
    result = EvaluationRunResult("ours", {"questions": QUESTIONS}, {"faithfulness": found})
    assert isnan(result.detailed_report()["faithfulness"][1])


def test_empty_lists_give_no_scores_and_a_mean_that_is_nan():
    found = faithfulness().run(questions=[], contexts=[], predicted_answers=[])

    assert isnan(found.pop("score"))
    assert found == {"individual_scores": [], "results": [], "meta": None}


def test_a_sample_that_comes_twice_has_two_scores():
    twice = {name: [values[0], values[0]] for name, values in INPUTS.items()}

    assert faithfulness().run(**twice)["individual_scores"] == [1.0, 1.0]


def test_a_sample_without_a_ground_truth_is_told_from_a_failed_one():
    evaluator = RagMetricsEvaluator("factual_correctness", chat_generator="embedded", progress_bar=False)

    found = evaluator.run(**INPUTS, ground_truth_answers=["Paris is the capital.", None])

    assert found["results"][1]["ragmetrics_status"] == "skipped"
    assert found["results"][1]["reason"] == "reference"


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"questions": QUESTIONS}, "the metrics need contexts, predicted_answers"),
        (INPUTS | {"contexts": [["a"]]}, "2 questions, 1 contexts, 2 predicted_answers"),
        (INPUTS | {"questions": "What?"}, "questions must be a list"),
        (INPUTS | {"contexts": ["a", "b"]}, r"contexts\[0\] must be a list of texts"),
        (INPUTS | {"predicted_answers": [1, 2]}, r"predicted_answers\[0\] must be text, not int"),
        (INPUTS | {"queries": QUESTIONS}, "there is no input 'queries'"),
    ],
)
def test_inputs_that_do_not_fit_are_value_errors_that_say_what_is_wrong(inputs: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message) as raised:
        faithfulness().run(**inputs)

    assert isinstance(raised.value, ValueError)
    assert isinstance(raised.value, RagMetricsError)


@pytest.mark.parametrize("generator", [Broken(), MockChatGenerator(responses="no JSON at all")])
def test_a_failure_raises_a_value_error_as_haystacks_own_do(generator: Any):
    for evaluator in (
        HaystackFaithfulnessEvaluator(chat_generator=generator, progress_bar=False),
        faithfulness(chat_generator=generator),
    ):
        with pytest.raises(
            ValueError, match=r"provider is down|Expecting value|not a valid JSON|parse_error"
        ) as raised:
            evaluator.run(**INPUTS)
    assert isinstance(raised.value, EvaluationFailed)
    assert isinstance(raised.value, RagMetricsError)


@pytest.mark.parametrize(
    ("generator", "status"),
    [(Broken(), "model_error"), (MockChatGenerator(responses="no JSON at all"), "parse_error")],
)
def test_without_raise_on_failure_a_failure_is_a_status_with_its_reason(generator: Any, status: str):
    found = faithfulness(chat_generator=generator, raise_on_failure=False).run(**INPUTS)

    assert isnan(found["score"])
    assert [each["ragmetrics_status"] for each in found["results"]] == [status, status]
    assert all(each["reason"] for each in found["results"])
    assert [each["status"] for each in found["results"]] == ["error", "error"]


def test_one_failed_sample_does_not_lose_the_others():
    def sometimes(messages: list[ChatMessage]) -> str:
        if "Madrid" in (messages[-1].text or ""):
            msg = "the provider is down"
            raise RuntimeError(msg)
        return judged(messages)

    evaluator = faithfulness(chat_generator=MockChatGenerator(response_fn=sometimes), raise_on_failure=False)

    found = evaluator.run(**INPUTS)

    assert found["individual_scores"][0] == 1.0
    assert "the provider is down" in found["results"][1]["reason"]


def test_repeats_ask_for_each_verdict_again():
    # one call for the statements, three for the verdict
    generator = Synchronous()

    faithfulness(chat_generator=generator, repeats=3).run(
        questions=QUESTIONS[:1], contexts=[["Paris."]], predicted_answers=["Paris."]
    )

    assert generator.calls == 4


def test_the_run_folder_is_one_that_the_command_line_reads(tmp_path: Any):
    evaluator = faithfulness(out=str(tmp_path / "run"), chat_generator="embedded")

    found = evaluator.run(**INPUTS)

    run = Run.load(tmp_path / "run")
    assert [score.value for each in run.sample_ids for score in run.scores(each).values()] == found["individual_scores"]
    assert not list(run.audit())


def test_each_evaluator_of_one_metric_has_the_inputs_that_its_metric_needs():
    names = {"question": "questions", "contexts": "contexts", "answer": "predicted_answers"}
    names["reference"] = "ground_truth_answers"
    for evaluator_name in metric_evaluators.__all__:
        evaluator_class = getattr(ragmetrics, evaluator_name)
        evaluator = evaluator_class(chat_generator="embedded", text_embedder="embedded")

        inputs, outputs = sockets(evaluator)
        needed = METRICS[evaluator_class.metric].inputs.required()
        assert set(inputs) == {names[field] for field in needed}, evaluator_name
        assert set(outputs) == {"score", "individual_scores", "results", "meta"}


def test_a_variant_that_shows_the_judge_the_contexts_has_an_input_for_them():
    plain, of_paper = (
        RagMetricsEvaluator([metric], chat_generator="embedded")
        for metric in ("answer_relevance_rating", "answer_relevance_rating/paper")
    )
    assert set(sockets(of_paper)[0]) - set(sockets(plain)[0]) == {"contexts"}


def test_every_metric_whose_inputs_a_pipeline_has_works_by_its_name():
    usual = {"question", "contexts", "answer", "reference"}
    # a criterion and a rubric need settings of one's own, encoders a model
    names = [
        name
        for name, metric in METRICS.items()
        if set(metric.inputs.required()) <= usual
        and "scorer" not in metric.needs
        and name not in {"criterion", "rubric"}
        and not metric().prompt_names & NOT_EMBEDDED
        and not reason_to_skip(name)
    ]
    assert len(names) > 20
    evaluator = RagMetricsEvaluator(names, chat_generator="embedded", text_embedder="embedded", progress_bar=False)

    results = evaluator.run(**{**INPUTS, "ground_truth_answers": INPUTS["predicted_answers"]})["by_metric"]

    assert set(results) == set(names)
    statuses = [each["ragmetrics_status"] for found in results.values() for each in found["results"]]
    assert set(statuses) <= {"ok", "undefined", "skipped"}
    assert statuses.count("ok") > len(statuses) / 2


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("faithfullness", "did you mean 'faithfulness'"),
        ([{"name": "faithfulness", "variant": "loose"}], "no variant 'loose'"),
        ([{"name": "faithfulness", "beta": 1}], "no setting 'beta'"),
        ([{"metric": "faithfulness"}], "needs its name"),
        ([METRICS["faithfulness"]()], "not by Faithfulness"),
        (["faithfulness", "faithfulness"], "given twice"),
        ("answer_relevance", "needs an embedder, and none was given: text_embedder="),
        ([], "at least one metric"),
    ],
)
def test_mistakes_in_the_metrics_are_told_when_the_evaluator_is_made(metrics: Any, message: str):
    with pytest.raises(ConfigError, match=message):
        RagMetricsEvaluator(metrics, chat_generator="embedded")


def test_a_metric_that_asks_no_judge_needs_no_generator():
    evaluator = AnswerSimilarityEvaluator(text_embedder=MockTextEmbedder(embedding=[1.0, 0.0]), progress_bar=False)

    found = evaluator.run(predicted_answers=["Paris"], ground_truth_answers=["Rome"])

    assert evaluator.chat_generator is None
    assert found["score"] == 1.0  # the vectors are the same


def test_two_variants_of_a_metric_are_told_apart_by_their_signatures():
    evaluator = RagMetricsEvaluator(
        ["faithfulness", "faithfulness/paper"], chat_generator="embedded", progress_bar=False
    )

    assert set(evaluator.run(**INPUTS)["by_metric"]) == {"faithfulness/strict.1", "faithfulness/paper.1"}


def test_progress_is_shown_when_it_is_asked_for(capsys: pytest.CaptureFixture[str]):
    faithfulness(progress_bar=True).run(**INPUTS)

    assert "2/2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (ragmetrics.FaithfulnessEvaluator, HaystackFaithfulnessEvaluator),
        (ragmetrics.ContextRelevanceEvaluator, HaystackContextRelevanceEvaluator),
    ],
)
def test_drop_ins_take_the_positional_arguments_of_haystacks_evaluators(ours: Any, theirs: Any):
    def positional(kind: Any) -> list[str]:
        parameters = inspect.signature(kind.__init__).parameters.values()
        return [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]

    assert positional(ours) == positional(theirs)
    assert not ours(None, False, False, MockChatGenerator(responses="x")).raise_on_failure
    with pytest.raises(ConfigError, match="takes no examples"):
        ours([{"inputs": {}, "outputs": {}}])


DROP_INS = pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (ragmetrics.FaithfulnessEvaluator, HaystackFaithfulnessEvaluator),
        (ragmetrics.ContextRelevanceEvaluator, HaystackContextRelevanceEvaluator),
    ],
)


@DROP_INS
def test_what_haystacks_evaluator_was_saved_as_loads_as_ours(ours: Any, theirs: Any, monkeypatch: pytest.MonkeyPatch):
    # with the default generator and the default examples, which Haystack writes down
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    saved = theirs().to_dict()["init_parameters"]

    again = ours.from_dict(ours(**{}).to_dict() | {"init_parameters": saved})

    assert again.to_dict()["init_parameters"].items() >= saved.items()
    assert ours().to_dict()["init_parameters"]["chat_generator"] == saved["chat_generator"]


def test_a_statement_that_was_not_judged_has_no_score():
    def forgetful(messages: list[ChatMessage]) -> str:
        if "Split the answer" in (messages[-1].text or ""):
            return json.dumps({"statements": ["Paris is a capital.", "Paris is."], "declined": False})
        return json.dumps({"verdicts": [{"number": 1, "reason": "it says so", "verdict": "yes"}]})

    evaluator = faithfulness(chat_generator=MockChatGenerator(response_fn=forgetful), raise_on_failure=False)
    found = evaluator.run(**{name: values[:1] for name, values in INPUTS.items()})

    result = found["results"][0]
    assert len(result["statements"]) == len(result["statement_scores"])
    assert 0 not in result["statement_scores"]
    assert isnan(result["statement_scores"][-1])


def test_another_metric_changes_nothing_of_the_first():
    one, two = (
        RagMetricsEvaluator(metrics, chat_generator="embedded", progress_bar=False)
        for metrics in (["faithfulness"], ["faithfulness", "context_relevance"])
    )

    assert sockets(one) == sockets(two)
    first, both = one.run(**INPUTS), two.run(**INPUTS)
    assert {name: first[name] for name in ("score", "individual_scores")} == {
        name: both[name] for name in ("score", "individual_scores")
    }
    assert [each["score"] for each in first["results"]] == [each["score"] for each in both["results"]]
    assert list(both["by_metric"]) == ["faithfulness", "context_relevance"]
