"""Scores inside a chain, and a fallback below a threshold."""

import asyncio
import threading
from operator import itemgetter
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import Runnable, RunnableBranch, RunnableLambda, RunnablePassthrough

from ragmetrics_core import recompute
from ragmetrics_core.errors import ConfigError
from ragmetrics_langchain import above, below, score_step
from tests.integrations.langchain.apps import PROMPT, Echo, Shelf, answer, question

FALLBACK = "I had better ask somebody."


def guarded(model: Echo, **settings: Any) -> Runnable[Any, str]:
    """Answer, score, and answer something else when the score is low."""
    branch: Runnable[Any, str] = RunnableBranch(
        (below("faithfulness", 0.6, without_value=True), RunnableLambda(lambda _: FALLBACK)),
        RunnableLambda(itemgetter("answer")),
    )
    return (
        RunnablePassthrough.assign(context=itemgetter("question") | Shelf())
        | RunnablePassthrough.assign(answer=PROMPT | model | StrOutputParser())
        | score_step("faithfulness", **{"judge": "embedded"} | settings)
        | branch
    )


def test_an_unsupported_answer_is_replaced():
    model = Echo(replies=[AIMessage("Vienna has two million inhabitants.")])

    assert guarded(model).invoke({"question": question("tea")}) == FALLBACK


def test_it_works_asynchronously_in_batches_and_streams():
    chain = guarded(Echo())
    given = [{"question": question(n)} for n in range(20)]

    async def ask_all() -> list[str]:
        return await chain.abatch(given)

    expected = [answer(n) for n in range(20)]
    assert asyncio.run(ask_all()) == expected
    assert chain.batch(given) == expected
    assert "".join(chain.stream(given[0])) == expected[0]


def test_a_judge_that_fails_gives_no_score_and_no_error():
    def judge(prompt: str) -> str:
        raise RuntimeError("the judge is down")

    step = score_step("faithfulness", judge=judge)
    scored = step.invoke({"question": "q", "context": ["c"], "answer": "It is so."})

    assert scored["scores"] == {"faithfulness": None}
    assert scored["answer"] == "It is so."


def test_the_records_come_along_on_request_and_prove_the_scores():
    step = score_step("faithfulness", judge="embedded", scores_key="quality", records_key="proofs")
    scored = step.invoke({"question": "q", "context": "Tea is green.", "answer": "Tea is green."})

    assert scored["quality"] == {"faithfulness": 1.0}
    assert [recompute(record).value for record in scored["proofs"]] == [1.0]


def test_fields_under_other_names_are_named():
    step = score_step(
        "faithfulness", judge="embedded", input_key="asks", context_key="passages", answer_key="says"
    )
    scored = step.invoke({"asks": "q", "passages": ["Tea is green."], "says": "Tea is green."})

    assert scored["scores"] == {"faithfulness": 1.0}


def test_a_step_may_use_the_scorer_of_a_handler(handler):
    step = score_step(live=handler.live)
    scored = step.invoke({"question": "q", "context": ["Tea is green."], "answer": "Tea is green."})

    assert scored["scores"] == {"faithfulness": 1.0}
    assert handler.flush()
    assert handler.means["faithfulness"] == (1.0, 1)


def test_something_that_is_no_mapping_is_refused_with_the_remedy():
    with pytest.raises(ConfigError, match="needs a mapping with question, contexts and answer, not str"):
        score_step("faithfulness", judge="embedded").invoke("an answer")


@pytest.mark.parametrize(
    ("compares", "score", "expected"),
    [
        *((below, score, expected) for score, expected in ((0.59, True), (0.6, False), (1.0, False))),
        *((above, score, expected) for score, expected in ((0.61, True), (0.6, False), (0.0, False))),
        *((compares, None, None) for compares in (below, above)),
    ],
)
def test_conditions_compare_strictly_and_say_what_holds_without_a_value(compares, score, expected):
    for without_value in (True, False):
        condition = compares("faithfulness", 0.6, without_value=without_value)
        wanted = without_value if expected is None else expected
        assert condition({"scores": {"faithfulness": score}}) is wanted


@pytest.mark.parametrize(
    "call", [lambda step, given: step.invoke(given), lambda step, given: asyncio.run(step.ainvoke(given))]
)
def test_a_judge_that_hangs_holds_the_chain_no_longer_than_its_time_limit(call):
    released = threading.Event()

    def judge(prompt: str) -> str:
        released.wait(60)
        raise RuntimeError("too late")

    step = score_step("faithfulness", judge=judge, timeout=None, time_limit=0.05, records_key="records")
    try:
        scored = call(step, {"question": "q", "context": ["c"], "answer": "It is so."})
    finally:
        released.set()

    assert scored["scores"] == {"faithfulness": None}
    assert (scored["records"], scored["answer"]) == ((), "It is so.")


def test_a_time_limit_of_nothing_is_refused():
    with pytest.raises(ConfigError, match="time_limit must be more than 0 seconds"):
        score_step("faithfulness", judge="embedded", time_limit=0)
