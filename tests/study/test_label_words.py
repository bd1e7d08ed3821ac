"""One vocabulary of labels: every word of the docs, in every spelling, through every reader."""

import csv
import json
import re
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import (
    HumanLabel,
    LabelledUnit,
    labelled_correct,
    labelled_verdicts,
    read_labels,
    read_units,
    reading_of,
    study_agreement,
    study_groups,
)
from ragmetrics_core.study._label_vocabulary import _BAD, _GOOD, _NEITHER, _NO, _YES
from ragmetrics_core.study._labelled_samples import read_labelled

PAGE = Path(__file__).resolve().parents[2] / "docs" / "judge_cards.md"
TABLE = PAGE.read_text(encoding="utf-8").partition("## Words of labels")[2].partition("## Settings")[0]
PLAIN = ["true", "yes", "y", "1", "false", "no", "n", "0"]


def documented(meaning):
    """Words of the docs with this meaning."""
    rows = re.findall(rf"^\| {meaning} \|(.*)\|$", TABLE, re.MULTILINE)
    return [word for row in rows if "any good word" not in row for word in re.findall(r"`([^`]+)`", row)]


GOOD = documented("good")
BAD = [*documented("bad"), *(f"not {word}" for word in GOOD if word not in PLAIN)]
NO_DECISION, ABSENT = documented("no decision"), ["", " ", *documented("no label")]
SPELLINGS = [str, str.upper, str.title, lambda word: f" {word} ", lambda word: word.replace(" ", "_")]


def in_a_row(label, values):
    return [
        {"id": f"r{place}", "question": "q", "answer": f"a{place}", "contexts": ["c"], label: value}
        for place, value in enumerate(values)
    ]


def read_by_probe(tmp_path, values, **how):
    return [row.label for row in read_labelled(in_a_row("verdict", values), label="verdict", **how).rows]


def read_by_studies(tmp_path, values, **how):
    path = tmp_path / "labels.jsonl"
    rows = [{"sample_id": f"s{n}", "annotator": "ann", "value": value} for n, value in enumerate(values)]
    path.write_text("\n".join(map(json.dumps, rows)))
    units = read_units(read_labels(path), **how).units
    return [votes["ann"] for votes in units.values()]


def read_from_csv(tmp_path, values, **how):
    path = tmp_path / "labels.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([("sample_id", "rater 1"), *((f"s{n}", value) for n, value in enumerate(values))])
    units = read_units(read_labels(path), **how).units
    return [votes["rater 1"] for votes in units.values()]


@pytest.fixture
def read_by_run(scores):
    def read(tmp_path, values, **how):
        run = scores(faithfulness=[0.5] * len(values), labels={"verdict": values})
        return list(labelled_correct(run, "verdict", **how).values())

    return read


@pytest.fixture(params=["probe", "labels", "labels.csv", "run"])
def read(request, read_by_run, tmp_path):
    readers = {"probe": read_by_probe, "labels": read_by_studies, "labels.csv": read_from_csv}
    reader = readers.get(request.param, read_by_run)
    return lambda values, **how: reader(tmp_path, values, **how)


def test_the_page_has_the_whole_vocabulary():
    def words(of):
        return {"_".join(word.lower().split()) for word in of}

    assert words(GOOD) == _YES | _GOOD
    assert words(BAD) == _NO | _BAD
    assert words(NO_DECISION) == _NEITHER


def test_each_word_has_its_meaning_in_every_spelling_and_for_every_reader(read):
    words = [(spell(word), word in GOOD) for spell, word in product(SPELLINGS, [*GOOD, *BAD])]
    assert read([word for word, _ in words]) == [meaning for _, meaning in words]


def test_truth_values_and_numbers_0_and_1_have_the_meaning_of_yes_and_no(read):
    assert read([True, "no", "1.0", "0", 1, 0.0]) == [True, False, True, False, True, False]


def test_blanks_and_values_without_a_decision_are_left_out(read):
    assert read(["yes", *ABSENT, *NO_DECISION, "no"]) == [True, False]


def test_named_values_are_good_and_all_others_bad(read):
    values = ["Fine", "ok ", "poor", "N/A", "unclear", "so-so"]
    assert read(values, good=["fine", "OK"]) == [True, True, False, False]
    # ratings, as numbers and as texts
    assert read([5, "4", 1, "2.0"], good=["4", "5"]) == [True, True, False, False]


def test_an_unknown_word_is_refused_with_its_label_and_the_fix(read):
    for values in (["fine", "poor"], ["supported", "unsuported"]):
        with pytest.raises(ConfigError, match=rf"label '\w+' says .*'{values[1]}'.*such as --good fine,ok"):
            read(values)


def test_ratings_beside_words_are_refused(read):
    for word in ("good", "fine"):
        with pytest.raises(ConfigError, match=rf"both ratings \('2', '4'\) and words \('{word}'\)"):
            read([4, 2, word])


def test_a_good_value_that_no_row_has_is_refused(read):
    with pytest.raises(ConfigError, match=r"no value of the label '.*' is 'fien': --good takes values"):
        read(["fine", "poor"], good=["fien"])


@pytest.mark.parametrize(
    "name", ["hallucinated", "label_hallucination", "Is Wrong", "incorrect", "unsupported"]
)
def test_where_the_name_says_that_yes_is_bad_yes_and_no_are_turned_around(scores, name):
    run = scores(faithfulness=[0.5] * 4, labels={name: ["yes", "no", "supported", "0"]})
    assert list(labelled_correct(run, name).values()) == [False, True, True, True]
    labels = [HumanLabel(LabelledUnit(f"s{n}"), "ann", name, n > 1) for n in (1, 2)]
    read = read_units(labels)
    assert [votes["ann"] for votes in read.units.values()] == [True, False]
    assert read.notes == (f"the label {name!r} takes 'no' as good and 'yes' as bad",)


@given(st.lists(st.floats(0, 100).filter(lambda number: number not in (0, 1)), min_size=1))
def test_numbers_other_than_0_and_1_stay_ratings(numbers):
    labels = [HumanLabel(LabelledUnit(f"s{n}"), "ann", "mark", number) for n, number in enumerate(numbers)]
    units = read_units(labels).units
    assert [votes["ann"] for votes in units.values()] == numbers
    assert reading_of("mark", list(map(repr, numbers))).kind == "rating"


def test_words_of_one_meaning_and_words_that_are_left_out_are_told():
    words = ["entailment", "neutral", "contradiction", "unclear", "unclear"]
    labels = [HumanLabel(LabelledUnit(f"s{n}"), "ann", "verdict", word) for n, word in enumerate(words)]
    assert read_units(labels).notes == (
        "the label 'verdict' says 'unclear' (2), which decides nothing and is left out",
        "the label 'verdict' takes 'entailment' as good and 'contradiction', 'neutral' as bad",
    )


def test_other_texts_are_compared_as_equal_or_not_and_a_note_says_how_to_compare_metrics(scores):
    labels = [HumanLabel(LabelledUnit(f"s{n}"), who, "tone", "dry") for n in (1, 2) for who in "ab"]
    run = scores(faithfulness=[0.5, 0.6])
    found = study_agreement(labels, run)
    assert not any("people" in pair for pair in found.correlations)
    assert any("'dry', neither good nor bad: name the values" in note for note in found.notes)
    assert ("people", "faithfulness") in study_agreement(labels, run, good=["dry"]).correlations


def test_a_label_of_statements_is_read_by_its_own_words():
    def said(*words, name="verdict"):
        return [
            HumanLabel(LabelledUnit("s", "faithfulness", n), "ann", name, word)
            for n, word in enumerate(words, start=1)
        ]

    # nothing is measured here: only the words are read
    assert list(labelled_verdicts([], said("supported", "entailment", "unclear"))) == []
    assert list(labelled_verdicts([], said("dry", name="tone"), label="verdict")) == []
    with pytest.raises(ConfigError, match="the label 'verdict' says 'unsuported'"):
        list(labelled_verdicts([], said("supported", "unsuported"), label="overall"))


@pytest.mark.parametrize(
    ("name", "upper", "lower"),
    [("right", "Supported", "refuted"), ("right", "pass", "fail"), ("hallucinated", "no", "yes")],
)
def test_groups_of_good_and_bad_are_tested_in_that_direction(scores, name, upper, lower):
    run = scores(faithfulness=[0.9, 0.8, 1.0, 0.1, 0.2, 0.0], labels={name: [lower] * 3 + [upper] * 3})
    (contrast,) = study_groups([run], by=name, one_sided=True).contrasts
    assert (contrast.upper.value, contrast.alternative) == (upper, "greater")


def test_a_preference_has_the_same_words_in_the_probe_and_the_studies():
    rows = [
        {"id": str(n), "question": "q", "answer": f"a{n}", "answer_b": f"b{n}", "preference": word}
        for n, word in enumerate(["a", " B ", "tie", "First", "second", 2, "-1"])
    ]
    found = read_labelled(rows)
    assert [pair.value for pair in found.pairs] == [-1, 1, -1, 1, 2, -1]
    assert found.dropped == {"people prefer neither": 1}
    with pytest.raises(ConfigError, match="the preference 'left' is unknown: write numbers above or below 0"):
        read_labelled([{**rows[0], "preference": "left"}])
