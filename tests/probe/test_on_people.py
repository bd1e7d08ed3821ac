"""A judge is measured on what people said, and its card speaks of nothing else."""

import json

import numpy as np
import pytest

from ragmetrics_core import Sample, evaluate
from ragmetrics_core.errors import ConfigError, ModelError, SampleError
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.probe import (
    compare_on,
    measured_on_people,
    people_lines,
    people_tables,
    probe_on,
    read_cards,
    read_labelled,
)
from ragmetrics_core.probe._weighted import area, balanced_accuracy, fitted_threshold, halves, stored

pytest.importorskip("scipy", reason="intervals need the extra study")

CONTEXT = "The lighthouse of Uto was built in 1753. It is 24 metres high."
GOOD = "The lighthouse of Uto was built in 1753."
BAD = "Pirates burned the harbour of Rome."


def rows(n=12, **more):
    """Answers that are good and bad in turn, two to each source."""
    return [
        {"id": f"a{k}", "question": "What?", "answer": BAD if k % 2 else GOOD,
         "contexts": [f"{k // 2}. {CONTEXT}"], "hallucinated": bool(k % 2), **more}
        for k in range(n)
    ]  # fmt: skip


def one(**cells):
    return read_labelled([{"question": "q", "answer": "a", "contexts": ["c"], **cells}])


def test_the_card_of_a_judge_that_is_always_right_has_an_area_of_one():
    card = probe_on("embedded", rows(24))
    score, (overlap, _, always) = card.rankings[0], card.rankings[-3:]
    assert (card.n, card.good, card.sources, card.question) == (24, 12, 12, "faithful")
    assert (score.area.value, score.balanced.value, card.own.value) == (1.0, 1.0, 1.0)
    # twelve sources, none wrong: Wilson's interval ends at 1 and does not begin there
    assert (round(score.area.low, 3), score.area.high) == (0.757, 1.0)
    assert (always.area.value, always.gain.value) == (0.5, 0.5)
    assert overlap.name == "word overlap"


@pytest.mark.parametrize(
    ("figure", "weights", "value"),
    [
        # good 3, 1; bad 2, 1: 3 beats both, 1 loses to 2 and ties with 1: (2 + 0 + 0.5) / 4
        (area(np.array([3.0, 1.0, 2.0, 1.0]), np.array([True, True, False, False])), [1, 1, 1, 1], 0.625),
        # the first item twice: pairs (2 x 2 + 0.5) / (3 x 2)
        (area(np.array([3.0, 1.0, 2.0, 1.0]), np.array([True, True, False, False])), [2, 1, 1, 1], 4.5 / 6),
        # of three good ones two pass, of one bad one none: (2/3 + 1) / 2
        (balanced_accuracy(np.array([True, True, False, False]), np.arange(4) < 3), [1, 1, 1, 1], 5 / 6),
    ],
)
def test_the_area_is_the_share_of_pairs_ranked_right_and_balanced_accuracy_the_mean_of_both_sides(
    figure, weights, value
):
    assert figure(np.array([weights], dtype=float))[0] == pytest.approx(value)


def test_items_of_one_source_do_not_make_an_interval_narrower():
    values, good = np.array([1.0, 2.0, 3.0, 4.0] * 10), np.array([False, True, False, True] * 10)
    alone = stored(area(values, good), [str(k) for k in range(40)])
    shared = stored(area(values, good), [str(k // 4) for k in range(40)])
    same = stored(area(np.tile(values, 5), np.tile(good, 5)), [str(k) for k in range(40)] * 5)
    assert alone.value == shared.value == same.value
    assert (same.low, same.high) == (alone.low, alone.high)


@pytest.mark.parametrize(("sources", "has_intervals"), [(9, False), (10, True)])
def test_there_are_no_intervals_where_fewer_than_ten_sources_have_several_items(sources, has_intervals):
    card, _ = compare_on(
        "embedded", rows(2 * sources), ["faithfulness", "faithfulness(granularity=sentence)"]
    )
    assert (card.n, card.sources) == (2 * sources, sources)
    figures = [card.own, card.gains[0].gain]
    figures += [figure for row in card.rankings for figure in (row.area, row.balanced, row.gain)]
    known = [figure for figure in figures if figure is not None]
    assert {(figure.low is not None, figure.high is not None) for figure in known} == {(has_intervals,) * 2}


@pytest.mark.parametrize("contexts", [[], [""], [" ", "\n"]])
def test_rows_without_a_word_of_context_have_no_source_in_common(contexts):
    rows = [
        {"question": f"Q{number}?", "answer": "A.", "contexts": contexts, "topic": topic, "correct": True}
        for number, topic in enumerate("abb")
    ]

    assert [row.source for row in read_labelled(rows).rows] == ["Q0?", "Q1?", "Q2?"]
    assert [row.source for row in read_labelled(rows, source="topic").rows] == ["a", "b", "b"]


def test_the_threshold_stands_between_the_classes():
    assert fitted_threshold(np.array([0.1, 0.3, 0.7, 0.9]), np.array([False, False, True, True])) == 0.5
    assert fitted_threshold(np.array([0.1]), np.array([True])) is None


def test_the_halves_share_no_source():
    sources = [f"s{k // 3}" for k in range(30)]
    second = halves(sources)
    assert not {s for s, h in zip(sources, second, strict=True) if h} & {
        s for s, h in zip(sources, second, strict=True) if not h
    }
    assert second.sum() == 15


@pytest.mark.parametrize(
    ("cells", "label", "question"),
    [
        ({"label_hallucinated": True}, False, "faithful"),
        ({"hallucination": "no"}, True, "faithful"),
        ({"label": "partially_supported"}, False, "faithful"),
        ({"label": "Not Attributable"}, False, "faithful"),
        ({"hallucination_spans": []}, True, "faithful"),
        ({"hallucination_spans": [{"start": 0, "end": 1}]}, False, "faithful"),
        ({"is_correct": 1}, True, "correct"),
        ({"human_label": "yes"}, True, "faithful"),
        ({"label_relevant": "irrelevant"}, False, "relevant"),
        ({"votes": {"ann": "yes", "bo": "yes", "cy": "no"}}, True, "faithful"),
        ({"label_begin_set": ["Hallucination", "Entailment"]}, False, "faithful"),
    ],
)  # fmt: skip
def test_what_people_said_is_read_in_many_words(cells, label, question):
    found = one(**cells)
    assert (found.rows[0].label, found.question) == (label, question)


def test_a_claim_is_judged_in_the_place_of_the_answer_it_is_of():
    found = read_labelled(
        [{"claim": "c", "answer": "a", "question": None, "evidence": ["e"], "label": "supported"}]
    )
    assert (found.rows[0].sample.answer, found.rows[0].sample.contexts, found.claims) == ("c", ("e",), True)
    facts = [{"claim": "x", "label": "entailment"}, {"claim": "y", "label": "contradiction"}]
    listed = read_labelled([{"id": "t", "answer": "a", "contexts": ["e"], "claims": facts}])
    assert [(row.sample.id, row.sample.answer, row.label) for row in listed.rows] == [
        ("t#1", "x", True),
        ("t#2", "y", False),
    ]


def test_the_verdict_on_a_claim_of_two_sentences_is_one_verdict():
    claims = [{"claim": f"{GOOD} {BAD}", "contexts": [CONTEXT], "label": k} for k in ("supported",)]
    claims += [{"claim": GOOD, "contexts": [CONTEXT], "label": "not supported"}]
    card = probe_on("embedded", claims)
    assert card.metric == "faithfulness/strict.1(granularity=answer)"
    record = evaluate(
        Sample(question="", answer=f"{GOOD} {BAD}", contexts=[CONTEXT]),
        metrics=[Faithfulness(granularity="answer")], judge="embedded",
    )  # fmt: skip
    (only,) = record.records()
    assert len(only.verdicts) == 1


def test_a_word_that_says_neither_is_left_out_and_an_unknown_one_is_named():
    found = read_labelled([*rows(2), {**rows(1)[0], "id": "x", "hallucinated": "unclear"}])
    assert (len(found.rows), found.dropped["neither good nor bad"]) == (2, 1)
    with pytest.raises(ConfigError, match=r"says 'meh'.*--good"):
        one(label="meh")
    assert (
        read_labelled([{"question": "q", "answer": "a", "label": "meh"}], good=["meh"]).rows[0].label is True
    )


def test_a_row_for_each_annotator_is_one_item_with_their_majority():
    said = [("ann", 1), ("bo", 1), ("cy", 0)]
    row = {"id": "x", "question": "q", "answer": "a", "contexts": ["c"]}
    found = read_labelled([{**row, "annotator": who, "faithful": value} for who, value in said])
    (item,) = found.rows
    assert (item.label, dict(item.votes)) == (True, {"ann": 1.0, "bo": 1.0, "cy": 0.0})


def test_ratings_give_correlations_with_people_beside_published_metrics():
    given = [
        {"id": f"r{k}", "question": "q", "answer": GOOD if k % 2 else BAD, "contexts": [f"{k} {CONTEXT}"],
         "human_ratings": {"faithfulness": {"ann": 4 if k % 2 else 1, "bo": 4 if k % 2 else 1}},
         "published_metrics": {"bert": float(k % 2)}}
        for k in range(8)
    ]  # fmt: skip
    card = probe_on("embedded", given)
    by_name = {each.name: each for each in card.rankings}
    assert card.kind == "rating"
    assert by_name["faithfulness"].spearman.value == by_name["published bert"].spearman.value == 1.0
    # each rater orders the answers as the other does
    assert (card.people.annotators, card.people.spearman.value) == (2, 1.0)


def test_a_preference_counts_how_often_the_metric_prefers_what_people_prefer():
    given = [
        {"id": str(k), "question": f"q{k}", "reference": GOOD, "answer": GOOD, "answer_b": BAD,
         "preference_overall": value}
        for k, value in enumerate([[-1, -2], [-1, 0], [1, 1], [0, 0]])
    ]  # fmt: skip
    card = probe_on("embedded", given)
    # the metric prefers the first answer each time; people do in two of three pairs, and once they are even
    assert (card.kind, card.n, card.rankings[0].preferred.value) == (
        "preference",
        3,
        pytest.approx(2 / 3, abs=1e-4),
    )
    assert card.dropped == {"people prefer neither": 1}


def test_a_card_is_shown_for_its_judge_metric_and_prompts_only(tmp_path):
    data = [{"question": "What?", "answer": GOOD, "contexts": [CONTEXT]}]
    run = evaluate(data, metrics="faithfulness", judge=lambda prompt: "no", out=tmp_path / "other")
    assert list(people_lines(measured_on_people(run))) == [
        "never measured on people's labels: faithfulness/strict.1"
    ]
    run = evaluate(
        data, metrics=["faithfulness", "context_relevance"], judge="embedded", out=tmp_path / "run"
    )
    card = probe_on("embedded", rows(), name="mine", beside=tmp_path / "run")
    first, second = people_lines(measured_on_people(run))
    assert "measured on people's labels: " in first
    assert card in measured_on_people(run)["faithfulness/strict.1"]
    assert second == "never measured on people's labels: context_relevance/strict.1"
    stale = card.model_copy(update={"prompts": dict.fromkeys(card.prompts, "0" * 32), "set_name": "stale"})
    path = tmp_path / "run" / "people.json"
    path.write_text(json.dumps([json.loads(stale.model_dump_json(exclude_none=True))]))
    assert "stale" not in next(iter(people_lines(measured_on_people(run))))


def test_the_card_is_kept_and_a_later_one_of_the_same_set_replaces_it(tmp_path):
    for _ in range(2):
        card = probe_on("embedded", rows(), name="mine", out=tmp_path)
    assert read_cards(tmp_path) == (card,)
    names = [table.name for table in people_tables(card)]
    assert names == ["people", "groups", *(["reliability"] if card.reliability else []), "replies"]


def test_a_card_may_not_stand_beside_a_run_of_another_judge(tmp_path):
    evaluate(rows(2), metrics="faithfulness", judge=lambda prompt: "no", out=tmp_path)
    with pytest.raises(ConfigError, match="a different judge"):
        probe_on("embedded", rows(), beside=tmp_path)


def test_a_judge_that_cannot_be_read_has_no_card():
    with pytest.raises(ModelError, match="none of the 12 items"):
        probe_on(lambda prompt: "no idea", rows())


BARE = [{"question": "q", "answer": "a"}]


@pytest.mark.parametrize(
    ("given", "how", "message"),
    [
        (BARE, {}, "no column holds labels"),
        ([{**BARE[0], "label": None}], {}, "no column holds labels|no row has a label"),
        *(
            (rows(2), {name: "nope"}, "no column 'nope'; there is answer")
            for name in ("label", "source", "by")
        ),
    ],
)
def test_a_file_without_labels_or_a_named_column_is_refused_with_its_columns(given, how, message):
    with pytest.raises((ConfigError, SampleError), match=message):
        read_labelled(given, **how)


def test_a_probability_is_held_against_what_people_call_good():
    claims = [{**row, "claim": row["answer"]} for row in rows(20)]
    card = probe_on("embedded", claims)
    assert "least probable statement" in [each.name for each in card.rankings]
    assert sum(each.n for each in card.reliability) == card.n
    # each tenth's share of good items, weighed by its items, is the share of all
    assert sum(each.n * each.good.value for each in card.reliability) == pytest.approx(card.good)


def test_one_card_is_of_one_metric_so_that_a_name_of_several_is_refused():
    with pytest.raises(ConfigError, match="there is no metric 'recommended'"):
        probe_on("embedded", rows(), metric="recommended")
