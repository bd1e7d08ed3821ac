"""The labelled sets that people made are read whole, measured and audited, where they are present."""

from itertools import islice

import pytest

from ragmetrics_core import Sample, evaluate
from ragmetrics_core.runs import read_samples

# wice_claims.jsonl holds claims without a question or an answer: benchmarks/labelled_sets.py reads it
SETS = ["ragtruth_qa.jsonl", "evouna_nq.jsonl"]


@pytest.mark.parametrize("name", SETS)
def test_every_row_of_a_labelled_set_is_a_sample(shared_data, name):
    rejected = [row for row in read_samples(shared_data(name)) if not isinstance(row, Sample)]
    assert rejected == []


@pytest.mark.parametrize("name", SETS)
def test_every_row_of_a_labelled_set_ends_in_a_record_that_proves_itself(shared_data, name):
    rows = [row for row in islice(read_samples(shared_data(name)), 40) if isinstance(row, Sample)]
    assert rows
    run = evaluate(rows, metrics=["faithfulness", "factual_correctness"], judge="embedded")
    assert len(run.keys) == 2 * len(rows)
    assert list(run.audit()) == []
