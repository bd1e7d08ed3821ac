"""The labelled sets that people made are read whole, measured and audited, where they are present."""

from itertools import islice

import pytest

from benchmarks.truth import SETS
from ragmetrics_core import Sample, evaluate
from ragmetrics_core.probe import read_labelled
from ragmetrics_core.runs import read_samples


@pytest.mark.parametrize("name", SETS)
def test_every_row_of_a_labelled_set_is_read(shared_data, name):
    told = {key: value for key, value in SETS[name].items() if key in ("label", "by", "question")}
    found = read_labelled(shared_data(f"{name}/{name}.jsonl"), **told)
    assert found.rows
    assert not found.dropped.get("unreadable row")
    assert not found.dropped.get("the same sample twice")


@pytest.mark.parametrize("name", ["ragtruth", "evouna"])
def test_every_row_of_a_labelled_set_ends_in_a_record_that_proves_itself(shared_data, name):
    rows = read_samples(shared_data(f"{name}/{name}.jsonl"))
    samples = [row for row in islice(rows, 40) if isinstance(row, Sample)]
    assert samples
    run = evaluate(samples, metrics=["faithfulness", "factual_correctness"], judge="embedded")
    assert len(run.keys) == 2 * len(samples)
    assert list(run.audit()) == []
