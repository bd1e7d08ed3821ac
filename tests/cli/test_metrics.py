"""`ragmetrics metrics`: the catalogue and each metric's settings."""

import json
from dataclasses import fields

import pytest

from ragmetrics_core.metrics import ALIASES, METRICS


def test_every_metric_is_listed_with_its_aliases_needs_range_and_variants(command):
    page = command("metrics").words

    for name, metric in METRICS.items():
        assert name in page
        assert ", ".join(metric.inputs.required()) in page
        assert ", ".join(metric.variants) in page
    for alias in ALIASES:
        assert alias in page
    assert "-1 to 1" in page


@pytest.mark.parametrize("name", METRICS)
def test_a_metrics_page_has_its_whole_description_and_every_setting(command, name):
    page = command("metrics", name).words

    for word in (METRICS[name].__doc__ or "").replace("Attributes:", "").split():
        assert word.strip(",:") in page
    for field in fields(METRICS[name]):
        assert field.name == "variant" or field.name in page


def test_settings_are_shown_with_their_defaults_and_choices(command):
    page = command("metrics factual_correctness").words

    assert "beta above 1, recall weighs more; below 1, precision. default 1; may be a number" in page
    assert "default f; may be f | precision | recall" in page
    assert "default prompt statements.v5" in page
    assert "ragas-0.4 references = first, recall = mixed, empty = zero, digits = 2" in page


def test_an_alias_leads_to_its_metric_whose_brackets_are_no_markup(command):
    page = command("metrics faithfulness").out

    assert command("metrics FaiFul").out == page
    assert "Range [0, 1], higher is better" in page


def test_metrics_that_need_no_reference_are_listed_alone(command):
    listed = {each["name"] for each in json.loads(command("metrics --no-reference --json").out)["metrics"]}
    without = {"faithfulness", "answer_relevance", "context_relevance", "groundedness_rating", "abstention"}
    assert without <= listed
    assert listed.isdisjoint({"factual_correctness", "context_recall", "ndcg", "bleu", "ragas_score"})
    page = command("metrics --no-reference").words
    assert "faithfulness also FaiFul" in page
    assert "factual_correctness" not in page


def test_one_metric_is_not_a_list_without_a_reference(command):
    outcome = command("metrics faithfulness --no-reference")
    assert (outcome.code, "takes no name" in outcome.err) == (2, True)
