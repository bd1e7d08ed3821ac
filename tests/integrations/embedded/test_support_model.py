"""The small model behind the embedded judge: what it decides, and that it decides the same everywhere."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from ragmetrics_core import as_judge, evaluate
from ragmetrics_embedded._support import SupportModel, support_model, support_name, trees
from ragmetrics_embedded._support.alignment import CONFLICTS
from ragmetrics_embedded._support.features import FEATURES, VECTOR_FEATURES
from ragmetrics_embedded._support.trees import load_weights

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
@pytest.mark.parametrize(("kind", "refused"), [("plain", 19), ("alike", 16)])
def test_a_statement_with_one_word_exchanged_is_refused(model: SupportModel, kind: str, refused: int):
    chosen = [pair for pair in pairs("exchanged.jsonl") if pair["kind"] == kind]
    passed = [pair["false"] for pair in chosen if model.support(pair["false"], [pair["evidence"]]).supported]

    assert len(chosen) == {"plain": 20, "alike": 18}[kind]
    assert len(chosen) - len(passed) >= refused, passed


@MODELS
def test_true_statements_in_other_words_stay_supported(model: SupportModel):
    refused = [
        row["true"]
        for row in pairs("chatty.jsonl")
        if not model.support(row["true"], [row["evidence"]]).supported
    ]

    assert len(refused) <= 3, refused  # of 23


NOUNS = ("pump", "valve", "turbine", "crane", "ferry", "printer")
CITIES = ("Lyon", "Bergen", "Leeds", "Geneva", "Ghent", "Oslo")
PEOPLE = ("Ada Moser", "Karl Lind", "Emma Ross", "Ivan Petrov", "Lena Voigt")
MONTHS = ("January", "March", "May", "July", "October")
UNITS = (("kilograms", "tons"), ("metres", "kilometres"), ("hours", "days"), ("litres", "millilitres"))
QUANTIFIERS = (("All", "No"), ("Most", "Few"), ("Few", "Many"), ("No", "Some"))


def relatives(draw: Random) -> tuple[str, dict[str, tuple[str, str]]]:
    """A text, and for each kind of change a true statement on it and the false one."""
    noun, (city, other_city) = draw.choice(NOUNS), draw.sample(CITIES, 2)
    (person, other_person), (month, other_month) = draw.sample(PEOPLE, 2), draw.sample(MONTHS, 2)
    (unit, other_unit), (some, other) = draw.choice(UNITS), draw.choice(QUANTIFIERS)
    number, day = draw.randrange(12, 480), draw.randrange(2, 28)
    text = (
        f"The {noun} in {city} was repaired by {person} on {day} {month} 2014. It needs {number} {unit} a "
        f"year. {some} visitors know the {noun}. The gate is not locked at night."
    )
    repair = f"The {noun} in {city} was repaired by {person}."
    date = f"The {noun} was repaired on {day} {month} 2014."
    return text, {
        "entity": (repair, repair.replace(person, other_person)),
        "place": (f"The {noun} is in {city}.", f"The {noun} is in {other_city}."),
        "number": (f"It needs {number} {unit} a year.", f"It needs {number + 10} {unit} a year."),
        "unit": (f"It needs {number} {unit} a year.", f"It needs {number} {other_unit} a year."),
        "negation": ("The gate is not locked at night.", "The gate is locked at night."),
        "quantifier": (f"{some} visitors know the {noun}.", f"{other} visitors know the {noun}."),
        "date": (date, date.replace(month, other_month)),
        "day": (date, date.replace(f"on {day} ", f"on {day + 1} ")),
    }


@MODELS
def test_relatives_with_another_name_number_unit_negation_quantifier_or_date_are_told_apart(
    model: SupportModel,
):
    draw = Random(5)
    kept: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for _ in range(20):
        text, statements = relatives(draw)
        for kind, (true, false) in statements.items():
            kept[kind] += model.support(true, [text]).supported
            refused[kind] += not model.support(false, [text]).supported

    assert min(kept.values()) >= 18, kept
    # "3 May" for "3 March" passes: the month is read as the verb
    assert min(refused[kind] for kind in kept) >= 16, refused


@MODELS
@pytest.mark.xfail(strict=True, reason="the weights take a phrase that was left out for a replaced word")
@pytest.mark.parametrize("quantifier", ["All", "Most", "Few", "No"])
def test_a_statement_that_leaves_out_a_phrase_stays_supported(model: SupportModel, quantifier: str):
    text = f"{quantifier} visitors of the site know the pump."

    assert model.support(f"{quantifier} visitors know the pump.", [text]).supported


@MODELS
@pytest.mark.parametrize("file", ["exchanged.jsonl", "minimal_pairs.jsonl"])
def test_no_difference_is_named_beside_a_supported_statement(model: SupportModel, file: str):
    for pair in pairs(file):
        for statement in (pair["true"], pair["false"]):
            found = model.support(statement, [pair["evidence"]])
            differs = (
                "stands there" in found.reason or "negated" in found.reason or "opposite" in found.reason
            )

            assert not (found.supported and differs), found.reason


@MODELS
def test_a_reason_quotes_both_words_as_they_are_written(model: SupportModel):
    found = model.support("The Eiffel Tower is in Rome.", ["The Eiffel Tower is in Paris."])

    assert not found.supported
    assert '"Rome" is missing' in found.reason
    assert '"Paris" stands there where the statement has "Rome"' in found.reason


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
    assert support_name() in {"support.5", "support.5+vectors"}
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


@pytest.mark.parametrize("module", ["ragmetrics_embedded._support", "benchmarks.twins"])
def test_the_model_can_be_imported_before_the_judge(module: str):
    done = subprocess.run(
        [sys.executable, "-c", f"import {module}"],
        cwd=HERE.parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
