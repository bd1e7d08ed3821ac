"""Any number of systems, compared at once: pairs by question, one adjustment, ranks, letters, people."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from scipy import stats

from benchmarks.systems import designs, simulate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import (
    Scores,
    compare_systems,
    letter_groups,
    study_groups,
    system_comparison_tables,
)
from ragmetrics_core.study._estimates import MeanPart
from ragmetrics_core.study._joint_test import joint_test
from ragmetrics_core.study._powered import prediction_powered_mean
from ragmetrics_core.study._tests import sign_flip

METRIC = "faithfulness/strict.1"


def parts_of(values, clusters=None):
    """The parts of systems, from a row for each question."""
    array = np.asarray(values, dtype=float)
    places = range(len(array)) if clusters is None else clusters
    return [[(MeanPart(column, places),) for column in array.T]]


def one_run(values, *, name="all", questions=None, ids=None, lower=(), labels=None):
    """One run with the systems m0, m1 and so on, from a row for each question."""
    scored, named, texts = {}, {}, {}
    for place, row in enumerate(values):
        for system, value in enumerate(row):
            sample_id = f"m{system}-{place}" if ids is None else ids(system, place)
            if value is not None:
                scored[sample_id] = float(value)
            named[sample_id] = {"model": f"m{system}", **(labels(system, place) if labels else {})}
            texts[sample_id] = f"What is {place}?" if questions is None else questions(system, place)
    return Scores(
        name=name,
        values={METRIC: scored},
        labels=named,
        questions=texts,
        lower_is_better=frozenset([METRIC] if lower else []),
    )


def five_of_sixty(seed=3, best=0.05):
    """Questions are very unlike each other, and systems only a little: the means go up to `best`."""
    g = np.random.default_rng(seed)
    hard = g.uniform(0.1, 0.9, (60, 1))
    return np.clip(hard + np.linspace(0, best, 5) + g.normal(0, 0.06, (60, 5)), 0, 1)


def pair(found, one, other):
    return next(each for each in found.pairs if {each.one, each.other} == {one, other})


def test_five_systems_that_look_alike_are_told_apart_by_question():
    values = five_of_sixty()
    run = one_run(values.tolist())
    found = compare_systems([run], by="model")
    assert (found.paired_by, found.questions) == ("question text", 60)
    assert stats.f_oneway(*values.T).pvalue > 0.5  # as independent samples
    assert stats.friedmanchisquare(*values.T).pvalue < 0.01  # by question
    assert min(each.p for each in found.pairs) < 0.01
    groups = study_groups([run], by="model")
    assert all(each.holm > 0.5 for each in groups.contrasts)
    assert groups.notes[0] == (
        "60 questions occur in all 5 groups, and these tests take their answers for independent: ragmetrics "
        "compare --by model pairs them by question text, and finds more"
    )


def exhaustive(values):
    """Adjusted p of each pair, from every order of the systems in every question."""
    array = np.asarray(values, dtype=float)
    pairs = list(combinations(range(array.shape[1]), 2))

    def ratios(rows):
        result = []
        for one, other in pairs:
            differences = rows[:, one] - rows[:, other]
            error = np.sqrt(((differences - differences.mean()) ** 2).sum()) / len(rows)
            moved = abs(differences.mean())
            result.append(0.0 if moved < 1e-12 else moved / error if error > 1e-12 else np.inf)
        return np.array(result)

    orders = list(permutations(range(array.shape[1])))
    observed, reached, count = ratios(array), np.zeros(len(pairs)), 0
    for choice in product(orders, repeat=len(array)):
        largest = ratios(np.array([row[list(order)] for row, order in zip(array, choice, strict=True)])).max()
        reached += largest >= observed * (1 - 1e-9)
        count += 1
    return reached / count


@pytest.mark.parametrize(
    "values",
    [
        [[0.1, 0.4, 0.5], [0.3, 0.3, 0.9], [0.2, 0.6, 0.7], [0.0, 0.1, 0.6], [0.5, 0.4, 0.8]],
        [[0, 1, 1], [0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 1]],
    ],
)
def test_random_permutations_give_the_p_of_all_permutations(values):
    _, (ps,) = joint_test(parts_of(values), count=20_000)
    # three standard errors of a share of 20,000 are at most 0.011
    assert ps == pytest.approx(exhaustive(values), abs=0.011)


@given(st.integers(0, 2**32 - 1))
def test_two_systems_have_the_p_of_the_sign_flip_test(seed):
    values = np.random.default_rng(seed).normal(size=(12, 2)).round(1)
    _, ((p,),) = joint_test(parts_of(values), count=4_000)
    assert p == pytest.approx(sign_flip(values[:, 0] - values[:, 1]), abs=0.04)


def test_two_systems_have_the_p_of_scipys_permutation_test():
    values = five_of_sixty()[:, :2]

    def moved(one, other, axis):
        return np.mean(one - other, axis=axis)

    expected = stats.permutation_test(
        values.T, moved, permutation_type="samples", vectorized=True, n_resamples=20_000, rng=1
    )
    _, ((p,),) = joint_test(parts_of(values))
    assert p == pytest.approx(expected.pvalue, abs=0.02)


def test_with_many_questions_the_p_is_that_of_tukeys_range():
    g = np.random.default_rng(5)
    values = g.normal([0, 0, 0.1, 0.2], 1, (400, 4))
    (differences,), (ps,) = joint_test(parts_of(values), count=20_000)
    pairs = list(combinations(range(4), 2))
    for (one, other), difference, p in zip(pairs, differences, ps, strict=True):
        t = stats.ttest_rel(values[:, one], values[:, other])
        # t of a pair is the range over the square root of two
        assert p == pytest.approx(stats.studentized_range.sf(abs(t.statistic) * 2**0.5, 4, 1197), abs=0.02)
        half = stats.studentized_range.isf(0.05, 4, 1197) / 2**0.5 * difference.value / t.statistic
        assert difference.high - difference.value == pytest.approx(half, rel=0.04)


def test_an_interval_leaves_zero_out_exactly_where_the_pair_is_told_apart():
    for seed in range(5):
        found = compare_systems([one_run(five_of_sixty(seed).tolist())], by="model")
        assert [each.difference.side != 0 for each in found.pairs] == [each.p < 0.05 for each in found.pairs]


def test_questions_of_one_source_follow_one_order():
    g = np.random.default_rng(1)
    values = np.repeat(g.normal(size=(12, 3)), 5, axis=0)  # five times the same answer
    (whole,), (ps,) = joint_test(parts_of(values, np.repeat(np.arange(12), 5)))
    (alone,), expected = joint_test(parts_of(values[::5]))
    assert ps == pytest.approx(expected[0])
    assert np.array(whole) == pytest.approx(np.array(alone))
    run = one_run(values.tolist(), labels=lambda _, place: {"source": f"d{place // 5}"})
    found = compare_systems([run], by="model", cluster="source")
    assert [each.p for each in found.pairs] == pytest.approx(ps)
    assert found.cluster == "source"


def test_runs_pair_by_id_and_by_text_alike():
    values = five_of_sixty().tolist()
    one = compare_systems([one_run(values)], by="model")
    runs = [
        one_run([[row[place]] for row in values], name=f"m{place}", ids=lambda _, at: f"s{at}")
        for place in range(5)
    ]
    found = compare_systems(runs)
    assert (found.paired_by, found.questions) == ("id", 60)
    assert found.pairs == one.pairs
    assert found.systems == one.systems


def test_one_id_with_two_questions_pairs_by_text():
    rows = five_of_sixty()[:, :2].tolist()
    first = one_run([[row[0]] for row in rows], name="a", ids=lambda _, at: f"s{at}")
    other = one_run(
        [[row[1]] for row in reversed(rows)],
        name="b",
        ids=lambda _, at: f"s{at}",
        questions=lambda _, at: f"  What is\n{59 - at}? ",
    )
    found = compare_systems([first, other])
    assert (found.paired_by, found.questions) == ("question text", 60)
    expected = compare_systems([one_run(rows)], by="model").pairs[0]
    assert found.pairs[0].difference.value == pytest.approx(expected.difference.value)


@pytest.mark.parametrize(
    ("shared", "reason"),
    [
        (0, "no question text and no id occurs in all of them"),
        (4, "only 4 questions occur in all of them, and a paired test needs 6"),
    ],
)
def test_systems_that_share_no_questions_are_compared_unpaired_with_the_reason(shared, reason):
    values = five_of_sixty()[:, :3]
    run = one_run(
        values.tolist(), questions=lambda system, place: f"{0 if place < shared else system} {place}"
    )
    found = compare_systems([run], by="model")
    assert (found.paired_by, found.questions) == ("", 0)
    assert found.notes[0] == f"not paired: {reason}; the tests take the answers for independent"
    raw = [stats.ttest_ind(one, other, equal_var=False).pvalue for one, other in combinations(values.T, 2)]
    assert [each.p for each in found.pairs] == pytest.approx(stats_holm(raw))
    # Bonferroni: each at 1 - 0.05 / 3
    interval = stats.ttest_ind(values[:, 0], values[:, 1], equal_var=False).confidence_interval(1 - 0.05 / 3)
    assert found.pairs[0].difference[1:] == pytest.approx((interval.low, interval.high))


def stats_holm(ps):
    order = np.argsort(ps)
    adjusted = np.empty(len(ps))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(np.sort(ps) * np.arange(len(ps), 0, -1)))
    return adjusted


def test_statsmodels_adjusts_as_holm_does():
    multitest = pytest.importorskip("statsmodels.stats.multitest", reason="an oracle that is not required")
    ps = [0.01, 0.2, 0.03, 0.9]
    assert multitest.multipletests(ps, method="holm")[1] == pytest.approx(stats_holm(ps))


def test_only_questions_with_a_score_of_every_system_count():
    rows = five_of_sixty()[:20, :3].tolist()
    rows[0][1] = rows[3][1] = rows[4][2] = None
    found = compare_systems([one_run(rows)], by="model")
    assert {each.n for each in found.systems} == {17}
    left_out = {each.system: each.without for each in found.systems}
    assert left_out == {
        "m0": "3 not scored in every system",
        "m1": "2 not measured, 1 not scored in every system",
        "m2": "1 not measured, 2 not scored in every system",
    }


def test_of_several_answers_to_one_question_the_mean_counts():
    rows = five_of_sixty()[:10, :2]
    twice = one_run(
        np.concatenate([rows - 0.05, rows + 0.05]).tolist(), questions=lambda _, at: f"What is {at % 10}?"
    )
    found, once = (compare_systems([run], by="model") for run in (twice, one_run(rows.tolist())))
    assert found.questions == 10
    assert found.pairs[0].p == once.pairs[0].p
    assert "10 questions have several answers of one system: the mean of their scores counts" in found.notes


def test_where_lower_is_better_the_lowest_is_the_best():
    values = five_of_sixty(best=0.3)
    found = compare_systems([one_run(values.tolist(), lower=[METRIC])], by="model")
    best = found.systems[0]
    assert (best.system, best.first, best.letters[0]) == ("m0", 1, "a")
    assert pair(found, "m0", "m4").verdict == "better"


def test_a_rank_counts_the_systems_that_are_told_apart():
    # m0 to m3 are alike, m4 is far better
    values = five_of_sixty(best=0.0) + np.array([0, 0, 0, 0, 0.5])
    rows = {each.system: each for each in compare_systems([one_run(values.tolist())], by="model").systems}
    assert (rows["m4"].rank, rows["m4"].letters) == ("1", "a")
    assert {rows[f"m{place}"].rank for place in range(4)} == {"2 to 5"}
    assert {rows[f"m{place}"].letters for place in range(4)} == {"b"}


@given(st.integers(2, 6), st.data())
def test_systems_share_a_letter_exactly_if_they_are_not_told_apart(count, data):
    names = [f"system {place}" for place in range(count)]
    pairs = list(combinations(names, 2))
    differ = data.draw(st.lists(st.sampled_from(pairs), unique=True))
    letters = letter_groups(names, differ)
    assert letters[names[0]].startswith("a")
    for one, other in pairs:
        assert bool(set(letters[one]) & set(letters[other])) == ((one, other) not in differ)


def test_many_equal_tests_are_one_adjustment_over_all_metrics():
    values = five_of_sixty().tolist()
    one = one_run(values)
    twin = Scores(
        name="all",
        values={**one.values, "answer_relevance/strict.1": one.values[METRIC]},
        labels=one.labels,
        questions=one.questions,
    )
    found, alone = compare_systems([twin], by="model"), compare_systems([one], by="model")
    assert [each.p for each in found.pairs] == [each.p for each in alone.pairs] * 2


def labelled(run, share, *, shift=-0.1, seed=2):
    g = np.random.default_rng(seed)
    return {
        each: float(np.clip(value + shift + g.normal(0, 0.05), 0, 1))
        for each, value in run.values[METRIC].items()
        if g.random() < share
    }


def test_peoples_labels_make_the_means_prediction_powered():
    run = one_run((five_of_sixty() * 0.8 + 0.1).tolist())
    people = labelled(run, 0.34)
    found = compare_systems([run], by="model", people=[people])
    assert found.people
    known = [
        [
            (people[each], value)
            for each, value in run.values[METRIC].items()
            if each in people and "m2-" in each
        ],
        [value for each, value in run.values[METRIC].items() if each not in people and "m2-" in each],
    ]
    y, f = np.array(known[0]).T
    (row,) = (each for each in found.systems if each.system == "m2")
    assert (row.labelled, row.n) == (len(y), 60)
    # one weight for all systems: the value is that of some weight from 0 to 1, and of the same one for others
    weight = (row.mean.value - y.mean()) / (np.mean(known[1]) - f.mean())
    assert 0.5 < weight <= 1
    assert row.mean.value == pytest.approx(prediction_powered_mean(y, f, known[1], weight=weight)[0].value)
    means = {each.system: each.mean.value for each in found.systems}
    for each in found.pairs:
        assert each.difference.value == pytest.approx(means[each.one] - means[each.other])
    assert row.mean.width < 0.9 * row.labels_only.width
    assert row.scores_only.value == pytest.approx(np.mean([*f, *known[1]]))


def test_people_overrule_a_judge_that_prefers_a_system():
    values = five_of_sixty(best=0.0) * 0.6 + 0.1
    people = labelled(one_run(values.tolist()), 0.4, shift=0.0)
    biased = one_run((values + np.array([0.3, 0, 0, 0, 0])).tolist())
    by_scores = compare_systems([biased], by="model")
    by_people = compare_systems([biased], by="model", people=[people])
    assert all(pair(by_scores, "m0", other).p < 0.05 for other in ("m1", "m2", "m3", "m4"))
    assert all(pair(by_people, "m0", other).p > 0.05 for other in ("m1", "m2", "m3", "m4"))


def test_wrong_use_is_one_sentence():
    run = one_run(five_of_sixty().tolist())
    with pytest.raises(ConfigError, match="needs two systems"):
        compare_systems([run])
    with pytest.raises(ConfigError, match="two systems have one name"):
        compare_systems([run, run])
    with pytest.raises(ConfigError, match="no sample has the label 'colour'"):
        compare_systems([run], by="colour")
    with pytest.raises(ConfigError, match="m0 has 1 labelled answer with a score, and three are needed"):
        compare_systems([run], by="model", people=[{"m0-1": 0.5}])


def test_groups_that_share_some_questions_say_why_they_do_not_pair():
    rows = five_of_sixty()[:8, :3].tolist()
    run = one_run(rows, questions=lambda system, place: f"{min(system, 1)} {place}")
    assert study_groups([run], by="model").notes[0] == (
        "8 questions occur in more than one group, and the groups are not paired: no question text and no id "
        "occurs in all of them"
    )


def test_the_tables_say_what_was_done():
    run = one_run(five_of_sixty().tolist())
    systems, pairs = system_comparison_tables(compare_systems([run], by="model"))
    assert [column.name for column in systems.columns] == [
        "metric", "system", "mean", "n", "rank", "group", "left out"
    ]  # fmt: skip
    assert "paired by question text: all 5 systems have 60 questions in common" in systems.notes
    assert len(pairs.rows) == 10
    assert "adjusted for all 10 comparisons" in pairs.notes[0]


def test_without_a_difference_one_study_in_twenty_finds_one():
    design = next(each for each in designs() if each.name == "graded, by source, no system differs")
    g = np.random.default_rng(1)
    wrong = [simulate(design, g, 199)[0] for _ in range(300)]
    # 0.05 and three standard errors of a share of 300 either way; benchmarks/systems has 2,000
    assert 0.012 <= np.mean(wrong) <= 0.088
