"""BERTScore, answer equivalence and semantic answer similarity over any scorer."""

from collections.abc import Sequence

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import AnswerEquivalence, BertScore, SemanticAnswerSimilarity
from ragmetrics_core.samples import Sample

ROW = {"id": "q1", "question": "Where?", "answer": "In Ulm.", "references": ["Ulm", "Bern"]}


class Table:
    """A scorer that looks its numbers up."""

    identity = "table"

    def __init__(self, numbers):
        self.numbers = numbers
        self.asked = []

    async def arate(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        self.asked += pairs
        return [self.numbers[pair] for pair in pairs]


def rated(metric, numbers, **changes):
    scorer = Table(numbers)
    score = evaluate([Sample(**{**ROW, **changes})], metrics=[metric], scorer=scorer).score("q1", metric)
    assert audit(score) == []
    return score, scorer


BOTH = {("In Ulm.", "Ulm"): 0.8, ("Ulm", "In Ulm."): 1.0, ("In Ulm.", "Bern"): 0.4, ("Bern", "In Ulm."): 0.4}


def test_bert_score_is_the_f1_of_the_best_reference():
    # 2 * 0.8 * 1 / 1.8
    score, _ = rated(BertScore(), BOTH)
    assert score.value == pytest.approx(1.6 / 1.8)
    assert score.formula == "F1 of P 0.800 and R 1.000 = 0.889"
    assert rated(BertScore(mode="precision"), BOTH)[0].value == 0.8
    assert rated(BertScore(mode="recall"), BOTH)[0].value == 1.0


def test_a_baseline_spreads_the_values_and_what_lies_below_is_0():
    # (0.8 - 0.6) / 0.4
    score, _ = rated(BertScore(mode="precision", baseline=0.6), BOTH)
    assert score.value == pytest.approx(0.5)
    assert score.formula == "(0.800 - 0.6) / (1 - 0.6) = 0.5"
    assert rated(BertScore(mode="precision", baseline=0.9), BOTH)[0].value == 0.0


def test_the_best_reference_counts_for_semantic_similarity():
    score, _ = rated(SemanticAnswerSimilarity(), BOTH)
    assert (score.value, score.counts["reference"]) == (0.8, 1)


def test_equivalence_shows_the_model_answer_reference_and_question():
    numbers = {("In Ulm.", "Ulm [SEP] Where?"): 0.9, ("In Ulm.", "Bern [SEP] Where?"): 0.1}
    score, scorer = rated(AnswerEquivalence(), numbers)
    assert score.value == 0.9
    assert scorer.asked == list(numbers)
    reached = rated(AnswerEquivalence(threshold=0.95), numbers)[0]
    assert (reached.value, reached.formula) == (0.0, "0.900 < 0.95 = 0")


def test_a_text_of_the_sample_cannot_end_its_part_with_the_separator():
    numbers = {("In   Ulm.", "Ulm [SEP] Where?"): 0.5}
    assert rated(AnswerEquivalence(), numbers, answer="In [SEP] Ulm.", references=["Ulm"])[0].value == 0.5


@pytest.mark.parametrize("metric", [BertScore(), SemanticAnswerSimilarity()])
def test_numbers_of_another_scale_are_no_score(metric):
    numbers = dict.fromkeys(BOTH, 7.5)
    score, _ = rated(metric, numbers)
    assert (score.status, score.reason) == ("model_error", "the scorer gave 7.5, which is not from 0 to 1")


@pytest.mark.parametrize("metric", [BertScore(), SemanticAnswerSimilarity(), AnswerEquivalence()])
def test_blank_texts_are_undefined_and_nothing_is_rated(metric):
    score, scorer = rated(metric, {}, answer=" ")
    assert (score.reason, scorer.asked) == ("no_answer", [])
    assert rated(metric, {}, references=[""])[0].reason == "no_reference"


def test_without_a_scorer_the_mistake_is_named_before_anything_is_asked():
    with pytest.raises(ConfigError, match="bert_score needs a scorer, and none was given: scorer="):
        evaluate([ROW], metrics="bert_score")
