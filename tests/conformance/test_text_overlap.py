"""Text overlap: the formulas over the kept counts give what the libraries themselves give."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import evaluate, scoring
from ragmetrics_core.metrics import Bleu, Chrf, Meteor, Rouge, TokenF1

sacrebleu = pytest.importorskip("sacrebleu.metrics", exc_type=ImportError)
rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer", exc_type=ImportError)
meteor_score = pytest.importorskip("nltk.translate.meteor_score", exc_type=ImportError)

WORDS = ["the", "cat", "cats", "sat", "sits", "on", "mat", "Mat"]
WORDS += ["a", "dog", "runs", "running", ".", ",", "12"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
references = st.lists(texts, min_size=1, max_size=3, unique=True)


def ours(metric, answer, expected):
    """The value of a metric, None where it is undefined."""
    row = {"id": "q1", "answer": answer, "references": expected}
    return evaluate([row], metrics=[metric]).score("q1", metric).value


@given(answer=texts, expected=references)
def test_bleu_is_that_of_sacrebleu(answer, expected):
    theirs = sacrebleu.BLEU(effective_order=True).sentence_score(answer, expected).score / 100
    assert (ours(Bleu(), answer, expected) or 0.0) == pytest.approx(theirs)


@given(answer=texts, expected=references, word_order=st.sampled_from([0, 2]))
def test_chrf_is_that_of_sacrebleu(answer, expected, word_order):
    theirs = sacrebleu.CHRF(word_order=word_order).sentence_score(answer, expected).score / 100
    assert ours(Chrf(word_order=word_order), answer, expected) == pytest.approx(theirs)


@given(answer=texts, expected=references, kind=st.sampled_from(["1", "2", "L"]), stemmer=st.booleans())
def test_rouge_is_that_of_rouge_score(answer, expected, kind, stemmer):
    theirs = rouge_scorer.RougeScorer([f"rouge{kind}"], use_stemmer=stemmer).score_multi(expected, answer)
    value = ours(Rouge(kind=kind, stemmer=stemmer), answer, expected)
    # where neither side has an n-gram of the length, rouge-score says 0 and we say undefined
    assert (value or 0.0) == pytest.approx(theirs[f"rouge{kind}"].fmeasure)


class NoWordNet:
    """NLTK's third stage with nothing in it: its data is a download."""

    def synsets(self, word):
        return []


@given(answer=texts, expected=references)
def test_meteor_is_that_of_nltk_without_synonyms(answer, expected):
    split = [scoring.words_of(text, language="und") for text in (answer, *expected)]
    theirs = meteor_score.meteor_score(split[1:], split[0], wordnet=NoWordNet())
    assert (ours(Meteor(), answer, expected) or 0.0) == pytest.approx(theirs)


def squad_f1(answer: str, gold: str) -> float:
    """The F1 of the evaluation script of SQuAD 2.0, in its own steps."""
    import collections
    import re
    import string

    def tokens(text):
        text = "".join(char for char in text.lower() if char not in set(string.punctuation))
        return re.sub(r"\b(a|an|the)\b", " ", text).split()

    own, wanted = tokens(answer), tokens(gold)
    shared = sum((collections.Counter(wanted) & collections.Counter(own)).values())
    if not own or not wanted:
        return float(own == wanted)
    if shared == 0:
        return 0.0
    precision, recall = shared / len(own), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


@given(answer=texts, expected=references)
def test_token_f1_by_the_rules_of_squad_is_that_of_its_script(answer, expected):
    theirs = max(squad_f1(answer, gold) for gold in expected)
    assert ours(TokenF1(variant="squad"), answer, expected) == pytest.approx(theirs)
