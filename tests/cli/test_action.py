"""The steps of `action.yml`, run as a runner runs them: its shell, its variables, and a `gh` of our own."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.report.gate_files import MARKER
from tests.cli.conftest import judged_by

yaml = pytest.importorskip("yaml", reason="yaml is not installed, which reads the action")
ROOT = Path(__file__).resolve().parents[2]
BASH = shutil.which("bash")
# Its package puts it beside the interpreter, which need not be in the path.
ACT = shutil.which("act", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(BASH is None, reason="no bash on this machine, which the steps are written for"),
    pytest.mark.skipif(shutil.which("jq") is None, reason="no jq on this machine, which gh has inside"),
]

# Comments of a pull request in a file, behind the two calls that the action makes.
GH = """#!{python}
import json, os, subprocess, sys
store = os.environ["COMMENTS"]
comments = json.load(open(store))
words = sys.argv[2:]
assert sys.argv[1] == "api"
if os.environ["GH_TOKEN"] != "a token":
    sys.exit("HTTP 403: Resource not accessible by integration")
method = words[words.index("--method") + 1] if "--method" in words else None
fields = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word in ("-F", "-f"))
address = next(word for word in words if word.startswith("repos/"))
if not fields:
    assert address == "repos/o/r/issues/7/comments" and "--paginate" in words
    query = words[words.index("--jq") + 1]
    sys.exit(subprocess.run(["jq", "-r", query], input=json.dumps(comments), text=True).returncode)
body = open(fields["body"].removeprefix("@"), encoding="utf-8").read()
if method == "PATCH":
    number = int(address.removeprefix("repos/o/r/issues/comments/"))
    next(each for each in comments if each["id"] == number)["body"] = body
else:
    assert address == "repos/o/r/issues/7/comments"
    comments.append({{"id": 100 + len(comments), "user": {{"type": "Bot"}}, "body": body}})
json.dump(comments, open(store, "w"))
"""
PERSON = {"id": 1, "user": {"type": "User"}, "body": f"{MARKER} I write like the gate"}
RAGMETRICS = """#!{python}
from ragmetrics_core.cli import main
main()
"""


def run_of(out: Path, right: int, count: int = 20) -> Path:
    """A run of which so many of its answers are right."""
    rows = [
        {"id": f"q{n}", "question": "Who?", "answer": f"It is {n}", "contexts": ["It."]} for n in range(count)
    ]
    judge = judged_by(lambda text: int(text.split()[-1]) < right)
    evaluate(rows, metrics="faithfulness", judge=judge, out=out)
    return out


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {name: run_of(folder / name, right) for name, right in (("main", 20), ("same", 20), ("worse", 8))}


@pytest.fixture
def comments(tmp_path):
    """The comments of the pull request: one, of a person."""
    path = tmp_path / "comments.json"
    path.write_text(json.dumps([PERSON]))
    return path


@pytest.fixture
def programs(tmp_path, comments):
    """Environment with our `gh` and the `ragmetrics` of this checkout."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    for name, text in (("gh", GH), ("ragmetrics", RAGMETRICS)):
        program = binaries / name
        program.write_text(text.format(python=sys.executable))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {
        **os.environ,
        "COMMENTS": str(comments),
        "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }


@pytest.fixture
def action(tmp_path, comments, programs):
    """Run the action on a pull request: its exit code, what it printed, the comments and the summary.

    With `again` an earlier push has left a comment that says that it passed.
    """
    earlier = {"id": 2, "user": {"type": "Bot"}, "body": f"{MARKER}\n### ✅ ragmetrics: passed"}
    described = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

    def run(*, again: bool = False, **inputs: object) -> Any:
        if again:
            comments.write_text(json.dumps([PERSON, earlier]))
        given = {name.replace("_", "-"): str(value) for name, value in inputs.items()}
        known = {
            f"inputs.{name}": given.get(name, str(each.get("default", "")))
            for name, each in described["inputs"].items()
        }
        known |= {
            "inputs.token": given.get("token", "a token"),
            "github.repository": "o/r",
            "github.event.pull_request.number": "7",
        }
        summary, output = tmp_path / "summary.md", tmp_path / "output.txt"
        output.write_text("")
        told, code = "", 0
        for step in described["runs"]["steps"]:
            wanted = step.get("if", "")
            if (code and "always()" not in wanted) or (
                "inputs.comment" in wanted and known["inputs.comment"] != "true"
            ):
                continue
            known["steps.gate.outputs.code"] = output.read_text().strip().removeprefix("code=")
            own = {
                name: re.sub(r"\$\{\{ *(.*?) *\}\}", lambda found: known[found[1]], str(value))
                for name, value in step.get("env", {}).items()
            }
            paths = {"RUNNER_TEMP": tmp_path, "GITHUB_STEP_SUMMARY": summary, "GITHUB_OUTPUT": output}
            env = {**programs, **{name: str(path) for name, path in paths.items()}, **own}
            # the words of a runner for `shell: bash`
            words = [str(BASH), "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            done = subprocess.run(words, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
            told += done.stdout + done.stderr
            code = code or done.returncode
        bodies = [each["body"] for each in json.loads(comments.read_text())]
        return code, told, bodies, summary.read_text() if summary.exists() else ""

    return run


def test_a_run_as_good_as_before_passes_and_writes_one_comment(action, runs):
    code, told, (person, comment), summary = action(before=runs["main"], after=runs["same"])
    assert (code, person) == (0, f"{MARKER} I write like the gate")
    assert comment.startswith(f"{MARKER}\n### ✅ ragmetrics: passed")
    assert comment.strip() == summary.strip()
    assert "::notice title=ragmetrics::passed" in told


def test_the_next_push_brings_the_same_comment_up_to_date(action, runs):
    link = "https://example.org/r"
    code, told, (_, comment), _ = action(again=True, before=runs["main"], after=runs["worse"], link=link)
    assert code == 1
    assert comment.startswith(f"{MARKER}\n### ❌ ragmetrics: failed")
    assert comment.endswith("[Report](https://example.org/r)\n")
    assert "::error title=ragmetrics::faithfulness/strict.1 is not shown to be within 0.05" in told


@pytest.mark.parametrize("which", ["before", "after"])
def test_a_run_that_was_edited_is_compared_with_nothing_and_the_comment_says_so(
    action, runs, tmp_path, which
):
    edited = tmp_path / "edited"
    shutil.copytree(runs["same"], edited)
    records = (edited / "records.jsonl").read_text().replace('"value":1.0', '"value":0.0')
    (edited / "records.jsonl").write_text(records)
    code, _, (_, comment), summary = action(
        again=True, **({"before": runs["main"], "after": runs["same"]} | {which: edited})
    )
    assert code == 1
    assert summary.strip() == comment.strip()
    assert comment.startswith(f"{MARKER}\n### ❌ ragmetrics: failed\n\nThe runs could not be compared")


def test_each_of_two_gates_brings_its_own_comment_up_to_date(action, runs):
    same, worse = ({"before": runs["main"], "after": runs[name]} for name in ("same", "worse"))
    action(**same)
    action(**worse, name="long/answers $(x)")
    action(**worse)
    code, _, (_, unnamed, named), _ = action(**same, name="long/answers $(x)")
    told = "<!-- ragmetrics gate: longanswers x -->\n### ✅ ragmetrics, longanswers x: passed"
    assert (code, named.startswith(told)) == (0, True)
    assert unnamed.startswith(f"{MARKER}\n### ❌ ragmetrics: failed")


@pytest.mark.parametrize("inputs", [{"fail_if": ""}, {"margin": "5"}, {"after": "--help"}])
def test_wrong_use_fails_and_leaves_no_comment_of_before(action, runs, inputs):
    both = {"before": runs["main"], "after": runs["same"]}
    code, _, (_, comment), _ = action(again=True, **(both | inputs))
    assert code != 0
    assert comment.startswith(f"{MARKER}\n### ❌ ragmetrics: failed")


def test_several_limits_each_hold(action, runs):
    limits = "faithfulness=0.9 faithfulness=0.95"
    code, told, _, _ = action(before=runs["main"], after=runs["same"], min=limits)
    assert (code, told.count("::error")) == (0, 0)


def test_no_input_is_run_or_taken_for_the_name_of_a_file(action, runs, tmp_path):
    hostile = f'$(touch "{tmp_path}/run") `touch {tmp_path}/run`; touch {tmp_path}/run; *'
    both = {"before": runs["main"], "after": runs["same"]}
    code, told, _, _ = action(**both, margin="0.05", min=hostile, link=hostile)
    assert (code, (tmp_path / "run").exists()) == (2, False)
    assert "--min takes METRIC=0.8 or METRIC=0.8@p90, not '$(touch'" in told


def test_without_comments_nothing_is_posted(action, runs):
    code, _, comments, summary = action(before=runs["main"], after=runs["worse"], comment="false")
    assert (code, len(comments)) == (1, 1)
    assert "ragmetrics: failed" in summary


def test_what_cannot_be_told_exits_with_3(action, runs, tmp_path):
    few = run_of(tmp_path / "a", 3, count=4), run_of(tmp_path / "b", 4, count=4)
    code, _, (_, comment), _ = action(before=few[0], after=few[1], fail_if="cannot-tell")
    assert code == 3
    assert "ragmetrics: cannot tell" in comment


def test_a_token_that_may_not_write_fails_no_gate(action, runs):
    code, told, comments, summary = action(before=runs["main"], after=runs["same"], token="another")
    assert (code, len(comments)) == (0, 1)
    assert "::warning title=ragmetrics::the comment could not be written" in told
    assert "ragmetrics: passed" in summary


@pytest.mark.parametrize(
    ("limit", "code"), [("faithfulness=1 declined=0", 0), ("declined=0 faithfulness=0.9", 1)]
)
def test_maximums_hold_too(action, runs, limit, code):
    assert action(before=runs["main"], after=runs["same"], max=limit)[0] == code


# -- the description, and a runner


def errors_in(document: Any, schema: str) -> list[str]:
    """Errors of a document by a schema of the package check-jsonschema."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    package = find_spec("check_jsonschema")
    if package is None or package.origin is None:
        pytest.skip("check-jsonschema, which has the schemas, is not installed")
    file = Path(package.origin).parent / "builtin_schemas" / "vendor" / f"{schema}.json"
    rules = json.loads(file.read_text(encoding="utf-8"))
    return [each.message for each in jsonschema.validators.validator_for(rules)(rules).iter_errors(document)]


def documented_workflow() -> Any:
    """The workflow of docs/gates.md."""
    text = (ROOT / "docs" / "gates.md").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    workflow["on"] = workflow.pop(True)  # `on` is a word for true in YAML 1.1, which GitHub does not read
    return workflow


def test_the_action_and_the_workflow_of_the_docs_fit_the_schemas_of_github():
    described = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert errors_in(described, "github-actions") == []
    assert errors_in(documented_workflow(), "github-workflows") == []
    without_shell = {**described, "runs": {"using": "composite", "steps": [{"run": "ls"}]}}
    assert errors_in(without_shell, "github-actions") != []


@pytest.mark.skipif(ACT is None, reason="act, which runs workflows, is not installed")
@pytest.mark.parametrize(
    ("after", "code", "verdict"),
    [("same", 0, "✅ ragmetrics: passed"), ("worse", 1, "❌ ragmetrics: failed")],
)
def test_a_runner_runs_the_last_line_of_the_documented_workflow(
    tmp_path, programs, comments, runs, after, code, verdict
):
    checkout = tmp_path / "checkout"
    (checkout / ".github" / "workflows").mkdir(parents=True)
    shutil.copy(ROOT / "action.yml", checkout)
    for name, folder in (("main", runs["main"]), ("branch", runs[after])):
        shutil.copytree(folder, checkout / "runs" / name)
    workflow = documented_workflow()
    steps = workflow["jobs"]["gate"]["steps"]
    workflow["jobs"]["gate"]["steps"] = [steps[0], steps[-1]]  # what is between is checked in tests/docs
    (checkout / ".github" / "workflows" / "gate.yml").write_text(json.dumps(workflow))
    event = {"pull_request": {"number": 7}, "repository": {"full_name": "o/r"}}
    (tmp_path / "event.json").write_text(json.dumps(event))
    for words in (["init", "-q"], ["remote", "add", "origin", "https://github.com/o/r"]):
        subprocess.run(["git", *words], cwd=checkout, check=True)
    words = [str(ACT), "pull_request", "-P", "ubuntu-latest=-self-hosted", "--pull=false"]
    words += ["-e", str(tmp_path / "event.json"), "-s", "GITHUB_TOKEN=a token"]
    own = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        words, cwd=checkout, env={**programs, **own}, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    person, comment = [each["body"] for each in json.loads(comments.read_text())]
    assert (person, comment.splitlines()[1]) == (PERSON["body"], f"### {verdict}")
