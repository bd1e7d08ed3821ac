"""Records of an earlier version: they still prove themselves, from what its reader read.

`golden.tar.gz` holds two runs of all metrics and variants: one with a judge that keeps the form, leaves out
numbers, wraps its JSON in prose, writes it sloppily, says nothing of use or is down; and one with a panel
that votes. Its records are not made anew: who changes a formula writes a variant with another number.
"""

import tarfile
from pathlib import Path

import pytest

from ragmetrics_core import Run
from ragmetrics_core.drivers import audit
from tests.catalogue import reason_to_skip

ARCHIVE = Path(__file__).with_name("golden.tar.gz")
RUNS = ("one", "votes")


@pytest.fixture(scope="module")
def golden(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.parametrize("name", RUNS)
def test_every_record_of_an_earlier_version_proves_itself(golden, name):
    records = list(Run.load(golden / name).records())

    assert len(records) > 10
    for record in records:
        if not reason_to_skip(record.metric):
            assert audit(record) == [], (record.sample_id, record.signature)
