"""The tables of docs/data.md say what is read."""

import re
from pathlib import Path

import pytest

from ragmetrics_core.errors import SampleError
from ragmetrics_core.samples import Sample
from ragmetrics_core.samples.columns import COLUMNS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "data.md"
if not PAGE.is_file():
    pytest.skip("the documentation is only in a checkout", allow_module_level=True)


def table(name):
    text = PAGE.read_text(encoding="utf-8")
    rows = text.partition(f"<!-- {name} -->")[2].partition(f"<!-- end of {name} -->")[0].strip().splitlines()
    return [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in rows[2:]]


def value_of(cell):
    return eval(cell.strip("`"), {"float": float})


def test_the_page_lists_every_name_of_every_column():
    rows = [[f"`{field}`", ", ".join(f"`{name}`" for name in names)] for field, names in COLUMNS.items()]
    assert table("columns") == rows


@pytest.mark.parametrize("row", table("cells"), ids=lambda row: f"{row[0]} {row[1]}"[:60])
def test_a_value_is_read_as_the_page_says(row):
    field, value, expected = row
    name, given = field.strip("`"), value_of(value)
    others = {"id": "a", "question": "Q?", "answer": "A."}
    if expected == "refused":
        with pytest.raises(SampleError, match=f"'{name}'"):
            Sample.from_mapping({**others, name: given})
        return
    read = getattr(Sample.from_mapping({**others, name: given}), name)
    assert read == (None if expected == "absent" else value_of(expected))


def test_the_page_has_every_kind_of_result():
    results = {re.sub(r"`.*`", "text", row[2]) for row in table("cells")}
    assert results == {"absent", "refused", "text"}
