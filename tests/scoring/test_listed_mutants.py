"""What `make mutants` lets live is there: an entry of a formula that was renamed would let nothing live."""

import ast
import tomllib
from inspect import getfile
from pathlib import Path

import pytest

from ragmetrics_core import scoring

# where the package is installed, which need not be this tree
SCORING = Path(getfile(scoring)).parent
LISTED = tomllib.loads(Path(__file__).with_name("mutants.toml").read_text(encoding="utf-8"))["mutant"]


@pytest.mark.parametrize("entry", LISTED, ids=[each["function"] for each in LISTED])
def test_a_listed_line_stands_in_its_function(entry):
    module, _, name = entry["function"].partition(".")
    source = (SCORING / f"{module}.py").read_text(encoding="utf-8")
    (function,) = [
        node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == name
    ]

    # mutmut shows a line without its indentation
    assert entry["was"] in " ".join((ast.get_source_segment(source, function) or "").split())
