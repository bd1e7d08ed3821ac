"""Data without a sample, in place of the right data, must not cost the run in the folder."""

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import SampleError

ROW = {"question": "Where is Ulm?", "answer": "In Germany.", "contexts": ["Ulm is in Germany."]}


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("data", ["nowhere.jsonl", "empty.jsonl", "others.jsonl"])
def test_data_without_a_sample_leave_the_run_in_the_folder_as_it_is(tmp_path, data, overwrite):
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "others.jsonl").write_text('{"unit": "metre"}\n' * 3)
    out = tmp_path / "run"
    evaluate([ROW], metrics="faithfulness", judge="embedded", out=out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    with pytest.raises(SampleError):
        evaluate(tmp_path / data, metrics="faithfulness", judge="embedded", out=out, overwrite=overwrite)

    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_invalid_rows_before_the_first_sample_are_kept_and_do_not_count(tmp_path):
    run = evaluate([{"unit": "metre"}, ROW, {"unit": "foot"}], metrics="faithfulness", judge="embedded")
    assert [row.where for row in run.rejected] == ["row 1", "row 3"]
    assert len(list(run.records())) == 1
