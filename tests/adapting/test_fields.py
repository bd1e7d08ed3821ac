"""Question, contexts and answer are where the application says, and found by known names otherwise."""

from collections.abc import Mapping
from typing import Any

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.adapting import Call, CapturedRun, NamedValue, Rules, Skip, sample_of
from ragmetrics_core.errors import SampleError
from tests.adapting.plain import PLAIN, Clock, Doc, Said

TEA = Doc("Green tea is dried in a pan before it is rolled.", "tea")
QUESTION, ANSWER = "How is green tea made?", "It is dried in a pan."


def calls() -> list[Call]:
    """A search and an answer from what was found."""
    clock = Clock()
    return [
        clock.call("retriever", "search", QUESTION, [TEA]),
        clock.call("model", "llm", [Said("user", f"{TEA.text} {QUESTION}")], ANSWER),
    ]


def sample_with(given: Mapping[str, Any] | None = None, rules: Rules | None = None, **run: Any) -> Sample:
    of_run = {"inputs": {"question": QUESTION}, "outputs": ANSWER, "given": given} | run
    return sample_of(CapturedRun(calls=calls(), **of_run), PLAIN, rules)


def found(sample: Sample) -> tuple[object, ...]:
    return tuple(sample.labels[f"found_{field}"] for field in ("question", "contexts", "answer"))


def test_keys_that_are_given_win_over_the_rules():
    sample = sample_with(
        rules=Rules(input_key="asks", context_key="passages", answer_key="says"),
        inputs={"asks": "Which tea?", "question": "no"},
        outputs={"says": "Green tea.", "answer": "no", "passages": ["Tea is green."], "context": "no"},
    )
    assert (sample.question, sample.contexts, sample.answer) == (
        "Which tea?",
        ("Tea is green.",),
        "Green tea.",
    )
    assert found(sample) == ("input_key 'asks'", "context_key 'passages'", "answer_key 'says'")


def test_extract_says_what_it_wants_and_the_rest_is_left_to_the_rules():
    sample = sample_with(
        {"contexts": [Doc("Of its own.", "own")], "reference": "Dried.", "labels": {"a": "b"}}
    )
    assert (sample.question, sample.answer, sample.reference) == (QUESTION, ANSWER, "Dried.")
    assert (sample.contexts, sample.context_ids, sample.labels["a"]) == (("Of its own.",), ("own",), "b")
    assert found(sample) == ("inputs['question']", "extract", "the output, by llm")


def test_contexts_of_extract_keep_their_order_each_once():
    assert sample_with({"contexts": ["first", "second", "first"]}).contexts == ("first", "second")


def test_extract_may_give_messages():
    said = [Said("user", "Hello"), Said("assistant", "Good day")]
    sample = sample_with({"question": "Which tea?", "history": said})
    assert (sample.question, found(sample)[0]) == ("Which tea?", "extract")
    assert [(turn.role, turn.content) for turn in sample.history or ()] == [
        ("user", "Hello"),
        ("assistant", "Good day"),
    ]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"contxts": ["a"]},
            "extract gave 'contxts', which is not a field of a sample; the fields are answer, ",
        ),
        ({"contexts": [4.2]}, "extract returned contexts without text: float"),
    ],
)
def test_what_extract_cannot_mean_is_told(given: dict[str, Any], told: str):
    with pytest.raises(SampleError) as raised:
        sample_with(given)
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("inputs", "rule"),
    [
        ({"query": QUESTION, "k": 3}, "inputs['query']"),
        (
            [Said("user", "Hello"), Said("assistant", "Yes?"), Said("user", QUESTION)],
            "last human message of the inputs",
        ),
        (QUESTION, "the inputs"),
        ({"ask": QUESTION, "k": 3}, "the only text of the inputs, 'ask'"),
    ],
)
def test_a_question_is_found_under_a_known_name_in_messages_or_as_the_only_text(inputs: Any, rule: str):
    sample = sample_with(inputs=inputs)
    assert (sample.question, found(sample)[0]) == (QUESTION, rule)


@pytest.mark.parametrize(
    ("outputs", "rule"),
    [
        ({"answer": ANSWER, "score": 1}, "outputs['answer']"),
        ({"result": {"text": ANSWER}}, "outputs['result']"),
        ({"said": ANSWER, "question": QUESTION}, "the only new text of the outputs, 'said'"),
        ({"structured_response": {"said": ANSWER, "sure": 1.0}}, "outputs['structured_response'].said"),
    ],
)
def test_an_answer_is_found_under_a_known_name_or_as_the_only_new_text(outputs: Any, rule: str):
    sample = sample_with(outputs=outputs)
    assert (sample.answer, found(sample)[2]) == (ANSWER, f"{rule}, by llm")


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ({"inputs": {"question": " "}}, "no_question"),
        ({"inputs": {"first": "a", "second": "b"}}, "no_question"),
        ({"outputs": {"first": "a", "second": "b"}}, "no_answer"),
        ({"outputs": {"structured_response": {"title": "a", "body": "b"}}}, "no_answer"),
        ({"outputs": [TEA]}, "no_answer"),
        ({"outputs": ["one", "two"]}, "several_answers"),
    ],
)
def test_a_run_without_one_question_and_one_answer_is_skipped_with_the_reason(
    run: dict[str, Any], reason: str
):
    with pytest.raises(Skip, match=reason):
        sample_with(**run)


def test_what_was_noted_counts_before_what_the_hooks_saw():
    sample = sample_with(contexts=NamedValue(["Noted."], "note_contexts"))
    assert (sample.contexts, found(sample)[1]) == (("Noted.",), "note_contexts")


def test_documents_that_the_application_brings_are_found_in_the_inputs_each_once():
    asking = Clock().call("model", "llm", [Said("user", f"{TEA.text} {TEA.text} {QUESTION}")], ANSWER)
    inputs = {"context": [TEA, TEA], "question": QUESTION}
    sample = sample_of(CapturedRun(calls=[asking], inputs=inputs, outputs=ANSWER), PLAIN)
    assert (sample.contexts, sample.context_ids) == ((TEA.text,), ("tea",))
