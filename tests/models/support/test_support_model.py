"""The small model behind the embedded judge: what it decides, and that it decides the same everywhere."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from ragmetrics_core import as_judge, evaluate
from ragmetrics_core.models._support import SupportModel, support_model, support_name, trees
from ragmetrics_core.models._support.alignment import CONFLICTS
from ragmetrics_core.models._support.features import FEATURES, VECTOR_FEATURES
from ragmetrics_core.models._support.trees import load_weights

HERE = Path(__file__).parent
GOLDEN = json.loads((HERE / "decisions.json").read_text("utf-8"))
PLAIN = SupportModel(load_weights("plain"))
MODELS = pytest.mark.parametrize("model", [PLAIN, support_model()], ids=["plain", "vectors"])
TOWER = "The tower is 96 metres high and has 412 steps."
LAW = (
    "An employee who returns after ordinary maternity leave is entitled to return to the same job or, if "
    "that is not reasonably practicable, to a suitable alternative job."
)
CAFE = (
    '{"name": "Cafe Verde", "hours": {"Monday": "8:0-17:30"}, "attributes": {"WiFi": "free", '
    '"OutdoorSeating": true, "RestaurantsTakeOut": false, "happy_hour": null}, "stars": 4.5}'
)


def pairs(file: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (HERE / file).read_text("utf-8").splitlines()]


@MODELS
@pytest.mark.parametrize(
    ("file", "kept", "refused", "told_apart"),
    # of 50 and of 87 pairs: true ones supported, false ones refused, false ones less probable
    [("minimal_pairs.jsonl", 43, 33, 42), ("exchanged.jsonl", 83, 70, 81)],
)
def test_of_pairs_the_true_one_is_supported_and_the_one_that_says_otherwise_refused(
    model: SupportModel,
    file: str,
    kept: int,
    refused: int,
    told_apart: int,
    capsys: pytest.CaptureFixture[str],
):
    counts: Counter[str] = Counter()
    for pair in pairs(file):
        true, false = (model.support(pair[name], [pair["evidence"]]) for name in ("true", "false"))
        counts["kept"] += true.supported
        counts["refused"] += not false.supported
        counts["told apart"] += true.probability > false.probability
    with capsys.disabled():
        print(f"\n{file}: {dict(counts)} of {len(pairs(file))}")

    assert counts["kept"] >= kept
    assert counts["refused"] >= refused
    assert counts["told apart"] >= told_apart


@MODELS
def test_a_number_that_stands_in_the_place_of_another_one_is_refused_with_both_named(model: SupportModel):
    false = model.support("The tower has 421 steps.", [TOWER])

    assert model.support("The tower has 412 steps.", [TOWER]).supported
    assert not false.supported
    assert false.reason.startswith(f"{false.probability:.2f}: ")
    assert "the number 421 is missing" in false.reason
    assert '"412" stands there where the statement has "421"' in false.reason
    assert false.evidence == (TOWER,)


@pytest.mark.parametrize(
    "statement",
    [
        "An employee is entitled to return to a similar job.",
        "After maternity leave the employee is entitled to a similar job.",
        "An employee who returns after maternity leave is entitled to return to a similar job.",
    ],
)
def test_the_sentence_of_the_law_seed_does_not_pass_for_a_similar_job(statement: str):
    assert not support_model().support(statement, [LAW]).supported
    assert support_model().support(statement.replace("a similar job", "the same job"), [LAW]).supported


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Cafe Verde has outdoor seating.", "Cafe Verde has no outdoor seating."),
        ("Cafe Verde has no take-out.", "Cafe Verde has take-out."),
        ("On Monday it is open from 8:00 to 17:30.", "On Monday it is open from 8:00 to 19:30."),
        ("On Monday it is open from 8 AM to 5:30 PM.", "On Monday it is open from 8 AM to 7:30 PM."),
        ("Cafe Verde has 4.5 stars.", "Cafe Verde has 3.5 stars."),
    ],
)
def test_json_is_read_as_pairs_of_a_key_and_a_value(true: str, false: str):
    one, other = (support_model().support(statement, [CAFE]) for statement in (true, false))

    assert (one.supported, other.supported) == (True, False), (one.reason, other.reason)
    assert all(quote in CAFE for quote in one.evidence)


@MODELS
def test_the_same_statements_get_the_same_log_odds_on_every_machine(model: SupportModel):
    name = "plain" if model.vectors is None else "vectors"
    for case in GOLDEN:
        compared = model.compare(case["statement"], case["contexts"])

        assert model.weights.log_odds(compared.values) == case[name], case["statement"]


def test_the_weights_know_their_features_and_fit_into_the_wheel():
    folder = Path(trees.__file__).parent
    names = {"plain": (*FEATURES, *CONFLICTS), "vectors": (*FEATURES, *VECTOR_FEATURES, *CONFLICTS)}
    for name, features in names.items():
        assert json.loads((folder / f"{name}.json").read_text("utf-8"))["features"] == list(features)
        assert load_weights(name).veto.features.max() < len(features)
    assert sum(file.stat().st_size for file in folder.glob("*.json")) <= 1_000_000


def test_the_identity_says_which_weights_decide():
    assert support_name() in {"support.3", "support.3+vectors"}
    assert support_name().endswith("+vectors") == (support_model().vectors is not None)
    assert as_judge("embedded").identity == f"embedded:{support_name()}"


def test_one_exchanged_word_takes_the_score_of_an_answer():
    sample = {"question": "How many steps?", "answer": "The tower has 421 steps.", "contexts": [TOWER]}
    right = {**sample, "answer": "The tower has 412 steps."}
    run = evaluate([sample, right], metrics=["faithfulness"], judge="embedded")

    assert [record.value for record in run.records()] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("statement", "text"), [("", ""), ("A.", ""), ("The same.", "The same."), ("?", "!"), ("A.", "[]")]
)
@MODELS
def test_empty_statements_and_texts_get_a_decision(model: SupportModel, statement: str, text: str):
    assert 0 <= model.support(statement, [text] if text else []).probability <= 1


@pytest.mark.parametrize("module", ["ragmetrics_core.models._support", "benchmarks.twins"])
def test_the_model_can_be_imported_before_the_judge(module: str):
    done = subprocess.run(
        [sys.executable, "-c", f"import {module}"],
        cwd=HERE.parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
