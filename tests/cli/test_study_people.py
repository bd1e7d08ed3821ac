"""`ragmetrics study` with people's labels: preferences, correlations, systems, estimates, repeats, plans."""

import json
import random

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from ragmetrics_core import Run, evaluate
from ragmetrics_core.study import items_of, read_labels
from tests.cli.conftest import judged_by

WIDE = 220
COUNT = 24


def quality(name, number):
    """How many of four statements are supported in a system's answer: 0 to 4, better for later letters."""
    return max(0, min(4, "abcde".index(name) // 2 + number % 3))


def judge(name, *, by_chance=False):
    chance = random.Random(1)

    def is_right(text):
        number, place = map(int, text.split()[1:])
        return place <= quality(name, number) and not (by_chance and chance.random() < 0.3)

    return judged_by(is_right, lambda answer: [f"{answer} {number}" for number in range(1, 5)])


def samples(name):
    return [
        {
            "id": f"s{number}",
            "question": f"What is {number}?",
            "contexts": ["A context."],
            "answer": f"Answer {number}",
            "reference": f"Reference {number}",
            "kind": "odd" if number % 2 else "even",
            "document": f"d{number // 2}",
            "quality": quality(name, number) / 4,
        }
        for number in range(1, COUNT + 1)
    ]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name in "abcde":
        metrics = ["faithfulness", "exact_match"]
        evaluate(samples(name), metrics=metrics, judge=judge(name), out=folder / name)
    voted = judge("c", by_chance=True)
    evaluate(samples("c"), metrics="faithfulness", judge=voted, repeats=3, out=folder / "voted")
    return folder


def written(path, rows):
    path.write_text("\n".join(["sample_id,annotator,value", *(",".join(map(str, row)) for row in rows)]))
    return path


@pytest.fixture
def preferences(tmp_path):
    """Who prefers b's answer: ann as the scores say, bob never against it."""
    rows = [
        (f"s{n}", who, quality("c", n) - quality("a", n) if who == "ann" else n % 2)
        for n in range(1, COUNT + 1)
        for who in ("ann", "bob")
    ]
    return written(tmp_path / "preferences.csv", rows)


def labelled(path, name, count=COUNT, shift=0.0):
    rows = [(f"s{n}", "ann", quality(name, n) / 4 * 0.8 + shift + n % 5 / 40) for n in range(1, count + 1)]
    return written(path, rows)


def test_preferences_are_set_against_differences_of_scores(command, runs, preferences):
    outcome = command("study pairwise", runs / "a", runs / "c", preferences, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert [table["name"] for table in outcome.json] == ["preferences"]
    (row,) = (each for each in outcome.json[0]["rows"] if each["metric"] == "faithfulness")
    assert row["n"] == COUNT
    assert row["same_side"] == 1.0


def test_preferences_know_clusters(command, runs, preferences):
    plain, by = (
        command("study pairwise", runs / "a", runs / "c", preferences, "--json", *more).json[0]
        for more in ([], ["--cluster", "document"])
    )
    assert "by document" in " ".join(by["notes"])
    one, other = plain["rows"][0], by["rows"][0]
    assert one["same_side"] == other["same_side"]
    assert one["same_side_low"] != other["same_side_low"]


def test_metrics_are_compared_over_several_labelled_sets(command, runs, tmp_path):
    files = [labelled(tmp_path / f"{name}.csv", name) for name in "ae"]
    outcome = command(
        *("study", "correlations", runs / "a", runs / "e", "--metrics", "faithfulness"),
        *("--labels", files[0], "--labels", files[1], "--json"),
    )
    (table,) = outcome.json
    assert [row["set"] for row in table["rows"]] == ["a", "e", "all sets, each within itself"]
    assert table["rows"][2]["n"] == 2 * COUNT
    by_label = command("study correlations", runs / "a", "--label quality", columns=WIDE)
    assert by_label.code == 0
    assert "Metrics against people" in by_label.out
    assert "Which metric agrees better with people" in by_label.out


def test_a_matrix_has_every_two_metrics_of_every_set(command, runs):
    given = [runs / "a", runs / "e"]
    outcome = command("study correlations", *given, "--label quality --matrix --json")
    square, pairs = outcome.json
    assert (square["name"], pairs["name"]) == ("matrix", "pairs")
    assert [row["metric"] for row in square["rows"]] == ["people", "faithfulness", "exact_match"] * 3
    # faithfulness is the quality itself, and no answer is its reference word for word
    assert square["rows"][0]["faithfulness"] == 1.0
    assert square["rows"][0]["exact_match"] is None
    assert "a: exact_match: one value only, which correlates with nothing" in square["notes"]
    plain = command("study correlations", *given, "--matrix", columns=WIDE)
    assert (plain.code, "people" in plain.out, "pair by pair" in plain.out) == (0, False, False)
    as_csv = command("study correlations", *given, "--label quality --matrix --format csv").out
    assert as_csv.startswith("set,metric,people,people_low,people_high,faithfulness,")


def test_whole_systems_are_ranked(command, runs):
    given = [runs / name for name in "abcde"]
    outcome = command("study systems", *given, "--label quality --metrics faithfulness --json")
    ranking, systems = outcome.json
    # faithfulness is the quality itself
    assert ranking["rows"][0]["kendall"] == 1.0
    assert ranking["rows"][0]["note"] == "5 systems are too few for an interval: it needs 6"
    assert systems["rows"][0]["system"] == "e"
    shown = command("study systems", *given, "--label quality", columns=WIDE)
    assert "Does a metric rank systems as people do?" in shown.out


def test_the_differences_of_slices_and_of_runs_are_estimated(command, runs, tmp_path):
    labels, others = labelled(tmp_path / "c.csv", "c", 12), labelled(tmp_path / "a.csv", "a", 12)
    outcome = command(
        *("study", "estimate", runs / "c", labels, "--metric", "faithfulness", "--scale", "0:1"),
        *("--by", "kind", "--against", runs / "a", "--against-labels", others, "--json"),
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert [table["name"] for table in outcome.json] == ["estimate", "differences", "systems", "pairs"]
    between_runs, between_slices = (outcome.json[place]["rows"][0] for place in (1, 3))
    assert (between_runs["first"], between_runs["less_second"]) == ("c", "a")
    # the same shifts in both: 0.8 times the difference of the scores
    assert between_runs["labels_only"] == pytest.approx(0.8 / 4, abs=0.01)
    assert {between_slices["first"], between_slices["less_second"]} == {"odd", "even"}


def test_repeated_votes_show_what_straddles_and_the_judges_own_share(command, runs):
    outcome = command("study repeats", runs / "voted", "--json")
    repeats, straddling = outcome.json
    (row,) = repeats["rows"]
    shown = [row[name] for name in ("metric", "repeated", "n", "times")]
    assert shown == ["faithfulness", "verdicts", 4 * COUNT, 3]
    assert 0 < row["judge's_share"] < 1
    assert len(straddling["rows"]) == round(row["straddle"] * 4 * COUNT)
    assert all(0 < each["yes"] < each["of"] for each in straddling["rows"])
    assert "Verdicts on which votes differ" in command("study repeats", runs / "voted", columns=WIDE).out


def test_a_plan_takes_votes_where_the_pilot_has_them(command, runs, tmp_path):
    found = command("study plan", runs / "voted", "--json")
    assert [table["name"] for table in found.json] == ["plan", "repeats"]
    labels = labelled(tmp_path / "c.csv", "c", 12)
    plain = command("study plan", runs / "c", "--labels", labels, "--scale 0:1 --format json")
    (table,) = plain.json
    assert len(table["rows"]) == 4
    assert "--repeats 2 or more" in plain.err


def test_a_trend_knows_clusters(command, runs):
    by = command("study trend", runs / "a", runs / "c", "--cluster document --json")
    plain = command("study trend", runs / "a", runs / "c", "--json")
    assert by.json[0]["rows"][0]["mean_low"] != plain.json[0]["rows"][0]["mean_low"]


JSON = [
    "groups a --by kind",
    "compare a c",
    "agreement LABELS a",
    "correlations a --labels LABELS",
    "pairwise a c LABELS",
    "systems a c e --label quality",
    "estimate a LABELS --metric faithfulness --scale 0:1",
    "plan a",
    "repeats voted",
    "trend a c",
]


def words_of(words, runs, labels):
    """The words of a command, with the paths of runs and labels in place of their names."""
    places = {"LABELS": labels} | {name: runs / name for name in ("a", "c", "e", "voted")}
    return [places.get(word, word) for word in words.split()]


@pytest.mark.parametrize("words", JSON, ids=lambda words: words.split()[0])
def test_json_is_a_list_of_tables_at_every_command(command, runs, tmp_path, words):
    given = words_of(words, runs, labelled(tmp_path / "labels.csv", "a"))
    outcome = command("study", *given, "--json")
    assert outcome.code == 0
    tables = outcome.json
    assert all({"name", "title", "rows", "notes"} <= table.keys() for table in tables)
    assert "NaN" not in outcome.out
    assert tables == command("study", *given, "--format json").json


EMPTY = "sample_id,annotator,value\n"


ANN = f"{EMPTY}s1,ann,1\n"


@pytest.mark.parametrize(
    ("words", "labels", "told"),
    [
        ("pairwise a c LABELS", "", "is empty"),
        ("pairwise a c LABELS", EMPTY + "s1,ann,left\n", "the preference 'left' is unknown"),
        ("pairwise a c LABELS", EMPTY + "other,ann,1\n", "no compared question is in both a and c"),
        ("pairwise a a LABELS", EMPTY, "a run is given twice"),
        ("correlations a", "", "--label NAME of the run's samples, or --labels FILE"),
        ("correlations a --label colour", "", "labels are: document, kind, quality"),
        ("correlations a --label kind", "", "the label 'kind' says 'even', 'odd', neither good nor bad"),
        ("correlations a --labels LABELS", ANN, "three are needed"),
        ("correlations a --labels LABELS", EMPTY + "s1,ann,\udcff\n", "line 2, is not UTF-8 (byte 0xFF)"),
        ("correlations a c e --labels LABELS --labels LABELS", "", "2 files of --labels"),
        ("systems a c --label quality", "", "three systems or more, and there are 2"),
        ("systems a c e --labels LABELS", EMPTY, "one --labels for each run"),
        ("systems a c --by kind --label quality", "", "--by is for one run"),
        ("systems a --question kind --label quality", "", "--question needs --by"),
        ("systems a --by colour --label quality", "", "has the label 'colour'"),
        ("estimate a LABELS --against c", EMPTY, "--against and --against-labels go together"),
        ("estimate a LABELS --scale 5:1", ANN, "with LOW below HIGH, not '5:1'"),
        ("estimate a LABELS --scale 0:inf", ANN, "with LOW below HIGH, not '0:inf'"),
        ("estimate a LABELS --scale nan:1", ANN, "with LOW below HIGH, not 'nan:1'"),
        ("repeats a", "", "evaluate with --repeats 3"),
        ("repeats voted --metrics fluency", "", "has no metric 'fluency'"),
        ("plan a --labels LABELS", EMPTY + "s1,ann,4\ns2,ann,1\n", "does not show their scale"),
        ("plan a --json --format csv", "", "--json and --format csv are two formats"),
    ],
)
def test_what_is_empty_too_small_or_wrong_is_one_sentence(command, runs, tmp_path, words, labels, told):
    path = tmp_path / "labels.csv"
    path.write_bytes(labels.encode(errors="surrogateescape"))
    outcome = command("study", *words_of(words, runs, path), columns=400)
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err
    assert outcome.err.count("\n") == 1


def test_systems_are_compared_at_once_by_question(command, runs):
    given = [runs / name for name in "abcde"]
    outcome = command("compare", *given, "--metrics faithfulness --json")
    systems, pairs = outcome.json
    assert (outcome.code, systems["rows"][0]["system"]) == (0, "e")
    # a and b, and c and d, have the same scores; each later pair is better by a quarter or is cut off at 4
    assert [each["group"] for each in systems["rows"]] == ["a", "b", "b", "c", "c"]
    assert [each["rank"] for each in systems["rows"]] == ["1", "2 to 3", "2 to 3", "4 to 5", "4 to 5"]
    assert len(pairs["rows"]) == 10
    assert any("paired by id: all 5 systems have 24 questions in common" in note for note in systems["notes"])
    assert command("study compare", *given, "--metrics faithfulness --json").json == outcome.json


def test_one_run_with_several_systems_is_compared_by_label(command, tmp_path):
    rows = [
        {**sample, "id": f"{name} {sample['id']}", "model": name, "answer": f"Answer {number}"}
        for name in "ce"
        for number, sample in enumerate(samples(name), start=1)
    ]
    evaluate(rows, metrics="exact_match", out=tmp_path / "run")
    (tmp_path / "good.csv").write_text(
        "sample_id,annotator,value\n" + "".join(f"{row['id']},ann,{1 + 4 * row['quality']}\n" for row in rows)
    )
    systems, _ = command("compare", tmp_path / "run", "--by model --json").json
    assert "paired by question text: all 2 systems have 24 questions in common" in systems["notes"]
    for people in (["quality"], [tmp_path / "good.csv", "--scale", "1:5"]):
        systems, pairs = command("compare", tmp_path / "run", "--by model --json", "--people", *people).json
        assert [each["system"] for each in systems["rows"]] == ["e", "c"]
        assert {each["labelled"] for each in systems["rows"]} == {COUNT}
        assert pairs["rows"][0]["first_is"] == "worse"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("a c e --fail-if worse", "are for two runs"),
        ("a c --people LABELS", "the runs share sample ids"),
        ("a c e --people quality --people quality", "2 values of --people for 3 runs"),
        ("a c e --people quality", "people's labels need one metric that predicts them"),
        ("a", "give a second run, the label of this one"),
        ("a --by model", "no sample has the label 'model'"),
    ],
)
def test_a_comparison_that_cannot_be_made_is_one_sentence(command, runs, tmp_path, words, told):
    labels = labelled(tmp_path / "labels.csv", "a")
    given = [runs / word if word in "ace" else labels if word == "LABELS" else word for word in words.split()]
    outcome = command("compare", *given, columns=WIDE)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert told in outcome.err


def test_ratings_are_written_in_the_form_of_the_files_ending(command, runs, tmp_path):
    sheet = items_of({"c": Run.load(runs / "c")}, limit=3)
    items = [{"item": each.item, "rating": 4, "metrics": []} for each in sheet.items]
    export = {"format": "ragmetrics-annotations", "version": 1, "annotator": "ann", "seed": 0, "items": items}
    (tmp_path / "ann.json").write_text(json.dumps(export))
    words = "study annotations", runs / "c", tmp_path / "ann.json", "--labels"
    assert command(*words, tmp_path / "labels.csv").code == 0
    assert command(*words, tmp_path / "labels.jsonl").code == 0
    as_csv, as_lines = (read_labels(tmp_path / f"labels.{ending}") for ending in ("csv", "jsonl"))
    assert (as_csv, len(as_csv)) == (as_lines, 3)
    assert "--labels takes a .csv or .jsonl file" in command(*words, tmp_path / "labels.xlsx").err


def test_calibration_writes_a_card_that_evaluate_takes_by_name(command, tmp_path):
    claims = tmp_path / "claims.jsonl"
    rows = [
        {
            "question": "What is green?",
            "claim": f"Tea number {place} is green.",
            "contexts": [context],
            "faithful": context.startswith("Tea"),
        }
        for place in range(12)
        for context in (f"Tea number {place} is green.", f"Coffee {place} has a colour.")
    ]
    claims.write_text("\n".join(map(json.dumps, rows)))
    assert command("probe", "--judge embedded --on", claims, "--out", tmp_path / "probe").code == 0
    card, plot = tmp_path / "card.json", tmp_path / "curve.svg"
    told = command("study calibrate", claims, tmp_path / "probe" / "run", "--card", card, "--plot", plot)
    assert told.code == 0, told.err
    assert "Brier score" in told.out
    assert plot.read_text().startswith("<?xml")
    judge = f"calibrated:{card},embedded"
    metric = "faithfulness(granularity=answer)"
    answers = tmp_path / "answers.jsonl"
    answers.write_text(claims.read_text().replace('"claim"', '"answer"'))
    told = command("evaluate", answers, "--judge", judge, "--metrics", metric, "--out", tmp_path / "run")
    assert told.code == 0, told.err
    assert "24 of 24" in told.out
    card.unlink()
    assert command("audit", tmp_path / "run").code == 0
