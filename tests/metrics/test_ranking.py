"""The ranking metrics: ids and texts, one verdict for each rank, and every odd input defined."""

import math

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.drivers import audit, correct
from ragmetrics_core.metrics import (
    AveragePrecision,
    HitRate,
    Ndcg,
    ReciprocalRank,
    RetrievalPrecision,
    RetrievalRecall,
)

ALL = [RetrievalPrecision, RetrievalRecall, HitRate, ReciprocalRank, AveragePrecision, Ndcg]
# relevant at ranks 2 and 3; one of the three relevant chunks was not retrieved
IDS = {"context_ids": ["x", "a", "b", "y"], "reference_context_ids": ["a", "b", "c"]}
NAMES = pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)


def rank(metric, **sample):
    """The score of a metric that needs no model; its record must prove itself."""
    run = evaluate([{"id": "q1", **sample}], metrics=[metric])
    score = run.score("q1", metric)
    assert audit(score) == []
    return score


@pytest.mark.parametrize(
    ("metric", "value", "formula"),
    [
        (RetrievalPrecision(), 2 / 4, "2 / 4 = 0.5"),
        (RetrievalPrecision(k=2), 1 / 2, "1 / 2 = 0.5"),
        (RetrievalRecall(), 2 / 3, "2 / 3 = 0.667"),
        (RetrievalRecall(k=2), 1 / 3, "1 / 3 = 0.333"),
        (HitRate(k=1), 0.0, "0 found, none = 0"),
        (HitRate(k=2), 1.0, "1 found, at least one = 1"),
        (ReciprocalRank(), 1 / 2, "1 / 2 = 0.5"),
        # P@2 = 1/2 and P@3 = 2/3, the third relevant chunk has 0: (1/2 + 2/3) / 3 = 7/18
        (AveragePrecision(), 7 / 18, "(1/2 + 2/3) / 3 = 0.389"),
        (AveragePrecision(denominator="found"), 7 / 12, "(1/2 + 2/3) / 2 = 0.583"),
    ],
)
def test_the_scores_of_a_ranking_with_relevant_results_on_ranks_2_and_3(metric, value, formula):
    score = rank(metric, **IDS)

    assert score.value == pytest.approx(value, abs=1e-15)
    assert score.formula == formula


def test_ndcg_compares_with_the_best_ranking_of_all_relevant_items():
    # gained 1/log2(3) + 1/log2(4); the best ranking has 1/log2(2) + 1/log2(3) + 1/log2(4)
    gained = 1 / math.log2(3) + 1 / 2
    score = rank(Ndcg(), **IDS)

    assert score.value == pytest.approx(gained / (1 + gained))
    assert score.formula.startswith("(1/log2(3) + 1/log2(4)) / (1/log2(2) + 1/log2(3) + 1/log2(4)) = ")


def test_the_record_has_a_verdict_for_every_rank_with_what_it_was_matched_to():
    score = rank(RetrievalPrecision(k=3), **IDS)

    assert [(each.text, each.label, each.reason) for each in score.verdicts] == [
        ("x", "not relevant", "not among the relevant items"),
        ("a", "relevant", "relevant item 1"),
        ("b", "relevant", "relevant item 2"),
    ]
    assert (score.judge, score.steps) == (None, ())


@pytest.mark.parametrize(
    ("metric", "number", "supported", "value"),
    [
        # x on rank 1 becomes a fourth relevant item: recall 3/4, and the first relevant rank is 1
        (RetrievalRecall(), 1, True, 3 / 4),
        (ReciprocalRank(), 1, True, 1.0),
        # a is no longer relevant: b alone of b and c
        (RetrievalRecall(), 2, False, 1 / 2),
    ],
)
def test_a_person_who_overrules_a_verdict_changes_what_is_relevant(metric, number, supported, value):
    assert correct(rank(metric, **IDS), number=number, supported=supported).value == value


# -- odd input


@NAMES
@pytest.mark.parametrize(
    ("ids", "relevant", "note"),
    [
        (["a", "a", "b"], ["a"], "rank 2: repeats an earlier result and is no rank of its own"),
        (["a", "b"], ["a", "a"], "relevant item 2: repeats an earlier one"),
    ],
)
def test_a_result_or_a_relevant_item_that_stands_there_twice_counts_once(metric, ids, relevant, note):
    twice = rank(metric(), context_ids=ids, reference_context_ids=relevant)
    once = rank(metric(), context_ids=["a", "b"], reference_context_ids=["a"])

    assert twice.value == once.value <= 1
    assert twice.notes == (note,)


@NAMES
def test_nothing_retrieved_is_0(metric):
    score = rank(metric(), context_ids=[], reference_context_ids=["a"])
    assert score.value == 0.0
    assert "/ 0" not in score.formula


@NAMES
def test_nothing_relevant_is_undefined(metric):
    score = rank(metric(), context_ids=["a"], reference_context_ids=[])
    assert (score.status, score.reason) == ("undefined", "nothing_relevant")


@NAMES
def test_without_ids_the_sample_is_skipped_and_the_field_is_named(metric):
    assert rank(metric(), context_ids=["a"]).reason == "reference_context_ids"
    assert rank(metric(match="text"), contexts=["a"]).reason == "reference_contexts"


# -- grades


def test_grades_make_ndcg_graded():
    # b has grade 3 and stands behind a with grade 1: (1/1 + 3/log2(3)) / (3/1 + 1/log2(3))
    sample = {"context_ids": ["a", "b"], "reference_context_ids": ["a", "b"]}
    score = rank(Ndcg(), **sample, reference_context_grades=[1, 3])
    assert score.value == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))
    assert score.verdicts[1].reason == "relevant item 2, grade 3"

    exponential = rank(Ndcg(gain="exponential"), **sample, reference_context_grades=[1, 3])
    assert exponential.value == pytest.approx((1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3)))
    assert "(2^3 - 1)/log2(3)" in exponential.formula


def test_a_grade_of_0_or_below_means_not_relevant_and_the_record_says_so():
    score = rank(
        RetrievalRecall(),
        context_ids=["a"],
        reference_context_ids=["a", "b", "c"],
        reference_context_grades=[2, 0, -1],
    )

    assert score.value == 1.0
    assert score.notes == (
        "relevant item 2: grade 0 means not relevant",
        "relevant item 3: grade -1 means not relevant",
    )


def test_more_grades_than_relevant_items_are_an_error_of_the_sample():
    sound = {"context_ids": ["a"], "reference_context_ids": ["a"]}
    run = evaluate([sound, {**sound, "reference_context_grades": [1, 2]}], metrics="ndcg")
    (row,) = run.rejected
    assert row.message == "reference_context_grades has 2 grades for 1 relevant chunks"


def test_grades_of_ids_do_not_serve_for_texts():
    score = rank(
        Ndcg(match="text"),
        contexts=["one"],
        reference_contexts=["one"],
        reference_context_ids=["a", "b"],
        reference_context_grades=[1, 2],
    )
    assert (score.status, score.reason) == ("undefined", "grades_of_other_items")


# -- by text

PASSAGES = {
    "contexts": [
        "Ulm lies on the Danube.",
        "Albert Einstein was born in Ulm, in 1879!",
        "Albert Einstein was born in Ulm in 1879, and he played the violin.",
    ],
    "reference_contexts": ["Albert Einstein was born in Ulm in 1879.", "He won a prize."],
}


def test_texts_match_by_the_words_of_the_passage_that_a_chunk_holds():
    # chunk 2 has all words of passage 1; chunk 3 too, but the passage is credited once
    score = rank(RetrievalRecall(match="text"), **PASSAGES)

    assert score.value == 1 / 2
    assert [each.reason for each in score.verdicts] == [
        "not among the relevant items; the nearest one has 0.12 of its words here",
        "relevant item 1, 1.00 of its words",
        "relevant item 1, 1.00 of its words, which is credited to an earlier rank",
    ]


def test_a_lower_threshold_lets_a_part_of_a_passage_do():
    half = {"contexts": ["Einstein was born in Bern."], "reference_contexts": ["Einstein was born in Ulm."]}
    # 4 of 5 words
    assert rank(HitRate(match="text"), **half).value == 0.0
    assert rank(HitRate(match="text", threshold=0.8), **half).value == 1.0


def test_chunks_in_a_script_without_spaces_match_by_their_characters():
    score = rank(
        HitRate(match="text"), contexts=["东京是日本的首都。"], reference_contexts=["东京是日本的首都"]
    )
    assert score.value == 1.0


def test_a_relevant_passage_without_a_word_is_left_out_and_named():
    score = rank(RetrievalRecall(match="text"), contexts=["a b"], reference_contexts=["a b", "…"])
    assert score.notes == ("relevant item 2: has no word to be found by",)


def test_a_long_list_is_scored_and_its_formula_stays_short():
    ids = [str(number) for number in range(1000)]
    score = rank(AveragePrecision(), context_ids=ids, reference_context_ids=ids)
    assert score.value == 1.0
    assert len(score.formula) < 120


def test_the_means_over_a_run_are_map_and_mrr():
    rows = [
        {"id": "1", "context_ids": ["a"], "reference_context_ids": ["a"]},
        {"id": "2", "context_ids": ["x", "a"], "reference_context_ids": ["a"]},
        {"id": "3", "context_ids": ["x"], "reference_context_ids": []},
    ]
    run = evaluate(rows, metrics=["map", "mrr"])
    # (1 + 1/2) / 2: the sample without a relevant item does not enter
    assert [str(run.mean(name)) for name in ("average_precision", "reciprocal_rank")] == [
        "0.750 (n 2 of 3; 1 undefined)"
    ] * 2
