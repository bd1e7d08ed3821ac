"""The built and installed packages are complete, and importing them has no side effects."""

import email
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import ragmetrics_core
from ragmetrics_core.metrics import METRICS

ROOT = Path(__file__).resolve().parents[2]
IS_CHECKOUT = (ROOT / "ragmetrics_core").is_dir()

# Loading any of these at import would slow every user down for the sake of some.
FOREIGN = {
    "aiohttp",
    "haystack",
    "httpx",
    "httpx2",
    "langchain",
    "langchain_core",
    "llama_index",
    "matplotlib",
    "openai",
    "pandas",
    "requests",
    "rich",
    "scipy",
    "torch",
    "typer",
    "wordllama",
    "xllamacpp",
}

IMPORT_AND_LIST_MODULES = """
import sys, threading
import ragmetrics_core
print(threading.active_count(), *sys.modules)
"""

# The required dependencies come first: what they do while they load is theirs. Reading code and the
# package's own files is what importing means; everything else is reported.
IMPORT_UNDER_AUDIT = """
import os, pathlib, sys
import numpy, pydantic, sentencex

here = str(pathlib.Path(os.environ["PACKAGE_PARENT"], "ragmetrics_core"))
known = (here, sys.prefix, sys.base_prefix)

def watch(event, args):
    if event.startswith(("socket.", "subprocess.", "sqlite3.", "os.system", "_thread.start")):
        print(event, args)
    if event == "open":
        path, mode, flags = args
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if writes or not os.path.abspath(os.fsdecode(path)).startswith(known):
            print(event, args)

sys.addaudithook(watch)
import ragmetrics_core
"""


def python(code: str, *, package_parent: Path = ROOT, cwd: Path = ROOT) -> str:
    """Run code in a new interpreter that finds the package in `package_parent`; what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(package_parent), "PACKAGE_PARENT": str(package_parent)}
    command = [sys.executable, "-B", "-P", "-c", code]
    done = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def build(target: str, folder: Path, *, source: Path = ROOT) -> Path:
    """Build a `wheel` or an `sdist` of a tree with the build backend itself, which needs no network."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    if not IS_CHECKOUT:
        pytest.skip("the package is installed, and its source is not beside the tests")
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def package_files() -> set[str]:
    files = {p for p in (ROOT / "ragmetrics_core").rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    return {p.relative_to(ROOT).as_posix() for p in files}


@pytest.mark.parametrize(
    "package",
    [
        "ragmetrics_core",
        "ragmetrics_embedded",
        "ragmetrics_langchain",
        "ragmetrics_llama_index",
        "ragmetrics_pytest",
    ],
)
def test_what_is_tested_is_the_checkout_or_where_there_is_none_the_installed_wheel(package: str):
    # another checkout that is installed for editing would pass in place of this one
    place = ROOT if IS_CHECKOUT else Path(sysconfig.get_path("purelib"))
    found = find_spec(package)
    assert found is not None
    assert found.origin is not None
    assert Path(found.origin).resolve().is_relative_to(place.resolve())


def test_importing_loads_no_framework_client_or_heavy_library_and_starts_no_thread():
    threads, *modules = python(IMPORT_AND_LIST_MODULES).split()

    assert "ragmetrics_core" in modules
    assert not FOREIGN & set(modules)
    assert threads == "1"


def test_importing_opens_no_socket_no_process_and_no_file_of_the_user():
    assert python(IMPORT_UNDER_AUDIT) == ""


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel: Path, package_files: set[str]):
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert "ragmetrics_core/py.typed" in shipped
    adapters = {
        path.relative_to(ROOT / "integrations").as_posix()
        for path in (ROOT / "integrations").glob("*/**/*")
        if path.is_file() and path.suffix != ".pyc" and not {"ruff.toml", ".ruff_cache"} & set(path.parts)
    }
    assert len({name.partition("/")[0] for name in adapters}) == 6
    assert shipped == package_files | adapters


def test_type_checkers_of_users_see_the_types_of_every_package(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        shipped = set(archive.namelist())

    folders = {name.rpartition("/")[0] for name in shipped if name.endswith("/__init__.py")}
    # a folder without an __init__.py is no package that could speak for those in it
    outermost = {each for each in folders if each.rpartition("/")[0] not in folders}
    assert len(outermost) == 7
    assert {each for each in outermost if f"{each}/py.typed" not in shipped} == set()


def test_the_wheel_carries_the_licence(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        (licence,) = (name for name in archive.namelist() if name.endswith(".dist-info/licenses/LICENSE"))
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()


def test_the_package_imports_from_a_built_wheel_elsewhere(wheel: Path, tmp_path: Path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)

    code = """
import inspect, ragmetrics_core
print(ragmetrics_core.__file__)
print(inspect.getfile(type(ragmetrics_core.as_judge("embedded"))))
"""
    found = python(code, package_parent=tmp_path, cwd=tmp_path).splitlines()

    assert [path for path in found if not Path(path).is_relative_to(tmp_path)] == []
    (declared,) = tmp_path.glob("*.dist-info/entry_points.txt")
    assert "[ragmetrics.judges]\nembedded = ragmetrics_embedded:" in declared.read_text(encoding="utf-8")


def test_the_source_archive_holds_every_tracked_file_so_that_its_checks_pass_in_it(tmp_path: Path):
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("needs a git checkout")
    with tarfile.open(build("sdist", tmp_path)) as archive:
        shipped = {name.partition("/")[2] for name in archive.getnames()}

    assert {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()} - shipped == set()


def test_the_version_is_the_same_wherever_it_is_written():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")

    assert ragmetrics_core.__version__ == project["version"]
    assert f"\nversion: {project['version']}\n" in citation


def test_workflows_take_every_action_by_its_commit():
    workflows = list((ROOT / ".github" / "workflows").glob("*.yml"))
    used = re.findall(r"uses: (\S+)", "".join(path.read_text(encoding="utf-8") for path in workflows))

    assert len(workflows) == 3
    assert [each for each in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", each)] == []


def test_a_release_has_absolute_links_to_files_that_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    base = "https://code.example/team/ragmetrics"
    monkeypatch.setenv("RAGMETRICS_REPOSITORY", base)
    with zipfile.ZipFile(build("wheel", tmp_path)) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        described = email.message_from_bytes(archive.read(name))
    page = described.get_payload()
    assert isinstance(page, str)

    targets = re.findall(r'\]\(([^)\s]+)\)|src="([^"]+)"', page)
    addresses = ["".join(found) for found in targets]
    addresses += [each.split(", ")[1] for each in described.get_all("Project-URL", [])]
    own = [each for each in addresses if each.startswith(base)]
    assert f"{base}/raw/v0.1.0/docs/pictures/proof.png" in own
    assert [each for each in addresses if not each.startswith("https://")] == []
    paths = [each.split("/v0.1.0/")[1].partition("#")[0] for each in own if "/v0.1.0/" in each]
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert f"git clone {base}" in page


def test_the_source_archive_builds_the_same_wheel(wheel: Path, tmp_path: Path):
    archive = build("sdist", tmp_path / "sdist")
    shutil.unpack_archive(archive, tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()

    again = build("wheel", tmp_path / "again", source=source)

    assert again.name == wheel.name
    assert contents(again) == contents(wheel)


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_readme_counts_the_metrics_and_those_with_variants():
    named = [metric for name, metric in METRICS.items() if name not in {"criterion", "rubric"}]
    several = [metric for metric in named if len(metric.variants) > 1]

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"[All {len(named)}, with definition" in readme
    assert f"{len(several)} of the {len(named)} have some of" in readme


def test_the_readme_counts_the_packages_that_the_core_brings():
    def needed(name: str) -> list[str]:
        given = map(Requirement, metadata.requires(name) or ())
        return [
            canonicalize_name(each.name)
            for each in given
            if not each.marker or each.marker.evaluate({"extra": ""})
        ]

    brought: set[str] = set()
    waiting = ["ragmetrics-core"]
    while waiting:
        name = waiting.pop()
        if name not in brought:
            brought.add(name)
            waiting += needed(name)
    row = next(
        line
        for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| packages, MB of the core")
    )
    assert int(row.split("|")[2].split(",")[0]) == len(brought)
