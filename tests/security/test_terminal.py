"""Every control, format and tag character in every place that data can have, through every command."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")

from typer.testing import CliRunner

from ragmetrics_core import evaluate
from ragmetrics_core.cli import _screen as screen
from ragmetrics_core.cli._app import app
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.testing import RandomJudge

C0 = [chr(code) for code in (*range(0x09), *range(0x0B, 0x0D), *range(0x0E, 0x20), 0x7F)]
C1 = [chr(code) for code in range(0x80, 0xA0)]
MARKS = list(
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a\u202d\u202e\u2060\u2066\u2069\u206f\ufeff\ufff9"
)
TAGS = [chr(code) for code in range(0xE0000, 0xE0080)]
HOSTILE = "".join((*C0, *C1, *MARKS, *TAGS))
STEERING = re.compile("[" + "".join(map(re.escape, HOSTILE)) + "]")
EVIL = f"x\x1b[2J\x1b]0;title\x07{HOSTILE}y"


class EvilJudge(RandomJudge):
    identity = EVIL


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with such characters wherever a dataset can have them."""
    rows: list[Any] = [
        {
            "id": f"{EVIL}{number}",
            "question": EVIL,
            "answer": f"{EVIL} is so. Bob, too.",
            "contexts": [EVIL],
            EVIL: EVIL,
        }
        for number in range(2)
    ]
    folder = tmp_path_factory.mktemp("hostile") / "run"
    evaluate([*rows, {"id": EVIL, EVIL: 1}], metrics="faithfulness", judge=EvilJudge(1), out=folder)
    manifest = folder / "manifest.json"
    fields = json.loads(manifest.read_bytes())
    fields["notes"] = [EVIL]
    fields["versions"][EVIL] = EVIL
    del fields["seal"]
    fields["seal"] = digest_of(json.dumps(fields, sort_keys=True))
    manifest.write_text(json.dumps(fields), encoding="utf-8")
    shutil.copytree(folder, folder.with_name("other"))
    return folder


COMMANDS = [
    ["show", "RUN"],
    ["show", "RUN", "--json"],
    ["show", "RUN", "ID"],
    ["show", "RUN", "ID", "--json"],
    ["show", "RUN", "ID", "faithfulness", "--replies", "--prompts"],
    ["show", "RUN", "ID", "faithfulness", "--json"],
    ["show", "RUN", EVIL],
    ["show", "RUN", "ID", EVIL],
    ["show", EVIL],
    ["audit", "RUN"],
    ["verdicts", "RUN"],
    ["diff", "RUN", "RUN"],
    ["diff", "RUN", "RUN", "ID", "faithfulness"],
    ["runs", "PARENT"],
    ["cache", "stats", "RUN"],
    ["metrics", EVIL],
    ["study", "compare", "RUN", "OTHER"],
    ["study", "compare", "RUN", "OTHER", "--format", "json"],
    ["study", "compare", "RUN", EVIL],
    ["evaluate", EVIL, "--judge", "embedded"],
    ["evaluate", "DATA", "--judge", "embedded", "--metrics", EVIL],
    ["evaluate", "DATA", "--judge", EVIL],
    ["evaluate", "DATA", "--judge", "embedded"],
    ["plan", "DATA", "--judge", "embedded"],
    [EVIL],
    [f"--{EVIL}"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: re.sub(r"\W+", " ", " ".join(words))[:40])
def test_no_character_of_the_data_reaches_a_terminal(run: Path, words: list[str], tmp_path: Path):
    data = tmp_path / "data.jsonl"
    data.write_text((run / "samples.jsonl").read_text(encoding="utf-8").replace('{"digest"', '{"d"'), "utf-8")
    places = {
        "RUN": str(run),
        "OTHER": str(run.with_name("other")),
        "PARENT": str(run.parent),
        "ID": f"{EVIL}0",
        "DATA": str(data),
    }
    told = CliRunner().invoke(app, [places.get(word, word).replace("\0", "") for word in words])

    assert told.exit_code in {0, 1, 2}
    assert not STEERING.findall(told.output.replace("\t", " "))


TABLES = [["verdicts", "RUN", "--format", "csv"]]
TABLES += [["study", "compare", "RUN", "OTHER", "--format", name] for name in ("csv", "markdown")]


@pytest.mark.parametrize("words", TABLES, ids=" ".join)
def test_tables_for_other_programs_are_shown_as_pages_are_on_a_terminal(
    run: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(screen, "_is_terminal", lambda: True)

    told = CliRunner().invoke(
        app, [{"RUN": str(run), "OTHER": str(run.with_name("other"))}.get(word, word) for word in words]
    )

    assert told.exit_code == 0
    assert not STEERING.findall(told.output)


def test_json_keeps_every_character_as_an_escape(run: Path):
    told = CliRunner().invoke(app, ["show", str(run), f"{EVIL}0", "--json"])

    assert json.loads(told.stdout)["sample"]["question"] == EVIL


def test_commands_write_through_one_place_alone():
    commands = Path(screen.__file__).parent
    own = {"_screen.py", "__init__.py", "_app.py"}
    raw = re.compile(r"sys\.std(out|err)|(?<![.\w])print\(|typer\.(echo|secho)|\bConsole\(")

    found = [
        each.name
        for each in commands.glob("*.py")
        if each.name not in own and raw.search(each.read_text("utf-8"))
    ]

    assert found == []
