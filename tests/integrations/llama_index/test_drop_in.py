"""Changing the import line is enough: the built-in evaluators' calls, made with theirs and with ours."""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core import PromptTemplate
from llama_index.core import evaluation as theirs
from llama_index.core.base.embeddings.base import SimilarityMode
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.evaluation import EvaluationResult
from llama_index.core.query_engine import RetryQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.settings import Settings
from llama_index.core.tools import QueryEngineTool
from llama_index.core.tools.eval_query_engine import EvalQueryEngineTool

import ragmetrics_llama_index as ours
from ragmetrics_core.errors import ConfigError
from ragmetrics_llama_index import GuidelineEvaluator, RelevancyEvaluator
from tests.integrations.llama_index.fakes import (
    CONTEXTS,
    FAITHFUL,
    HALF,
    QUERY,
    FunctionLLM,
    FunctionRetriever,
    WordEmbedding,
    judging,
    qa_engine,
)
from tests.integrations.llama_index.scored import memory

BOTH = pytest.mark.parametrize("module", [theirs, ours], ids=["theirs", "ours"])


def knows_both(prompt: str) -> str:
    """Replies to our prompts, and to all prompts of the built-in evaluators with full marks."""
    reply = judging(prompt)
    return "4.0\nYes, it is all there. [RESULT] 2" if reply.startswith("I do not") else reply


@pytest.fixture
def llm() -> FunctionLLM:
    return FunctionLLM(knows_both)


@pytest.fixture
def embed_model(monkeypatch) -> WordEmbedding:
    """Also the one of the settings, as long as the test runs."""
    return WordEmbedding()


def response() -> Response:
    nodes = [NodeWithScore(node=TextNode(text=text), score=1.0) for text in CONTEXTS]
    return Response(FAITHFUL, source_nodes=nodes)


# Faithfulness, in every form of the guides


@BOTH
@pytest.mark.parametrize(
    "make",
    [
        lambda kind, llm: kind(llm, False, None, None),
        lambda kind, llm: kind(llm=llm, raise_error=False, eval_template=None, refine_template=None),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda made: made.evaluate(query=QUERY, response=FAITHFUL, contexts=CONTEXTS),
        lambda made: made.evaluate(QUERY, FAITHFUL, CONTEXTS),
        lambda made: made.evaluate(response=FAITHFUL, contexts=[CONTEXTS[0]]),
        lambda made: made.evaluate_response(query=QUERY, response=response()),
        lambda made: asyncio.run(made.aevaluate(query=QUERY, response=FAITHFUL, contexts=CONTEXTS)),
        lambda made: asyncio.run(made.aevaluate(QUERY, FAITHFUL, CONTEXTS, 0)),
        lambda made: asyncio.run(
            made.aevaluate(QUERY, FAITHFUL, CONTEXTS, sleep_time_in_seconds=0, reference="unused")
        ),
        lambda made: asyncio.run(made.aevaluate_response(query=QUERY, response=response())),
    ],
)
def test_a_faithful_answer_passes_in_every_call_form(module, llm, make, call):
    result = call(make(module.FaithfulnessEvaluator, llm))
    assert isinstance(result, EvaluationResult)
    assert (result.passing, result.score, result.invalid_result) == (True, 1.0, False)
    assert result.feedback


@BOTH
@pytest.mark.parametrize(
    "call",
    [
        lambda module, llm: module.CorrectnessEvaluator(llm=llm).evaluate(
            query=QUERY, response=FAITHFUL, reference=FAITHFUL
        ),
        lambda module, llm: module.CorrectnessEvaluator(llm, None, 4.0).evaluate(
            query=QUERY, response=FAITHFUL, reference=FAITHFUL
        ),
        lambda module, llm: asyncio.run(
            module.CorrectnessEvaluator(llm, score_threshold=3.5).aevaluate(
                QUERY, FAITHFUL, CONTEXTS, FAITHFUL, 0
            )
        ),
        lambda module, llm: module.CorrectnessEvaluator(llm=llm).evaluate_response(
            query=QUERY, response=response(), reference=FAITHFUL
        ),
    ],
)
def test_a_correct_answer_passes_in_every_call_form_on_the_scale_to_five(module, llm, call):
    result = call(module, llm)
    assert result.passing is True
    assert 4.0 <= result.score <= 5.0


@BOTH
@pytest.mark.parametrize(
    "make",
    [
        lambda module, model: module.SemanticSimilarityEvaluator(embed_model=model),
        lambda module, model: module.SemanticSimilarityEvaluator(model, None, SimilarityMode.DEFAULT, 0.6),
        lambda module, model: module.SemanticSimilarityEvaluator(
            embed_model=model, similarity_mode=SimilarityMode.DEFAULT, similarity_threshold=0.6
        ),
    ],
)
def test_similarity_is_the_same_number(module, embed_model, make):
    made = make(module, embed_model)
    same = made.evaluate(response=FAITHFUL, reference=FAITHFUL)
    assert same.score == pytest.approx(1.0)
    assert same.passing
    # 6 words of the answer, 4 of the reference; 2 of them are in both: 2 / sqrt(6 · 4), but for collisions
    other = make(ours, embed_model).evaluate(response=FAITHFUL, reference="It is a tower")
    built_in = make(theirs, embed_model).evaluate(response=FAITHFUL, reference="It is a tower")
    assert other.score == pytest.approx(built_in.score)


@BOTH
def test_relevancy_evaluators_take_the_same_calls(module, llm, embed_model):
    earlier = Settings._embed_model
    Settings._embed_model = embed_model
    try:
        answer = module.AnswerRelevancyEvaluator(llm=llm).evaluate(query=QUERY, response=FAITHFUL)
        assert answer.score == pytest.approx(1.0)
        positional = module.AnswerRelevancyEvaluator(llm, False, None)
        assert asyncio.run(positional.aevaluate(QUERY, FAITHFUL, None, 0)).score == pytest.approx(1.0)
    finally:
        Settings._embed_model = earlier


@BOTH
def test_context_relevancy_takes_the_same_calls(module):
    ours_reply = json.dumps({"relevant": [1]})
    made = FunctionLLM(lambda prompt: ours_reply if "<contexts>" in prompt else "fine [RESULT] 2")
    for each in (
        module.ContextRelevancyEvaluator(llm=made),
        module.ContextRelevancyEvaluator(made, False, None, None),
    ):
        # one of two sentences; there, two marks of four
        assert each.evaluate(query=QUERY, contexts=CONTEXTS).score == 0.5


@BOTH
def test_raise_error_raises_a_value_error_when_the_answer_does_not_pass(module):
    says_no = FunctionLLM(lambda prompt: "no" if "{" not in judging(prompt) else judging(prompt))
    made = module.FaithfulnessEvaluator(says_no, raise_error=True)
    with pytest.raises(ValueError, match="The response is invalid"):
        made.evaluate(query=QUERY, response=HALF, contexts=CONTEXTS)


@BOTH
def test_what_is_missing_raises_a_value_error_where_errors_are_asked_for(module, llm):
    with pytest.raises(ValueError, match=r"contexts|provided"):
        module.FaithfulnessEvaluator(llm, raise_error=True).evaluate(query=QUERY, response=FAITHFUL)


# Where LlamaIndex itself uses an evaluator


@BOTH
def test_a_retry_query_engine_takes_the_evaluator(module, llm):
    engine = qa_engine(lambda question: FAITHFUL, lambda question: CONTEXTS)
    assert str(RetryQueryEngine(engine, module.FaithfulnessEvaluator(llm)).query(QUERY)) == FAITHFUL


@BOTH
def test_an_evaluating_tool_takes_the_evaluator(module, llm):
    engine = qa_engine(lambda question: FAITHFUL, lambda question: CONTEXTS)
    tool = QueryEngineTool.from_defaults(engine, name="towers", description="knows towers")
    evaluating = EvalQueryEngineTool(
        module.FaithfulnessEvaluator(llm), query_engine=engine, metadata=tool.metadata
    )
    assert FAITHFUL in evaluating.call(QUERY).content


# Responses of all kinds


def tokens() -> Any:
    yield from ("The tower ", "is 300 m high.")


async def async_tokens() -> Any:
    for token in tokens():
        yield token


def chat_tokens() -> Any:
    for token in tokens():
        yield ChatResponse(message=ChatMessage(role="assistant"), delta=token)


@pytest.mark.parametrize(
    "make",
    [
        lambda nodes: Response(FAITHFUL, nodes),
        lambda nodes: StreamingResponse(tokens(), nodes),
        lambda nodes: AsyncStreamingResponse(async_tokens(), nodes),
        lambda nodes: AgentChatResponse(FAITHFUL, source_nodes=nodes),
        lambda nodes: StreamingAgentChatResponse(
            chat_stream=chat_tokens(), source_nodes=nodes, is_writing_to_memory=False
        ),
    ],
)
def test_every_kind_of_response_is_evaluated(llm, make):
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in CONTEXTS]

    async def evaluated() -> EvaluationResult:
        return await ours.FaithfulnessEvaluator(llm).aevaluate_response(QUERY, make(nodes))

    result = asyncio.run(evaluated())
    assert (result.score, result.response, result.contexts) == (1.0, FAITHFUL, CONTEXTS)


@pytest.mark.parametrize(
    ("metadata", "said"), [({"written": FAITHFUL}, FAITHFUL), ({"other": "1"}, None), (None, None)]
)
def test_an_entry_of_the_metadata_is_the_answer_when_it_is_named(llm, metadata, said):
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in CONTEXTS]
    response = Response("Rows and rows.", nodes, metadata)
    result = ours.FaithfulnessEvaluator(llm).evaluate_response(QUERY, response, response_field="written")
    assert (result.response, result.score) == (said, None if said is None else 1.0)


def chat() -> ContextChatEngine:
    return ContextChatEngine(
        FunctionRetriever(lambda question: CONTEXTS),
        llm=FunctionLLM(lambda prompt: FAITHFUL),
        memory=memory(),
        prefix_messages=[],
    )


@pytest.mark.parametrize("read_before", [False, True])
def test_a_streaming_chat_is_read_to_its_end(llm, read_before):
    made = ours.FaithfulnessEvaluator(llm)
    response = chat().stream_chat(QUERY)
    if read_before:
        assert "".join(response.response_gen) == FAITHFUL

    async def evaluated() -> EvaluationResult:
        response = await chat().astream_chat(QUERY)
        if read_before:
            assert "".join([token async for token in response.async_response_gen()]) == FAITHFUL
        return await made.aevaluate_response(QUERY, response)

    for result in (made.evaluate_response(QUERY, response), asyncio.run(evaluated())):
        assert (result.score, result.response, result.contexts) == (1.0, FAITHFUL, CONTEXTS)


def test_an_asynchronous_chat_that_another_loop_writes_is_not_waited_for_in_vain(llm):
    made = ours.FaithfulnessEvaluator(llm)

    async def evaluated() -> None:
        response = await SimpleChatEngine(llm, memory(), prefix_messages=[]).astream_chat(QUERY)
        # it stands still while this waits, and so does what would write the stream
        with pytest.raises(ConfigError, match="await aevaluate_response"):
            made.evaluate_response(QUERY, response)

    asyncio.run(evaluated())


# From everywhere


def test_evaluate_works_inside_a_running_loop_and_in_a_thread(llm):
    made = ours.FaithfulnessEvaluator(llm)

    async def inside() -> float | None:
        return made.evaluate(query=QUERY, response=HALF, contexts=CONTEXTS).score

    assert asyncio.run(inside()) == 0.5
    with ThreadPoolExecutor(1) as threads:
        done = threads.submit(made.evaluate, query=QUERY, response=HALF, contexts=CONTEXTS)
        assert done.result().score == 0.5


# What means nothing here is said


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda llm: ours.FaithfulnessEvaluator(llm, eval_template="{query_str} {context_str}"), "eval"),
        (lambda llm: ours.FaithfulnessEvaluator(llm, refine_template=PromptTemplate("{x}")), "refine"),
        (lambda llm: ours.AnswerRelevancyEvaluator(llm, False, None, 2.0), "score_threshold"),
        (lambda llm: ours.ContextRelevancyEvaluator(llm, parser_function=lambda text: (1.0, text)), "parser"),
        (lambda llm: ours.CorrectnessEvaluator(llm, parser_function=lambda text: (1.0, text)), "parser"),
    ],
)
def test_an_argument_that_only_the_built_in_evaluator_can_use_is_named_in_a_warning(llm, make, name):
    with pytest.warns(UserWarning, match=name):
        make(llm)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ours.SemanticSimilarityEvaluator(similarity_fn=lambda a, b: 1.0),
        lambda: ours.SemanticSimilarityEvaluator(similarity_mode=SimilarityMode.EUCLIDEAN),
        lambda: ours.CorrectnessEvaluator(scale="1-10"),
        lambda: ours.CorrectnessEvaluator(scale="0-1", score_threshold=4.0),
        lambda: ours.RagMetricsEvaluator(["no_such_metric"]),
        lambda: ours.RagMetricsEvaluator("faithfulness", llm=42),
    ],
)
def test_a_mistake_is_an_error_when_the_evaluator_is_made(wrong):
    with pytest.raises(ConfigError):
        wrong()


def criteria(met: str) -> FunctionLLM:
    """A judge that knows the prompts of `judging`, and says of every criterion that it is met, or not."""

    def reply(prompt: str) -> str:
        if "Criteria:" not in prompt:
            return judging(prompt)
        numbers = re.findall(r"^(\d+)\. ", prompt.partition("<items>")[2], re.MULTILINE)
        verdicts = [
            {"number": int(number), "reason": "so", "evidence": "", "verdict": met} for number in numbers
        ]
        return json.dumps({"verdicts": verdicts})

    return FunctionLLM(reply)


@pytest.mark.parametrize(
    ("answer", "met", "score", "passing"),
    [(FAITHFUL, "yes", 1.0, True), (FAITHFUL, "no", 0.5, False), (HALF, "yes", 0.75, False)],
)
def test_relevancy_passes_what_the_contexts_support_and_the_query_asks_for(answer, met, score, passing):
    # the mean of the supported share (1 or 1/2) and of the criterion (1 or 0)
    result = RelevancyEvaluator(criteria(met)).evaluate(QUERY, answer, CONTEXTS)
    assert (result.score, result.passing) == (score, passing)


@pytest.mark.parametrize(("met", "score"), [("yes", 1.0), ("no", 0.0)])
def test_all_guidelines_are_asked_about_in_one_call_and_all_must_be_kept(met, score):
    judge = criteria(met)
    result = GuidelineEvaluator(judge, guidelines="- Names a unit.\n\n- Is short.").evaluate(
        QUERY, FAITHFUL, CONTEXTS
    )
    assert (result.score, result.passing) == (score, score == 1.0)
    (record,) = result.records
    assert [verdict.text for verdict in record.verdicts] == ["Names a unit.", "Is short."]
    assert len(judge.asked) == 1


def test_guidelines_that_say_nothing_are_an_error():
    with pytest.raises(ConfigError, match=r"^GuidelineEvaluator needs guidelines"):
        GuidelineEvaluator("embedded", guidelines=" \n")


def test_every_evaluator_of_the_framework_has_a_counterpart_or_is_named_as_missing():
    names = {name for name in theirs.__all__ if name.endswith("Evaluator")} - {"BaseEvaluator"}
    # `RelevanceEvaluator` is in the list of names only
    there = {name for name in names if hasattr(theirs, name)}
    missing = {name for name in there if not hasattr(ours, name)}
    assert missing == {
        "BaseRetrievalEvaluator",
        "MultiModalRetrieverEvaluator",
        "PairwiseComparisonEvaluator",
        "RetrieverEvaluator",
    }
