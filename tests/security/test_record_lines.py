"""A line of a record that would unpack to thousands of times its size."""

import json

import pytest

from ragmetrics_core.errors import RecordError
from ragmetrics_core.records import Record
from tests.fuzz.place import records


@pytest.mark.parametrize("is_nested", [False, True])
def test_rows_with_more_cells_than_their_line_has_characters_are_refused(is_nested):
    # a column of 13,500 rows and 2,500 with one value for all of them: 34 million cells in 54 kB
    rows = {"@": "rows", "number": [0] * 13_500} | {f"a{place:x}": 0 for place in range(2500)}
    fields = json.loads(records()[0])
    fields["steps"][0]["value"] = {"@": "rows", "statements": [rows]} if is_nested else rows

    with pytest.raises(RecordError, match="more cells than the line has characters"):
        Record.from_json(json.dumps(fields, separators=(",", ":")))


def test_every_ordinary_record_opens_and_is_stored_as_it_was():
    for line in records():
        record = Record.from_json(line)
        assert Record.from_json(record.stored()).stored() == record.stored()
