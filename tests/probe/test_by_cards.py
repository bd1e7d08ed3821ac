"""Settings are chosen by cards that speak of the judge, and only where a gain is beyond doubt."""

import json

import pytest

pytest.importorskip("scipy", reason="intervals need the extra study")

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.probe import PeopleCard, chosen_by_cards, compare_on, compared_tables, probe_on
from ragmetrics_core.probe._same_judge import is_same_judge
from ragmetrics_core.study import Estimate
from ragmetrics_core.testing import ScriptedJudge

GOOD, BAD = "The mill was built in 1753.", "Pirates burned Rome."
USUAL = "faithfulness/strict.1"
SHORT = "faithfulness/strict.1(verify=verdicts.v4@2bfb1b8f)"
WAYS = ["faithfulness", "faithfulness(verify=verdicts.v4)"]
TINY = "openai:http://127.0.0.1:8899/v1/tiny?temperature=0"


def rows(sources=12):
    """A good and a bad answer of each source."""
    return [
        {"id": f"{k}{'ab'[good]}", "question": "When?", "answer": GOOD if good else BAD,
         "contexts": [f"{k}. {GOOD}"], "faithful": good}
        for k in range(sources) for good in (False, True)
    ]  # fmt: skip


def judge(wrong=(), silent=()):
    """Says yes to all, but by lines the truth; of wrong sources the contrary, of silent ones nothing."""

    def reply(request):
        asked = request.variables
        if request.prompt.name == "statements":
            return {"statements": [asked["answer"]], "declined": False}
        source = int(asked["contexts"][0].partition(".")[0])
        if request.prompt.version != 4:
            return {"verdicts": [{"number": 1, "verdict": "yes"}]}
        if source in silent:
            return "Hm."
        return f"1 {'yes' if (asked['items'][0].text == GOOD) != (source in wrong) else 'no'}"

    return ScriptedJudge(reply, identity="scripted")


def measured(*gains, **more):
    """A card of the short verdicts for each (low, gain, high) over the usual ones."""
    card = compare_on(judge(), rows(), WAYS, name="labelled")[1]
    return [
        card.model_copy(update={"gains": (_over(card, *gain),), "set_name": f"set{k}", **more})
        for k, gain in enumerate(gains)
    ]


def _over(card, low, value, high):
    return card.gains[0].model_copy(update={"gain": Estimate(value, low, high)})


def test_a_card_says_what_its_setting_gains_over_the_other_on_the_same_items():
    usual, short = compare_on(judge(), rows(), WAYS, name="labelled")
    # all ties: 1/2; each good one above each bad one: 1. So in every resample, for a source has one of each
    assert (usual.rankings[0].area.value, short.rankings[0].area.value) == (0.5, 1.0)
    (gain,), (loss,) = short.gains, usual.gains
    assert (gain.over, gain.scored, gain.n) == (USUAL, 24, 24)
    assert gain.gain == Estimate(0.5, 0.5, 0.5)
    assert loss.gain == Estimate(-0.5, -0.5, -0.5)
    assert set(gain.prompts) == {"statements.v5", "verdicts.v5"}


def test_the_gain_is_on_the_items_that_both_scored():
    _, short = compare_on(judge(wrong=[0], silent=[5]), rows(), WAYS)
    # eleven sources are left, one of them the wrong way round. Of 121 pairs of good and bad 100 are right,
    # one is wrong and 20 are ties: 110/121, less the 1/2 of all ties
    assert (short.n, short.gains[0].n, short.gains[0].scored) == (22, 22, 24)
    assert short.gains[0].gain.value == pytest.approx(49.5 / 121, abs=1e-4)


def test_the_gain_of_ratings_and_of_pairs_is_in_the_figure_that_their_card_gives():
    rated = [{**row, "rating": 4 if row["faithful"] else 1} for row in rows()]
    rated = [{name: value for name, value in row.items() if name != "faithful"} for row in rated]
    _, card = compare_on(judge(), rated, WAYS, label="rating", question="faithful")
    # the usual verdicts have no order at all, which has no Spearman: nothing can be said of a gain
    assert (card.rankings[0].spearman.value, card.gains[0].gain.value) == (1.0, None)

    pairs = [
        {"id": str(k), "question": "When?", "contexts": [f"{k}. {GOOD}"], "answer": BAD, "answer_b": GOOD,
         "preference": 1}
        for k in range(4)
    ]  # fmt: skip
    _, card = compare_on(judge(), pairs, WAYS, question="faithful")
    # ties count half: 1 - 1/2
    assert (card.kind, card.gains[0].n, card.gains[0].gain.value) == ("preference", 4, 0.5)
    assert (card.asked, card.things) == (4, "pairs")


def test_one_metric_has_no_gain_and_its_card_is_as_ever():
    (only,) = compare_on(judge(), rows(), ["faithfulness"], name="labelled")
    assert only.gains == ()
    alone = probe_on(judge(), rows(), metric="faithfulness", name="labelled")
    assert alone.model_copy(update={"seconds": None}) == only.model_copy(update={"seconds": None})


def test_a_setting_that_no_item_has_a_score_by_has_an_empty_card():
    usual, short = compare_on(judge(silent=range(12)), rows(), WAYS)
    assert (usual.n, short.n, short.statuses) == (24, 0, {"parse_error": 24})
    nothing = Estimate(None)
    assert (short.rankings[0].area, short.gains[0].n, short.gains[0].gain) == (nothing, 0, nothing)


def test_calls_are_those_of_each_setting_by_itself():
    usual, short = compare_on(judge(), rows(), [*WAYS, "faithfulness(granularity=sentence)"])[:2]
    third = compare_on(judge(), rows(), "faithfulness(granularity=sentence)")[0]
    # one to split and one to verify, though both share the first; sentences need no splitting
    assert (usual.calls, short.calls, third.calls) == (2.0, 2.0, 1.0)


def test_the_settings_stand_in_one_table_with_their_gain_over_the_first():
    (table,) = compared_tables(compare_on(judge(), rows(), WAYS, name="labelled"))
    first, second = table.rows
    assert [first[0], second[0]] == ["strict.1", "strict.1(verify=verdicts.v4)"]
    assert (first[3], second[3].value, second[4]) == (None, 0.5, 24)


def test_a_metric_takes_the_setting_that_is_better_beyond_doubt():
    cards = compare_on(judge(), rows(), WAYS, name="labelled")
    chosen = chosen_by_cards("faithfulness", judge=judge(), cards=cards)
    assert [metric.signature for metric in chosen.metrics] == [SHORT]
    assert chosen.remarks == (
        f"faithfulness is measured as {SHORT}, which gains area +0.50 (+0.50, +0.50) on labelled, 24 items "
        "(1 other setting measured)",
    )
    run = evaluate(rows(1), metrics=chosen.metrics, judge=judge())
    assert {record.signature for record in run.records()} == {SHORT}


def test_a_gain_whose_interval_holds_zero_changes_nothing():
    # seven sources right, five the wrong way round: of 144 pairs 49 right, 25 wrong, 70 ties: 84/144 - 1/2
    cards = compare_on(judge(wrong=range(5)), rows(), WAYS, name="labelled")
    assert cards[1].gains[0].gain.value == pytest.approx(84 / 144 - 0.5, abs=1e-4)
    assert cards[1].gains[0].gain.low < 0
    chosen = chosen_by_cards("faithfulness", judge=judge(), cards=cards)
    assert [metric.signature for metric in chosen.metrics] == [USUAL]
    (remark,) = chosen.remarks
    assert "faithfulness stays as it is: of 1 other setting measured none is better beyond doubt" in remark
    assert "+0.08" in remark


def test_a_setting_that_leaves_more_items_without_a_score_is_not_taken():
    cards = compare_on(judge(silent=[5]), rows(), WAYS, name="labelled")
    assert cards[1].gains[0].gain == Estimate(0.5, 0.5, 0.5)
    chosen = chosen_by_cards("faithfulness", judge=judge(), cards=cards)
    assert [metric.signature for metric in chosen.metrics] == [USUAL]
    assert "on labelled, 22 items, 2 more without a score" in chosen.remarks[0]


@pytest.mark.parametrize(
    ("gains", "taken"),
    [
        ([(0.01, 0.2, 0.4)], True),
        ([(0.0, 0.2, 0.4)], False),
        ([(None, 0.2, None)], False),
        # better on one set, undecided on another: taken; worse on another: not
        ([(0.1, 0.2, 0.3), (-0.1, 0.0, 0.1)], True),
        ([(0.1, 0.2, 0.3), (-0.3, -0.2, -0.1)], False),
        ([(-0.3, -0.2, -0.1)], False),
    ],
)
def test_better_beyond_doubt_on_one_set_and_worse_on_none(gains, taken):
    chosen = chosen_by_cards("faithfulness", judge=judge(), cards=measured(*gains))
    assert (chosen.metrics[0].signature == SHORT) is taken


def test_of_several_settings_the_one_that_gains_most_is_taken():
    ways = [*WAYS, "faithfulness(per_call=1,verify=verdicts.v4)", "faithfulness(verify=verdicts.v3)"]
    others = zip(compare_on(judge(), rows(), ways)[1:], (0.3, 0.4, 0.2), strict=True)
    cards = [card.model_copy(update={"gains": (_over(card, 0.1, gain, 0.9),)}) for card, gain in others]
    chosen = chosen_by_cards("faithfulness", judge=judge(), cards=cards)
    assert chosen.metrics[0].per_call == 1
    assert "(3 other settings measured)" in chosen.remarks[0]


@pytest.mark.parametrize(
    ("named", "signatures", "remark"),
    [
        # what was named with settings is never touched
        (["faithfulness/strict"], [USUAL], ""),
        (["faithfulness(per_call=20)"], [USUAL], ""),
        ([Faithfulness()], [USUAL], ""),
        # metrics that ask no judge, or have no cards, stay
        (["rouge"], ["rouge/strict.1"], ""),
        (
            ["context_recall", "faithfulness"],
            ["context_recall/strict.1", SHORT],
            "context_recall stays as it is: no",
        ),
        # the recommended pair is named without settings
        ("recommended", [SHORT, "factual_correctness/strict.1"], "faithfulness is measured as"),
        # a setting that is measured anyway is not measured twice
        (WAYS, [USUAL, SHORT], "is measured too"),
    ],
)
def test_only_what_was_named_without_settings_takes_those_of_a_card(named, signatures, remark):
    chosen = chosen_by_cards(named, judge=judge(), cards=measured((0.1, 0.2, 0.3)))
    assert [metric.signature for metric in chosen.metrics] == signatures
    assert remark in chosen.remarks[0] if remark else chosen.remarks == ()


@pytest.mark.parametrize(
    ("name", "options", "counts"),
    [
        ("openai:tiny@http://127.0.0.1:8899/v1", {}, True),
        ("openai:tiny@https://far.example/api/v1", {}, True),
        ("openai:tiny-2@http://127.0.0.1:8899/v1", {}, False),
        ("openai:org/tiny@http://127.0.0.1:8899/v1", {}, False),
        ("openai:tiny@http://127.0.0.1:8899/v1", {"temperature": 1.0}, False),
        ("openai:tiny@http://127.0.0.1:8899/v1", {"max_tokens": 300}, False),
    ],
)
def test_the_same_model_counts_at_another_server_and_with_the_same_settings_only(name, options, counts):
    from ragmetrics_core.models.judges import judge_by_name

    cards = measured((0.1, 0.2, 0.3), judge=TINY, model="tiny")
    chosen = chosen_by_cards(
        "faithfulness", judge=judge_by_name(name, options=options, asked=False), cards=cards
    )
    assert (chosen.metrics[0].signature == SHORT) is counts
    if not counts and name.startswith("openai:tiny@"):
        assert "; that model was measured with temperature=0: every metric stays" in chosen.remarks[0]
    if "far" in name:
        assert f"measured as {TINY}" in chosen.remarks[0]


def test_a_model_of_another_folder_is_another_model():
    at = "openai:http://h/v1"
    assert not is_same_judge((f"{at}/org/tiny", "org/tiny"), (f"{at}/tiny", "tiny"))
    assert is_same_judge((f"{at}/org/tiny", "org/tiny"), ("openai:http://other:1/v1/org/tiny", "org/tiny"))
    # a cascade is its two judges and its band
    one = "cascade(embedded:support.2, unsure from {} to 0.8 | openai:http://{}/v1/tiny?temperature=0)"
    assert is_same_judge((one.format(0.2, "a"), "tiny"), (one.format(0.2, "b:8080"), "tiny"))
    assert not is_same_judge((one.format(0.2, "a"), "tiny"), (one.format(0.3, "a"), "tiny"))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"prompts": {"verdicts.v4": "0" * 32}}, f"{SHORT} was asked in words of verdicts.v4"),
        ({"metric": "faithfulness/strict.1(verify=verdicts.v4@00000000)"}, "has the digest 2bfb1b8f"),
        (
            {"metric": "faithfulness/strict.1(verify=verdicts.v99@2bfb1b8f)"},
            "no version 'verdicts.v99@2bfb1b8f'",
        ),
        ({"metric": "faithfulness/strict.1(nothing=1)"}, "has no setting 'nothing'"),
        ({"metric": "faithfulness/strict.1("}, "a metric is written name"),
        ({"metric": "faithfulness/strict.1(per_call=20)"}, "these settings are faithfulness/strict.1 today"),
        ({"old": {"verdicts.v1": "1" * 32}}, f"{USUAL} was asked in words of verdicts.v1 that this version"),
    ],
)
def test_a_card_of_other_prompts_or_settings_than_todays_does_not_count_and_says_so(changed, said):
    old = changed.get("old")
    (card,) = measured((0.1, 0.2, 0.3), **({} if old else changed))
    if old:
        card = card.model_copy(update={"gains": (card.gains[0].model_copy(update={"prompts": old}),)})
    chosen = chosen_by_cards("faithfulness", judge=judge(), cards=[card])
    assert chosen.metrics[0].signature == USUAL
    assert "on set0 does not count: " in chosen.remarks[1]
    assert said in chosen.remarks[1]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"metric": "faithfulness/ragas-0.4(verify=verdicts.v4@2bfb1b8f)"}, "no other setting"),
        (
            {"embedder": "some:embedder"},
            "no card of those given speaks of scripted: every metric stays as it is",
        ),
        ({"judge": "another"}, "no card of those given speaks of scripted: every metric stays as it is"),
    ],
)
def test_a_card_of_another_variant_embedder_or_judge_does_not_count(changed, said):
    chosen = chosen_by_cards("faithfulness", judge=judge(), cards=measured((0.1, 0.2, 0.3), **changed))
    assert chosen.metrics[0].signature == USUAL
    assert said in chosen.remarks[0]


def test_cards_come_from_the_folder_that_measuring_wrote_or_from_its_file(tmp_path):
    compare_on(judge(), rows(), WAYS, out=tmp_path / "card")
    for place in (tmp_path / "card", str(tmp_path / "card" / "people.json")):
        assert chosen_by_cards("faithfulness", judge=judge(), cards=place).metrics[0].signature == SHORT


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"judge": 3}]', "\x00\x01", '{"a": 1}'])
def test_a_damaged_file_is_one_sentence(tmp_path, text):
    path = tmp_path / "cards.json"
    path.write_text(text)
    with pytest.raises(RecordError, match=r"cards\.json holds no cards: \S") as told:
        chosen_by_cards("faithfulness", judge=judge(), cards=path)
    assert "\n" not in str(told.value)


def test_a_file_that_is_not_there_is_told_with_the_command_that_makes_one(tmp_path):
    with pytest.raises(ConfigError, match=r"no file of cards .*ragmetrics probe --on"):
        chosen_by_cards("faithfulness", judge=judge(), cards=tmp_path / "none.json")


def test_a_card_of_an_earlier_version_without_gains_is_still_read():
    (card,) = compare_on(judge(), rows(), "faithfulness")
    fields = json.loads(card.model_dump_json(exclude_none=True))
    del fields["gains"]
    assert PeopleCard.model_validate(fields) == card
