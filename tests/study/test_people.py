"""Labels of people: reading them, consensus, agreement with metrics, and the estimate from few of them."""

import json

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from scipy import stats

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import (
    Judgement,
    LabelledUnit,
    agreement_tables,
    estimate_quality,
    estimate_tables,
    labelled_correct,
    on_unit_scale,
    read_labels,
    read_units,
    study_agreement,
)
from ragmetrics_core.study._estimates import wilson_interval
from ragmetrics_core.study._labelled_samples import read_labelled
from ragmetrics_core.study._verdict_accuracy import verdict_accuracy

CSV = """sample_id,annotator,label,value
s1,ann,overall,5
s1,bob,overall,5
s1,cid,overall,4
s2,ann,overall,2
s2,bob,overall,1
s2,cid,overall,
s3,ann,overall,1
s3,bob,overall,1
s3,cid,overall,1
s4,ann,overall,4
s4,bob,overall,4
s4,cid,overall,2
s5,ann,overall,3
s5,bob,overall,4
s5,cid,overall,5
s5,zoe,overall,4
s2,zoe,overall,2
"""


@pytest.fixture
def labels(tmp_path):
    (tmp_path / "labels.csv").write_text(CSV)
    return read_labels(tmp_path / "labels.csv")


def test_json_lines_say_the_same_as_csv(tmp_path):
    (tmp_path / "l.jsonl").write_text(
        '{"sample_id": "s1", "annotator": "ann", "value": true, "metric": "faithfulness", "statement": 2}\n'
    )
    (tmp_path / "l.csv").write_text("sample_id,annotator,value,metric,statement\ns1,ann,yes,faithfulness,2\n")
    assert read_labels(tmp_path / "l.jsonl") == read_labels(tmp_path / "l.csv")
    (label,) = read_labels(tmp_path / "l.csv")
    assert (label.unit, label.value) == (LabelledUnit("s1", "faithfulness", 2), True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sample_id,value\ns1,1\n", "line 2 has no annotator"),
        ("sample_id,annotator,value\ns1,a,1\ns1,a,2\n", "a labelled s1 twice, as 1.0 and 2.0"),
        ("sample_id,annotator,value\ns1,a,\n", "has no label with a value"),
        ("sample_id,annotator,value\ns1,a,inf\n", "is not a finite number"),
        ("sample_id,annotator,value,statement\ns1,a,1,two\n", "the statement 'two' is not a number"),
    ],
)
def test_labels_that_cannot_be_read_say_where(tmp_path, text, told):
    (tmp_path / "l.csv").write_text(text)
    with pytest.raises(ConfigError, match=told):
        read_labels(tmp_path / "l.csv")


def test_consensus_is_unanimous_then_majority_then_adjudicated(labels, scores):
    found = study_agreement(labels, adjudicator="zoe")
    assert {unit.sample_id: (each.value, each.how) for unit, each in found.consensus.items()} == {
        "s1": (5.0, "majority"),
        "s2": (2.0, "adjudicated"),
        "s3": (1.0, "unanimous"),
        "s4": (4.0, "majority"),
        "s5": (4.0, "adjudicated"),
    }


def test_without_an_adjudicator_units_without_majority_stay_open_and_are_listed(labels):
    found = study_agreement([label for label in labels if label.annotator != "zoe"])
    table = {each.name: each for each in agreement_tables(found)}["open"]
    assert [row[0] for row in table.rows] == ["s2", "s5"]
    assert table.rows[0][-1] == "ann: 2, bob: 1"


def test_annotators_who_skipped_are_counted(labels):
    found = study_agreement(labels, adjudicator="zoe")
    assert {(each.who, each.n, each.skipped) for each in found.figures if each.what == "labels"} == {
        ("ann", 5, 0),
        ("bob", 5, 0),
        ("cid", 4, 1),
    }


def test_metrics_are_correlated_with_the_consensus(labels, scores):
    column = [0.9, 0.4, 0.0, 0.6, 0.8]
    found = study_agreement(labels, scores(faithfulness=column), adjudicator="zoe")
    expected = stats.spearmanr(column, [5, 2, 1, 4, 4]).statistic
    assert found.correlations["people", "faithfulness"].spearman.value == pytest.approx(expected)


def test_on_a_scale_of_1_to_5_an_answer_is_correct_from_4(labels, scores):
    found = study_agreement(labels, scores(faithfulness=[0.9, 0.4, 0.0, 0.6, 0.8]), adjudicator="zoe")
    detection = found.detections["faithfulness"]
    # s1, s4, s5 are correct and all score above s2 and s3
    assert (found.correct_from, detection.correct, detection.wrong, detection.area.value) == (4.0, 3, 2, 1.0)


def test_labels_of_unknown_samples_are_left_out_with_a_remark(labels, scores):
    found = study_agreement(labels, scores(faithfulness=[0.9, 0.4, 0.0]), adjudicator="zoe")
    assert any("2 labelled samples are not in a and are left out: s4, s5" in note for note in found.notes)


def test_labels_of_unknown_samples_alone_are_a_mistake(labels):
    from ragmetrics_core.study import Scores

    with pytest.raises(ConfigError, match="no labelled sample is in b"):
        study_agreement(labels, Scores(name="b", values={"faithfulness/strict.1": {}}, labels={"x": {}}))


def test_several_labels_need_a_name(tmp_path):
    (tmp_path / "l.csv").write_text("sample_id,annotator,label,value\ns1,a,x,1\ns1,a,y,1\n")
    with pytest.raises(ConfigError, match=r"several labels \(x, y\): name one with --label"):
        study_agreement(read_labels(tmp_path / "l.csv"))
    with pytest.raises(ConfigError, match="there are no labels"):
        study_agreement([])


def test_an_annotator_who_always_says_the_same_is_told(tmp_path):
    (tmp_path / "l.csv").write_text("sample_id,annotator,value\ns1,a,3\ns2,a,3\ns1,b,1\ns2,b,3\n")
    found = study_agreement(read_labels(tmp_path / "l.csv"))
    assert [each.note for each in found.figures if each.what == "labels"] == ["always 3", ""]


def test_a_label_of_the_run_that_is_neither_good_nor_bad_is_a_mistake(scores):
    run = scores(faithfulness=[0.1, 0.2], labels={"quality": ["fine", "so so"]})
    with pytest.raises(ConfigError, match="the label 'quality' says 'fine', 'so so', neither good nor bad"):
        labelled_correct(run, "quality")
    assert labelled_correct(run, "quality", good=["Fine"]) == {"s1": True, "s2": False}


def test_numbers_need_a_threshold(scores):
    run = scores(faithfulness=[0.1, 0.2], labels={"quality": [3.0, 5.0]})
    with pytest.raises(ConfigError, match="--correct-from"):
        labelled_correct(run, "quality")
    assert labelled_correct(run, "quality", at_least=4) == {"s1": False, "s2": True}


def test_predictions_that_tell_nothing_save_no_label(scores):
    # a judge that always says 0.5 leaves the interval of the labels alone: Wilson's of 8 in 12, with
    # Student's quantile for 11 degrees, 2.201: (0.6667 + 0.2018 ± 2.201 √(0.2222 / 12 + 0.0336 / 4)) / 1.4037
    run = scores(faithfulness=[0.5] * 40)
    labels = {f"s{number}": float(number % 3 > 0) for number in range(1, 13)}
    found = estimate_quality(run, labels, metric="faithfulness")
    assert (found.weight, found.saved) == (0.0, 0)
    assert found.powered == pytest.approx(found.classical)
    assert found.powered == pytest.approx((0.6667, 0.3614, 0.8760), abs=1e-4)


def test_where_lower_is_better_the_complement_of_the_scores_predicts_the_labels(scores):
    generator = np.random.default_rng(4)
    good = (generator.random(200) < 0.6).astype(float)
    share = np.clip(0.1 + 0.8 * good + generator.normal(0, 0.1, 200), 0, 1)
    up = scores(faithfulness=share.tolist())
    down = scores(hallucination=(1 - share).tolist(), lower=["hallucination"])
    labels = {each: float(good[place]) for place, each in enumerate(up.samples[:40])}
    expected = estimate_quality(up, labels, metric="faithfulness")
    found = estimate_quality(down, labels, metric="hallucination")
    assert found.metric == "1 - hallucination"
    assert found.weight == pytest.approx(expected.weight)
    assert found.weight > 0.5
    assert found.powered == pytest.approx(expected.powered)
    assert found.naive.value == pytest.approx(share.mean())


def test_an_estimate_counts_what_it_rests_on(scores):
    run = scores(factual_correctness=[0.9, 0.8, 0.2, 0.4, None, 0.5])
    found = estimate_quality(run, {"s1": 1.0, "s2": 0.75, "s3": 0.0, "s5": 1.0}, metric="factual_correctness")
    assert (found.labelled, found.scored) == (3, 2)
    assert found.left_out == (("undefined though labelled", 1),)
    assert found.classical.value == pytest.approx(1.75 / 3)
    assert found.naive.value == pytest.approx(2.8 / 5)
    assert "only 3 samples are labelled" in found.notes[0]
    assert next(estimate_tables(found)).rows[0][0] == "prediction-powered"


def test_fewer_than_two_labelled_samples_are_a_mistake(scores):
    with pytest.raises(ConfigError, match="1 sample of a with both a label and a value"):
        estimate_quality(scores(faithfulness=[0.1, 0.2]), {"s1": 1.0}, metric="faithfulness")


def test_labels_are_put_on_the_scale_of_scores():
    assert on_unit_scale([True, False]) == [1.0, 0.0]
    assert on_unit_scale([1.0, 3.0, 5.0]) == [0.0, 0.5, 1.0]
    assert on_unit_scale([0.5, 1.0]) == [0.5, 1.0]
    assert on_unit_scale([0.0, 10.0], scale=(0.0, 10.0)) == [0.0, 1.0]
    with pytest.raises(ConfigError, match="the label 7 is outside the scale 0 to 1"):
        on_unit_scale([7.0, 0.0])


def test_where_lower_is_better_a_metric_detects_wrong_answers_from_its_other_end(labels, scores):
    column = [0.1, 0.6, 1.0, 0.4, 0.2]
    run = scores(hallucination=column, lower=["hallucination"])
    found = study_agreement(labels, run, adjudicator="zoe")
    detection = found.detections["hallucination"]
    # s1, s4, s5 are correct and all make up less than s2 and s3
    assert (detection.area.value, detection.threshold.at.value, detection.threshold.caught) == (
        1,
        0.4,
        1,
    )
    tables = {each.name: each for each in agreement_tables(found)}
    assert any("lower is better: hallucination" in note for note in tables["detection"].notes)
    # the coefficient itself keeps its sign: people rate higher what is made up less
    assert found.correlations["people", "hallucination"].spearman.value < -0.8


def test_five_annotators_who_agree_on_20_verdicts_are_20_trials():
    # the judge is right in 16 of 20 verdicts, and each of the five says so
    judgements = [
        Judgement(LabelledUnit("s", "faithfulness/strict.1", number), who, True, number > 4)
        for number in range(1, 21)
        for who in ("ann", "bob", "cid", "dan", "eve")
    ]
    (found,) = verdict_accuracy(judgements)
    assert found.n == 20
    assert found.right == wilson_interval(16, 20)


def test_a_verdict_on_which_people_disagree_is_decided_by_most_or_left_open():
    def said(number, *people, judge=True):
        unit = LabelledUnit("s", "faithfulness/strict.1", number)
        return [Judgement(unit, who, judge, person) for who, person in zip("abz", people, strict=False)]

    # 1: two of three say no; 2: one each; 3: the judge has none; 4: confirmed
    judgements = [
        *said(1, False, True, False),
        *said(2, True, False),
        *said(3, True, judge=None),
        *said(4, True, True),
    ]
    (found,) = verdict_accuracy(judgements)
    assert (found.right.value, found.n, found.missing, found.open) == (0.5, 2, 1, 1)


def test_each_label_of_a_file_is_read_by_its_own_values(tmp_path):
    rows = [
        "s1,ann,grade,correct",
        "s2,ann,grade,wrong",
        "s1,ann,tone,good",
        "s2,ann,tone,dry",
        "s1,ann,mark,4",
        "s2,ann,mark,2",
    ]
    (tmp_path / "l.csv").write_text("sample_id,annotator,label,value\n" + "\n".join(rows))
    labels = read_labels(tmp_path / "l.csv")

    def values(label, **how):
        return [votes["ann"] for votes in read_units(labels, label, **how).units.values()]

    assert values("grade") == [True, False]
    assert values("mark") == [4.0, 2.0]
    assert values("tone", good=["dry"]) == [False, True]
    with pytest.raises(ConfigError, match=r"the label 'tone' says 'dry', neither good nor bad.*--good"):
        values("tone")


LONG = """sample_id,annotator,value
s1,Anna,5
s1,rater_2,4
s2,Anna,2
s2,rater_2,1
s3,Anna,1
s3,rater_2,1
"""
WIDE = "sample_id,question,rater: Anna,rater_2\ns1,Q?,5,4\ns2,Q?,2,1\ns3,Q?,1,1\n"


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "xlsx"])
def test_a_column_for_each_annotator_says_the_same_as_a_row_for_each(tmp_path, ending):
    header, *lines = (line.split(",") for line in WIDE.splitlines())
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    path = tmp_path / f"wide.{ending}"
    if ending == "json":
        path.write_text(json.dumps({"labels": 3, "rows": rows}))
    elif ending == "xlsx":
        workbook = pytest.importorskip("openpyxl", reason="needs the extra excel").Workbook()
        for line in (header, *lines):
            workbook.active.append(line)
        workbook.save(path)
    else:
        path.write_text(WIDE.replace(",", "\t") if ending == "tsv" else WIDE)
    (tmp_path / "long.csv").write_text(LONG)
    assert read_labels(path) == read_labels(tmp_path / "long.csv")


def test_an_annotator_who_skipped_in_a_column_said_nothing(tmp_path):
    (tmp_path / "l.csv").write_text("sample_id,rater 1,rater 2\ns1,yes,\ns2,no,no\n")
    assert [(each.annotator, each.value) for each in read_labels(tmp_path / "l.csv")] == [
        ("rater 1", True),
        ("rater 1", False),
        ("rater 2", False),
    ]


def test_columns_that_are_not_known_to_be_of_annotators_are_refused(tmp_path):
    (tmp_path / "l.csv").write_text("sample_id,Anna,Ben\ns1,5,4\n")
    with pytest.raises(ConfigError, match=r"one for each annotator: 'rater 1', 'rater: Anna'"):
        read_labels(tmp_path / "l.csv")


def test_a_labelled_set_has_the_votes_of_a_column_for_each_annotator():
    row = {"question": "Q?", "answer": "A.", "contexts": ["c"]}
    wide = [
        {**row, "id": "a", "rater 1": "yes", "rater 2": "yes", "rater: Cid": "no"},
        {**row, "id": "b", "rater 1": "no", "rater 2": ""},
    ]
    first, second = read_labelled(wide).rows
    assert (first.label, first.votes) == (True, {"rater 1": 1.0, "rater 2": 1.0, "Cid": 0.0})
    assert (second.label, second.votes) == (False, {"rater 1": 0.0})
