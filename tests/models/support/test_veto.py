"""The veto: what says something else in one place is refused, and the same everywhere."""

import json
from pathlib import Path

import pytest

from ragmetrics_core import as_judge, evaluate
from ragmetrics_core.models import LexicalJudge
from ragmetrics_core.models._support import SupportModel, support_model
from ragmetrics_core.models._support.alignment import Alignment
from ragmetrics_core.models._support.conflicts import CONFLICTS, conflicts_of
from ragmetrics_core.models._support.evidence import read_evidence
from ragmetrics_core.models._support.features import FEATURES, VECTOR_FEATURES, look_up
from ragmetrics_core.models._support.trees import load_weights
from ragmetrics_core.models._support.veto import VetoModel, load_veto, veto_model

HERE = Path(__file__).parent
PAIRS = [json.loads(line) for line in (HERE / "minimal_pairs.jsonl").read_text("utf-8").splitlines()]
GOLDEN = json.loads((HERE / "vetoes.json").read_text("utf-8"))
PLAIN = VetoModel(SupportModel(load_weights("plain")), load_veto("plain"))
MODELS = pytest.mark.parametrize("model", [PLAIN, veto_model()], ids=["plain", "vectors"])
TOWER = "The tower is 96 metres high and has 412 steps."


@MODELS
def test_of_minimal_pairs_more_false_ones_are_refused_and_most_true_ones_pass(
    model: VetoModel, capsys: pytest.CaptureFixture[str]
):
    found = [
        (model.support(pair["true"], [pair["evidence"]]), model.support(pair["false"], [pair["evidence"]]))
        for pair in PAIRS
    ]
    kept = sum(true.supported for true, _ in found)
    refused = sum(not false.supported for _, false in found)
    with capsys.disabled():
        print(f"\nwith the veto: true ones supported {kept}, false ones refused {refused} of {len(PAIRS)}")

    # without it all 50 pass and 8 are refused
    assert len(PAIRS) == 50
    assert kept >= 45
    assert refused >= 28


@MODELS
def test_a_number_that_stands_in_the_place_of_another_one_is_refused_with_both_named(model: VetoModel):
    false = model.support("The tower has 421 steps.", [TOWER])

    assert model.support("The tower has 412 steps.", [TOWER]).supported
    assert not false.supported
    assert '"412" fits better there than "421"' in false.reason
    assert false.evidence == (TOWER,)


@MODELS
def test_the_same_statements_get_the_same_vetoes_on_every_machine(model: VetoModel):
    name = "plain" if model.model.vectors is None else "vectors"
    for case in GOLDEN:
        found = model.support(case["statement"], case["contexts"])

        assert (found.probability, found.supported) == (case[name], case[name] >= 0.5), case["statement"]


def test_conflicts_have_the_names_that_the_weights_count():
    evidence = read_evidence((TOWER,))
    said, found = look_up("The tower has 421 steps.", evidence, rarity=support_model().weights.rarity)
    values = dict(zip(CONFLICTS, conflicts_of(said, found, Alignment(said, found, None)), strict=True))

    # one number, in whose place another one stands; steps and tower are both there
    assert (values["number_clashes"], values["name_clashes"], values["negation_lost"]) == (1, 0, 0)
    assert values["rest"] == 1
    for name, features in (("plain", FEATURES), ("vectors", FEATURES + VECTOR_FEATURES)):
        assert load_veto(name).trees.features.max() < len(features) + len(CONFLICTS)


@pytest.mark.parametrize(
    ("statement", "text"), [("", ""), ("A.", ""), ("The same.", "The same."), ("?", "!")]
)
@MODELS
def test_empty_statements_and_texts_get_a_decision(model: VetoModel, statement: str, text: str):
    assert 0 <= model.support(statement, [text] if text else []).probability <= 1


def test_the_strict_judge_differs_in_verdicts_on_contexts_only_and_is_another_judge():
    judge = as_judge("embedded:strict")
    sample = {
        "id": "a",
        "question": "How many steps?",
        "answer": "The tower has 421 steps.",
        "contexts": [TOWER],
    }

    assert judge == LexicalJudge(strict=True)
    assert judge.identity == f"{LexicalJudge().identity},veto.2"
    runs = {
        name: evaluate([sample], metrics=["faithfulness", "context_relevance"], judge=name)
        for name in ("embedded", "embedded:strict")
    }
    (strict,) = (each for each in runs["embedded:strict"].records() if "faithfulness" in each.signature)
    assert strict.value == 0
    relevance = [
        next(each.value for each in run.records() if "relevance" in each.signature) for run in runs.values()
    ]
    assert relevance[0] == relevance[1]
