"""LangSmith without its server: feedback on runs, evaluators of experiments, judges that are not traced."""

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from ragmetrics_core import Record, Sample, recompute
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import Capture, LiveScorer
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_langchain import LangSmithFeedbackSink, as_langsmith_evaluator, score_step
from tests.integrations.langchain.apps import Shelf, answer, question, rag_chain, texts
from tests.integrations.langchain.test_scope import JudgeModel

langsmith = pytest.importorskip("langsmith")
schemas = pytest.importorskip("langsmith.schemas")

PROJECT = UUID("00000000-0000-0000-0000-00000000cafe")


class OfflineClient(langsmith.Client):  # type: ignore[name-defined,misc]
    """A client that keeps what it would send."""

    def __init__(self) -> None:
        super().__init__(api_url="http://127.0.0.1:9", api_key="no-key", info={}, auto_batch_tracing=False)
        self.traced: dict[str, dict[str, Any]] = {}
        self.feedback: list[dict[str, Any]] = []
        self.flushed = 0

    def create_run(self, name: str, inputs: Any, run_type: str, **kwargs: Any) -> None:
        self.traced[str(kwargs["id"])] = {"name": name, "tags": kwargs.get("tags") or [], **kwargs}

    def update_run(self, run_id: Any, **kwargs: Any) -> None:
        assert str(run_id) in self.traced

    def create_feedback(self, *args: Any, **kwargs: Any) -> Any:
        self.feedback.append(kwargs)

    def read_project(self, *, project_name: str, **kwargs: Any) -> Any:
        assert self.flushed, "the project may not exist before the runs are sent"
        return schemas.TracerSession(
            id=PROJECT, name=project_name, tenant_id=uuid4(), reference_dataset_id=None
        )

    def flush(self, *args: Any, **kwargs: Any) -> None:
        self.flushed += 1


@pytest.fixture
def client() -> Iterator[OfflineClient]:
    """A client that all tracing of the process goes to, as if the environment asked for it."""
    made = OfflineClient()
    langsmith.configure(client=made, enabled=True, project_name="books")
    yield made
    langsmith.configure(client=None, enabled=None, project_name=None)


# Judges and tracing


@pytest.mark.parametrize("mode", ["background", "inline"])
def test_no_call_of_a_judge_is_traced_while_the_application_is(client, make_handler, mode):
    model = JudgeModel()
    handler = make_handler(judge=RunnableLambda(model.invoke), mode=mode)
    config: Any = {"callbacks": [handler]}

    rag_chain(model=model).invoke(question("tea"), config)
    asyncio.run(rag_chain(model=model).ainvoke(question("milk"), config))

    assert handler.flush()
    assert handler.means["faithfulness"] == (1.0, 2)
    names = {run["name"] for run in client.traced.values()}
    assert {"RunnableSequence", "JudgeModel", "Shelf"} <= names
    # the seven runs of the chain, its model and its retriever, for two questions, and nothing else
    assert len(client.traced) == 2 * 9
    assert not [run for run in client.traced.values() if "ragmetrics:judge" in run["tags"]]


# Feedback


def test_scores_become_feedback_on_the_traced_run(client, make_handler):
    handler = make_handler(["faithfulness", "context_recall"], sinks=[LangSmithFeedbackSink(client)])
    rag_chain().invoke(question("tea"), {"callbacks": [handler]})
    assert handler.flush()

    # context_recall was skipped: there is no reference
    (sent,) = client.feedback
    (root,) = [run_id for run_id, run in client.traced.items() if run.get("parent_run_id") is None]
    assert str(sent["run_id"]) == str(sent["trace_id"]) == root
    assert sent["session_id"] == PROJECT
    assert sent["key"] == "faithfulness"
    assert sent["score"] == 1.0
    assert sent["comment"] == handler.results[0].records[0].formula
    assert sent["source_info"]["ragmetrics_status"] == "ok"
    assert handler.stats.errors == []


def test_feedback_written_twice_has_one_id(client, make_handler):
    sink = LangSmithFeedbackSink(client, project_id=PROJECT)
    handler = make_handler()
    rag_chain().invoke(question("tea"), {"callbacks": [handler]})
    handler.flush()
    sink.write(handler.results[0])
    sink.write(handler.results[0])

    assert len({sent["feedback_id"] for sent in client.feedback}) == 1
    assert len(client.feedback) == 2


def test_a_run_under_a_traceable_function_has_feedback_with_the_functions_trace(client, make_handler):
    handler = make_handler(sinks=[LangSmithFeedbackSink(client, project="books")])
    traces: list[UUID] = []

    @langsmith.traceable
    def service(given: str) -> str:
        traces.append(langsmith.get_current_run_tree().trace_id)
        return rag_chain().invoke(given, {"callbacks": [handler]})

    assert service(question("tea")) == answer("tea")
    assert handler.flush()

    (result,) = handler.results
    assert result.sample.contexts == texts("tea")
    (sent,) = client.feedback
    assert [sent["trace_id"]] == traces
    assert str(sent["run_id"]) == result.sample.id
    assert client.traced[result.sample.id]["name"] == "RunnableSequence"
    assert sent["trace_id"] != sent["run_id"]


def test_a_failed_score_is_feedback_that_says_why(client, make_handler):
    def judge(prompt: str) -> str:
        raise RuntimeError("the judge is down")

    handler = make_handler(judge=judge, attempts=1, sinks=[LangSmithFeedbackSink(client, project_id=PROJECT)])
    rag_chain().invoke(question("tea"), {"callbacks": [handler]})
    handler.flush()

    (sent,) = client.feedback
    assert sent["score"] is None
    assert sent["comment"].startswith("model_error (")
    assert "the judge is down" in sent["comment"]


def test_a_step_that_shares_the_scorer_has_feedback_on_its_own_run(client, make_handler):
    handler = make_handler(sinks=[LangSmithFeedbackSink(client, project_id=PROJECT)])
    step = score_step(live=handler.live)
    chain = RunnablePassthrough() | step
    given = {"question": "q", "context": ["Tea is green."], "answer": "Tea is green."}

    chain.invoke(given)
    asyncio.run(chain.ainvoke(given))
    assert handler.flush()

    roots = {run_id for run_id, run in client.traced.items() if run.get("parent_run_id") is None}
    assert len(client.feedback) == 2
    for sent in client.feedback:
        assert client.traced[str(sent["run_id"])]["name"] == "score_step"
        assert str(sent["trace_id"]) in roots
    assert handler.stats.errors == []


def test_a_capture_that_is_no_run_has_no_feedback(client):
    with LiveScorer("faithfulness", judge="embedded", sinks=[LangSmithFeedbackSink(client)]) as live:
        sample = Sample(question="q", contexts=["Tea is green."], answer="Tea is green.")
        live.score(Capture(translate=lambda _: sample))
        live.score(Capture(translate=lambda _: sample, id="order-17"))

    assert client.feedback == []
    assert live.stats.errors == []


def test_two_variants_of_a_metric_have_keys_of_their_own(client, make_handler):
    both = [Faithfulness(), Faithfulness(variant="paper"), "context_recall"]
    handler = make_handler(both, sinks=[LangSmithFeedbackSink(client, project_id=PROJECT)])
    rag_chain().invoke(question("tea"), {"callbacks": [handler]})
    assert handler.flush()

    keys = ["faithfulness/strict.1", "faithfulness/paper.1"]
    assert [sent["key"] for sent in client.feedback] == keys
    # likewise as an evaluator, where what was skipped is told too
    evaluator = as_langsmith_evaluator(both, judge="embedded")
    for results in evaluated(answers_with_documents, evaluator):
        assert list(results) == [*keys, "context_recall"]


# Evaluators


def example(topic: str) -> Any:
    return schemas.Example(
        id=uuid4(),
        inputs={"question": question(topic)},
        outputs={"answer": answer(topic)},
        dataset_id=uuid4(),
    )


def evaluated(target: Any, evaluator: Any) -> list[dict[str, Any]]:
    """Results by metric for each example, offline."""
    results = langsmith.evaluate(
        target,
        data=[example("tea"), example("milk")],
        evaluators=[evaluator],
        upload_results=False,
        client=OfflineClient(),
    )
    return [{each.key: each for each in row["evaluation_results"]["results"]} for row in results]


def mapped(run: Any, example: Any) -> Sample:
    return Sample(question="q", answer=run.outputs["said"], contexts=["Tea is green."])


def answers_with_documents(inputs: dict[str, Any]) -> dict[str, Any]:
    topic = inputs["question"].split()[-1].rstrip("?")
    return {"answer": answer(topic), "context": list(texts(topic))}


def test_an_experiment_gets_one_result_for_each_metric_with_the_proof_in_its_metadata():
    evaluator = as_langsmith_evaluator(["faithfulness", "context_recall"], judge="embedded")

    for results in evaluated(answers_with_documents, evaluator):
        assert set(results) == {"faithfulness", "context_recall"}
        assert results["faithfulness"].score == 1.0
        for result in results.values():
            record = Record.model_validate(result.metadata["ragmetrics"])
            assert recompute(record).value == result.score
            assert result.comment == record.formula


def test_a_chain_as_target_is_evaluated_with_what_its_retriever_found():
    evaluator = as_langsmith_evaluator("faithfulness", judge="embedded")

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        return {"output": rag_chain().invoke(inputs["question"])}

    for topic, results in zip(("tea", "milk"), evaluated(target, evaluator), strict=True):
        record = Record.model_validate(results["faithfulness"].metadata["ragmetrics"])
        assert record.sample is not None
        assert record.sample.contexts == texts(topic)
        assert record.sample.labels["found_contexts"] == "Shelf, shown to Echo"
        assert set(record.sample.shown) == {"verified"}


def test_what_a_step_dropped_before_the_traced_request_is_no_context():
    evaluator = as_langsmith_evaluator("faithfulness", judge="embedded")

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        first = Shelf() | RunnableLambda(lambda documents: documents[:1])
        return {"output": rag_chain(first).invoke(inputs["question"])}

    (results, _) = evaluated(target, evaluator)
    record = Record.model_validate(results["faithfulness"].metadata["ragmetrics"])
    assert record.sample is not None
    assert record.sample.contexts == texts("tea")[:1]


def test_an_experiment_that_runs_asynchronously_is_evaluated_too():
    evaluator = as_langsmith_evaluator("faithfulness", judge="embedded")

    async def target(inputs: dict[str, Any]) -> dict[str, Any]:
        return answers_with_documents(inputs)

    async def run() -> list[Any]:
        results = await langsmith.aevaluate(
            target,
            data=[example("tea")],
            evaluators=[evaluator],
            upload_results=False,
            client=OfflineClient(),
        )
        return [row["evaluation_results"]["results"][0].score async for row in results]

    assert asyncio.run(run()) == [1.0]


@pytest.mark.parametrize(
    ("said", "options", "score", "comment"),
    [
        ({"said": "Tea is green."}, {"map": mapped}, 1.0, "1 / 1 = 1"),
        ({"answer": "Tea is green."}, {}, None, "skipped (contexts)"),
    ],
    ids=["a map in place of the rules", "no contexts"],
)
def test_a_result_has_its_score_or_says_why_there_is_none(said, options, score, comment):
    evaluator = as_langsmith_evaluator("faithfulness", judge="embedded", **options)

    for results in evaluated(lambda inputs: said, evaluator):
        result = results["faithfulness"]
        assert (result.score, result.comment) == (score, comment)


def test_an_evaluator_takes_metrics_or_a_live_scorer():
    with LiveScorer("faithfulness", judge="embedded") as live:
        (result, _) = evaluated(answers_with_documents, as_langsmith_evaluator(live=live))
        assert result["faithfulness"].score == 1.0
        with pytest.raises(ConfigError, match="not both"):
            as_langsmith_evaluator("faithfulness", live=live)


def test_a_traced_function_gives_its_documents_as_mappings():
    evaluator = as_langsmith_evaluator("faithfulness", judge="embedded")

    @langsmith.traceable(run_type="retriever")
    def search(query: str) -> list[dict[str, Any]]:
        return [{"page_content": text, "type": "Document", "metadata": {}} for text in texts(query)]

    @langsmith.traceable(run_type="llm")
    def model(messages: list[dict[str, str]]) -> dict[str, Any]:
        return {"choices": [{"message": {"role": "assistant", "content": answer("tea")}}]}

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        first = search("tea")[0]["page_content"]
        reply = model([{"role": "user", "content": f"{first}\n{inputs['question']}"}])
        return {"answer": reply["choices"][0]["message"]["content"]}

    (results, _) = evaluated(target, evaluator)
    record = Record.model_validate(results["faithfulness"].metadata["ragmetrics"])
    assert record.sample is not None
    assert (record.sample.contexts, record.sample.shown) == (texts("tea")[:1], ("verified",))
