"""Judges of other packages: a package that is built here and put on the import path."""

import json
import re
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import ConfigError, Run, evaluate
from ragmetrics_core.models import Cascade, as_judge, judge_note, rule_judge
from ragmetrics_core.models.judges import judges_by_name
from ragmetrics_core.runs import plan

ROOT = Path(__file__).resolve().parents[2]
ROW = {"id": "tea", "question": "How long?", "answer": "Two minutes. In oil.", "contexts": ["Two minutes."]}
GATEWAY = """
import json

class gateway:
    @staticmethod
    def complete(model, prompt, temperature):
        if '"verdicts"' not in prompt:
            sentences = [("Two minutes.", 1), ("In oil.", 2)]
            entries = [{"sentence": n, "kind": "claim", "statements": [text]} for text, n in sentences]
            return json.dumps({"sentences": entries, "declined": False, "reason": None})
        verdicts = [
            {"number": 1, "reason": "", "evidence": "Two minutes.", "verdict": "yes"},
            {"number": 2, "reason": "", "evidence": "", "verdict": "no"},
        ]
        return json.dumps({"verdicts": verdicts})
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a distribution: a folder with a module, and with the metadata that an installer writes."""

    def installed(
        source: str, target: str = "judge", *, name: str = "mine", package: str = "my-judges"
    ) -> None:
        folder = tmp_path / package
        module = package.replace("-", "_")
        metadata = folder / f"{module}-1.5.dist-info"
        metadata.mkdir(parents=True)
        (folder / f"{module}.py").write_text(source, encoding="utf-8")
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
        declared = f"[ragmetrics.judges]\n{name} = {module}:{target}\n"
        (metadata / "entry_points.txt").write_text(declared, encoding="utf-8")
        monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.syspath_prepend(folder)

    return installed


@pytest.fixture
def documented(install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the package of the documentation, with a company's gateway that answers from a table."""
    page = (ROOT / "docs" / "judge_kinds.md").read_text(encoding="utf-8")
    section = page.partition("## A judge of your own package")[2].partition("\n## ")[0]
    project, source = re.findall(r"```(?:toml|python)\n(.*?)```", section, re.DOTALL)
    points = tomllib.loads(project)["project"]["entry-points"]["ragmetrics.judges"]
    assert points == {"mine": "my_judges:judge"}
    install(source)
    (tmp_path / "my-judges" / "my_company.py").write_text(GATEWAY, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "my_company", raising=False)


@pytest.mark.usefixtures("documented")
def test_the_documented_package_gives_a_judge_its_name():
    run = evaluate([ROW], metrics="faithfulness", judge="mine:small")

    # "Two minutes.": yes; "In oil.": no. 1 / 2
    assert run.score("tea", "faithfulness").value == 0.5
    assert run.judge == "mine:small?temperature=0"


@pytest.mark.usefixtures("documented")
def test_the_command_line_takes_the_name_and_the_options_of_the_package(tmp_path: Path):
    pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")
    from typer.testing import CliRunner

    from ragmetrics_core.cli._app import app

    data, out = tmp_path / "data.jsonl", tmp_path / "run"
    data.write_text(json.dumps(ROW), encoding="utf-8")
    judging = ["--metrics", "faithfulness", "--judge", "mine:small", "--judge-option", "temperature=0.5"]
    planned = CliRunner().invoke(app, ["plan", str(data), *judging])
    evaluated = CliRunner().invoke(app, ["evaluate", str(data), *judging, "--out", str(out)])
    refused = CliRunner().invoke(app, ["plan", str(data), *judging[:4], "--judge-option", "seed=1"])

    assert planned.exit_code == 0, planned.output
    assert evaluated.exit_code == 0, evaluated.output
    assert Run.load(out).judge == "mine:small?temperature=0.5"
    assert refused.exit_code == 2
    line = "the judge 'mine:small' has no option 'seed'; its options are temperature, timeout"
    assert line in " ".join(refused.output.split())


@pytest.mark.usefixtures("documented")
def test_a_cascade_and_a_panel_take_the_name_and_each_judge_its_own_options():
    options = {"temperature": 0.5, "seed": 7}
    cascade = as_judge("cascade:embedded,mine:small")
    mine, other = judges_by_name(["mine:small", "openai:m@http://127.0.0.1:1/v1"], options=options)

    assert isinstance(cascade, Cascade)
    assert cascade.dear.identity == "mine:small?temperature=0"
    assert mine.identity == "mine:small?temperature=0.5"
    assert "seed=7" in other.identity


JUDGE = """
class Mine:
    note = "guesses"
    def __init__(self, {parameters}):
        self.identity = f"mine:{shown}"
    async def agenerate(self, request):
        raise NotImplementedError
"""


@pytest.mark.parametrize(
    ("parameters", "shown", "name", "options", "identity"),
    [
        ("model", "{model}", "mine:a:b@c/d", {}, "mine:a:b@c/d"),
        ("model='small'", "{model}", "mine", {}, "mine:small"),
        ("model, /", "{model}", "mine:x", {}, "mine:x"),
        ("*, seed=1", "{seed}", "mine", {}, "mine:1"),
        ("model, *, seed, asked", "{model},{seed},{asked}", "mine:x", {"seed": 7}, "mine:x,7,False"),
        ("model, **settings", "{model},{settings}", "mine:x", {"seed": 7}, "mine:x,{'seed': 7}"),
    ],
)
def test_a_factory_gets_what_its_signature_names(
    install: Install, parameters: str, shown: str, name: str, options: dict[str, Any], identity: str
):
    install(JUDGE.format(parameters=parameters, shown=shown), "Mine")

    (judge,) = judges_by_name([name], options=options, asked=False)

    assert judge.identity == identity


@pytest.mark.parametrize(
    ("source", "name", "line"),
    [
        (
            "import not_there",
            "mine:x",
            "the judge 'mine' of my-judges 1.5 cannot be loaded (ModuleNotFoundError: No module named "
            "'not_there'): update or reinstall my-judges 1.5",
        ),
        (
            "",
            "mine:x",
            "the judge 'mine' of my-judges 1.5 cannot be loaded (AttributeError: module 'my_judges' has no "
            "attribute 'judge'): update or reinstall my-judges 1.5",
        ),
        (
            "judge = 'mine'",
            "mine:x",
            "the judge 'mine' of my-judges 1.5 cannot be loaded: my_judges:judge is not callable",
        ),
        (
            "def judge(model): return {}[model]",
            "mine:x",
            "the judge 'mine' of my-judges 1.5 cannot be made (KeyError: 'x'): update or reinstall "
            "my-judges 1.5",
        ),
        (
            "from ragmetrics_core import ConfigError\ndef judge(model): raise ConfigError('set MY_KEY')",
            "mine:x",
            "set MY_KEY",
        ),
        (
            "def judge(model): return len",
            "mine:x",
            "the judge 'mine' of my-judges 1.5 is builtin_function_or_method, not an object with `identity` "
            "and `agenerate`",
        ),
        (
            "def judge(model): return Exception",
            "mine:x",
            "the judge 'mine' of my-judges 1.5 is the class Exception, not an object with `identity` "
            "and `agenerate`",
        ),
        (
            "def judge(model): ...",
            "mine",
            "the judge 'mine' of my-judges 1.5 needs a model: write mine:MODEL",
        ),
        (
            "def judge(model): ...",
            "mine:http://a:hunter22@host/v1",
            "the name of the judge 'mine' holds a key, and records store names",
        ),
    ],
)
def test_a_plug_in_that_fails_is_refused_in_one_sentence(install: Install, source: str, name: str, line: str):
    install(source)

    with pytest.raises(ConfigError) as raised:
        evaluate([ROW], metrics="faithfulness", judge=name)

    assert str(raised.value) == line


@pytest.mark.parametrize("name", ["nobody:x", "mine:"])
def test_an_unknown_name_is_refused_with_those_that_are_installed(install: Install, name: str):
    install("def judge(model): ...")

    with pytest.raises(ConfigError, match=r"^there is no judge") as raised:
        as_judge(name)

    assert '"embedded" (a small support model, no language model)' in str(raised.value)
    assert str(raised.value).endswith(', "mine[:MODEL]" of my-judges 1.5')


def test_a_name_that_two_packages_declare_is_refused(install: Install):
    install("def judge(model): ...")
    install("def judge(model): ...", package="your-judges")
    install("def judge(): ...", name="embedded", package="wrong-judges")

    with pytest.raises(
        ConfigError, match=r"'mine' is declared by my-judges 1\.5 and your-judges 1\.5: uninst"
    ):
        as_judge("mine:x")
    with pytest.raises(
        ConfigError, match=r"'embedded' is declared by ragmetrics-core.* and wrong-judges 1\.5"
    ):
        as_judge("embedded")


def test_a_name_of_the_core_cannot_be_taken(install: Install):
    install("def judge(model): raise AssertionError", name="openai")

    assert as_judge("openai:m@http://127.0.0.1:1/v1").identity.startswith("openai:")
    with pytest.raises(ConfigError, match="there is no judge 'openai'"):
        as_judge("openai")


def test_the_note_of_a_judge_is_its_packages(install: Install):
    assert judge_note("mine:x") is None

    install(JUDGE.format(parameters="model", shown="{model}"), "Mine")
    install("import not_there", name="other", package="other-judges")

    assert judge_note("mine:x") == "guesses"
    assert judge_note("other:x") is None


@pytest.mark.parametrize("asking", [rule_judge, lambda: plan([ROW], judge=len), lambda: as_judge("embedded")])
def test_without_the_judge_of_rules_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asking: Callable[[], Any]
):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "ragmetrics_embedded", None)

    with pytest.raises(
        ConfigError, match=r"'embedded' of (ragmetrics-core.*) cannot be .*: update or reinst.* \1$"
    ):
        asking()


def test_the_package_declares_the_embedded_judge():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = project["entry-points"]["ragmetrics.judges"]

    assert declared == {"embedded": "ragmetrics_embedded:LexicalJudge"}
    # an older editable install may not declare it yet; the judge is found without
    found = {point.name: point.value for point in entry_points(group="ragmetrics.judges")}
    assert found in ({}, declared)
    assert type(as_judge("embedded")).__module__ == "ragmetrics_embedded._judge"
