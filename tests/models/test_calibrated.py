"""A judge with calibrated probabilities: what it decides, what the record holds, and what is refused."""

import json

import pytest

from ragmetrics_core import Run, as_judge, evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.models import CalibratedJudge, CalibrationCard, Cascade
from ragmetrics_core.protocol import Completion
from ragmetrics_core.runs import export_wave
from ragmetrics_core.testing import ScriptedJudge

SAMPLE = {
    "id": "q1",
    "question": "Where?",
    "answer": "Ada was born in Ulm. It was cold. It was dark.",
    "contexts": ["Ada was born in Ulm."],
    "reference": "Ulm.",
}
SHARES = (0.9, 0.55, 0.2)
STATEMENTS = {"statements": ["Ada was born in Ulm.", "It was cold.", "It was dark."]}
# 0.55 becomes 0.25, and beyond the ends the curve is level
CURVE = {"method": "isotonic", "inputs": [0.2, 0.5, 0.6, 0.8], "outputs": [0.0, 0.0, 0.5, 0.75]}
FIGURE = {"before": [0.2, None, None], "after": [0.1, None, None], "change": [-0.1, -0.2, 0.0]}
PROMPT = Faithfulness().verify


def graded(*shares, verdict=None):
    verdicts = [
        {"number": number, "verdict": verdict or ("yes" if share > 0.5 else "no"), "probability": share}
        for number, share in enumerate(shares, start=1)
    ]
    return Completion(json.dumps({"verdicts": verdicts}), held_to="graded")


def scripted(reply=None, **others):
    return ScriptedJudge(
        {"statements": STATEMENTS, "verdicts": reply or graded(*SHARES), **others}, identity="own"
    )


def card(judge="own", calibration=CURVE, prompts=None):
    content = {
        "judge": judge,
        "metric": "faithfulness/strict.1",
        "prompts": prompts or {PROMPT.id: PROMPT.digest},
        "calibration": calibration,
        **{"label": "label", "labels": "0", "n": 9, "confirmed": 4, "sources": 9, "folds": 9},
        **{"brier": FIGURE, "error": FIGURE},
    }
    return CalibrationCard.model_validate_json(json.dumps(content))


def record_of(judge, metrics="faithfulness", **settings):
    (record,) = evaluate([SAMPLE], metrics=metrics, judge=judge, **settings).records()
    return record


def test_verdicts_are_decided_by_calibrated_probabilities():
    record = record_of(CalibratedJudge(scripted(), card=card()))
    assert [verdict.confidence for verdict in record.verdicts] == pytest.approx([0.75, 0.25, 0.0])
    assert [verdict.supported for verdict in record.verdicts] == [True, False, False]
    assert record.value == pytest.approx(1 / 3)
    assert record.verdicts[1].reason == "probability 0.55, calibrated 0.25"


def test_a_line_for_log_odds_is_applied():
    # odds 9, 11/9, 1/4, each halved on the log scale and then times 1: square roots of the odds
    halved = {"method": "platt", "slope": 0.5, "intercept": 0.0}
    record = record_of(CalibratedJudge(scripted(), card=card(calibration=halved)))
    odds = [(share / (1 - share)) ** 0.5 for share in SHARES]
    assert [verdict.confidence for verdict in record.verdicts] == pytest.approx([o / (1 + o) for o in odds])


def test_the_record_alone_gives_the_score_and_keeps_the_raw_reply(tmp_path):
    path = tmp_path / "card.json"
    path.write_text(card().model_dump_json())
    record = record_of(CalibratedJudge(scripted(), card=path), out=tmp_path / "run")
    path.unlink()
    (stored,) = Run.load(tmp_path / "run").records()
    assert audit(stored) == []
    reply = json.loads([*record.generate_steps][-1].reply)
    assert reply["reply"] == graded(*SHARES).text
    assert reply["calibration"] == CURVE


def test_the_identity_names_judge_and_map():
    one, other = card(), card(calibration=CURVE | {"outputs": [0.0, 0.0, 0.5, 0.8]})
    names = [CalibratedJudge(scripted(), card=each).identity for each in (one, other)]
    assert names[0] == f"calibrated(own | isotonic {one.digest})"
    assert names[0] != names[1]


def test_a_verdict_without_a_probability_or_a_decision_stays_as_it_is():
    reply = {
        "verdicts": [
            {"number": 1, "verdict": "no"},
            {"number": 2, "verdict": "no"},
            {"number": 3, "verdict": "yes"},
        ]
    }
    judge = CalibratedJudge(scripted(Completion(json.dumps(reply), held_to="graded")), card=card())
    assert [verdict.supported for verdict in record_of(judge).verdicts] == [False, False, True]
    judge = CalibratedJudge(scripted(reply), card=card())
    assert [verdict.supported for verdict in record_of(judge).verdicts] == [False, False, True]


def test_other_prompts_are_not_calibrated():
    judge = CalibratedJudge(scripted(context_verdicts=graded(0.55)), card=card())
    judge.inner.replies["chunk_verdicts"] = graded(0.55)
    record = record_of(judge, metrics="context_precision")
    assert [verdict.confidence for verdict in record.verdicts] == [0.55]


def test_a_reply_to_another_version_of_the_prompt_gives_no_score():
    judge = CalibratedJudge(scripted(), card=card(prompts={"verdicts.v1": "0" * 32}))
    record = record_of(judge)
    assert record.status == "model_error"
    assert "made for the prompt verdicts.v1, not for this verdicts" in record.reason


@pytest.mark.parametrize("other", ["another", "callable:app.judge"])
def test_a_card_of_another_judge_is_refused(other):
    with pytest.raises(ConfigError, match=f"made for the judge {other}, not for own"):
        CalibratedJudge(scripted(), card=card(other))


def test_a_cascade_is_calibrated_by_its_cheap_judge():
    cascade = Cascade(CalibratedJudge(scripted(), card=card()), ScriptedJudge({"statements": STATEMENTS}))
    with pytest.raises(ConfigError, match="calibrate the cheap judge"):
        CalibratedJudge(cascade, card=card())
    # calibrated: 0.75 is unsure, 0.25 too, 0 is not
    cascade.dear.replies["verdicts"] = {"verdicts": [{"number": n, "verdict": "yes"} for n in (1, 2)]}
    assert [verdict.supported for verdict in record_of(cascade).verdicts] == [True, True, False]
    assert [request.expected.numbers for request in cascade.dear.asked if request.passed_on] == []


@pytest.mark.parametrize(
    ("curve", "why"),
    [
        ({"inputs": [0.5, 0.2, 0.6, 0.8]}, "do not rise"),
        ({"outputs": [0.5, 0.2, 0.6, 0.8]}, "fall"),
        ({"outputs": [0.5]}, "not one output"),
        ({"outputs": [0.0, 0.0, 0.5, 1.5]}, "less than or equal to 1"),
        ({"method": "spline"}, "calibration"),
    ],
)
def test_a_file_that_is_no_card_is_refused(tmp_path, curve, why):
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card().model_dump(mode="json") | {"calibration": CURVE | curve}))
    with pytest.raises(ConfigError, match=f"is not a calibration card.*{why}"):
        CalibratedJudge(scripted(), card=path)
    with pytest.raises(ConfigError, match="cannot be read"):
        CalibratedJudge(scripted(), card=tmp_path / "none.json")


def test_a_reply_with_a_damaged_map_is_asked_for_again():
    broken = json.dumps({"calibration": CURVE | {"inputs": [1, 0]}, "reply": graded(*SHARES).text})
    record = record_of(scripted(Completion(broken, held_to="graded")))
    assert record.status == "parse_error"
    as_text = json.dumps({"calibration": CURVE, "reply": graded(*SHARES).text})
    assert record_of(scripted(as_text)).status == "parse_error"


def test_a_name_makes_the_judge_also_in_a_cascade(tmp_path):
    path = tmp_path / "card.json"
    embedded = as_judge("embedded")
    path.write_text(card(embedded.identity).model_dump_json())
    judge = as_judge(f"calibrated:{path},embedded")
    assert judge.identity.startswith(f"calibrated({embedded.identity} | isotonic ")
    cascade = as_judge(f"cascade:calibrated:{path},embedded,embedded")
    assert cascade.cheap.identity == judge.identity
    assert cascade.dear.identity == embedded.identity


@pytest.mark.parametrize(
    "judge",
    [
        CalibratedJudge(scripted(), card=card()),
        "embedded",
        "decisions:m@http://127.0.0.1:1/v1",
        "grounded:bespoke-minicheck@http://127.0.0.1:1/v1",
        "cascade:embedded,embedded",
    ],
    ids=["calibrated", "embedded", "decisions", "grounded", "cascade"],
)
def test_a_judge_whose_replies_are_not_texts_of_a_chat_model_is_not_asked_by_file(tmp_path, judge):
    with pytest.raises(ConfigError, match="cannot answer by file"):
        export_wave(
            [SAMPLE], tmp_path / "requests.jsonl", metrics="faithfulness", judge=judge, out=tmp_path / "run"
        )
    assert not (tmp_path / "requests.jsonl").exists()
