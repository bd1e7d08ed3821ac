"""Which spans are a run, what they show of its contexts, and why others give no sample."""

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragmetrics_core.traces import SkippedTrace, read_traces
from tests.traces.made import Span, documents, model, outcomes, run_of, samples_in, span, written

ANYWHERE = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
RIVER = "Town 1 lies beside the river number 1."


def test_contexts_are_what_stands_in_the_request_and_stages_what_was_found(tmp_path):
    (sample,) = samples_in(outcomes(tmp_path, run_of(1)))

    assert (sample.question, sample.answer) == ("Where does Town 1 lie?", "Town 1 lies beside a river.")
    assert (sample.contexts, sample.context_ids, sample.session) == ((RIVER,), ("d1",), "s1")
    assert [(stage.name, len(stage.chunks or ())) for stage in sample.stages or ()] == [
        ("retrieved", 2),
        ("shown", 1),
    ]
    assert sample.id == sample.labels["trace"] == f"{1:032x}"
    assert sample.labels["span"] == f"{1000:016x}"
    assert sample.labels["found_contexts"] == "RETRIEVER 1001, shown to LLM 1002; not shown: d2"
    assert str(sample.labels["convention"]).startswith("openinference")


@ANYWHERE
@given(seed=st.integers(0, 10**6), doubled=st.integers(0, 12), cut=st.integers(0, 12))
def test_spans_in_any_order_twice_and_in_two_files_give_the_same_samples(tmp_path, seed, doubled, cut):
    spans = [each for number in (1, 2, 3) for each in run_of(number)]
    expected = outcomes(tmp_path, spans)
    mixed = [*spans, *spans[:doubled]]
    random.Random(seed).shuffle(mixed)
    files = [written(tmp_path, mixed[:cut], "a.jsonl"), written(tmp_path, mixed[cut:], "b.jsonl")]
    assert list(read_traces([file for file in files if file.stat().st_size])) == expected
    assert len(samples_in(expected)) == 3


def test_ten_thousand_shuffled_spans_give_the_same_as_sorted_ones(tmp_path):
    spans = [each for number in range(1, 251) for each in run_of(number, others=37)]
    mixed = random.Random(7).sample(spans, len(spans))

    found, same = outcomes(tmp_path, spans), outcomes(tmp_path, mixed)

    assert len(spans) == 10_000
    assert len(samples_in(found)) == 250
    assert found == same


@pytest.mark.parametrize("skew", [-3600.0, -1.5, 3600.0])
def test_a_clock_that_differs_inside_of_a_call_changes_nothing(tmp_path, skew):
    chain, search, answer, other = run_of(1)
    inner = span(19, "RETRIEVER", parent=1001, at=(1001.2 + skew, 1001.6 + skew), **documents([RIVER]))
    (sample,) = samples_in(outcomes(tmp_path, [inner, chain, search, answer, other]))
    assert sample.contexts == (RIVER,)


@pytest.mark.parametrize("skew", [-3600, 3600])
def test_a_root_that_was_measured_by_another_clock_changes_nothing(tmp_path, skew):
    root, *children = run_of(1)
    times = ("startTimeUnixNano", "endTimeUnixNano")
    root |= {name: str(int(root[name]) + skew * 10**9) for name in times}
    (sample,) = samples_in(outcomes(tmp_path, [root, *children]))
    assert sample.contexts == (RIVER,)


def test_spans_without_their_parent_are_inside_of_the_only_root(tmp_path):
    chain, search, answer, _ = run_of(1)
    lost = [each | {"parentSpanId": f"{99:016x}"} for each in (search, answer)]
    (sample,) = samples_in(outcomes(tmp_path, [chain, *lost]))
    assert sample.contexts == (RIVER,)


def test_a_tree_without_its_root_is_a_run_of_its_searches_and_its_only_answer(tmp_path):
    _, search, answer, _ = run_of(1)
    (sample,) = samples_in(outcomes(tmp_path, [search, answer]))
    assert (sample.question, sample.contexts) == ("Where does Town 1 lie?", (RIVER,))
    assert sample.labels["found_question"] == "query of RETRIEVER 1001, in the request"


def test_parents_in_a_circle_do_not_stop_the_reading(tmp_path):
    chain, search, answer, _ = run_of(1)
    chain = chain | {"parentSpanId": answer["spanId"]}
    (sample,) = samples_in(outcomes(tmp_path, [chain, search, answer]))
    assert sample.contexts == (RIVER,)


def test_several_questions_in_one_trace_are_several_samples_with_the_span_in_their_ids(tmp_path):
    batch = [span(1, "CHAIN", at=(0, 99), input__value="[1, 2]", input__mime_type="application/json")]
    for number in (1, 2):
        chain, *inner = [each | {"traceId": f"{1:032x}"} for each in run_of(number)]
        batch += [chain | {"parentSpanId": f"{1:016x}"}, *inner]
    found = samples_in(outcomes(tmp_path, batch))
    assert [each.id for each in found] == [f"{1:032x}:{span_id:016x}" for span_id in (1000, 2000)]
    assert [each.contexts for each in found] == [(RIVER,), (RIVER.replace("1", "2"),)]


def test_a_reply_that_a_later_call_used_is_neither_the_answer_nor_evidence(tmp_path):
    draft = "Town 1 lies beside some river, I think it was number one."
    chain, search, _, _ = run_of(1)
    chain["attributes"] = [each for each in chain["attributes"] if each["key"] != "output.value"]
    first = model(14, RIVER, "Where does Town 1 lie?", draft, parent=1000, at=(1003, 1004))
    better = "It lies beside a river."
    prompt = f"Improve: {draft}"
    last = model(15, prompt, "Where does Town 1 lie?", better, parent=1000, at=(1005, 1006))
    (sample,) = samples_in(outcomes(tmp_path, [chain, search, first, last]))
    assert (sample.answer, sample.contexts) == (better, (RIVER,))
    assert [stage.name for stage in sample.stages or ()] == ["retrieved", "derived", "shown"]


ASKED = {"input__value": "Where does Town 1 lie?"}
HIDDEN = "__REDACTED__"
ROOT = span(1, at=(0, 9))
CHAIN = span(1, "CHAIN", at=(0, 9), **ASKED)
FOUND = span(3, "RETRIEVER", parent=1, at=(0, 1), **documents([RIVER]))


def call(id: int, user: str, reply: str | None, **more: Any) -> Span:
    """A model call inside of the span 1, unless in another."""
    return model(id, "Answer.", user, reply, at=(1, 2), **{"parent": 1, **more})


@pytest.mark.parametrize(
    ("reason", "spans"),
    [
        ("no model call", [span(1, name="GET /"), span(2, "EMBEDDING", parent=1)]),
        ("no model call", [CHAIN, span(2, "EVALUATOR", parent=1), call(3, "by a river", "good", parent=2)]),
        ("no retrieval", [model(2, RIVER, "Where does Town 1 lie?", "by a river", at=(1, 2))]),
        ("no question", [ROOT, FOUND, call(2, f"{RIVER} Where?", "by a river")]),
        ("no answer", [CHAIN, call(2, "Where?", None)]),
        ("failed", [CHAIN, call(2, "Where?", None, failed=True)]),
        ("unfinished", [CHAIN, call(2, "Where?", "Here.") | {"endTimeUnixNano": "0"}]),
        ("several answers", [CHAIN, call(2, "Where?", "Here."), call(3, "Where?", "There.")]),
        ("no answer", [span(1, "CHAIN", input__value=HIDDEN, output__value=HIDDEN), call(2, HIDDEN, HIDDEN)]),
    ],
)
def test_a_trace_that_is_not_a_run_has_a_reason(tmp_path, reason, spans):
    (found,) = outcomes(tmp_path, spans)
    assert isinstance(found, SkippedTrace)
    assert found.reason == reason


@pytest.mark.parametrize("place", [1, 2])
def test_a_question_with_an_image_is_not_scored_and_an_earlier_image_does_not_count(tmp_path, place):
    # message 1 is an earlier one of the user, message 2 the question; the image is in one of them
    root, found, *_ = run_of()
    messages = {"llm__input_messages__0__message__role": "system"}
    messages["llm__input_messages__0__message__content"] = RIVER
    for number, text in ((1, "Look at this."), (2, "Where does Town 1 lie?")):
        message = f"llm__input_messages__{number}__message"
        part = f"{message}__contents__0__message_content"
        messages |= {f"{message}__role": "user", f"{part}__type": "text", f"{part}__text": text}
    part = f"llm__input_messages__{place}__message__contents__1__message_content"
    messages |= {f"{part}__type": "image", f"{part}__image__image__url": "data:image/png;base64,AA=="}
    reply = {"llm__output_messages__0__message__role": "assistant"}
    reply["llm__output_messages__0__message__content"] = "Town 1 lies beside a river."
    call = span(1002, "LLM", parent=1000, at=(1003, 1008), **messages, **reply)
    (got,) = outcomes(tmp_path, [root, found, call])
    assert isinstance(got, SkippedTrace) == (place == 2)
    assert place == 1 or got.reason == "media in question"


def test_a_model_call_around_another_is_a_wrapper(tmp_path):
    chain, search, answer, _ = run_of(1)
    said = {
        "output__value": "Town 1 lies beside a river.",
        "llm__prompt_template__template": "Use: {context}",
    }
    outer = span(14, "LLM", parent=1000, at=(1003, 1008), **said)
    answer |= {"parentSpanId": f"{14:016x}"}
    (sample,) = samples_in(outcomes(tmp_path, [chain, search, outer, answer]))
    assert sample.labels["found_answer"] == "the output, by LLM 1002"


# -- steps, lost spans and ids that are not unique


def test_a_rewriting_whose_root_is_lost_is_not_an_answer(tmp_path):
    _, search, *_ = run_of(1)
    asked, better = "Where does Town 1 lie?", "What river does Town 1 lie beside?"
    rewriting = span(14, "CHAIN", parent=1000, at=(1000.1, 1000.8), input__value=asked, output__value=better)
    said = model(15, "Rewrite.", asked, better, parent=14, at=(1000.2, 1000.6))
    search["attributes"][0]["value"] = {"stringValue": better}
    step = span(16, "CHAIN", parent=1000, at=(1002, 1009), input__value=asked, output__value="By a river.")
    last = model(17, RIVER, asked, "By a river.", parent=16, at=(1003, 1008))
    (sample,) = samples_in(outcomes(tmp_path, [rewriting, said, search, step, last]))
    assert (sample.answer, sample.contexts) == ("By a river.", (RIVER,))


def test_a_reply_below_a_lost_span_is_not_the_evidence_of_its_tool(tmp_path):
    asked, told = "Where does Town 1 lie?", "It lies beside river number one, they say."
    tool = span(2, "TOOL", parent=1, at=(2, 6), input__value=asked, output__value=told)
    found = span(4, "RETRIEVER", parent=77, at=(3, 3.5), **documents([RIVER]))
    inner = model(5, RIVER, asked, told, parent=77, at=(4, 5))
    last = model(6, told, asked, "By a river.", parent=1, at=(7, 8))
    roots = [span(1, "CHAIN", at=(0, 9), input__value=asked, output__value="By a river."), span(9, at=(0, 9))]
    (sample, *_) = [
        each
        for each in outcomes(tmp_path, [*roots, tool, found, inner, last])
        if not isinstance(each, SkippedTrace)
    ]
    assert (sample.answer, sample.contexts) == ("By a river.", (RIVER,))


def test_a_call_by_itself_with_results_of_tools_in_its_request_is_a_run(tmp_path):
    talk = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Where does Town 1 lie?",
        "llm.input_messages.1.message.role": "assistant",
        "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "look",
        "llm.input_messages.2.message.role": "tool",
        "llm.input_messages.2.message.content": RIVER,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "By a river.",
    }
    (sample,) = samples_in(outcomes(tmp_path, [span(1, "LLM", at=(0, 1), **talk)]))
    assert (sample.question, sample.contexts) == ("Where does Town 1 lie?", (RIVER,))


def test_different_spans_with_one_id_cost_their_trace(tmp_path):
    chain, search, answer, _ = run_of(1)
    other = span(1001, "RETRIEVER", parent=1000, at=(1005, 1006), **documents([NUNS]))
    (skipped,) = outcomes(tmp_path, [chain, search, answer, other])
    assert str(skipped) == f"trace {1:032x}: several spans with the id {1001:016x}"


# -- OpenTelemetry's convention for generative AI


def genai(*texts: str) -> list[Span]:
    """A run with a search that names two documents by their ids, and by their texts if there are any."""
    asked = [{"role": "user", "parts": [{"type": "text", "content": "Where does Town 1 lie?"}]}]
    reply = [{"role": "assistant", "parts": [{"type": "text", "content": "By a river."}]}]
    found: list[dict[str, Any]] = [{"id": "d1", "score": 0.9}, {"id": "d2", "score": 0.4}]
    for document, text in zip(found, texts, strict=False):
        document["content"] = text
    talk = {"gen_ai.input.messages": json.dumps(asked), "gen_ai.output.messages": json.dumps(reply)}
    search = {"gen_ai.retrieval.query.text": "Town 1", "gen_ai.retrieval.documents": json.dumps(found)}
    system = {"gen_ai.system_instructions": json.dumps([{"type": "text", "content": RIVER}])}
    name = "gen_ai.operation.name"
    return [
        span(1, at=(0, 9), **{name: "invoke_agent", "gen_ai.conversation.id": "c1"}, **talk),
        span(2, parent=1, at=(1, 2), **{name: "retrieval"}, **search),
        span(3, parent=1, at=(3, 4), **{name: "chat"}, **system, **talk),
    ]


NUNS = "Another town was founded by nuns."


def test_ids_without_text_are_a_reason_and_a_corpus_gives_the_texts(tmp_path):
    assert [str(each) for each in outcomes(tmp_path, genai())] == [
        f"trace {1:032x}, span {1:016x}: contexts: ids without text; name the texts with --documents"
    ]
    corpus = {"d1": RIVER, "d2": NUNS}
    for found in (outcomes(tmp_path, genai(), documents=corpus), outcomes(tmp_path, genai(RIVER, NUNS))):
        (sample,) = samples_in(found)
        assert (sample.contexts, sample.context_ids, sample.session) == ((RIVER,), ("d1",), "c1")
        chunks = [chunk for stage in sample.stages or () for chunk in stage.chunks or ()]
        assert [chunk.score for chunk in chunks] == [0.9, 0.4, 0.9]


def test_content_in_a_log_record_belongs_to_its_span(tmp_path):
    *others, chat = genai(RIVER, NUNS)
    content = [each for each in chat["attributes"] if each["key"] != "gen_ai.operation.name"]
    record = {"traceId": chat["traceId"], "spanId": chat["spanId"], "timeUnixNano": "5"}
    record |= {"eventName": "gen_ai.client.inference.operation.details", "attributes": content}
    chat["attributes"] = [each for each in chat["attributes"] if each not in content]
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    (tmp_path / "logs.jsonl").write_text(json.dumps(logs))
    written(tmp_path, [*others, chat])

    (sample,) = samples_in(read_traces(tmp_path))
    assert sample.contexts == (RIVER,)


# -- hostile spans

TEXTS = st.text(max_size=30) | st.sampled_from(
    ["{", "[", '{"messages": [{"role": "user"}]}', "ChatMessage(role=", "\ud800", HIDDEN]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    [
        *("input.value", "input.mime_type", "output.value", "session.id", "tool.name", "metadata"),
        *("retrieval.documents", "retrieval.documents.0.document", "retrieval.documents.0.document.content"),
        *("retrieval.documents.99999999999.document.score", "reranker.output_documents", "llm.prompts"),
        *("llm.input_messages.0.message.role", "llm.input_messages.0", "llm.prompt_template.template"),
        *("llm.output_messages.0.message.content", "llm.output_messages.0.message.tool_calls.0"),
        *("gen_ai.operation.name", "gen_ai.input.messages", "gen_ai.output.messages"),
        *("gen_ai.retrieval.documents", "gen_ai.prompt.0.content", "gen_ai.system_instructions"),
    ]
)
KINDS = st.sampled_from(
    ["CHAIN", "LLM", "RETRIEVER", "RERANKER", "TOOL", "PROMPT", "AGENT", "EMBEDDING", None, "?"]
)


@settings(ANYWHERE, max_examples=150)
@given(
    changes=st.lists(st.tuples(st.integers(0, 3), NAMES, VALUES), min_size=1, max_size=4),
    kinds=st.lists(KINDS, min_size=1, max_size=2),
    parents=st.lists(st.sampled_from([1000, 1001, 1002, 1003, 77]), max_size=4),
)
def test_a_hostile_span_costs_no_other_trace(tmp_path, changes, kinds, parents):
    spans = run_of(1)
    for number, name, value in changes:
        named = span(1, **{name: value})["attributes"]
        spans[number]["attributes"] = [*spans[number]["attributes"], *named]
    for number, kind in enumerate(kinds):
        spans[number + 1]["attributes"] += span(1, kind)["attributes"]
    for each, parent in zip(spans, parents, strict=False):
        each["parentSpanId"] = f"{parent:016x}"
    found = outcomes(tmp_path, [*spans, *run_of(2)])
    second = f"{2:032x}"
    assert [each.contexts for each in found if not isinstance(each, SkippedTrace) and each.id == second] == [
        (RIVER.replace("1", "2"),)
    ]
    for each in found:
        if not isinstance(each, SkippedTrace) and each.contexts and each.id != second:
            assert "Town 2" not in "".join(each.contexts)
