"""Nothing of a dataset, a reply or a folder can be executed: nothing in the packages executes text."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path for name in ("ragmetrics_core", "integrations") for path in (ROOT / name).rglob("*.py"))
if not MODULES:
    pytest.skip("the sources are only in a checkout", allow_module_level=True)
# What runs text as code, builds objects of it, starts programs, or fetches what nobody asked for.
EXECUTING = {"eval", "exec", "compile", "__import__", "breakpoint", "input"}
MODULES_NEVER_USED = {
    *("pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml", "jinja2"),
    *("subprocess", "pty", "popen2", "code", "codeop", "ctypes", "telnetlib", "ftplib", "smtplib"),
    *("xml", "lxml", "zipfile", "tarfile", "webbrowser", "requests", "urllib.request", "http.client"),
}
OF_OS = {"system", "popen", "execv", "execve", "execvp", "spawnv", "spawnl", "startfile"}
# What is dangerous in XML is reading it: entities that grow or name files. These only write it.
WRITES_XML = {"ragmetrics_core/report/gate_files.py": "JUnit's form"}
# One program is started, and it is this interpreter.
STARTS = {"ragmetrics_core/runs/_audit_processes.py": "an audit on all cores"}
READING_XML = {
    "parse",
    "iterparse",
    "fromstring",
    "fromstringlist",
    "XML",
    "XMLID",
    "XMLParser",
    "XMLPullParser",
}
# One call each, of which the reason stands beside it.
BY_NAME = {
    "ragmetrics_core/models/identity.py": "modules that the code of a function judge imports by itself",
    "ragmetrics_core/package/lazy.py": "modules of the package that asks",
    "ragmetrics_core/cli/_own.py": "a metric that the command line names as MODULE:NAME",
}


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def called(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_module_executes_text_unpickles_or_starts_a_program(path: Path):
    tree = parsed(path)
    names = set(imported(tree))
    used = {name for name in names for never in MODULES_NEVER_USED if f"{name}.".startswith(f"{never}.")}
    if path.relative_to(ROOT).as_posix() in WRITES_XML:
        used -= {"xml.etree", "xml.etree.ElementTree"}
    if path.relative_to(ROOT).as_posix() == "ragmetrics_core/runs/_excel.py":
        # the sizes in a workbook, before openpyxl unpacks it; tests/security sends it entities that grow
        used -= {"zipfile", "zipfile.ZipFile", "zipfile.BadZipFile"}
    if path.relative_to(ROOT).as_posix() in STARTS:
        used -= {"subprocess"}
    if path.relative_to(ROOT).as_posix() == "ragmetrics_core/models/identity.py":
        # it writes a function's parts to take their digest; nothing is read back
        used -= {"pickle"}
        assert not {
            name for name in called(tree) if name.rpartition(".")[2] in {"load", "loads", "Unpickler"}
        }
    if path.relative_to(ROOT).as_posix() == "ragmetrics_core/models/_openai_endpoint.py":
        # which proxy the environment names; nothing is opened by these two
        used -= {"urllib.request", "urllib.request.getproxies", "urllib.request.proxy_bypass"}

    assert used == set()
    assert set(called(tree)) & (EXECUTING | {f"os.{name}" for name in OF_OS}) == set()


@pytest.mark.parametrize("name", STARTS)
def test_what_is_started_is_this_interpreter_on_a_text_that_stands_in_the_code(name: str):
    tree = parsed(ROOT / name)
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("subprocess.")
    ]
    constants = {
        ast.unparse(target): node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
    }

    assert [ast.unparse(call.func) for call in calls] == ["subprocess.Popen"]
    assert ast.unparse(calls[0].args[0]) == "[sys.executable, '-P', '-c', _START]"
    assert isinstance(constants["_START"], ast.Constant)
    assert "shell" not in {each.arg for each in calls[0].keywords}


@pytest.mark.parametrize("name", WRITES_XML)
def test_a_module_that_writes_xml_reads_none(name: str):
    tree = parsed(ROOT / name)

    assert {each.rpartition(".")[2] for each in called(tree)} & READING_XML == set()
    assert {each.rpartition(".")[2] for each in imported(tree)} & READING_XML == set()


def test_modules_are_imported_by_a_name_that_is_not_in_the_code_only_where_the_user_gives_it():
    found = {
        path.relative_to(ROOT).as_posix()
        for path in MODULES
        if any(name.rpartition(".")[2] == "import_module" for name in called(parsed(path)))
    }

    assert found == set(BY_NAME)


def test_encoders_are_loaded_without_code_of_their_own_and_without_pickles():
    calls = [
        node
        for node in ast.walk(parsed(ROOT / "ragmetrics_core/models/_encoders.py"))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("from_pretrained")
    ]

    assert calls
    for call in calls:
        options = {each.arg: ast.unparse(each.value) for each in call.keywords}
        assert options.get("trust_remote_code", "False") == "False"
        # a tokenizer is JSON; weights may be a pickle unless they must not be
        assert "Tokenizer" in ast.unparse(call.func) or options.get("use_safetensors") == "True"
