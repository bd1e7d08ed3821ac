"""The page docs/live.md: its code runs."""

import re
from pathlib import Path

import pytest

from tests.live.suite import ROOT

PAGE = ROOT / "docs" / "live.md"


def test_the_code_of_the_page_runs_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        before = names.get("scorer")
        exec(compile(code, str(PAGE), "exec"), names)
        if before is not None and names["scorer"] is not before:
            before.close()  # type: ignore[attr-defined]
    names["scorer"].close()  # type: ignore[attr-defined]

    assert capsys.readouterr().out == "{'faithfulness': LiveMean(mean=1.0, n=1)}\n"
    assert (tmp_path / "runs" / "live" / "records.jsonl").is_file()
