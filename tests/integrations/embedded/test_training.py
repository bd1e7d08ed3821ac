"""The training says of each file whether the package has it, and decides as the judge does."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="trains with scikit-learn: pip install 'ragmetrics-core[dev]'")
pytest.importorskip("wordllama", reason="needs the extra embedded: pip install 'ragmetrics-core[embedded]'")

from benchmarks.train_support import PACKAGE, decisions, differing, is_permissive, rarity_text
from ragmetrics_embedded._support import SupportModel, support_model
from ragmetrics_embedded._support.trees import load_weights

HERE = Path(__file__).parent
CASES = json.loads((HERE / "decisions.json").read_text("utf-8"))
PLAIN = SupportModel(load_weights("plain"))


@pytest.mark.parametrize("model", [PLAIN, support_model()], ids=["plain", "vectors"])
def test_a_file_of_weights_decides_as_the_judge_that_has_it(model: SupportModel):
    judged = [model.support(case["statement"], case["contexts"]).supported for case in CASES]
    cases = [case for case, supported in zip(CASES, judged, strict=True) if supported is not None]
    decided = [supported for supported in judged if supported is not None]
    rows = [model.compare(case["statement"], case["contexts"]).values for case in cases]
    text = (PACKAGE / f"{'plain' if model.vectors is None else 'vectors'}.json").read_text("utf-8")

    assert set(decided) == {True, False}
    assert decisions(text, np.array(rows)).tolist() == decided
    # no statement reaches the threshold of a file that asks for a million
    raised = json.dumps({**json.loads(text), "threshold": 10**11})
    assert not decisions(raised, np.array(rows)).any()


def test_a_file_differs_when_one_character_does_or_when_it_is_not_there(tmp_path: Path):
    (tmp_path / "same.json").write_text("[1]\n", "utf-8")
    (tmp_path / "other.json").write_text("[1]\n", "utf-8")

    assert differing({"same.json": "[1]\n", "other.json": "[2]\n", "new.json": ""}, tmp_path) == [
        "other.json",
        "new.json",
    ]


def test_words_that_are_equally_telling_share_a_line():
    assert json.loads(rarity_text({"zinc": 700, "atlas": 700, "the": 100})) == {
        "100": "the",
        "700": "zinc atlas",
    }


@pytest.mark.parametrize(("licence", "permissive"), [("MIT", True), ("CDLA-Sharing-1.0", False)])
def test_rows_whose_licence_asks_to_share_alike_are_left_out(licence: str, permissive: bool):
    assert is_permissive({"licence": licence}) == permissive
