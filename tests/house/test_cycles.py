"""No module needs itself through others, however it imports them."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "ragmetrics_core").is_dir():
    pytest.skip("the sources are only in a checkout", allow_module_level=True)
BY_NAME = {"__import__", "import_module", "loaded_when_called"}


def sources() -> dict[str, str]:
    texts = {}
    for folder, top in ((ROOT, "ragmetrics_core"), (ROOT / "integrations", "")):
        for path in (folder / top).rglob("*.py"):
            module = ".".join(path.relative_to(folder).with_suffix("").parts)
            texts[module.removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return texts


def imports(text: str) -> Iterator[str]:
    """The names that a module imports: at its top, in functions, for types and by name."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            # of a package's modules and its own names, only the latter need the package
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in BY_NAME:
            yield from (text.value for text in node.args if isinstance(text, ast.Constant))


def cycle_in(texts: Mapping[str, str]) -> list[str]:
    """The modules of one cycle in the order of their imports; empty if there is none."""
    graph: dict[str, set[str]] = {}
    for module, text in texts.items():
        names = {name if name in texts else name.rpartition(".")[0] for name in imports(text)}
        graph[module] = (names & texts.keys()) - {module}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_imports_itself_through_others():
    assert cycle_in(sources()) == []


@pytest.mark.parametrize(
    "text",
    [
        "import room.low",
        "from room import low",
        "from room.low import name",
        "def name():\n    from room.low import other",
        "if TYPE_CHECKING:\n    from room.low import name",
        "import_module('room.low')",
    ],
)
def test_a_cycle_is_found_however_a_module_is_imported(text):
    texts = {"room": "", "room.low": "from room.high import name", "room.high": text}

    assert set(cycle_in(texts)) == {"room.low", "room.high"}


def test_a_module_of_a_package_does_not_need_what_the_package_offers():
    texts = {"room": "from room.high import name", "room.high": "from room import low", "room.low": ""}

    assert cycle_in(texts) == []
    assert set(cycle_in({**texts, "room.high": "from room import name"})) == {"room", "room.high"}
