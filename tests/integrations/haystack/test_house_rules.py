"""The rules of Haystack's own integrations: documented parameters, namespaces, absolute imports."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from haystack_integrations.components.evaluators import ragmetrics

FOLDER = Path(ragmetrics.__path__[0])
MODULES = sorted(FOLDER.glob("*.py"))


def is_public(owner: type, name: str, method: Any) -> bool:
    if not (method.__module__ or "").startswith("haystack_integrations"):
        return False
    # a dataclass documents its fields in its own docstring
    return not hasattr(owner, "__dataclass_fields__") if name == "__init__" else not name.startswith("_")


METHODS = {
    f"{method.__module__.rpartition('.')[2]}.{method.__qualname__}": method
    for name in ragmetrics.__all__
    for each, method in inspect.getmembers(getattr(ragmetrics, name), inspect.isfunction)
    if is_public(getattr(ragmetrics, name), each, method)
}


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_a_public_method_is_documented_as_haystack_does(name: str):
    method = METHODS[name]
    text = inspect.getdoc(method) or ""
    code = inspect.unwrap(method).__code__
    # as they are written: settings that are unpacked are one parameter there, and documented by their keywords
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    parameters = [each for each in code.co_varnames[:count] if each not in ("self", "cls")]

    assert re.findall(r"^:param (\w+):", text, re.MULTILINE) == parameters
    assert text.partition("\n")[0].endswith(".")
    if inspect.signature(method).return_annotation not in (None, inspect.Signature.empty):
        assert re.search(r"^:returns:", text, re.MULTILINE)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_imports_are_absolute_and_every_module_says_what_it_offers(path: Path):
    tree = ast.parse(path.read_text(encoding="utf-8"))

    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    assert [node for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]  # type: ignore[attr-defined]
    assert ast.get_docstring(tree)
    assert path.read_text(encoding="utf-8").count("\n") < 400


def test_the_namespaces_above_are_left_to_everybody():
    # a file here would hide the components of every other integration
    above = [FOLDER.parent, FOLDER.parent.parent, FOLDER.parent.parent.parent]

    assert [folder.name for folder in above] == ["evaluators", "components", "haystack_integrations"]
    assert not [folder for folder in above if (folder / "__init__.py").exists()]
    assert (FOLDER / "py.typed").exists()


def test_only_public_names_of_the_core_and_of_haystack_are_used():
    public = {
        "",
        "adapting",
        "boundary",
        "errors",
        "gate",
        "live",
        "metrics",
        "models",
        "prompts",
        "protocol",
        "records",
        "runs",
        "samples",
    }
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            package, _, rest = node.module.partition(".")
            if package == "ragmetrics_core":
                assert rest in public, f"{path.name}: {node.module}"
            if package in ("ragmetrics_core", "haystack"):
                assert not [each.name for each in node.names if each.name.startswith("_")], path.name
