"""What a cascade saves and loses, by the band in which its cheap judge is unsure."""

import json
import re

import pytest

from ragmetrics_core.models import Cascade
from ragmetrics_core.probe import people_tables, probe_on
from ragmetrics_core.protocol import Completion
from ragmetrics_core.testing import ScriptedJudge

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

# (what the cheap judge gives, what the dear one says, what people say)
ITEMS = [
    (0.95, "yes", True),
    (0.7, "yes", True),
    (0.7, "no", False),
    (0.45, "yes", True),
    (0.05, "no", False),
]


def rows():
    return [
        {"id": str(place), "claim": f"case {place}.", "contexts": [f"text {place}."], "label": label}
        for place, (_, _, label) in enumerate(ITEMS)
    ]


def place_of(request):
    return int(re.search(r"case (\d)", request.variables["items"][0].text)[1])


def cheap(request):
    share = ITEMS[place_of(request)][0]
    verdict = {"number": 1, "verdict": "yes" if share > 0.5 else "no", "probability": share}
    return Completion(json.dumps({"verdicts": [verdict]}), held_to="graded")


def dear(request):
    return json.dumps({"verdicts": [{"number": 1, "verdict": ITEMS[place_of(request)][1]}]})


def card_of(unsure):
    judge = Cascade(
        ScriptedJudge(cheap, identity="cheap"),
        ScriptedJudge(dear, identity="dear"),
        unsure,
    )
    return probe_on(judge, rows(), question="faithful", label="label")


def test_each_band_says_what_it_saves_and_what_agreement_it_loses():
    card = card_of((0.0, 1.0))
    by_band = {(each.low, each.high): each for each in card.savings}

    # the dear judge decides all: nothing saved, all five right
    assert by_band[0.0, 1.0].saved.value == 0
    assert by_band[0.0, 1.0].agreement.value == 1
    # from 0.4 to 0.6 only the fourth is asked about: of the bad ones the third passes, 1/2; (1 + 1/2) / 2
    assert by_band[0.4, 0.6].saved.value == pytest.approx(0.8)
    assert by_band[0.4, 0.6].agreement.value == pytest.approx(0.75)
    assert by_band[0.4, 0.6].lost.value == pytest.approx(0.25)
    # the cheap judge alone also refuses the fourth: 2/3 of the good ones pass; (2/3 + 1/2) / 2
    assert by_band[0.5, 0.5].saved.value == 1
    assert by_band[0.5, 0.5].agreement.value == pytest.approx(7 / 12, abs=1e-4)
    # from 0.2 to 0.8 the first and the last are the cheap judge's, and right
    assert by_band[0.2, 0.8].saved.value == pytest.approx(0.4)
    assert by_band[0.2, 0.8].lost.value == 0


def test_bands_wider_than_the_one_that_was_measured_are_not_guessed():
    assert [(each.low, each.high) for each in card_of((0.3, 0.7)).savings] == [
        (0.5, 0.5),
        (0.4, 0.6),
        (0.3, 0.7),
    ]


def test_the_reliability_of_the_cheap_judge_is_on_the_card_with_a_figure():
    card = card_of((0.0, 1.0))
    tables = {table.name: table for table in people_tables(card)}

    assert [(each.n, each.good.value) for each in card.reliability] == [(1, 0), (1, 1), (2, 0.5), (1, 1)]
    # 0.05 of 20 places is the second; nobody calls it good
    assert tables["reliability"].rows[0][-1] == ".|.................."
    assert tables["savings"].rows[0][0] == "0.5 to 0.5"


def test_a_judge_that_is_no_cascade_has_no_savings():
    assert probe_on("embedded", rows(), question="faithful", label="label").savings == ()
