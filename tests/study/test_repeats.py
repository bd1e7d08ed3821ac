"""Repeated votes: the judge's own share of the variance, and verdicts that straddle."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import judge_share, repeat_tables, repeats_needed, study_repeats
from ragmetrics_core.testing import ScriptedJudge


def samples(count):
    return [
        {"id": f"s{n}", "question": "q", "contexts": ["c"], "answer": f"answer {n}"}
        for n in range(1, count + 1)
    ]


def judge():
    """Two statements an answer: the first is in the text where the answer is even, the second by chance."""
    votes: dict[str, int] = {}

    def reply(request):
        asked = request.variables
        if request.prompt.name == "statements":
            return {
                "statements": [f"{asked['answer']} first", f"{asked['answer']} second"],
                "declined": False,
            }
        text = str(asked["items"][0].text)
        votes[text] = votes.get(text, 0) + 1
        number = int(text.split()[1])
        decisions = ["yes" if number % 2 == 0 else "no", "yes" if votes[text] == number % 3 else "no"]
        return {
            "verdicts": [
                {"number": item.number, "reason": "so", "verdict": decision}
                for item, decision in zip(asked["items"], decisions, strict=True)
            ]
        }

    return ScriptedJudge(reply)


def test_votes_that_differ_are_counted_and_named():
    run = evaluate(samples(12), metrics="faithfulness", judge=judge(), repeats=3)
    found = study_repeats(run)
    (each,) = found.repeats
    # the second statement of the 8 answers whose number is no multiple of 3 gets one yes of three
    assert (each.repeated, each.n, each.times, len(found.straddling)) == ("verdicts", 24, 3, 8)
    assert each.straddle.value == pytest.approx(8 / 24)
    assert {(row.number, row.yes, row.votes) for row in found.straddling} == {(2, 1, 3)}
    # within: 8 samples whose score moves by 1/2 in one vote of three: 8 / 12 * (1/4) / 3
    means = [(n % 2 == 0) / 2 + (n % 3 != 0) / 6 for n in range(1, 13)]
    within = 8 / 12 / 12
    between = np.var(means, ddof=1) - within / 3
    assert each.share.value == pytest.approx(within / (within + between))
    assert each.share.low < each.share.value < each.share.high
    first, second = repeat_tables(found, most=5)
    assert (len(second.rows), second.notes) == (5, ("3 more: --table straddling",))
    assert first.rows[0][0] == "faithfulness"


def whole():
    """The first of two statements is in the text of even answers; the second measurement says: by fours."""

    def reply(request):
        asked, repetition = request.variables, request.draw // 1000
        if request.prompt.name == "statements":
            return {
                "statements": [f"{asked['answer']} first", f"{asked['answer']} second"],
                "declined": False,
            }
        number = int(str(asked["items"][0].text).split()[1])
        first = number % (4 if repetition == 1 else 2) == 0
        return {
            "verdicts": [
                {"number": item.number, "reason": "so", "verdict": "yes" if yes else "no"}
                for item, yes in zip(asked["items"], (first, number % 3 == 0), strict=True)
            ]
        }

    return ScriptedJudge(reply)


def test_whole_scores_that_differ_show_the_judges_own_share():
    run = evaluate(samples(12), metrics="faithfulness", judge=whole(), full_repeats=3)
    (each,) = study_repeats(run).repeats
    # 2, 6 and 10 are even and no multiple of 4: one score of three is 1/2 lower
    assert (each.repeated, each.n, each.times, each.samples) == ("scores", 12, 3, 12)
    assert each.straddle.value == pytest.approx(3 / 12)
    scores = [
        [((n % (4 if again == 1 else 2) == 0) + (n % 3 == 0)) / 2 for again in range(3)] for n in range(1, 13)
    ]
    within = np.var(scores, axis=1, ddof=1).mean()
    between = np.var(np.mean(scores, axis=1), ddof=1) - within / 3
    assert each.share.value == pytest.approx(within / (within + between))
    assert each.share.low < each.share.value < each.share.high


def test_votes_and_whole_scores_are_two_rows_and_few_samples_have_no_interval():
    run = evaluate(samples(6), metrics="faithfulness", judge=judge(), repeats=3, full_repeats=2)
    votes, scores = study_repeats(run).repeats
    assert (votes.repeated, votes.n, votes.times) == ("verdicts", 12, 3)
    assert (scores.repeated, scores.n, scores.times) == ("scores", 6, 2)
    assert (votes.share.low, votes.note) == (None, "6 samples: too few for an interval")


def test_a_run_without_repeated_votes_says_how_to_have_them():
    run = evaluate(samples(3), metrics="faithfulness", judge=judge())
    with pytest.raises(ConfigError, match="evaluate with --repeats 3"):
        study_repeats(run)


def test_the_judges_own_share_is_found_where_it_is_known():
    # samples spread with variance 1, votes with variance 1/2: a third is the judge's own
    generator = np.random.default_rng(1)
    voted = generator.normal(0, 1, (3000, 1)) + generator.normal(0, 0.5**0.5, (3000, 3))
    found = judge_share(voted.tolist())
    assert found.value == pytest.approx(1 / 3, abs=0.03)
    assert found.low < 1 / 3 < found.high


def test_without_two_votes_or_without_spread_there_is_no_share():
    assert judge_share([[0.5], [1.0]]).value is None
    assert judge_share([[0.5, 0.5], [0.5, 0.5]]).value is None


def test_votes_are_needed_until_the_judge_is_a_twentieth():
    # a half is the judge's own: 19 votes make it 1/19 of the other half, a twentieth of all
    assert [repeats_needed(share) for share in (0.0, 0.05, 0.5, 1.0)] == [1, 1, 19, None]
