"""Help is written for the command line: whole sentences, and no words of Python."""

import re

import pytest
from typer.main import get_command

from ragmetrics_core.cli._app import app


def _paths(group, path=()):
    yield path
    for name, each in getattr(group, "commands", {}).items():
        yield from _paths(each, (*path, name))


PATHS = list(_paths(get_command(app)))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: " ".join(path) or "ragmetrics")
def test_help_is_free_of_python_and_no_summary_is_cut(command, path):
    shown = command(*path, "--help", columns=80).out

    assert len(PATHS) > 30
    # a value that cannot be typed, or a type as Python writes it
    assert re.findall(r"\bNone\b|\bTrue\b|\bFalse\b|\blist\[|\w+\.\.\.$", shown, re.MULTILINE) == []
