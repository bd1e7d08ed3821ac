"""What a sample has of its conversation: the turns before, its number, and the rewritten question."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import Sample
from ragmetrics_core.adapting import Call, CalledTool, CapturedMessage, CapturedRun, Rules, sample_of
from tests.adapting.plain import PLAIN, Clock, Doc

TYPED = "When did it open?"
REWRITTEN = "When did the museum open?"
ANSWER = "The museum opened in 1987."
SAID = [
    CapturedMessage("user", "What does the museum show?"),
    CapturedMessage("assistant", "It shows ships."),
]
REQUEST = f"user: What does the museum show?\nassistant: It shows ships.\n{TYPED}"
DOC = Doc("The museum opened in 1901.")


def sample_with(
    calls: Sequence[Call] = (),
    history: Sequence[CapturedMessage] | None = SAID,
    rules: Rules | None = None,
    **run: Any,
) -> Sample:
    captured = CapturedRun(
        calls=calls, inputs={"question": TYPED}, outputs={"answer": ANSWER}, history=history, **run
    )
    return sample_of(captured, PLAIN, rules)


def searched(
    *queries: str, writes: str = REWRITTEN, sees: str = REQUEST, kind: Any = "retriever"
) -> list[Call]:
    """A run that rewrites, searches for each query, and answers."""
    clock = Clock()
    rewriter = clock.call("model", "rewriter", sees, writes)
    searches = [clock.call(kind, f"search {n}", {"query": query}, [DOC]) for n, query in enumerate(queries)]
    return [rewriter, *searches, clock.call("model", "llm", f"{DOC.text} {TYPED}", ANSWER)]


def by_embedding() -> list[Call]:
    clock = Clock()
    rewriter = clock.call("model", "rewriter", REQUEST, REWRITTEN, sources=[])
    embedder = clock.call("chain", "embedder", {"text": REWRITTEN}, {"embedding": [0.1]}, sources=[rewriter])
    search = clock.call("retriever", "search", {"query_embedding": [0.1]}, [DOC], sources=[embedder])
    return [rewriter, search, clock.call("model", "llm", f"{DOC.text} {TYPED}", ANSWER, sources=[search])]


def beside() -> list[Call]:
    """A model writes the query of nothing, as the wiring says; a function made the same one."""
    clock = Clock()
    rewriter = clock.call("model", "titles", REQUEST, REWRITTEN, sources=[])
    search = clock.call("retriever", "search", {"query": REWRITTEN}, [DOC], sources=[])
    return [rewriter, search, clock.call("model", "llm", f"{DOC.text} {TYPED}", ANSWER, sources=[search])]


HYDE = "The museum opened in 1987."
LONG = "The museum opened. It was a great day"
CALLS: dict[str, tuple[Callable[[], list[Call]], bool]] = {
    "the reply of a model that was sent the conversation": (lambda: searched(REWRITTEN), True),
    "two searches for one question": (lambda: searched(REWRITTEN, REWRITTEN), True),
    "a search by the embedding of the question": (by_embedding, True),
    "a reply in JSON": (lambda: searched(REWRITTEN, writes=f'{{"query": "{REWRITTEN}"}}'), True),
    "several questions": (
        lambda: searched(REWRITTEN, "Museum opening", writes=f"{REWRITTEN}\nMuseum opening"),
        False,
    ),
    "the typed question beside the rewritten one": (lambda: searched(REWRITTEN, TYPED), False),
    "the typed question": (lambda: searched(TYPED, writes=TYPED), False),
    "no search": (searched, False),
    "an answer in place of the question": (lambda: searched(HYDE, writes=HYDE), False),
    "a passage in place of the question": (lambda: searched(LONG, writes=LONG), False),
    "a model that was not sent the conversation": (lambda: searched(REWRITTEN, sees=TYPED), False),
    "a model that was not sent the question": (lambda: searched(REWRITTEN, sees="It shows ships."), False),
    "a query that no model wrote": (lambda: searched(REWRITTEN, writes="Hello"), False),
    "a word of a long reply": (lambda: searched("museum", writes=f"museum: {ANSWER} {ANSWER}"), False),
    "a tool of an agent": (lambda: searched(REWRITTEN, kind="tool"), False),
    "a model that the wiring does not connect": (beside, False),
}


@pytest.mark.parametrize("case", CALLS)
def test_the_stand_alone_question_is_what_a_model_rewrote_for_the_search(case: str):
    calls, is_standalone = CALLS[case]
    sample = sample_with(calls())
    assert sample.standalone == (REWRITTEN if is_standalone else None)
    assert ("found_standalone" in sample.labels) == is_standalone


def test_the_label_names_both_calls():
    assert (
        sample_with(searched(REWRITTEN)).labels["found_standalone"] == "reply of rewriter, query of search 0"
    )


def test_a_question_without_a_history_has_no_stand_alone_form():
    assert sample_with(searched(REWRITTEN), history=[]).standalone is None


def test_extract_takes_precedence():
    given = {"standalone": "Its own?", "session": "own", "turn": 7}
    sample = sample_with(searched(REWRITTEN), given=given, session="s")
    assert (sample.standalone, sample.session, sample.turn) == ("Its own?", "own", 7)


# The number of the turn


NUMBERS = {
    (): 1,
    ("user", "assistant"): 2,
    ("system", "user", "assistant", "user", "assistant"): 3,
    ("user", "calls", "tool", "assistant"): 2,  # one answer, by a tool
    ("user", "assistant", "assistant"): 2,  # two messages, one after the other
    ("assistant", "user", "assistant"): 2,  # a greeting answers nothing
    ("user", "user", "assistant"): 2,  # the first question was never answered
    ("user",): 1,
}


def said(*roles: str) -> list[CapturedMessage]:
    calls = [CalledTool("search", {"query": "ships"}, "1")]
    return [
        CapturedMessage("assistant", "", calls) if role == "calls" else CapturedMessage(role, "Hello.")
        for role in roles
    ]


@pytest.mark.parametrize("roles", NUMBERS)
def test_the_number_counts_the_answers_before(roles: tuple[str, ...]):
    assert sample_with(history=said(*roles), session="s").turn == NUMBERS[roles]


@given(st.integers(0, 30))
def test_a_conversation_of_pairs_has_one_answer_for_each(pairs: int):
    assert sample_with(history=said(*["user", "assistant"] * pairs), session="s").turn == pairs + 1


def test_the_number_is_unknown_without_a_place_for_a_history():
    assert (sample_with(history=None, session="s").turn, sample_with(history=[]).turn) == (None, None)


def test_a_history_without_a_session_numbers_its_turn():
    sample = sample_with()
    assert (sample.session, sample.turn) == (None, 2)


# Tools of earlier turns


def test_turns_keep_the_tools_that_were_called_and_what_they_returned():
    calls = [CalledTool("search", {"query": "ships"}, "1")]
    history = [
        SAID[0],
        CapturedMessage("assistant", "", calls),
        CapturedMessage("tool", "Ships.", tool="1"),
        SAID[1],
    ]
    turns = sample_with(history=history).history or ()
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "assistant"]
    (call,) = turns[1].tool_calls or ()
    assert (call.name, call.arguments, call.id) == ("search", '{"query": "ships"}', "1")


@pytest.mark.parametrize(
    ("message", "rules"),
    [
        (CapturedMessage("tool", "The tool is down.", has_failed=True), Rules()),
        (CapturedMessage("tool", "[]"), Rules()),
        (CapturedMessage("tool", "It is noon.", tool="clock"), Rules(not_evidence=["clock"])),
        (CapturedMessage("tool", "It is noon.", tool="clock"), Rules(context_tools=["search"])),
        (CapturedMessage("tool", "It is noon."), Rules(not_evidence=["clock"])),  # whose result is unknown
    ],
)
def test_results_of_tools_that_are_not_evidence_are_not_turns(message: CapturedMessage, rules: Rules):
    turns = sample_with(history=[SAID[0], message, SAID[1]], rules=rules).history or ()
    assert [turn.role for turn in turns] == ["user", "assistant"]


def test_the_call_names_the_tool_that_returned_a_result():
    history = [
        SAID[0],
        CapturedMessage("assistant", "", [CalledTool("clock", {}, "id-1")]),
        CapturedMessage("tool", "It is noon.", tool="id-1"),
    ]
    turns = sample_with(history=history, rules=Rules(not_evidence=["clock"])).history or ()
    assert [turn.role for turn in turns] == ["user", "assistant"]
