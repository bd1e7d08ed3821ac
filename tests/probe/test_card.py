"""The card: a rate has a value or a reason, what is stored is what was found, nothing else is taken."""

import pytest
from pydantic import ValidationError

from ragmetrics_core.errors import RecordError
from ragmetrics_core.probe import FitnessCard, ShareOf, card_tables, probe
from ragmetrics_core.report.study_files import json_text
from tests.probe.judges import judge_of, right


@pytest.fixture(scope="module")
def card() -> FitnessCard:
    return probe(judge_of(right), limit=3)


def test_a_rate_has_wilsons_interval_and_one_of_nothing_a_reason():
    # Wilson's 95 % interval of 8 in 10, as in study.intervals: 0.490 to 0.943
    rate, nothing = (ShareOf.of(count, n, otherwise="nothing was asked") for count, n in ((8, 10), (0, 0)))
    assert (rate.value, round(rate.low, 3), round(rate.high, 3)) == (0.8, 0.49, 0.943)
    assert (nothing.value, nothing.low, nothing.undefined) == (None, None, "nothing was asked")


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


def test_a_file_or_folder_that_is_no_card_is_named(tmp_path):
    (tmp_path / "probe.json").write_text('{"judge": "me"}', encoding="utf-8")
    for path, said in (
        (tmp_path / "probe.json", "probe.json is no fitness card: "),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(RecordError, match=said):
            FitnessCard.read(path)


def test_the_tables_hold_every_rate_of_the_card(card):
    text = json_text(list(card_tables(card)))
    figures = (
        "accuracy",
        "steered, strict",
        "steered, paper",
        "turned to yes by padding",
        "all 3 draws agree",
    )
    assert [word for word in (card.judge, card.corpus[:8], *figures) if word not in text] == []
