"""Several votes for each verdict, by further draws or by a panel of judges: the majority decides."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmetrics_core import Record, Run, evaluate, recompute
from ragmetrics_core.drivers import audit, by_vote
from ragmetrics_core.errors import ConfigError, ModelError, ModelRefused
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.testing import ScriptedJudge

SAMPLE = {"id": "q1", "question": "Where?", "answer": "In Ulm.", "contexts": ["He was born in Ulm."]}
TEXTS = ["He was born.", "It was in Ulm.", "It was in 1879."]


def completion(request: Generate[Any], text: str) -> Completion:
    """A reply; one that splits the answer need not name the sentences."""
    return Completion(text, held_to="graded" if request.prompt.name == "statements" else None)


class Voting(ScriptedJudge):
    """Gives one reply for each call; its verdicts on the statements are written as a word of y, n and -.

    Args:
        ballots: what it says in each draw: "yn" is yes to the first statement and no to the second one, "-"
            leaves the statement out, and a ballot of one "?" cannot be read.
    """

    def __init__(self, *ballots: str, identity: str = "A", texts: Sequence[str] = TEXTS) -> None:
        super().__init__({}, identity=identity)
        self.ballots = ballots
        self.texts = texts[: max(map(len, ballots))]

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        self.asked.append(request)
        return [completion(request, self.reply(request))]

    def reply(self, request: Generate[Any]) -> str:
        if request.prompt.name == "statements":
            return json.dumps({"statements": self.texts, "declined": False})
        # whoever is asked again for what was left out leaves it out again
        ballot = self.ballots[request.draw % len(self.ballots)]
        if ballot == "?":
            return "I cannot."
        words = {"y": "yes", "n": "no"}
        verdicts = [
            {"number": number, "verdict": words[vote], "reason": f"{self.identity}{request.draw}"}
            for number, vote in enumerate(ballot, start=1)
            if vote in words and number in request.expected.numbers
        ]
        return json.dumps({"verdicts": verdicts})


class AtOnce(Voting):
    """Gives as many replies as are wanted, up to a number, in one call."""

    most = 3

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        self.asked.append(request)
        draws = range(request.draw, request.draw + min(self.most, request.draws))
        return [completion(request, self.reply(request._replace(draw=draw))) for draw in draws]


class Naming(ScriptedJudge):
    """Names other sentences as relevant in each draw."""

    def __init__(self, *named: Sequence[int]) -> None:
        super().__init__(lambda request: {"relevant": named[request.draw]})

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        return (await super().agenerate(request))[:1]


class Broken(Voting):
    """Fails whatever it is asked."""

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        raise ModelError("down")


def record_of(*judges: ScriptedJudge, repeats: int = 1, metric: str = "faithfulness") -> Record:
    return evaluate([SAMPLE], metrics=metric, panel=judges, repeats=repeats).score("q1", metric)


def outcome(record: Record) -> list[tuple[bool | None, str]]:
    """What was decided on each statement, and by how many votes."""
    return [(verdict.supported, verdict.tally) for verdict in record.verdicts]


# -- draws of one judge


def test_two_of_three_draws_decide():
    # the columns are the statements: yes yes no, no no yes, yes yes yes
    record = record_of(Voting("yny", "yny", "nyy"), repeats=3)
    assert outcome(record) == [(True, "2 of 3 votes"), (False, "1 of 3 votes"), (True, "3 of 3 votes")]
    assert record.value == pytest.approx(2 / 3)


def test_a_tie_is_not_supported_and_says_so():
    record = record_of(Voting("yn", "ny"), repeats=2)
    assert outcome(record) == [(False, "1 of 2 votes, a tie")] * 2
    assert [verdict.votes for verdict in record.verdicts] == [(True, False), (False, True)]
    assert record.value == 0.0


def test_the_words_are_those_of_the_first_vote_that_won():
    record = record_of(Voting("n", "y", "y"), repeats=3)
    assert record.verdicts[0].reason == "A1"
    tied = record_of(Voting("y", "n"), repeats=2)
    assert tied.verdicts[0].reason == "A1"


def test_each_vote_is_another_draw_of_the_same_question_and_statements_are_asked_for_once():
    judge = Voting("y")
    record_of(judge, repeats=3)
    asked = [(request.prompt.name, request.draw) for request in judge.asked]
    assert asked == [("statements", 0), ("verdicts", 0), ("verdicts", 1), ("verdicts", 2)]
    assert len({request.digest for request in judge.asked[1:]}) == 1


@pytest.mark.parametrize(("most", "calls"), [(1, 5), (2, 3), (3, 2), (9, 1)])
def test_a_judge_that_gives_several_replies_at_once_is_asked_only_for_the_rest(most, calls):
    judge = AtOnce("y", "n")
    judge.most = most
    record = record_of(judge, repeats=5)
    assert judge.count("verdicts") == calls
    # yes no yes no yes, however they came
    assert record.verdicts[0].votes == (True, False, True, False, True)


def test_without_repeats_and_panel_there_are_no_votes_on_record():
    (verdict,) = record_of(Voting("y")).verdicts
    assert (verdict.votes, verdict.tally) == ((), "")


def test_a_vote_that_leaves_a_statement_out_does_not_count_for_it():
    record = record_of(Voting("yy", "yy", "n-"), repeats=3)
    assert outcome(record) == [(True, "2 of 3 votes"), (True, "2 of 2 votes")]


def test_a_statement_that_all_votes_leave_out_twice_has_no_verdict():
    record = record_of(Voting("y-", "y-"), repeats=2)
    assert (record.status, record.verdicts[1].supported) == ("incomplete", None)
    # one of two is supported, and the other one may be
    assert record.bounds == (0.5, 1.0)


def test_a_reply_that_cannot_be_read_is_no_vote():
    record = record_of(Voting("yn", "?", "yn"), repeats=3)
    assert outcome(record) == [(True, "2 of 2 votes"), (False, "0 of 2 votes")]


def test_when_no_vote_can_be_read_it_is_a_parse_error():
    record = record_of(Voting("?"), repeats=3)
    assert (record.status, record.verdicts) == ("parse_error", ())


@settings(max_examples=40)
@given(
    ballots=st.integers(1, 3).flatmap(
        lambda size: st.lists(st.text("yn", min_size=size, max_size=size), min_size=2, max_size=6)
    ),
    panel=st.booleans(),
)
def test_more_than_half_of_the_votes_support_a_statement(ballots, panel):
    judges = [Voting(each, identity=str(place)) for place, each in enumerate(ballots)]
    record = record_of(*judges) if panel else record_of(Voting(*ballots), repeats=len(ballots))
    expected = [column.count("y") > column.count("n") for column in zip(*ballots, strict=True)]
    assert [verdict.supported for verdict in record.verdicts] == expected
    assert record.value == pytest.approx(sum(expected) / len(expected))
    assert (audit(record), recompute(record).value) == ([], record.value)


# -- a panel


def test_the_majority_of_a_panel_decides():
    record = record_of(Voting("yn"), Voting("nn", identity="B"), Voting("yy", identity="C"))
    assert outcome(record) == [(True, "2 of 3 votes"), (False, "1 of 3 votes")]
    assert record.judge == "panel(A | B | C)"


def test_only_the_first_of_a_panel_says_which_statements_there_are():
    first = Voting("y", texts=["Mine."])
    second = Voting("y", identity="B", texts=["Not mine."])
    record = record_of(first, second)
    assert [verdict.text for verdict in record.verdicts] == ["Mine."]
    assert (second.count("statements"), second.count("verdicts")) == (0, 1)


def test_the_record_says_whose_each_reply_is():
    record = record_of(Voting("y"), Voting("n", identity="B"), repeats=2)
    steps = [(step.prompt, step.judge, step.draw) for step in record.generate_steps]
    assert steps == [
        ("statements.v5", "A", 0),
        ("verdicts.v5", "A", 0),
        ("verdicts.v5", "A", 1),
        ("verdicts.v5", "B", 0),
        ("verdicts.v5", "B", 1),
    ]
    # two draws of each judge: yes, yes, no, no
    assert record.verdicts[0].votes == (True, True, False, False)


def test_a_judge_of_a_panel_that_fails_fails_the_score():
    record = record_of(Voting("y"), Broken("y", identity="B"))
    assert (record.status, record.reason) == ("model_error", "verdicts.v5: down")
    assert audit(record) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"panel": [Voting("y"), Voting("y")]}, "the panel has two judges 'A'"),
        ({"panel": [Voting("y")], "judge": Voting("y")}, "judge and panel cannot be combined"),
        ({"panel": [Voting("y")], "repeats": 0}, "repeats must be at least 1, not 0"),
    ],
)
def test_what_cannot_vote_is_refused_before_any_call(arguments, told):
    with pytest.raises(ConfigError, match=told):
        evaluate([SAMPLE], metrics="faithfulness", **arguments)


def test_a_judge_that_answers_after_another_one_failed_is_not_paid_for_again(tmp_path):
    class Refusing(Voting):
        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            if request.prompt.name == "statements":
                return await super().agenerate(request)
            refused.set()
            raise ModelRefused("no such model")

    class Late(Voting):
        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            self.asked.append(request)
            await refused.wait()
            for _ in range(100):  # the other judge's failure has gone as far as it goes by then
                await asyncio.sleep(0)
            return [completion(request, self.reply(request))]

    refused = asyncio.Event()
    arguments: dict[str, Any] = {"metrics": "faithfulness", "out": tmp_path}
    run = evaluate([SAMPLE], panel=[Refusing("y"), Late("y", identity="B")], **arguments)
    assert run.score("q1", "faithfulness").status == "model_error"
    late = Late("y", identity="B")
    run = evaluate([SAMPLE], panel=[Voting("y"), late], **arguments)
    assert (run.score("q1", "faithfulness").value, late.asked) == (1.0, [])


# -- asking once more


class Mending(Voting):
    """Gives no verdict at first in some draws, and does when it is asked once more."""

    unread: tuple[int, ...] = (0,)

    def reply(self, request: Generate[Any]) -> str:
        is_unread = not request.again and request.draw in self.unread and request.expected.numbers
        return "I cannot." if is_unread else super().reply(request)


def test_only_the_judge_whose_reply_could_not_be_read_is_asked_again():
    good, bad = Voting("y"), Mending("n", identity="B")
    record = record_of(good, bad)
    assert (good.count("verdicts"), bad.count("verdicts")) == (1, 2)
    assert record.verdicts[0].votes == (True, False)
    asked = [(step.judge, step.again) for step in record.generate_steps if step.prompt == "verdicts.v5"]
    assert asked == [("A", False), ("B", False), ("B", True)]
    assert audit(record) == []


# -- the record


def test_a_reply_to_a_panel_that_could_not_be_read_is_never_served_again(tmp_path):
    class Garbled(Voting):
        def reply(self, request: Generate[Any]) -> str:
            return "I cannot."

    arguments: dict[str, Any] = {"metrics": "faithfulness", "out": tmp_path}
    evaluate([SAMPLE], panel=[Garbled("y"), Garbled("y", identity="B")], **arguments)
    run = evaluate([SAMPLE], panel=[Voting("y"), Voting("y", identity="B")], **arguments)
    assert run.score("q1", "faithfulness").status == "ok"


def test_each_vote_alone_would_have_given_a_score_of_its_own():
    record = record_of(Voting("yyn", "ynn", "yyy"), repeats=3)
    # 2 of 3, 1 of 3 and 3 of 3; by majority 2 of 3
    assert by_vote(record) == pytest.approx([2 / 3, 1 / 3, 1.0])
    assert record.value == pytest.approx(2 / 3)


def test_votes_that_were_altered_are_found():
    record = record_of(Voting("y", "n", "n"), repeats=3)
    altered = record.model_copy(
        update={"verdicts": (replace(record.verdicts[0], votes=(True, True, False)),)}
    )
    assert "verdicts[1].votes" in " ".join(map(str, audit(altered)))


def test_a_person_overrules_the_majority_and_the_votes_stay(tmp_path):
    evaluate([SAMPLE], metrics="faithfulness", judge=Voting("y", "n", "n"), repeats=3, out=tmp_path)
    run = Run.load(tmp_path)
    run.correct("q1", "faithfulness", 1, True, by="Ada")
    (verdict,) = run.score("q1", "faithfulness").verdicts
    assert (verdict.supported, verdict.overruled, verdict.votes) == (True, False, (True, False, False))
    assert list(run.audit()) == []


def test_sentences_that_are_named_as_relevant_are_voted_on_too():
    judge = Naming([1, 2], [2], [2, 3])
    sample = {"id": "q1", "question": "Where?", "contexts": ["He was born. It was in Ulm. It rained."]}
    run = evaluate([sample], metrics="context_relevance", judge=judge, repeats=3)
    record = run.score("q1", "context_relevance")
    assert outcome(record) == [(False, "1 of 3 votes"), (True, "3 of 3 votes"), (False, "1 of 3 votes")]
    # one of three sentences
    assert (record.value, audit(record)) == (pytest.approx(1 / 3), [])
