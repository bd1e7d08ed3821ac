"""The table of what the sources name: commands parse, metrics are registered, files exist."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from ragmetrics_core.cli._app import app
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import METRICS
from ragmetrics_core.metrics.catalogue import get, split_names

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "sources.md"
ROWS = [
    [cell.strip() for cell in line.strip("|\n ").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| named", "| ---"))
]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_what_a_row_names_is_there(row):
    named, by, shown, state = row
    assert named
    assert set(by.split()) <= set("TSOLN")
    assert state.startswith(("there", "in part", "not there", "from ", "formula "))
    assert (shown == "-") == state.startswith("not there")
    for text in re.findall(r"`([^`]+)`", shown):
        if text.startswith("ragmetrics "):
            parsed(shlex.split(text)[1:])
        else:
            assert (ROOT / text).is_file(), text
    for page in re.findall(r"\]\(([^)#]+)", shown):
        assert (PAGE.parent / page).is_file(), page


def parsed(words):
    """Parse a command without running it, and look up the metrics that it names."""
    command = typer.main.get_command(app)
    while hasattr(command, "commands"):
        name, *words = words
        command = command.commands[name]
    context = command.context_class(command, info_name=command.name)
    values, _, _ = command.make_parser(context).parse_args(list(words))
    wanted = values.get("metrics")
    names = split_names(wanted) if isinstance(wanted, str) else []
    if command.name == "metrics" and values.get("name"):
        assert values["name"] in METRICS, f"no metric {values['name']}"
    for name in names:
        get(name)


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("metrics faithfulness/paper", AssertionError),
        ("evaluate data.jsonl --metrics 'meteor(wordnets=true)'", ConfigError),
        ("study groups RUN --bye x", Exception),
        ("study gruops RUN", KeyError),
    ],
)
def test_a_row_that_names_nothing_is_found(command, error):
    with pytest.raises(error, match=r"faithfulness/paper|wordnets|--bye|gruops"):
        parsed(shlex.split(command))


def test_the_table_has_the_things_of_all_sources():
    assert {letter for row in ROWS for letter in row[1].split()} == set("TSOLN")
    assert len(ROWS) >= 55
