"""Names say what is meant."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "ragmetrics_core"
if not CORE.is_dir():
    pytest.skip("the sources are only in a checkout", allow_module_level=True)
# Adapters name a class as the users of their framework know it; some of these words are those of the core.
FOREIGN_WORDS = re.compile(
    r"Evaluator$|^EvaluationFailed$|^(HitRate|AveragePrecision|Context(Precision|Recall))$"
)


def test_no_two_classes_of_the_tree_have_one_name():
    places = defaultdict[str, list[str]](list)
    for folder in (CORE, ROOT / "integrations"):
        for path in sorted(folder.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef) and not FOREIGN_WORDS.search(node.name):
                    places[node.name].append(path.relative_to(ROOT).as_posix())

    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_the_files_that_the_page_for_contributors_names_are_there():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walk = page.partition("## One evaluation, file by file")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(?:ragmetrics_core/)?((?:\w+/)*\w+\.py|(?:\w+/)+)`", walk))

    assert len(named) > 25
    assert [name for name in sorted(named) if not (CORE / name).exists()] == []
