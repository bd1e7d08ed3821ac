"""The small model behind the embedded judge: what it decides, and that it decides the same everywhere."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ragmetrics_core.models._support import SupportModel, support_model, support_name
from ragmetrics_core.models._support.evidence import read_evidence
from ragmetrics_core.models._support.features import FEATURES, VECTOR_FEATURES, compare
from ragmetrics_core.models._support.trees import load_weights

HERE = Path(__file__).parent
PAIRS = [json.loads(line) for line in (HERE / "minimal_pairs.jsonl").read_text("utf-8").splitlines()]
GOLDEN = json.loads((HERE / "decisions.json").read_text("utf-8"))
PLAIN = SupportModel(load_weights("plain"))


def test_of_minimal_pairs_the_true_one_is_supported_and_more_probable(capsys: pytest.CaptureFixture[str]):
    model = support_model()
    found = [
        (model.support(pair["true"], [pair["evidence"]]), model.support(pair["false"], [pair["evidence"]]))
        for pair in PAIRS
    ]
    true_kept = sum(true.supported for true, _ in found)
    false_refused = sum(not false.supported for _, false in found)
    told_apart = sum(true.probability > false.probability for true, false in found)
    with capsys.disabled():
        print(
            f"\nof {len(PAIRS)} minimal pairs: true ones supported {true_kept}, false ones not supported "
            f"{false_refused}, false ones less probable {told_apart}"
        )

    assert len(PAIRS) >= 40
    assert true_kept >= 0.94 * len(PAIRS)
    assert false_refused >= 0.14 * len(PAIRS)
    assert told_apart >= 0.88 * len(PAIRS)


@pytest.mark.parametrize("model", [PLAIN, support_model()], ids=["plain", "vectors"])
def test_the_same_statements_get_the_same_log_odds_on_every_machine(model: SupportModel):
    name = "plain" if model.vectors is None else "vectors"
    for case in GOLDEN:
        evidence = read_evidence(tuple(case["contexts"]))
        found = compare(case["statement"], evidence, rarity=model.weights.rarity, vectors=model.vectors)

        assert model.weights.log_odds(found.values) == case[name], case["statement"]


def test_the_weights_know_their_features_and_fit_into_the_wheel():
    assert load_weights("plain").features == FEATURES
    assert load_weights("vectors").features == (*FEATURES, *VECTOR_FEATURES)
    folder = Path(__file__).parents[3] / "ragmetrics_core/models/_support"
    sizes = {file.name: file.stat().st_size for file in folder.glob("*.json")}
    assert {"plain.json", "vectors.json", "rarity.json"} <= sizes.keys()
    assert sum(sizes.values()) <= 1_000_000


def test_the_identity_says_which_weights_decide():
    assert support_name() in {"support.2", "support.2+vectors"}
    assert support_name().endswith("+vectors") == (support_model().vectors is not None)


def test_the_reason_says_how_probable_it_is_and_what_is_missing():
    found = support_model().support("The tower has 421 steps.", ["The tower is high. It has 412 steps."])

    assert found.reason.startswith(f"{found.probability:.2f}: ")
    assert "the number 421 is missing" in found.reason


@pytest.mark.parametrize(
    ("statement", "text"), [("", ""), ("A.", ""), ("The same.", "The same."), ("?", "!")]
)
def test_empty_statements_and_texts_get_a_decision(statement: str, text: str):
    for model in (PLAIN, support_model()):
        assert 0 <= model.support(statement, [text] if text else []).probability <= 1


@pytest.mark.parametrize("module", ["ragmetrics_core.models._support", "benchmarks.false_twins"])
def test_the_model_can_be_imported_before_the_judge(module: str):
    done = subprocess.run(
        [sys.executable, "-c", f"import {module}"],
        cwd=HERE.parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
