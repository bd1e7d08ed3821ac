"""Rules that hold for every module and every file of the repository."""

import importlib
import pkgutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import ragmetrics_core

ROOT = Path(__file__).resolve().parents[2]

# Put together here, so that this file does not name them either.
REGISTRY_HOSTS = [
    ".".join(parts)
    for parts in [
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("debian", "org"),
        ("anaconda", "org"),
    ]
]


def module_names() -> list[str]:
    found = pkgutil.walk_packages(ragmetrics_core.__path__, prefix="ragmetrics_core.")
    return ["ragmetrics_core", *(module.name for module in found)]


def imported(name: str) -> ModuleType:
    """A module; the test is skipped where the module is for an extra that is not installed."""
    if name.startswith(("ragmetrics_core.cli.", "ragmetrics_core.report.terminal")):
        pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")
    return importlib.import_module(name)


def repository_files() -> Iterator[Path]:
    """Every file that is or would be in the repository; skips the test outside a git checkout."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("not in a git checkout")
    return (ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file())


@pytest.mark.parametrize("name", module_names())
def test_every_module_says_what_it_is(name: str):
    assert (imported(name).__doc__ or "").strip()


@pytest.mark.parametrize("name", module_names())
def test_every_public_name_exists_once(name: str):
    # That `__all__` is sorted is the linter's to say (RUF022).
    module = imported(name)
    public = Counter(getattr(module, "__all__", ()))

    assert [each for each in public if not hasattr(module, each)] == []
    assert [each for each, times in public.items() if times > 1] == []


def test_git_ignores_no_file_of_the_package():
    # an ignored source file works on the author's machine and is missing everywhere else
    inside = {path.relative_to(ROOT).as_posix() for path in repository_files()}
    on_disk = (
        p for p in (ROOT / "ragmetrics_core").rglob("*") if p.is_file() and "__pycache__" not in p.parts
    )

    assert [path.name for path in on_disk if path.relative_to(ROOT).as_posix() not in inside] == []


def test_no_file_names_the_host_of_a_package_registry():
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in repository_files()
        for host in REGISTRY_HOSTS
        if host.encode() in path.read_bytes()
    }

    assert naming == set()
