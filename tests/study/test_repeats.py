"""Repeated votes: the judge's own share of the variance, and verdicts that straddle."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import judge_share, repeat_tables, repeats_needed, study_repeats
from tests.study.judging import judge


def samples(count):
    return [
        {"id": f"s{n}", "question": "q", "contexts": ["c"], "answer": f"answer {n}"}
        for n in range(1, count + 1)
    ]


def two(answer):
    return [f"{answer} first", f"{answer} second"]


def voting():
    """Of two statements an answer the first is in the text where it is even, the second by chance."""
    votes: dict[str, int] = {}

    def verdict(item, request):
        number = int(str(item.text).split()[1])
        if item.number == 1:
            key = str(item.text)
            votes[key] = votes.get(key, 0) + 1
            return number % 2 == 0
        return votes[str(item.text).replace("second", "first")] == number % 3

    return judge(two, verdict)


def test_votes_that_differ_are_counted_and_named():
    run = evaluate(samples(12), metrics="faithfulness", judge=voting(), repeats=3)
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


def whole(item, request):
    """The first of two statements is in the text of even answers; the second measurement says: by fours."""
    number = int(str(item.text).split()[1])
    return number % 3 == 0 if item.number == 2 else number % (4 if request.draw // 1000 == 1 else 2) == 0


def test_whole_scores_that_differ_show_the_judges_own_share():
    run = evaluate(samples(12), metrics="faithfulness", judge=judge(two, whole), full_repeats=3)
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
    run = evaluate(samples(6), metrics="faithfulness", judge=voting(), repeats=3, full_repeats=2)
    votes, scores = study_repeats(run).repeats
    assert (votes.repeated, votes.n, votes.times) == ("verdicts", 12, 3)
    assert (scores.repeated, scores.n, scores.times) == ("scores", 6, 2)
    assert (votes.share.low, votes.note) == (None, "6 samples: too few for an interval")


def test_a_run_without_repeated_votes_says_how_to_have_them():
    run = evaluate(samples(3), metrics="faithfulness", judge=voting())
    with pytest.raises(ConfigError, match="evaluate with --repeats 3"):
        study_repeats(run)


def test_without_two_votes_or_without_spread_there_is_no_share():
    assert judge_share([[0.5], [1.0]]).value is None
    assert judge_share([[0.5, 0.5], [0.5, 0.5]]).value is None


def test_votes_are_needed_until_the_judge_is_a_twentieth():
    # a half is the judge's own: 19 votes make it 1/19 of the other half, a twentieth of all
    assert [repeats_needed(share) for share in (0.0, 0.05, 0.5, 1.0)] == [1, 1, 19, None]
