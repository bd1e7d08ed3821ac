"""The card: a rate has a value or a reason, what is stored is what was found, nothing else is taken."""

import pytest
from pydantic import ValidationError

from ragmetrics_core.errors import RecordError
from ragmetrics_core.probe import FitnessCard, ShareOf, card_tables, probe
from ragmetrics_core.report._study_files import json_text
from tests.probe.judges import judge_of, right


@pytest.fixture(scope="module")
def card() -> FitnessCard:
    return probe(judge_of(right), limit=3)


def test_a_rate_has_wilsons_interval():
    # Wilson's 95 % interval of 8 in 10, as in study.intervals: 0.490 to 0.943
    rate = ShareOf.of(8, 10, otherwise="nothing")
    assert (rate.value, round(rate.low, 3), round(rate.high, 3)) == (0.8, 0.49, 0.943)


def test_a_rate_of_nothing_has_a_reason_and_no_value():
    rate = ShareOf.of(0, 0, otherwise="nothing was asked")
    assert (rate.value, rate.low, rate.undefined) == (None, None, "nothing was asked")


@pytest.mark.parametrize(
    "fields",
    [
        {"count": 0, "n": 0},
        {"count": 0, "n": 0, "value": 0.0},
        {"count": 1, "n": 2},
        {"count": 1, "n": 2, "value": 0.5, "undefined": "why"},
        {"count": 1, "n": 2, "value": float("nan")},
        {"count": 1, "n": 2, "value": 0.5, "mood": "good"},
    ],
)
def test_a_rate_without_value_and_reason_or_with_more_than_it_has_is_refused(fields):
    with pytest.raises(ValidationError):
        ShareOf(**fields)


def test_a_card_survives_being_written_and_read(card, tmp_path):
    (tmp_path / "probe.json").write_text(card.model_dump_json(indent=2), encoding="utf-8")
    assert FitnessCard.read(tmp_path / "probe.json") == card


def test_a_file_that_is_no_card_is_named(tmp_path):
    (tmp_path / "probe.json").write_text('{"judge": "me"}', encoding="utf-8")
    with pytest.raises(RecordError, match=r"probe.json is no fitness card: "):
        FitnessCard.read(tmp_path / "probe.json")


def test_a_folder_in_place_of_a_card_is_named(tmp_path):
    with pytest.raises(RecordError, match=r"cannot be read: Is a directory"):
        FitnessCard.read(tmp_path)


def test_the_tables_hold_every_rate_of_the_card(card):
    text = json_text(list(card_tables(card)))
    assert card.judge in text
    assert card.corpus[:8] in text
    for figure in (
        "accuracy",
        "steered, strict",
        "steered, paper",
        "turned to yes by padding",
        "all 3 draws agree",
    ):
        assert figure in text
