"""What is scored and what is not, and that taking the hooks out leaves nothing behind."""

import asyncio
import logging
import threading
from typing import Any

import pytest
from llama_index.core import instrumentation
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.evaluation import FaithfulnessEvaluator as BuiltInFaithfulness
from llama_index.core.instrumentation.dispatcher import instrument_tags
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler
from llama_index.core.query_engine import RetrieverQueryEngine, RetryQueryEngine
from llama_index.core.settings import Settings

from ragmetrics_core import Run
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import LiveScorer
from ragmetrics_llama_index import FaithfulnessEvaluator, Instrumentation, instrument
from tests.integrations.llama_index.fakes import (
    CONTEXTS,
    FAITHFUL,
    HALF,
    QUERY,
    FunctionLLM,
    judge_llm,
    qa_engine,
)


def engine(answer: str = FAITHFUL) -> RetrieverQueryEngine:
    return qa_engine(lambda question: answer, lambda question: CONTEXTS)


def questions(live: Instrumentation) -> list[str | None]:
    assert live.flush(60)
    return [result.sample.question for result in live.results]


# Other evaluators and our own judge


def test_what_llama_index_evaluators_ask_through_their_own_engines_is_not_scored(live):
    hooks = live()
    built_in = BuiltInFaithfulness(llm=FunctionLLM(lambda prompt: "YES"))

    result = built_in.evaluate(query=QUERY, response=FAITHFUL, contexts=CONTEXTS)

    assert result.passing
    assert hooks.flush(60)
    assert (hooks.stats.captured, hooks.open_spans) == (0, 0)


def test_a_batch_over_an_engine_scores_its_queries_and_none_of_the_evaluators(live):
    hooks = live()
    evaluators = {
        "theirs": BuiltInFaithfulness(llm=FunctionLLM(lambda prompt: "YES")),
        "ours": FaithfulnessEvaluator(llm=judge_llm()),
    }

    runner = BatchEvalRunner(evaluators, workers=4)
    results = asyncio.run(runner.aevaluate_queries(engine(), queries=["one?", "two?", "three?"]))

    assert [len(each) for each in results.values()] == [3, 3]
    assert sorted(map(str, questions(hooks))) == ["one?", "three?", "two?"]


def test_an_evaluator_inside_of_a_query_engine_does_not_add_its_own_contexts(live):
    hooks = live()
    evaluator = BuiltInFaithfulness(llm=FunctionLLM(lambda prompt: "YES"))

    RetryQueryEngine(engine(), evaluator).query(QUERY)

    assert questions(hooks) == [QUERY]
    assert list(hooks.results[0].sample.contexts or ()) == CONTEXTS


def test_a_llama_index_model_as_the_judge_is_never_a_sample(live):
    hooks = live(llm=judge_llm())
    engine(HALF).query(QUERY)
    assert questions(hooks) == [QUERY]
    assert hooks.results[0].scores == {"faithfulness": 0.5}
    assert hooks.open_spans == 0


def test_the_models_of_the_settings_judge_when_none_is_given(live, monkeypatch):
    monkeypatch.setattr(Settings, "_llm", judge_llm())
    hooks = live(llm=None)
    engine().query(QUERY)
    assert questions(hooks) == [QUERY]
    assert hooks.results[0].records[0].judge is not None
    assert "FunctionLLM" in hooks.results[0].records[0].judge
    monkeypatch.undo()


# What is watched


def test_only_watched_engines_are_scored(live):
    one, two, other = engine(), engine(), engine()
    first, second, every = live([one]), live([two]), live([RetrieverQueryEngine])
    other.query("other?")
    one.query("one?")
    two.query("two?")
    assert (questions(first), questions(second)) == (["one?"], ["two?"])
    assert sorted(map(str, questions(every))) == ["one?", "other?", "two?"]


@pytest.mark.parametrize("watch", [[], "engine", ["engine"], [int], [FunctionLLM(str)]])
def test_watching_what_is_no_engine_is_a_mistake(watch):
    with pytest.raises(ConfigError, match="watch takes"):
        instrument("faithfulness", "embedded", watch=watch)


def test_tags_become_labels_and_name_the_session(live):
    hooks = live()
    with instrument_tags({"session_id": "s-1", "tenant": "blue"}):
        engine().query(QUERY)
    questions(hooks)
    sample = hooks.results[0].sample
    assert (sample.session, sample.turn) == ("s-1", None)  # a query engine remembers nothing
    assert (sample.labels["tenant"], sample.labels["app"]) == ("blue", "RetrieverQueryEngine")
    assert "session_id" not in sample.labels


# Failures


def test_a_query_that_fails_is_counted_and_raises_as_before(live):
    hooks = live()

    def fails(question: str) -> list[str]:
        raise LookupError("the index is gone")

    with pytest.raises(LookupError, match="the index is gone"):
        qa_engine(lambda question: FAITHFUL, fails).query(QUERY)
    assert (hooks.stats.skipped, hooks.open_spans) == ({"run_failed": 1}, 0)


def test_a_query_that_is_cancelled_is_counted(live):
    hooks = live()
    entered = threading.Event()

    class Waiting(RetrieverQueryEngine):
        async def _aquery(self, bundle: Any) -> Any:
            entered.set()
            await asyncio.get_running_loop().create_future()

    plain = engine()

    async def cancelled() -> None:
        task = asyncio.create_task(Waiting(plain._retriever, plain._response_synthesizer).aquery(QUERY))
        while not entered.is_set():
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert (hooks.stats.skipped, hooks.open_spans) == ({"cancelled": 1}, 0)


def test_an_error_of_a_hook_is_logged_with_its_traceback_and_the_answer_comes(live, caplog):
    hooks = live()
    hooks._spans.leave = None  # a bug of ours

    with caplog.at_level(logging.ERROR, logger="ragmetrics.live"):
        assert str(engine().query(QUERY)) == FAITHFUL

    assert hooks.stats.skipped["hook_failed"] > 0
    assert caplog.records[0].exc_info
    hooks._spans.open.clear()


# Taking it out


def test_uninstrumenting_leaves_the_dispatcher_exactly_as_it_was(live):
    dispatcher = instrumentation.get_dispatcher()
    other = SimpleSpanHandler()
    dispatcher.add_span_handler(other)
    spans, events = list(dispatcher.span_handlers), list(dispatcher.event_handlers)
    try:
        hooks = live()
        assert hooks.is_installed
        hooks.uninstrument()
        hooks.uninstrument()

        assert not hooks.is_installed
        assert all(now is then for now, then in zip(dispatcher.span_handlers, spans, strict=True))
        assert all(now is then for now, then in zip(dispatcher.event_handlers, events, strict=True))
        engine().query(QUERY)
        assert questions(hooks) == []
    finally:
        dispatcher.span_handlers.remove(other)


def test_the_same_call_again_goes_on_in_the_same_folder_and_leaves_no_thread(live, tmp_path):
    engine_, others = engine(), set(threading.enumerate())
    first = live(out=tmp_path / "live")
    engine_.query("one?")
    assert first.flush(60)
    its_threads = set(threading.enumerate()) - others
    for question in ("two?", "three?"):
        last = live(out=tmp_path / "live")
        engine_.query(question)
    last.close()

    for thread in its_threads:
        thread.join(60)
    assert its_threads
    assert not [thread for thread in its_threads if thread.is_alive()]
    # what the first two captured was scored, and nothing went to a folder beside it
    assert [each.name for each in tmp_path.iterdir()] == ["live"]
    run = Run.load(tmp_path / "live")
    assert sorted(record.sample.question for record in run.records()) == ["one?", "three?", "two?"]


def test_a_mistake_is_told_in_a_sentence_and_ends_no_earlier_instrumentation(live):
    first = live()
    for wrong, message in (
        ({"judge": judge_llm()}, "no argument 'judge': it is called 'llm' here"),
        ({"concurency": 3}, "no argument 'concurency': did you mean 'concurrency'?"),
    ):
        with pytest.raises(TypeError, match=message):
            instrument("faithfulness", judge_llm(), **wrong)
    for refused in ({"sample_rate": 2.0}, {"prompts": "no such folder"}):
        with pytest.raises(ConfigError):
            instrument("faithfulness", judge_llm(), **refused)

    assert first.is_installed
    engine().query(QUERY)
    assert questions(first) == [QUERY]


def test_a_live_scorer_of_ones_own_is_used_and_not_closed_by_the_same_call_again():
    engine_ = engine()
    with LiveScorer("faithfulness", judge="embedded") as own:
        instrument(live=own, watch=[engine_])
        engine_.query("one?")
        hooks = instrument(live=own, watch=[engine_])
        engine_.query("two?")
        assert own.flush(60)

        assert hooks.live is own
        assert sorted(str(result.sample.question) for result in own.results) == ["one?", "two?"]
        hooks.uninstrument()


def test_metrics_beside_a_live_scorer_are_a_mistake():
    own = LiveScorer("faithfulness", judge="embedded")

    with pytest.raises(ConfigError, match="not both"):
        instrument("faithfulness", live=own)


def test_the_dispatchers_shutdown_waits_for_the_scores(live):
    hooks = live()
    engine().query(QUERY)
    instrumentation.get_dispatcher().shutdown()
    assert hooks.stats.scored == 1
