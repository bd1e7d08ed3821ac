"""Random conversations: counts by place and scores against the definition, and what must agree with them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import Sample, evaluate, recompute, rescore
from ragmetrics_core.drivers import audit
from ragmetrics_core.metrics import get
from ragmetrics_core.samples import Turn, earlier_in
from ragmetrics_core.testing import ScriptedJudge

FACTS = (
    "Ulm has a tower.",
    "Das Münster ist alt.",
    "塔は高い。",
    "It opened in 1987.",
    "Entry costs 5 euros.",
)
BOTH = " & "
PLACES = ("in_contexts", "in_earlier_contexts", "in_user_words", "in_earlier_answers")


def literal_reply(request: Any) -> Any:
    """A statement is supported if each of its parts stands in a shown text."""
    match request.prompt.name:
        case "standalone":
            return {"question": "Rewritten?"}
        case "statements":
            return {
                "sentences": [
                    {"sentence": number, "kind": "claim", "statements": [text]}
                    for number, text in zip(request.expected.numbers, request.expected.items, strict=True)
                ]
            }
        case _:
            shown = request.variables["contexts"]
            verdicts = []
            for item in request.variables["items"]:
                parts = item.text.split(BOTH)
                is_there = all(any(part in text for text in shown) for part in parts)
                evidence = {"evidence": parts[-1]} if is_there else {}
                verdicts.append({"number": item.number, "verdict": "yes" if is_there else "no", **evidence})
            return {"verdicts": verdicts}


texts = st.lists(st.sampled_from(["", " ", "?", *FACTS]), max_size=3).map(" ".join)
chunks = st.none() | st.lists(texts, max_size=3).map(tuple)
calls = st.none() | st.just([{"name": "search", "arguments": "{}"}])
turns = st.builds(
    Turn,
    role=st.sampled_from(
        ["user", "assistant", "system", "tool", "User", "ASSISTANT", "human", "ai", "developer"]
    ),
    content=texts,
    contexts=chunks,
    tool_calls=calls,
)
samples = st.builds(
    Sample,
    id=st.sampled_from(["a#1", "b", "#", "c#d#2"]),
    session=st.none() | st.sampled_from(["a", "#"]),
    turn=st.none() | st.integers(1, 60),
    question=texts.filter(str.strip),
    answer=st.lists(
        st.sampled_from([*FACTS, BOTH.join(FACTS[:2]), BOTH.join(FACTS[3:])]), min_size=1, max_size=4
    ).map("\n\n".join),
    contexts=chunks.filter(lambda each: each is not None),
    history=st.lists(turns, max_size=8) | st.lists(turns, min_size=50, max_size=50),
    standalone=st.none() | st.sampled_from(["", " ", "As the application wrote it?"]),
)


class Expected(NamedTuple):
    value: float | None
    places: dict[str, int]


ROLES = {"human": "user", "ai": "assistant"}


def is_silent(sample: Sample) -> bool:
    """Whether nothing in the history is of the user, the application, or a tool."""
    turns = sample.history or ()
    texts = [turn.content for turn in turns if turn.role.lower() in ("user", "assistant", "tool", *ROLES)]
    texts += [chunk for turn in turns for chunk in turn.contexts or ()]
    return not any(map(str.strip, texts))


def by_definition(sample: Sample, statements: Sequence[str]) -> Expected:
    """Each statement counts at the first place that, with the places before it, has all of its parts."""
    kinds: dict[str, list[str]] = {place: [] for place in PLACES}
    kinds["in_contexts"] += sample.contexts or ()
    kinds["in_user_words"].append(sample.question or "")
    for turn in sample.history or ():
        role = ROLES.get(turn.role.lower(), turn.role.lower())
        kinds["in_earlier_contexts"] += turn.contexts or ((turn.content,) if role == "tool" else ())
        if role == "user":
            kinds["in_user_words"].append(turn.content)
        if role == "assistant":
            kinds["in_earlier_answers"].append(turn.content)
    places = dict.fromkeys(PLACES, 0)
    for statement in statements:
        seen: list[str] = []
        for place in PLACES:
            seen += kinds[place]
            if all(any(part in text for text in seen) for part in statement.split(BOTH)):
                places[place] += 1
                break
    supported = places["in_contexts"] + places["in_earlier_contexts"]
    return Expected(supported / len(statements), places)


@given(samples)
def test_counts_by_place_and_scores_follow_their_definition(sample):
    judge = ScriptedJudge(literal_reply)
    run = evaluate([sample], metrics=["faithfulness", "faithfulness/turn.1"], judge=judge, attempts=1)
    score, of_turn = (run.score(sample.id, f"faithfulness/{name}") for name in ("strict.1", "turn.1"))
    assert audit(score) == audit(of_turn) == []
    again = recompute(score)
    assert (again.value, again.counts, again.verdicts) == (score.value, score.counts, score.verdicts)
    assert rescore(score, variant="turn.1").value == of_turn.value
    if score.reason == "no_contexts":
        return
    expected = by_definition(sample, [verdict.text for verdict in score.verdicts])
    places = {place: count for place, count in score.counts.items() if place in PLACES}
    assert score.value == pytest.approx(expected.value)
    assert places == ({} if is_silent(sample) else expected.places)


@pytest.mark.parametrize("history", [(), [{"role": "system", "content": "Be brief."}]])
def test_before_the_first_message_there_is_no_conversation(measure, history):
    question = {
        "question": "It opened in 1987. Is that so?",
        "answer": "It opened in 1987.",
        "contexts": ["x"],
    }
    alone, first = (
        measure(get("faithfulness"), literal_reply, **question, history=each) for each in (None, history)
    )
    assert [request.digest for request in first.judge.asked] == [each.digest for each in alone.judge.asked]
    assert "in_user_words" not in first.score.counts


def test_the_users_words_are_those_of_the_user_and_not_of_the_rewritten_question(measure):
    history = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "It opened in 1987."}]
    score = measure(
        get("faithfulness"),
        literal_reply,
        question="Really?",
        standalone="Is it true that It opened in 1987.?",
        answer="It opened in 1987.",
        contexts=["Ulm has a tower."],
        history=history,
    ).score
    assert (score.counts["in_user_words"], score.counts["in_earlier_answers"]) == (0, 1)


def test_a_chunk_that_both_turns_have_is_looked_at_once(measure):
    history = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "?", "contexts": ["x"]}]
    sample = {"question": "?", "answer": FACTS[0], "contexts": ["x"], "standalone": "?", "history": history}
    judge = measure(get("faithfulness"), literal_reply, **sample).judge
    shown = [request.variables["contexts"] for request in judge.asked if request.prompt.name == "verdicts"]
    assert shown == [("x",), ("x", "?", "?"), ("x", "?", "?", "?")]


def test_turns_are_counted_from_1_even_if_the_sample_says_it_is_an_earlier_one():
    history = [Turn(role=role, content=role) for role in ("user", "assistant") * 2]
    earlier = earlier_in(history, None, 1)
    assert [text.place for text in earlier.answers] == ["the answer of turn 1", "the answer of turn 2"]
