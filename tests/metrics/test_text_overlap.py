"""Exact match, token F1, BLEU, chrF, ROUGE and METEOR: hand-made numbers and odd texts."""

import pytest

from ragmetrics_core import evaluate, recompute
from ragmetrics_core.drivers import _counting, audit
from ragmetrics_core.drivers._counting import counted
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Bleu, Chrf, ExactMatch, Meteor, Rouge, TokenF1
from ragmetrics_core.protocol import Count
from ragmetrics_core.samples import Sample
from tests.catalogue import reason_to_skip

ALL = [ExactMatch, TokenF1, Bleu, Chrf, Rouge, Meteor]
COUNTED = [Bleu, Chrf, Rouge, Meteor]
METRICS = pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
BY_LIBRARY = pytest.mark.parametrize("metric", COUNTED, ids=lambda metric: metric.name)


def compare(metric, answer, *references, **sample):
    """The score of an answer beside its references; its record must prove itself."""
    if reason := reason_to_skip(metric.name):
        pytest.skip(reason)
    row = Sample(id="q1", answer=answer, references=references, **sample)
    score = evaluate([row], metrics=[metric]).score("q1", metric)
    assert audit(score) == []
    return score


# -- exact match


@pytest.mark.parametrize(
    ("answer", "reference", "value"),
    [
        ("The Danube.", "danube", 1.0),
        ("Danube river", "Danube", 0.0),
        ("3.5", "35", 0.0),
        ("-5", "5", 0.0),
        ("１２３ ＡＢＣ", "123 abc", 1.0),
        ("Straße", "STRASSE", 1.0),
        ("东京。", "东京", 1.0),
        ("5 €", "€5", 1.0),
    ],
)
def test_exact_match_is_about_words_and_not_about_case_or_punctuation(answer, reference, value):
    assert compare(ExactMatch(), answer, reference).value == value


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("-", "+"),
        ("5", "$5"),
        ("50", "50 %"),
        ("C", "C++"),
        ("A+", "A-"),
        ("34", "3/4"),
        ("Vitamin", "Vitamin A"),
    ],
)
def test_exact_match_tells_letters_amounts_and_languages_apart_and_squad_does_not(answer, reference):
    assert compare(ExactMatch(), answer, reference).value == 0.0
    squad = compare(ExactMatch(variant="squad"), answer, reference).value
    assert squad == 1.0
    assert compare(ExactMatch(), reference, reference).value == 1.0


def test_an_article_of_english_is_a_word_in_another_language():
    assert compare(ExactMatch(), "a Roma", "Roma").value == 1.0
    assert compare(ExactMatch(), "a Roma", "Roma", language="it").value == 0.0


def test_one_of_several_references_is_enough_and_the_record_says_which():
    score = compare(ExactMatch(), "In Ulm", "Ulm", "In Ulm.")
    assert score.value == 1.0
    assert [each.label for each in score.verdicts] == ["different", "equal"]


# -- token F1


@pytest.mark.parametrize(
    ("mode", "value", "formula"),
    [
        # born in ulm | einstein was born in ulm: 3 shared, P = 3/3, R = 3/5, F1 = 2 * 0.6 / 1.6
        ("f", 0.75, "F1 of P 3 / 3 and R 3 / 5 = 0.75"),
        ("precision", 1.0, "3 / 3 = 1"),
        ("recall", 0.6, "3 / 5 = 0.6"),
    ],
)
def test_token_f1_of_a_short_answer(mode, value, formula):
    score = compare(TokenF1(mode=mode), "Born in Ulm.", "Einstein was born in Ulm.")
    assert score.value == pytest.approx(value, abs=1e-15)
    assert score.formula == formula


def test_the_best_of_several_references_counts():
    score = compare(TokenF1(), "in Ulm", "near the Danube", "In Ulm")
    assert (score.value, score.counts["reference"]) == (1.0, 2)


def test_two_texts_without_a_word_are_undefined_but_1_by_the_rules_of_squad():
    assert compare(TokenF1(), "...", "!").reason == "no_words"
    assert compare(TokenF1(variant="squad"), "...", "").value == 1.0


# -- counted by libraries


def test_the_record_keeps_the_signature_of_the_library_and_its_counts():
    (step,) = compare(Bleu(), "The cat sat on the mat.", "The cat sat on a mat.").steps

    assert step.made_by.startswith("sacrebleu nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:")
    # 7 tokens each, the full stop is one: only "the" differs from "a"
    assert step.counts["matches"] == (6, 4, 2, 1)
    assert step.counts["ngrams"] == (7, 6, 5, 4)


def test_rouge_l_counts_words_in_the_same_order():
    # "police kill the gunman" | "police killed the gunman": police, the, gunman: P = R = 3/4
    score = compare(Rouge(), "police kill the gunman", "police killed the gunman")
    assert (score.value, score.formula) == (0.75, "F1 of P 3 / 4 and R 3 / 4 = 0.75")
    # the stems are the same
    assert compare(Rouge(stemmer=True), "police kill the gunman", "police killed the gunman").value == 1.0


def test_rouges_own_tokeniser_knows_latin_letters_only_and_the_other_knows_all():
    assert compare(Rouge(), "东京", "东京").reason == "no_words"
    assert compare(Rouge(words="unicode"), "东京是首都", "东京").value == pytest.approx(2 * 2 / 7)


def test_meteor_matches_equal_words_then_equal_stems():
    # dogs-dog and run-runs match by stem, in one run: m = 2, P = R = 1, penalty 0.5 * (1/2)^3
    assert compare(Meteor(), "dogs run", "dog runs").value == pytest.approx(1 - 0.5 / 8)
    assert compare(Meteor(stemmer=False), "dogs run", "dog runs").value == 0.0


@pytest.fixture
def wordnet(tmp_path, monkeypatch):
    """A WordNet of one synset, {car, auto}, in the files of NLTK's data."""
    folder = tmp_path / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    for kind in ("noun", "verb", "adj", "adv"):
        for name in (f"index.{kind}", f"data.{kind}", f"{kind}.exc"):
            (folder / name).write_text("")
    synset = "00000000 06 n 02 car 0 auto 0 000 | a motor vehicle  \n"
    words = "car n 1 0 1 0 00000000  \nauto n 1 0 1 0 00000000  \n"
    files = {"data.noun": synset, "index.noun": words, "lexnames": "00\tadj.all\t3\n", "index.sense": ""}
    files["lexnames"] = "".join(f"{place:02d}\tnoun.artifact\t1\n" for place in range(7))
    files["data.adj"] = "  1 WordNet 3.0 Copyright 2006 by Princeton University.  \n"
    for name, text in files.items():
        (folder / name).write_text(text)
    nltk = pytest.importorskip("nltk", exc_type=ImportError)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    _counting._wordnet.cache_clear()
    reader = nltk.corpus.util.LazyCorpusLoader("wordnet", nltk.corpus.reader.WordNetCorpusReader, None)
    monkeypatch.setattr(nltk.corpus, "wordnet", reader)
    yield
    _counting._wordnet.cache_clear()


@pytest.mark.filterwarnings("ignore:The multilingual functions")
def test_meteor_matches_synonyms_where_wordnet_is_at_hand(wordnet):
    # without synonyms only "the" matches: m = 1 of 2, P = R = 1/2, penalty 0.5
    assert compare(Meteor(), "the car", "the auto").value == pytest.approx(0.25)
    # both match in one run: penalty 0.5 * (1/2)^3
    score = compare(Meteor(wordnet=True), "the car", "the auto")
    assert score.value == pytest.approx(1 - 0.5 / 8)
    assert score.signature == "meteor/strict.1(wordnet=true)"
    (step,) = score.steps
    assert step.made_by.endswith("stages:exact, porter stem, synonyms of WordNet 3.0")
    assert audit(score) == []


@pytest.mark.filterwarnings("ignore:The multilingual functions")
def test_meteor_without_the_data_of_wordnet_names_the_variable_to_set(wordnet, tmp_path):
    (tmp_path / "corpora" / "wordnet" / "lexnames").unlink()
    with pytest.raises(ConfigError, match="corpora/wordnet: set NLTK_DATA"):
        compare(Meteor(wordnet=True), "the car", "the auto")


def test_meteor_says_which_stages_matched():
    (step,) = compare(Meteor(), "dogs run", "dog runs").steps
    assert step.made_by.endswith("stages:exact, porter stem")


@BY_LIBRARY
def test_a_record_gives_its_score_where_the_library_is_missing(metric, monkeypatch):
    record = compare(metric(), "the cat sat", "the cat sat down")
    for package in ("sacrebleu", "rouge_score", "nltk"):
        for name in (package, f"{package}.metrics", f"{package}.tokenizers"):
            monkeypatch.setitem(__import__("sys").modules, name, None)

    assert recompute(record).value == record.value
    assert audit(record) == []


@BY_LIBRARY
def test_altered_counts_are_found_where_the_library_is_at_hand(metric):
    record = compare(metric(), "the cat sat", "the cat sat down")
    (step,) = record.steps
    altered = step.model_copy(update={"counts": {**step.counts, "matches": (1, *step.counts["matches"][1:])}})

    found = audit(record.model_copy(update={"steps": (altered,)}))

    assert any(difference.field.startswith("steps[1].counts.matches") for difference in found)


@BY_LIBRARY
def test_a_count_that_another_version_made_is_taken_as_it_is(metric):
    record = compare(metric(), "the cat sat", "the cat sat down")
    (step,) = record.steps
    older = step.model_copy(update={"made_by": "an older version"})
    assert audit(record.model_copy(update={"steps": (older,)})) == []


def test_a_procedure_that_nobody_knows_is_a_mistake():
    with pytest.raises(ConfigError, match="nothing counts 'ter', only bleu, chrf, rouge, meteor"):
        counted(Count("ter", "a", ("b",)))


# -- odd texts


@METRICS
def test_the_same_text_has_the_highest_score(metric):
    value = compare(metric(), "Einstein was born in Ulm in 1879.", "Einstein was born in Ulm in 1879.").value
    assert value == pytest.approx(1.0, abs=0.002)


@METRICS
def test_nothing_in_common_is_0(metric):
    assert compare(metric(), "xyz", "Ulm").value == 0.0


@METRICS
@pytest.mark.parametrize(
    ("answer", "reference", "reason"),
    [("", "Ulm", "no_answer"), (" \n", "Ulm", "no_answer"), ("Ulm", " ", "no_reference")],
)
def test_no_number_is_made_of_a_blank_text(metric, answer, reference, reason):
    score = compare(metric(), answer, reference)
    assert (score.status, score.value, score.reason) == ("undefined", None, reason)


@pytest.mark.parametrize("metric", [ExactMatch(variant="squad"), TokenF1(variant="squad")])
def test_a_blank_answer_is_0_by_the_rules_of_squad(metric):
    assert compare(metric, "", "Ulm").value == 0.0


@METRICS
def test_texts_of_100_000_words_are_measured(metric):
    answer = " ".join(f"word{number % 5000}" for number in range(100_000))
    reference = " ".join(f"word{number % 4999}" for number in range(100_000))
    assert 0 <= compare(metric(), answer, reference).value <= 1
