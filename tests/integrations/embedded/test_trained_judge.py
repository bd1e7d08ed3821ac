"""The judge trained on a user's labels: what the training finds and refuses, and how its file is read."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from ragmetrics_core import as_judge, evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.probe import probe_on, train_judge
from ragmetrics_embedded import LexicalJudge
from ragmetrics_embedded._support import read_model
from ragmetrics_embedded._support.adapted import AdaptedFile, LinearTerm, TrainedWeights
from tests.labelled_claims import house_style

CITIES = ("Vienna", "Lyon", "Bergen", "Leeds", "Geneva", "Osaka")
CLAIM = "The tower has 412 steps."
TEXT = "The tower is 96 metres high and has 412 steps."


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trained") / "house.json"
    train_judge(house_style(120), name="house").write(path)
    return path


def test_training_learns_a_style_that_the_bundled_judge_gets_wrong():
    card = train_judge(house_style(120), name="house").card
    own, bundled, recalibrated = card.rows

    assert (own.judge, bundled.judge, recalibrated.judge) == ("trained", "bundled", "bundled, recalibrated")
    assert (card.n, card.good, card.sources, card.source) == (120, 60, 40, "source_id")
    assert bundled.balanced.value < 0.75
    assert own.balanced.value > 0.9
    assert bundled.balanced_gain.low > 0.1
    assert own.balanced_gain is None
    # with only two numbers fitted the threshold moves, and nothing else
    assert recalibrated.area.value == pytest.approx(bundled.area.value, abs=0.05)


def test_the_trained_judge_decides_new_claims_better(trained: Path):
    new = house_style(60, seed=1)
    before, after = (probe_on(judge, new, name="new") for judge in ("embedded", f"embedded:{trained}"))
    assert after.judge == json.loads(trained.read_text("utf-8"))["card"]["judge"]
    assert after.own.value > 0.9
    assert before.own.value < 0.75


def test_labels_that_only_the_source_decides_are_not_learned():
    # the label is that of the source, and all claims of a source share a length of their evidence
    draw = Random(3)
    claims, labels, sources = [], [], []
    for source in range(30):
        filler = " ".join(f"Note {source} of {place}." for place in range(source))
        for number in range(6):
            city = draw.choice(CITIES)
            claims.append(
                (f"The office in {city} has {number + 3} desks.", (f"{filler} An office is in {city}.",))
            )
            labels.append(source % 2 == 0)
            sources.append(f"source {source}")
    order = np.argsort([draw.random() for _ in claims])
    claims, labels, sources = ([column[place] for place in order] for column in (claims, labels, sources))

    def area(sources: list[str]) -> float:
        training = LexicalJudge.train(claims, labels, sources, are_claims=True)
        odds, good = training.decisions["trained"], np.array(labels)
        return float(np.mean(odds[good][:, None] > odds[~good]))

    assert area(sources) < 0.6
    # folds that tear sources apart would be fooled; this is what the grouping prevents
    assert area([str(place) for place in range(len(claims))]) > area(sources) + 0.05


def test_the_training_is_the_same_each_time_and_in_any_order(trained: Path):
    again = train_judge(list(reversed(house_style(120))), name="house")
    first = AdaptedFile.model_validate_json(trained.read_bytes())
    second = AdaptedFile.model_validate_json(again.text)
    assert second.card["rows"] == first.card["rows"]
    for name, term in first.weights.linear.items():
        assert second.weights.linear[name].weight == pytest.approx(term.weight, abs=2)


def test_whole_numbers_decide_as_the_fit_did(trained: Path):
    # an offset of 1.5, half the bundled log-odds, and 0.25 for each number up to 2: 1.5 + x / 2 + 0.25 * 2
    bundled = read_model(trained).weights.bundled
    weights = TrainedWeights(
        base=read_model(trained).name.partition("+trained")[0],
        offset=150_000,
        slope=5_000,
        linear={"numbers": LinearTerm(weight=25_000, low=0, high=20_000)},
    )
    model = read_model(_file(trained.with_name("own.json"), weights))
    claim = "It has 1 door, 2 gates, 3 halls and 4 towers."
    values = model.compare(claim, [claim]).values
    assert (
        model.weights.log_odds(values)
        == 150_000 + (5_000 * bundled.log_odds(values) + 25_000 * 20_000) // 10_000
    )


def test_other_prompts_are_answered_as_before(trained: Path):
    sample = {"question": "How high?", "answer": TEXT, "reference": TEXT, "contexts": [TEXT]}
    metrics = "factual_correctness,context_relevance,answer_relevance_rating"
    before, after = (
        evaluate([sample], metrics=metrics, judge=judge) for judge in ("embedded", f"embedded:{trained}")
    )
    assert [record.value for record in after.records()] == [record.value for record in before.records()]


def test_a_cascade_takes_a_trained_judge(trained: Path):
    judge = as_judge(f"cascade:embedded:{trained},embedded")
    assert as_judge(f"embedded:{trained}").identity in judge.identity


def _file(path: Path, weights: TrainedWeights) -> Path:
    file = AdaptedFile(digest=weights.digest, weights=weights, card={})
    path.write_text(file.model_dump_json(), "utf-8")
    return path


def _changed(path: Path, **changes: object) -> str:
    """The file with other weights and their own digest."""
    weights = json.loads(path.read_text("utf-8"))["weights"] | changes
    made = TrainedWeights.model_validate(weights)
    return AdaptedFile(digest=made.digest, weights=made, card={}).model_dump_json()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text, path: text[: len(text) // 2], "does not hold the weights of a trained judge"),
        (lambda text, path: "[1, 2]", "does not hold the weights of a trained judge"),
        (lambda text, path: "import os", "Invalid JSON"),
        (lambda text, path: text.replace('"slope": ', '"slope": 1'), "was changed after the training"),
        (lambda text, path: text.replace('"offset": ', '"offset": 1e400, "x": '), "offset"),
        (lambda text, path: text.replace('"slope": ', '"slope": true, "x": '), "slope"),
        (lambda text, path: _changed(path, base="support.1"), "corrects the weights 'support.1'"),
        (
            lambda text, path: _changed(path, linear={"os.system": {"weight": 1, "low": 0, "high": 1}}),
            "a weight for 'os.system', which is not a feature",
        ),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_in_one_sentence(trained: Path, tmp_path: Path, change, message):
    path = tmp_path / "other.json"
    path.write_text(change(trained.read_text("utf-8"), trained), "utf-8")
    with pytest.raises(ConfigError, match=message) as caught:
        as_judge(f"embedded:{path}")
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused_with_the_command_that_makes_it(tmp_path: Path):
    with pytest.raises(ConfigError, match="ragmetrics train-judge LABELS --out"):
        as_judge(f"embedded:{tmp_path / 'none.json'}")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            house_style(40),
            "20 supported claims of 13 sources: training needs at least 25 claims of 10 sources",
        ),
        ([row | {"source_id": "one"} for row in house_style(60)], "30 supported claims of 1 sources"),
        ([row | {"label": "yes"} for row in house_style(60)], "0 unsupported claims of 0 sources"),
        (
            [
                {"answer": f"{TEXT} {CLAIM} It is old.", "contexts": [TEXT], "label": place % 2, "id": place}
                for place in range(3)
            ],
            "3 of 3 labelled answers have more than one statement",
        ),
        (
            [{"claim": CLAIM, "supported": place % 2, "question": str(place)} for place in range(3)],
            "no claim of rows has contexts",
        ),
        (
            [row | {"label": 1 + place % 5} for place, row in enumerate(house_style(9))],
            "about 'faithful, as a rating'",
        ),
        (
            [{**row, "correct": "yes"} for row in house_style(9)],
            "the labels in 'correct' are about 'correct'",
        ),
    ],
)
def test_labels_that_cannot_train_a_judge_are_refused_with_what_is_needed(rows, message):
    options = {"label": "correct"} if "correct" in rows[0] else {}
    with pytest.raises(ConfigError, match=message):
        train_judge(rows, **options)
