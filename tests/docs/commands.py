"""The commands of a console block: they run; what takes minutes or the network is checked otherwise."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple
from unittest.mock import patch

from packaging.requirements import InvalidRequirement, Requirement

ROOT = Path(__file__).resolve().parents[2]
# What stands for a value of the reader's own: RUN, NAME, MODEL.gguf.
PLACEHOLDER = re.compile(r"[A-Z][A-Z_]+(?:\.\w+|@URL)?")

Done = Literal["run", "checked"]


class Command(NamedTuple):
    """A command, and the lines that the page shows below it."""

    text: str
    shown: str


def commands(source: str) -> Iterator[Command]:
    """The commands of a block: its lines after `$ `, or without any such line all of them."""
    joined = re.sub(r"\\\n\s*", "", source)
    prompted = re.search(r"^\$ ", joined, re.MULTILINE)
    for part in re.split(r"^\$ " if prompted else r"\n", joined, flags=re.MULTILINE)[1 if prompted else 0 :]:
        text, _, below = part.partition("\n")
        if text.strip() and not text.startswith("#"):
            shown = "\n".join(line for line in below.splitlines() if not line.startswith("#"))
            yield Command(text.strip(), shown.strip())


def carry_out(command: Command) -> tuple[Done, str]:
    """Run or check a command; the way it was done, and what it printed.

    Raises:
        AssertionError: it ends with another code than the page says (`# exit code 1`; 0 without that), does
            not print what the page shows, or names something that is not there.
    """
    words = shlex.split(command.text, comments=True)
    match words:
        case ["make", verb, *_]:
            verbs = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
            assert verb in verbs, f"make has no verb {verb}"
            return "checked", ""
        case ["pip", "install", *given] | ["python", "-m", "pip", "install", *given]:
            check_requirements(given)
            return "checked", ""
        case ["python", "-m", module, *_] if module.partition(".")[0] in {"benchmarks", "examples"}:
            assert is_module(module), f"there is no module {module}"
            return "checked", ""
        case ["python", script, *_] if script.endswith(".py"):
            assert (ROOT / script).is_file(), f"there is no {script}"
            return "checked", ""
        case ["git", "clone", "REPOSITORY", *_] | ["cd", _] | ["python3", "-m", "venv", _] | [".", _]:
            return "checked", ""  # how a reader comes to a checkout with an environment
        case [("curl" | "docker" | "git" | "pipx" | "uv" | "wget") as name, *_]:
            raise AssertionError(f"{name} reaches other hosts: skip the block, with the reason")
        case ["ragmetrics", *arguments] if any(
            map(PLACEHOLDER.fullmatch, re.split(r"[\s,:=]+", " ".join(words)))
        ):
            check_usage(arguments)
            return "checked", ""
    code, printed = in_this_process(words[1:]) if is_plain(words) else in_a_shell(command.text)
    wanted = re.search(r"#.*\bexit(?:s with| code) (\d+)", command.text)
    assert code == int(wanted[1] if wanted else 0), f"exit code {code} of {command.text}\n{printed}"
    assert_shown(command.shown, printed)
    return "run", printed


def assert_shown(shown: str, printed: str) -> None:
    """What a page shows is what was printed; white space does not count, and `...` stands for anything."""
    pieces = [re.escape(" ".join(piece.split())) for piece in re.split(r"\.\.\.|…", shown)]
    assert re.search(".*".join(pieces), " ".join(printed.split())), f"shown:\n{shown}\nprinted:\n{printed}"


def is_plain(words: list[str]) -> bool:
    """Whether it is `ragmetrics` without pipes, redirections and the like."""
    return words[0] == "ragmetrics" and not any(re.fullmatch(r"[|<>&;]+.*|2>.*", word) for word in words)


def in_this_process(arguments: list[str]) -> tuple[int, str]:
    """Run `ragmetrics` as its entry point does; a process for each command would cost a second each."""
    from ragmetrics_core.cli import main

    printed = io.StringIO()
    with (
        patch.object(sys, "argv", ["ragmetrics", *arguments]),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    return code, printed.getvalue()


def in_a_shell(text: str) -> tuple[int, str]:
    """Run anything else in a shell, where `ragmetrics` and `python` are those of this environment."""
    ours = f'ragmetrics() {{ "{sys.executable}" -m ragmetrics_core.cli "$@"; }}\n'
    ours += f'python() {{ "{sys.executable}" "$@"; }}\npytest() {{ python -m pytest "$@"; }}\n'
    done = subprocess.run(["bash", "-c", ours + text], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def check_requirements(given: list[str]) -> None:
    """The extras that an installation names exist."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for each in given:
        path, _, extras = each.partition("[")
        with contextlib.suppress(InvalidRequirement):
            requirement = Requirement(f"ragmetrics-core[{extras}" if path in {".", "-e"} else each)
            if requirement.name == project["name"]:
                unknown = requirement.extras - project["optional-dependencies"].keys()
                assert not unknown, f"ragmetrics has no extra {unknown}"


def check_usage(arguments: list[str]) -> None:
    """A command line with placeholders names a command and options that there are."""
    from typer.main import get_command

    from ragmetrics_core.cli._app import app

    command: Any = get_command(app)
    for word in arguments:
        if hasattr(command, "commands"):
            assert word in command.commands, f"ragmetrics has no command {word}"
            command = command.commands[word]
    known = {name for parameter in command.params for name in parameter.opts + parameter.secondary_opts}
    options = {word.partition("=")[0] for word in arguments if word.startswith("-")}
    assert options <= known | {"--help"}, f"ragmetrics {' '.join(arguments)}: no option {options - known}"


def is_module(name: str) -> bool:
    """Whether the repository has a module."""
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()
