"""The page docs/security.md: its code runs, and the tests that it names exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "security.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_each_block_of_the_page_runs_by_itself(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if "OpenAIJudge" in code:
        pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(PAGE), "exec"), {})


def test_every_test_that_the_page_names_exists():
    named = re.findall(r"`(tests/[\w/*.]+)`", PAGE.read_text(encoding="utf-8"))

    assert len(named) > 10
    assert [name for name in named if not list(ROOT.glob(name))] == []
