"""The four cells: answered or declined, with contexts that suffice or do not."""

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import Scores, abstention_tables, study_abstention

# declines, suffices, quality: two answered rightly, one needless refusal, one risky answer, one right refusal
CASES = [(False, True, 1.0), (False, True, 0.5), (True, True, 0.0), (False, False, 0.25), (True, False, 0.0)]
CELLS = {
    ("answered", "sufficient"): (2, 0.4, 0.75),
    ("declined", "sufficient"): (1, 0.2, 0.0),
    ("answered", "insufficient"): (1, 0.2, 0.25),
    ("declined", "insufficient"): (1, 0.2, 0.0),
}


def scores(metric):
    def value(declines, suffices):
        return float(suffices if metric == "sufficiency" else declines != suffices)

    ids = [f"q{number}" for number in range(1, 6)]
    return Scores(
        name="run",
        values={
            f"{metric}/strict.1": {each: value(*case[:2]) for each, case in zip(ids, CASES, strict=True)},
            "token_f1/strict.1": {each: case[2] for each, case in zip(ids, CASES, strict=True)},
        },
        labels={each: {} for each in [*ids, "q6"]},
        declining={each: case[0] for each, case in zip(ids, CASES, strict=True)} | {"q6": None},
        asks=True,
    )


@pytest.mark.parametrize("metric", ["sufficiency", "abstention"])
def test_the_cells_are_counted_from_either_metric(metric):
    study = study_abstention(scores(metric), metric="token_f1")
    found = {
        (cell.answer, cell.contexts): (cell.n, cell.share.value, cell.quality.value) for cell in study.cells
    }
    assert found == CELLS
    assert "left out: 1 sample without both decisions" in study.notes
    # 1 of 3 sufficient ones declined, 1 of 2 insufficient ones answered, 3 of 5 answered
    assert [(rate.value.value, rate.n) for rate in study.rates] == [(1 / 3, 3), (0.5, 2), (0.6, 5)]


def test_the_tables_show_the_means_only_for_a_metric():
    cells, _ = abstention_tables(study_abstention(scores("abstention")))
    assert [column.name for column in cells.columns] == ["answer", "contexts", "n", "share"]
    cells, _ = abstention_tables(study_abstention(scores("abstention"), metric="token_f1"))
    assert cells.columns[-1].name == "mean token_f1"


def test_a_run_that_does_not_say_whether_contexts_suffice_is_refused():
    run = Scores(name="run", values={"token_f1/strict.1": {}})
    with pytest.raises(ConfigError, match="evaluate with --metrics sufficiency,abstention"):
        study_abstention(run)
