"""Traces that instrumentors recorded: the contexts are what stood in the request that made the answer.

`python -m tests.traces.applications` records them anew: see its docstring.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.traces import read_traces

RECORDED = Path(__file__).parent / "recorded"

GREEN = "Green tea is dried in a pan before it is rolled."
BLACK = "Black tea is left to wither and turns dark."
COFFEE = "Coffee is roasted until it cracks twice."
COCOA = "Cocoa beans ferment under banana leaves."
HIGH = "The tower is 300 m high."
OPENED = "The tower opened in 1889."
HEAVY = "The tower weighs 10,100 tonnes."
BREAD = "Bread bakes at 230 degrees."
LYNX = "Lynxes hunt by night."
PARIS = "Paris is the capital of France."
BERLIN = "Berlin is the capital of Germany."
ROME = "Rome is the capital of Italy."
LIMA = "Lima is the capital of Peru."
SEINE = "The Seine is a river in France."
OTTER = "Otters sleep on their backs and hold hands."
NEWT = "Newts grow their tails again."
CORPUS = (
    *(GREEN, BLACK, COFFEE, COCOA, HIGH, OPENED, HEAVY, BREAD, LYNX),
    *(PARIS, BERLIN, ROME, LIMA, SEINE, OTTER, NEWT),
)
TEA = "How is green or black tea made?"
TOWER = "How high is the tower?"
FRANCE = "What is the capital of France?"
OTTERS = "How do otters sleep?"
TEA_ANSWER = "Green tea is dried in a pan, and black tea is left to wither."
TOWER_ANSWER = "The tower is 300 m high, as the texts say."
FRANCE_ANSWER = "Paris is the capital of France, says the text."
OTTERS_ANSWER = "They sleep on their backs."


class Turn(NamedTuple):
    """A question of a recorded application.

    Attributes:
        question, answer, session: the sample's.
        contexts: the chunks in the requests, by hand.
        requests: places of the request that made the answer, and of those behind a draft in it, among all
            of the application's.
    """

    question: str
    answer: str
    contexts: tuple[str, ...]
    requests: tuple[int, ...] = (0,)
    session: str | None = None


TWELVE = {
    "langchain_chain": [Turn(TEA, TEA_ANSWER, (GREEN, BLACK))],
    "langchain_agent": [Turn(TEA, TEA_ANSWER, (GREEN, BLACK, COFFEE), (1,))],
    "langchain_reranker": [Turn(TEA, "Black tea is left to wither.", (BLACK,))],
    "langchain_conversation": [
        Turn("How is green tea dried?", "Green tea is dried in a pan.", (GREEN,), session="tea"),
        Turn(
            "And the dark one?", "Black tea is steamed for an hour before it is sold.", (BLACK,), (2,), "tea"
        ),
    ],
    "llama_index_postprocessor": [Turn(TOWER, TOWER_ANSWER, (HIGH,))],
    "llama_index_agent": [Turn(TOWER, TOWER_ANSWER, (HIGH, HEAVY, BREAD), (2,))],
    # the second request holds a draft that was made of the first
    "llama_index_refine": [Turn(TOWER, TOWER_ANSWER, (HEAVY, HIGH), (1, 0))],
    "llama_index_conversation": [
        Turn(TOWER, TOWER_ANSWER, (HIGH,), session="tower"),
        Turn("And how heavy is it?", "It weighs more than ten thousand tonnes.", (HEAVY,), (2,), "tower"),
    ],
    "haystack_pipeline": [Turn(FRANCE, FRANCE_ANSWER, (PARIS, SEINE))],
    "haystack_agent": [Turn(FRANCE, FRANCE_ANSWER, (PARIS, LIMA), (1,))],
    "haystack_ranker": [Turn(FRANCE, "It is one of those in the texts.", (SEINE, ROME))],
    "haystack_draft": [Turn(FRANCE, FRANCE_ANSWER, (PARIS, SEINE), (1,), "capitals")],
}
SERVED_ANSWER = "It is as high as the texts say."
FURTHER = {
    "haystack_follow_up": [Turn(FRANCE, FRANCE_ANSWER, (PARIS, SEINE))],
    "llama_index_engine_as_tool": [Turn(TOWER, SERVED_ANSWER, (HIGH, HEAVY), (2, 1))],
    "llama_index_react": [
        Turn(TOWER, f"Thought: I can answer.\nAnswer: {SERVED_ANSWER}", (HIGH, HEAVY), (1,))
    ],
    "llama_index_window": [Turn(TOWER, SERVED_ANSWER, (HIGH, OPENED))],
    "llama_index_workflow": [Turn(TOWER, SERVED_ANSWER, (HIGH, HEAVY))],
    "langchain_middleware": [Turn(TEA, TEA_ANSWER, (GREEN, BLACK))],
    "genai_agent": [Turn(OTTERS, OTTERS_ANSWER, (OTTER,), (1,))],
    "genai_langchain_agent": [Turn(TEA, TEA_ANSWER, (GREEN, BLACK, COFFEE), (1,))],
}
APPLICATIONS = TWELVE | FURTHER


def trace_of(name: str) -> Path:
    """The file with the recorded spans."""
    (path,) = [path for path in RECORDED.glob(f"{name}.*") if path.suffix in (".jsonl", ".binpb")]
    return path


def text_of(request: Any) -> str:
    return "\n".join(message.get("content") or "" for message in request["messages"])


def samples(*paths: Path, **options: Any) -> list[Sample]:
    return [each for path in paths for each in read_traces(path, **options) if isinstance(each, Sample)]


def assert_read(found: list[Sample], turns: list[Turn]) -> None:
    by_question = {sample.question: sample for sample in found}
    assert sorted(by_question) == sorted(turn.question for turn in turns)
    assert len(found) == len(turns)
    for turn in turns:
        sample = by_question[turn.question]
        assert (sample.answer, sample.session) == (turn.answer, turn.session)
        assert chunks_in(sample.contexts) == turn.contexts, sample.labels


def chunks_in(contexts: Any) -> Any:
    """The contexts, each of which is a chunk of the corpus, or the text of a tool that holds several."""
    if contexts is None:
        return None
    return tuple(chunk for context in contexts for chunk in in_order(context) or (context,))


def in_order(text: str) -> tuple[str, ...]:
    """The chunks of the corpus in a text, in its order."""
    return tuple(sorted((chunk for chunk in CORPUS if chunk in text), key=text.index))


@pytest.mark.parametrize("name", APPLICATIONS)
def test_the_contexts_of_the_table_are_those_in_the_recorded_requests(name: str):
    requests = json.loads((RECORDED / f"{name}.requests.json").read_text(encoding="utf-8"))
    for turn in APPLICATIONS[name]:
        sent = "\n".join(text_of(requests[place]) for place in turn.requests)
        assert in_order(sent) == turn.contexts
        assert requests[turn.requests[0]]["reply"] == turn.answer


@pytest.mark.parametrize("name", APPLICATIONS)
def test_contexts_are_what_stood_in_the_request_that_made_the_answer(name: str):
    assert_read(samples(trace_of(name)), APPLICATIONS[name])


def spans_of(name: str) -> Iterator[Any]:
    """Each span of a trace in JSON, in a line of its own with its resource and scope."""
    for line in trace_of(name).read_text(encoding="utf-8").splitlines():
        for resource in json.loads(line)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    yield {"resourceSpans": [resource | {"scopeSpans": [scope | {"spans": [span]}]}]}


def written(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


IN_JSON = [name for name in APPLICATIONS if trace_of(name).suffix == ".jsonl"]


@pytest.mark.parametrize("name", IN_JSON)
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_spans_does_not_matter(name: str, seed: int, tmp_path: Path):
    lines = list(spans_of(name))
    random.Random(seed).shuffle(lines)
    (in_order, shuffled) = samples(trace_of(name)), samples(written(tmp_path / "spans.jsonl", lines))
    assert sorted(shuffled, key=str) == sorted(in_order, key=str)


@pytest.mark.parametrize("name", IN_JSON)
def test_spans_that_come_twice_count_once(name: str, tmp_path: Path):
    lines = list(spans_of(name))
    assert_read(samples(written(tmp_path / "spans.jsonl", [*lines, *reversed(lines)])), APPLICATIONS[name])


@pytest.mark.parametrize("name", IN_JSON)
def test_a_trace_may_be_split_over_two_files(name: str, tmp_path: Path):
    lines = list(spans_of(name))
    parts = tmp_path / "parts"
    parts.mkdir()
    written(parts / "one.jsonl", lines[::2])
    written(parts / "two.jsonl", lines[1::2])
    assert_read(samples(parts), APPLICATIONS[name])


@pytest.mark.parametrize("name", IN_JSON)
def test_no_lost_span_makes_a_context_of_what_a_model_said(name: str, tmp_path: Path):
    requests = json.loads((RECORDED / f"{name}.requests.json").read_text(encoding="utf-8"))
    replies = [each["reply"] for each in requests if isinstance(each["reply"], str)]
    questions = {turn.question for turn in APPLICATIONS[name]}
    lines = list(spans_of(name))
    for number in range(len(lines)):
        rest = [*lines[:number], *lines[number + 1 :]]
        for sample in samples(written(tmp_path / "spans.jsonl", rest)):
            assert not {*(sample.contexts or ())} & {*replies}
            assert sample.contexts != () or sample.question not in questions


# Conventions that record no texts, and requests with texts of unknown origin

TEXTS = {"otter": OTTER, "newt": NEWT, "doc-1": BLACK}
WITH_IDS = {"genai_retrieval": (OTTER,), "genai_langchain_reranker": (BLACK,)}


@pytest.mark.parametrize("name", WITH_IDS)
def test_ids_of_documents_need_their_texts(name: str):
    (skipped,) = read_traces(trace_of(name))
    assert "ids without text" in str(skipped)
    (sample,) = samples(trace_of(name), documents=TEXTS)
    assert sample.contexts == WITH_IDS[name]


def test_contexts_are_unknown_if_nothing_says_where_the_text_of_a_request_is_from():
    (sample,) = samples(trace_of("langchain_system_prompt"))
    assert sample.contexts is None
    assert "22 of 29 words" in str(sample.labels["found_contexts"])


def test_a_model_that_was_shown_only_the_question_was_shown_no_contexts():
    (sample,) = samples(trace_of("haystack_messages"))
    assert sample.contexts == ()


@pytest.mark.parametrize(
    ("name", "reason"), [("genai_bare", "no retrieval"), ("llama_index_refine", "no model call")]
)
def test_traces_that_are_not_rag_have_a_reason(name: str, reason: str):
    (skipped,) = [each for each in read_traces(trace_of(name)) if not isinstance(each, Sample)]
    assert str(skipped).endswith(f": {reason}")
