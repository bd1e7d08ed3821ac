"""Conversations: the samples of a row of messages, in the forms of several libraries."""

import csv
import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ragmetrics_core import Sample, evaluate
from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs import BadRow, read_samples
from ragmetrics_core.samples import Turn

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(str.strip)


@dataclass(frozen=True)
class Exchange:
    question: str
    tools: tuple[str, ...]
    answer: str


CONVERSATIONS = st.lists(
    st.builds(Exchange, TEXTS, st.lists(TEXTS, max_size=2).map(tuple), TEXTS), min_size=1, max_size=4
)


def user(text):
    return {"role": "user", "content": text}


def assistant(text, **fields):
    return {"role": "assistant", "content": text, **fields}


def openai(said):
    for each in said:
        yield user(each.question)
        for number, text in enumerate(each.tools):
            call = {
                "id": str(number),
                "type": "function",
                "function": {"name": "find", "arguments": '{"n": 1}'},
            }
            yield assistant(None, tool_calls=[call])
            yield {"role": "tool", "tool_call_id": str(number), "content": text}
        yield assistant(
            [{"type": "text", "text": each.answer[:1]}, {"type": "text", "text": each.answer[1:]}]
        )


def anthropic(said):
    for each in said:
        yield user([{"type": "text", "text": each.question}])
        for text in each.tools:
            yield assistant([{"type": "tool_use", "id": "0", "name": "find", "input": {"n": 1}}])
            yield user(
                [{"type": "tool_result", "tool_use_id": "0", "content": [{"type": "text", "text": text}]}]
            )
        yield assistant([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": each.answer}])


def langchain_objects(said):
    langchain = pytest.importorskip("langchain_core.messages", reason="langchain-core")
    for each in said:
        yield langchain.HumanMessage(each.question)
        for text in each.tools:
            yield langchain.AIMessage("", tool_calls=[{"name": "find", "args": {"n": 1}, "id": "0"}])
            yield langchain.ToolMessage(text, tool_call_id="0")
        yield langchain.AIMessage(each.answer)


def ragas(said):
    for each in said:
        yield {"content": each.question, "type": "human", "metadata": None}
        for text in each.tools:
            yield {"content": "", "type": "ai", "tool_calls": [{"name": "find", "args": {"n": 1}}]}
            yield {"content": text, "type": "tool", "metadata": None}
        yield {"content": each.answer, "type": "ai", "metadata": None, "tool_calls": None}


def haystack_objects(said):
    haystack = pytest.importorskip("haystack.dataclasses", reason="haystack-ai")
    for each in said:
        yield haystack.ChatMessage.from_user(each.question)
        for text in each.tools:
            call = haystack.ToolCall(tool_name="find", arguments={"n": 1}, id="0")
            yield haystack.ChatMessage.from_assistant(tool_calls=[call])
            yield haystack.ChatMessage.from_tool(text, origin=call)
        yield haystack.ChatMessage.from_assistant(each.answer)


def llama_index_objects(said):
    llms = pytest.importorskip("llama_index.core.llms", reason="llama-index-core")
    for each in said:
        yield llms.ChatMessage(each.question, role="user")
        for text in each.tools:
            call = {"id": "0", "function": {"name": "find", "arguments": '{"n": 1}'}, "type": "function"}
            yield llms.ChatMessage("", role="assistant", additional_kwargs={"tool_calls": [call]})
            yield llms.ChatMessage(text, role="tool")
        yield llms.ChatMessage(each.answer, role="assistant")


def written(said, form):
    langchain = pytest.importorskip("langchain_core.messages", reason="langchain-core")
    messages = list(langchain_objects(said))
    if form == "messages_to_dict":
        return langchain.messages_to_dict(messages)
    load = pytest.importorskip("langchain_core.load", reason="langchain-core")
    return [load.dumpd(each) for each in messages]


FORMS = {
    "OpenAI": lambda said: {"messages": list(openai(said))},
    "JSON in a cell": lambda said: {"messages": json.dumps(list(openai(said)))},
    "Anthropic": lambda said: {"messages": list(anthropic(said))},
    "LangChain": lambda said: {"messages": list(langchain_objects(said))},
    "LangChain, messages_to_dict": lambda said: {"messages": written(said, "messages_to_dict")},
    "LangChain, dumpd": lambda said: {"messages": written(said, "dumpd")},
    "LangChain, model_dump": lambda said: {
        "messages": [each.model_dump() for each in langchain_objects(said)]
    },
    "LangGraph": lambda said: {"values": {"messages": list(langchain_objects(said))}, "next": []},
    "ragas": lambda said: {"user_input": list(ragas(said))},
    "Haystack": lambda said: {"messages": list(haystack_objects(said))},
    "Haystack, to_dict": lambda said: {"messages": [each.to_dict() for each in haystack_objects(said)]},
    "LlamaIndex": lambda said: {"messages": list(llama_index_objects(said))},
    "LlamaIndex, model_dump": lambda said: {
        "messages": [each.model_dump(mode="json") for each in llama_index_objects(said)]
    },
}


def expected(said):
    """Fields of each sample: results of tools are contexts, and all earlier messages are history."""
    history = []
    for number, each in enumerate(said, start=1):
        yield {
            "id": f"talk#{number}",
            "session": "talk",
            "turn": number,
            "question": each.question,
            "answer": each.answer,
            "contexts": each.tools if any(one.tools for one in said) else None,
            "history": tuple(history),
        }
        history.append(("user", each.question))
        for text in each.tools:
            history += [("assistant", ""), ("tool", text)]
        history.append(("assistant", each.answer))


def fields(sample):
    turns = tuple((turn.role, turn.content) for turn in sample.history)
    names = ("id", "session", "turn", "question", "answer", "contexts")
    return {name: getattr(sample, name) for name in names} | {"history": turns}


@pytest.mark.parametrize("form", FORMS)
@given(said=CONVERSATIONS)
def test_each_answer_is_a_sample_in_every_form(form, said):
    samples = Sample.from_conversation({"thread_id": "talk", **FORMS[form](said)})
    assert [fields(sample) for sample in samples] == list(expected(said))
    calls = [call for turn in samples[-1].history for call in turn.tool_calls or ()]
    assert [(call.name, call.arguments) for call in calls] == [
        ("find", '{"n": 1}') for each in said[:-1] for _ in each.tools
    ]


@given(said=CONVERSATIONS)
def test_a_conversation_without_an_id_has_the_same_id_wherever_it_is_read(said):
    rows = [FORMS[form](said) for form in ("LangChain", "LangChain, dumpd", "LangGraph")]
    first, *others = [[sample.id for sample in Sample.from_conversation(row)] for row in rows]
    assert others == [first, first]
    # the same conversation once more: like other equal rows it is counted
    again = list(read_samples([*rows[:1], *rows[:1]]))
    session = first[0].partition("#")[0]
    assert [each.id for each in again] == [*first, *(f"{session}-2#{n}" for n in range(1, len(said) + 1))]


@given(said=CONVERSATIONS)
def test_samples_of_a_conversation_are_the_same_after_a_round_trip(said):
    for sample in Sample.from_conversation(FORMS["OpenAI"](said)):
        assert Sample.from_mapping(sample.model_dump()) == sample
        assert Sample.from_mapping(json.loads(sample.model_dump_json())) == sample


TWO = [user("Who?"), assistant("Ann."), user("When?"), assistant("In 1990.")]


@pytest.mark.parametrize(
    ("messages", "answers"),
    [
        # a greeting is history, and so are system messages
        ([{"role": "system", "content": "Be kind."}, assistant("Hello."), *TWO], ["Ann.", "In 1990."]),
        # of two questions the last one is asked; two replies are one answer
        ([user("Hi."), user("Who?"), assistant("Well."), assistant("Ann.")], ["Well.\n\nAnn."]),
        # what is said before a tool is not the answer
        (
            [
                user("Who?"),
                assistant("I look.", tool_calls=[{"name": "find", "args": {}}]),
                {"role": "tool", "content": "Ann"},
                assistant("Ann."),
            ],
            ["Ann."],
        ),
        # no reply yet: the question is a sample without an answer
        ([*TWO, user("Where?")], ["Ann.", "In 1990.", None]),
        ([user("Who?"), assistant("I look.", tool_calls=[{"name": "find", "args": {}}])], [None]),
        ([user("Who?"), assistant("")], [""]),
        ([user("Who?"), {"role": "assistant", "content": None, "refusal": "I cannot."}], ["I cannot."]),
    ],
)
def test_an_answer_is_what_the_application_says_after_its_last_step(messages, answers):
    samples = Sample.from_conversation({"messages": messages})
    assert [sample.answer for sample in samples] == answers
    assert [sample.turn for sample in samples] == list(range(1, len(answers) + 1))
    assert all(sample.question.endswith("?") for sample in samples)


def test_tools_that_a_turn_of_deepeval_called_came_before_its_text():
    class ToolCall(BaseModel):
        name: str
        input_parameters: dict[str, int] | None = None

    class Message(BaseModel):
        role: str
        content: str
        retrieval_context: list[str] | None = None
        tools_called: list[ToolCall] | None = None

    class TestCase(BaseModel):
        turns: list[Message]
        scenario: str = "a guest asks"
        context: list[str] | None = None

    turns = [
        Message(role="user", content="Who?"),
        Message(
            role="assistant",
            content="Ann.",
            retrieval_context=["Ann was here."],
            tools_called=[ToolCall(name="find", input_parameters={"n": 1})],
        ),
        Message(role="user", content="When?"),
        Message(role="assistant", content="In 1990."),
    ]
    case = TestCase(turns=turns, context=["Ann, 1990"])
    first, second = read_samples([case])
    assert list(read_samples(case)) == [first, second]
    assert list(read_samples([case.model_dump()])) == [first, second]
    assert (first.answer, first.contexts) == ("Ann.", ("Ann was here.",))
    called = {"name": "find", "arguments": '{"n": 1}'}
    assert second.history[1:] == (
        Turn(role="assistant", content="", tool_calls=(called,)),
        Turn(role="assistant", content="Ann.", contexts=("Ann was here.",)),
    )
    assert second.contexts is None
    assert second.labels == {"scenario": "a guest asks", "context": '["Ann, 1990"]'}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"messages": TWO, "contexts": ["a"]}, "'contexts' can be about any of the 2 answers in 'messages'"),
        ({"messages": TWO, "question": "Where?"}, "both mean question and disagree"),
        ({"messages": TWO, "answer": "In 1991."}, "both mean answer and disagree"),
        ({"messages": TWO, "answer": "In 1990.", "history": TWO}, "both hold the earlier messages"),
        ({"messages": [assistant("Hello.")]}, "no message of a user"),
        ({"messages": [user("Who?"), {"role": "narrator", "content": "Ann enters."}]}, "role 'narrator'"),
        ({"messages": ["Who?", "Ann."]}, "'messages' item 1 must have a role and a content"),
        ({"messages": [user(None), assistant("Ann.")]}, "'messages' item 1 content must be text"),
        ({"messages": [user([{"type": "image_url", "image_url": {}}])]}, "a part of type 'image_url'"),
        ({"messages": [user("Who?"), assistant(None, tool_calls=[{"id": "0"}])]}, "a tool without a name"),
        ({"messages": "[HumanMessage(content='Who?')]"}, "write it as JSON"),
        ({"messages": TWO, "turns": TWO[:2]}, "hold different conversations"),
        ({"messages": TWO * 251, "id": "long"}, "1,004 messages"),
        ({"messages": TWO, "metadata": {"session_id": "a", "thread_id": "b"}}, "both mean session"),
    ],
)
def test_a_conversation_that_cannot_be_read_costs_only_itself(row, reason):
    bad, *others = read_samples([row, {"messages": TWO}])
    assert isinstance(bad, BadRow)
    assert reason in bad.message
    assert [sample.answer for sample in others] == ["Ann.", "In 1990."]


def test_a_reference_of_a_conversation_with_several_answers_is_a_label():
    for sample in Sample.from_conversation({"messages": TWO, "reference": "Ann, 1990"}):
        assert (sample.reference, sample.labels) == (None, {"reference": "Ann, 1990"})
    (sample,) = Sample.from_conversation({"messages": TWO[:2], "reference": "Ann"})
    assert sample.reference == "Ann"


def test_a_row_with_an_answer_of_its_own_is_one_sample():
    asked = {
        "session_id": "s",
        "messages": TWO[:3],
        "answer": "In 1990.",
        "contexts": ["a"],
        "reference": "1990",
    }
    (sample,) = read_samples([asked])
    assert (sample.id, sample.turn, sample.question, sample.answer) == ("s#2", 2, "When?", "In 1990.")
    assert (sample.contexts, sample.reference) == (("a",), "1990")
    assert [turn.content for turn in sample.history] == ["Who?", "Ann."]
    (whole,) = read_samples([asked | {"messages": TWO}])
    assert whole == sample
    with pytest.raises(SampleError, match="2 answers"):
        Sample.from_mapping({"messages": TWO})


def test_the_messages_can_have_any_column():
    (sample,) = Sample.from_conversation({"Log": TWO[:2]}, columns={"question": "Log"})
    assert (sample.question, sample.answer) == ("Who?", "Ann.")


def test_a_task_of_mtrag_is_one_sample():
    row = {
        "conversation_id": "f0",
        "task_id": "f0<::>2",
        "turn": "2",
        "input": [
            {"speaker": "user", "text": "Who?"},
            {"speaker": "agent", "text": "Ann."},
            {"speaker": "user", "text": "When?"},
        ],
        "contexts": [{"document_id": "d1", "text": "Ann, 1990"}],
        "targets": [{"speaker": "agent", "text": "In 1990."}],
        "predictions": [{"text": "In 1991."}],
    }
    (sample,) = read_samples([row])
    assert (sample.id, sample.session, sample.turn) == ("f0#2", "f0", 2)
    assert (sample.question, sample.answer, sample.references) == ("When?", "In 1991.", ("In 1990.",))
    assert sample.contexts == ("Ann, 1990",)
    assert [turn.role for turn in sample.history] == ["user", "assistant"]


def test_the_session_of_a_run_of_langsmith_is_its_thread_and_not_its_project():
    run = {
        "id": "r1",
        "session_id": "project",
        "inputs": {"question": "Who?"},
        "outputs": {"answer": "Ann."},
        "extra": {"metadata": {"thread_id": "t"}},
    }
    sample = Sample.from_mapping(run)
    assert (sample.id, sample.session, sample.turn, sample.history) == ("r1", "t", None, None)
    assert sample.labels["langsmith_project"] == "project"
    assert Sample.from_mapping(run | {"extra": {}}).session is None
    assert Sample.from_mapping(run | {"conversation_id": "c"}).session == "c"


def test_a_run_of_langsmith_is_one_answer_and_its_output_may_hold_the_whole_thread():
    run = {"id": "r1", "metadata": {"conversation_id": "t"}, "inputs": {"messages": [TWO[2]]}}
    (alone,) = read_samples([run | {"outputs": {"messages": [TWO[3]]}}])
    # the input is the new message alone, so the messages before it are unknown
    assert (alone.answer, alone.history, alone.turn) == ("In 1990.", None, None)
    (whole,) = read_samples([run | {"outputs": {"messages": TWO}}])
    assert (whole.answer, len(whole.history), whole.turn, whole.session) == ("In 1990.", 2, 2, "t")
    batch = {"inputs": {"messages": [TWO[:3]]}, "outputs": {"generations": [[{"message": TWO[3]}]]}}
    (model,) = read_samples([batch])
    assert (model.answer, len(model.history)) == ("In 1990.", 2)
    choices = {"inputs": {"messages": TWO[:3]}, "outputs": {"choices": [{"message": TWO[3]}]}}
    assert list(read_samples([choices])) == [model]


def test_citations_of_a_message_are_those_of_the_answer():
    blocks = [
        {"type": "text", "text": "Ann "},
        {"type": "text", "text": "was here.", "citations": [{"document_index": 0, "cited_text": "Ann"}]},
    ]
    row = {"messages": [user("Who?"), assistant(blocks, contexts=["Ann was here."])]}
    (sample,) = Sample.from_conversation(row)
    assert sample.answer == "Ann was here."
    assert [(each.start, each.end, each.chunks) for each in sample.citations] == [(4, 13, (1,))]


def test_a_file_can_hold_conversations_in_every_format(tmp_path):
    rows = [{"id": "a", "messages": TWO}, {"id": "b", "messages": TWO[:2]}]
    wanted = ["a#1", "a#2", "b#1"]
    for name, text in {
        "rows.jsonl": "\n".join(map(json.dumps, rows)),
        "rows.json": json.dumps(rows),
        "table.json": json.dumps({"name": "set", "rows": rows}),
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert [sample.id for sample in read_samples(tmp_path / name)] == wanted
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["messages"])
        table.writerow([json.dumps(TWO)])
    assert [sample.turn for sample in read_samples(tmp_path / "rows.csv")] == [1, 2]
    # a single conversation, whose messages are not rows
    (tmp_path / "one.json").write_text(
        json.dumps({"turns": [user("Who?"), assistant("Ann.", contexts=["a"])]})
    )
    assert [sample.answer for sample in read_samples(tmp_path / "one.json")] == ["Ann."]
    assert [sample.turn for sample in read_samples({"user_input": TWO})] == [1, 2]


def test_an_evaluation_scores_each_answer():
    row = {"session": "other", "messages": TWO[:3], "answer": "In 1990.", "reference": "In 1990."}
    run = evaluate([{"session": "talk", "messages": TWO}, row], metrics="token_f1")
    assert [sample.id for sample in run.samples()] == ["talk#1", "talk#2", "other#2"]
    assert [record.status for record in run.records("token_f1")] == ["skipped", "skipped", "ok"]


def test_redacted_sessions_stay_different():
    rows = [{"session": f"{name}@x.org", "messages": TWO} for name in ("ann", "bob")]
    samples = list(
        read_samples(rows, redact=lambda text: "[mail]" if "@" in text else text.replace("Ann", "[name]"))
    )
    assert [sample.id for sample in samples] == ["[mail]#1", "[mail]#2", "[mail] 2#1", "[mail] 2#2"]
    assert samples[1].history[1].content == "[name]."
    # a derived id says nothing, and stays
    (sample,) = read_samples([{"messages": TWO[:2]}], redact=lambda text: text.replace("c", "k"))
    assert sample.id == f"{sample.session}#1"
    assert sample.session.startswith("c-")


def test_the_history_of_a_row_keeps_contexts_and_tool_calls():
    call = {"id": "0", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    history = [
        user("Who?"),
        assistant(None, tool_calls=[call]),
        {"role": "tool", "tool_call_id": "0", "content": "Ann was here."},
        assistant("Ann.", contexts=[{"text": "Ann was here."}]),
    ]
    sample = Sample.from_mapping({"question": "When?", "answer": "In 1990.", "history": history})
    assert sample.history[1].tool_calls[0].model_dump() == {"name": "find", "arguments": "{}", "id": "0"}
    assert sample.history[3].contexts == ("Ann was here.",)
    assert [turn.role for turn in sample.history] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("row", [{"session": None, "turn": None}, {"session": "s", "turn": float("nan")}])
def test_a_turn_without_a_number_is_absent(row):
    sample = Sample.from_mapping({"question": "When?", **row})
    assert (sample.turn, sample.labels) == (None, {})
