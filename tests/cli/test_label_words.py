"""Commands that read labels give the same figures for any words of one meaning."""

import csv
import json

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from ragmetrics_core import evaluate
from tests.cli.conftest import judged_by

COUNT = 24
COMMANDS = {
    "agreement": "study agreement LABELS RUN",
    "estimate": "study estimate RUN LABELS --metric faithfulness",
    "plan": "study plan RUN --labels LABELS",
    "correlations of a file": "study correlations RUN --labels LABELS",
    "correlations of a label": "study correlations RUN --label LABEL",
    "systems": "study systems RUN --by system --label LABEL",
    "probe": "probe --judge embedded --on DATA --label LABEL",
}
# The good and the bad words of a label, in turn.
PLAIN = ["yes"], ["no"]
WORDS = {
    "support": (["Supported", "entailment", " pass", "y", "True", "1.0"], ["NOT SUPPORTED", "fail", "nei"]),
    "fine": (["fine", "Ok"], ["poor", "so so"]),
}  # fmt: skip
NOT_THE_FIGURES = ("date", "seconds", "set_digest", "label", "groups")


def is_good(number):
    return number % 3 > 0


def worded(words, number):
    of_side = words[0] if is_good(number) else words[1]
    return of_side[number % len(of_side)]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A run whose samples have a label of each kind of words, its data, and a file of labels of each kind."""
    folder = tmp_path_factory.mktemp("words")
    kinds = {"plain": PLAIN, **WORDS}
    rows = [
        {
            "id": f"s{n}",
            "question": f"What is {n}?",
            "contexts": [f"Thing {n} is blue."],
            "answer": f"Thing {n} is blue." if is_good(n) or n == 3 else f"Thing {n} came from Mars.",
            "reference": f"Thing {n} is blue.",
            "system": "abc"[n % 3],
            **{kind: worded(words, n) for kind, words in kinds.items()},
        }
        for n in range(1, COUNT + 1)
    ]
    (folder / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    judge = judged_by(lambda text: "blue" in text, lambda answer: [answer])
    evaluate(rows, metrics=["faithfulness", "exact_match"], judge=judge, out=folder / "run")
    for kind, words in kinds.items():
        with (folder / f"{kind}.csv").open("w", newline="") as file:
            table = [[f"s{n}", worded(words, n), worded(words, n)] for n in range(1, COUNT + 1)]
            csv.writer(file).writerows([["sample_id", "rater 1", "rater 2"], *table])
    return folder


def run_command(command, places, words, label, *more):
    names = {
        "RUN": places / "run",
        "DATA": places / "data.jsonl",
        "LABELS": places / f"{label}.csv",
        "LABEL": label,
    }
    given = [names.get(word, word) for word in words.split()]
    return command(*given, "--format", "json", *more, columns=400)


def figures(outcome):
    """Rows of all tables; of a card all but its words."""
    assert outcome.code == 0
    return [
        each.get("rows", {name: value for name, value in each.items() if name not in NOT_THE_FIGURES})
        for each in outcome.json
    ]


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_figures_do_not_depend_on_the_words_of_a_label(command, places, words):
    if words.startswith("probe"):
        pytest.importorskip("wordllama", reason="needs the extra embedded")
    expected = figures(run_command(command, places, words, "plain"))
    assert figures(run_command(command, places, words, "support")) == expected
    assert figures(run_command(command, places, words, "fine", "--good", "fine,OK")) == expected


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_unknown_words_and_good_values_are_named_in_one_sentence(command, places, words):
    if "agreement" not in words:
        refused = run_command(command, places, words, "fine")
        assert (refused.code, refused.out) == (2, "")
        assert "'poor', 'so so', neither good nor bad" in refused.err
        assert "--good fine,ok" in refused.err
    for good, told in [("fien", "no value of the label"), (",", "--good takes label values such as fine,ok")]:
        mistaken = run_command(command, places, words, "fine", "--good", good)
        assert (mistaken.code, mistaken.out) == (2, "")
        assert told in mistaken.err
