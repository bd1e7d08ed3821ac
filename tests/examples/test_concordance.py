"""The example that holds metrics to thresholds: P(correct | above), P(wrong | below)."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from examples.concordance import by_bayes, concordance, main
from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import Scores

#          correct ones                    wrong ones
FAITH = [0.9, 0.8, 1.0, 0.2, 0.75, 0.9, 0.1, 0.2, 0.8, 0.0]
FACTS = [0.8, 0.9, 0.6, 0.9, 0.95, 0.7, 0.2, 0.1, 0.9, 0.5]
IDS = [f"s{number}" for number in range(10)]
RIGHT = dict(zip(IDS, [True] * 6 + [False] * 4, strict=True))


def run(lower=(), **columns):
    values = {f"{name}/strict.1": dict(zip(IDS, column, strict=True)) for name, column in columns.items()}
    return Scores(
        name="a",
        values=values,
        labels={name: {} for name in IDS},
        lower_is_better=frozenset(f"{name}/strict.1" for name in lower),
    )


def hits(row):
    return round((row.share.value or 0) * row.selected), row.selected


def test_the_shares_are_those_of_equations_1_and_2():
    guess, *rows = concordance(run(faithfulness=FAITH, factual_correctness=FACTS), RIGHT)
    assert guess.share.value == 0.6
    # above 0.7: 5 correct and 1 wrong; 4 and 1 (0.7 is not above); both: 1st, 2nd, 5th, and 9th
    # below 0.3: 1 correct and 3 wrong; 2 wrong; both 2 wrong
    assert [hits(row) for row in rows] == [(5, 6), (4, 5), (3, 4), (3, 4), (2, 2), (2, 2)]
    assert rows[2].metrics == "faithfulness and factual_correctness"
    # of 6 with 5: Wilson's interval
    assert tuple(round(end, 3) for end in rows[0].share) == (0.833, 0.436, 0.97)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_bayes_formula_gives_the_share_that_counting_gives(rows):
    selected, wanted = zip(*rows, strict=True)
    share = by_bayes(selected, wanted)
    if not any(selected):
        assert share is None
    else:
        assert share == pytest.approx(sum(a and b for a, b in rows) / sum(selected))


def test_where_lower_is_better_the_complement_is_held_to_the_thresholds_which_may_differ():
    made_up = [0.1, 0.2, 0.0, 0.8, 0.3, 0.7, 0.9, 0.8, 0.2, 1.0]
    scores = run(["hallucination"], hallucination=made_up, faithfulness=FAITH)
    _, turned, *_ = concordance(scores, RIGHT, metrics=["hallucination", "faithfulness"], above=(0.7, 0.5))
    # below 0.3: 0.1 0.2 0.0 of the correct, 0.2 of the wrong (1 - 0.3 is 0.7, which is not above)
    assert (turned.metrics, hits(turned)) == ("1 - hallucination", (3, 4))


def test_wrong_use_is_a_mistake():
    scores = run(faithfulness=FAITH)
    with pytest.raises(ConfigError, match="no sample of a has a label"):
        list(concordance(scores, {}, metrics=["faithfulness"]))
    with pytest.raises(ConfigError, match="2 thresholds for 1 metrics"):
        list(concordance(scores, RIGHT, metrics=["faithfulness"], above=(0.1, 0.2)))


def test_it_prints_the_table_of_a_run_by_a_label_or_by_people(tmp_path, monkeypatch, capsys):
    rows = [
        {"id": name, "question": "q", "answer": "a", "reference": "a" if right else "b", "correct": right}
        for name, right in RIGHT.items()
    ]
    evaluate(rows, metrics="exact_match", out=tmp_path / "run")
    labels = [f"{name},ann,{5 if right else 1}" for name, right in RIGHT.items()]
    (tmp_path / "labels.csv").write_text("\n".join(["sample_id,annotator,value", *labels]))
    for more in ([], ["--labels", str(tmp_path / "labels.csv")]):
        arguments = [str(tmp_path / "run"), "--metrics", "exact_match", *more]
        monkeypatch.setattr(sys, "argv", ["concordance.py", *arguments])
        main()
        printed = capsys.readouterr().out
        assert "P(correct | above)  1.000 (0.610, 1.000)  1.000  6 of 10   exact_match at 0.7" in printed


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("nowhere", "there is no run in nowhere"),
        ("run --label colour", "no sample of run has the label 'colour'"),
        ("run --metrics nope", "run has no metric 'nope'"),
        ("run --above high", "argument --above"),
    ],
)
def test_wrong_use_of_the_program_is_one_sentence(words, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    row = {"id": "a", "question": "q", "answer": "a", "reference": "a", "correct": True}
    evaluate([row], metrics="exact_match", out="run")
    monkeypatch.setattr(sys, "argv", ["concordance.py", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert told in capsys.readouterr().err
