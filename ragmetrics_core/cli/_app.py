"""The application: all commands, and errors as one sentence."""

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ragmetrics_core.boundary.keywords import unknown
from ragmetrics_core.cli import _cache
from ragmetrics_core.cli._audit import audit
from ragmetrics_core.cli._batch import catch_up, export, import_
from ragmetrics_core.cli._evaluate import evaluate, plan
from ragmetrics_core.cli._feedback import send
from ragmetrics_core.cli._live import follow
from ragmetrics_core.cli._metrics import metrics
from ragmetrics_core.cli._options import add_commands
from ragmetrics_core.cli._probe import probe
from ragmetrics_core.cli._questions import questions
from ragmetrics_core.cli._runs import correct, diff, merge, report, runs, verdicts
from ragmetrics_core.cli._screen import write_anything
from ragmetrics_core.cli._show import show
from ragmetrics_core.cli._study import study
from ragmetrics_core.cli._study_compare import compare
from ragmetrics_core.cli._train import train_judge
from ragmetrics_core.errors import ConfigError, RagMetricsError, RecordError
from ragmetrics_core.package.version import VERSION
from ragmetrics_core.report.terminal import visible

__all__ = ["app"]

NAME = "ragmetrics"
WRONG_USE, FAILED, INTERNAL_ERROR, INTERRUPTED = 2, 1, 70, 130

# Where typer's usage errors come from differs between its releases; this is the class that they share.
UsageError: Any = typer.BadParameter.__bases__[0]


# Names of commands in other tools; the first of each group is its name here.
_WORDS = (
    ("evaluate", "run", "test", "score", "measure", "eval", "judge"),
    ("plan", "estimate-cost", "cost", "dry-run", "dryrun"),
    ("show", "view", "open", "explain", "inspect", "results"),
    ("report", "html", "dashboard", "export-html"),
    ("audit", "verify", "check", "validate", "recompute"),
    ("compare", "diff-runs", "compare-runs", "regression"),
    ("runs", "list", "ls", "history"),
    ("send", "push", "upload", "annotate", "feedback"),
    ("metrics", "list-metrics", "help-metrics"),
    ("study", "stats", "statistics", "analyze"),
)
_SHORT = {
    "-o": "out",
    "-m": "metrics",
    "-j": "judge",
    "-d": "data",
    "-i": "data",
    "-n": "limit",
    "-c": "concurrency",
}


def _command_named(group: Any, context: Any, name: str) -> str:
    """Advice on an unknown command: its name here, a study, or the nearest names."""
    names: list[str] = group.list_commands(context)
    plain = name.casefold().replace("_", "-")
    here = next((words[0] for words in _WORDS if plain in words and words[0] in names), None)
    inner = [
        f"{other} {plain}"
        for other in names
        if plain in getattr(group.get_command(context, other), "commands", ())
    ]
    near = [here] if here else inner or get_close_matches(plain, names, n=2)
    if near:
        return f"did you mean {' or '.join(f'{context.command_path} {each}' for each in near)}?"
    return f"there are {', '.join(names)}"


def _option_named(error: Any) -> str:
    """Advice on an unknown option: its name here, or the nearest ones."""
    parameters = error.ctx.command.params if error.ctx else ()
    options = {max(each.opts, key=len).lstrip("-"): each for each in parameters}
    arguments = {key for key, each in options.items() if each.param_type_name == "argument"}
    name: str = _SHORT.get(error.option_name, str(error.option_name).lstrip("-"))

    def written(key: str) -> str:
        return f"{key.upper()} (an argument)" if key in arguments else f"--{key}"

    return unknown(name, options, written=written)


class _Group(TyperGroup):
    """A group of commands that suggests the nearest name for an unknown one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of the arguments."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            raise UsageError(f"there is no command {name!r}: {_command_named(self, ctx, name)}", ctx)
        return super().resolve_command(ctx, args)


class _Commands(_Group):
    """The group of all commands; an error ends as one sentence and an exit code."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> Any:
        """Run a command, then exit."""
        write_anything()
        sys.exit(self._run(args, {**extra, "prog_name": NAME, "standalone_mode": False}))

    def _run(self, args: Sequence[str] | None, extra: dict[str, Any]) -> int:
        try:
            code = super().main(args, **extra)
        except UsageError as error:
            where = error.ctx.command_path if error.ctx else NAME
            message = " ".join(error.format_message().split()).rstrip(".")
            if hasattr(error, "option_name") and hasattr(error, "possibilities"):
                message = f"there is no option {error.option_name}: {_option_named(error)}"
            return _complain(f"{message or 'a command is missing'} (see: {where} --help)", WRONG_USE)
        except RagMetricsError as error:
            is_wrong_use = isinstance(error, ConfigError | RecordError)
            return _complain(str(error), WRONG_USE if is_wrong_use else FAILED)
        except (KeyboardInterrupt, typer.Abort):
            code = INTERRUPTED
        except BrokenPipeError:
            # the reader of the output has gone (`| head`): be quiet, also when Python flushes at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILED
        except OSError as error:
            file = f"{error.filename}: " if error.filename else ""
            return _complain(f"{file}{error.strerror or error}", WRONG_USE)
        except Exception as error:  # the boundary to the user: what gets here is an internal error
            if "RAGMETRICS_TRACEBACK" in os.environ:
                raise
            message = f"internal error ({type(error).__name__}: {error})"
            hint = "please report it with the traceback that RAGMETRICS_TRACEBACK=1 shows"
            return _complain(f"{message}; {hint}", INTERNAL_ERROR)
        # newer releases of typer turn an interruption into this exit code by themselves
        return _complain("interrupted", code) if code == INTERRUPTED else int(code or 0)


app = typer.Typer(
    name=NAME,
    cls=_Commands,
    add_completion=False,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

add_commands(app, evaluate, plan, show, report, audit, verdicts, diff, correct, runs, merge, metrics)
add_commands(app, probe, train_judge, catch_up, compare, send)
batch = typer.Typer(cls=_Group, help="Evaluate through the batch interface of a provider.")
cache = typer.Typer(cls=_Group, help="Show or shrink a cache of answered calls.")
app.add_typer(add_commands(batch, export, import_), name="batch")
app.add_typer(add_commands(cache, _cache.stats, _cache.prune), name="cache")
live = typer.Typer(cls=_Group, help="Score traces while a collector writes them.")
app.add_typer(add_commands(live, follow), name="live")
app.add_typer(study, name="study", cls=_Group)
app.add_typer(questions, name="questions")


@app.callback()
def start(
    context: typer.Context,
    is_version_wanted: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Evaluate retrieval-augmented generation; you can open and recompute every score from its record."""
    if is_version_wanted or context.invoked_subcommand is None:
        typer.echo(f"{NAME} {VERSION}" if is_version_wanted else context.get_help())
        raise typer.Exit


def _complain(message: str, code: int) -> int:
    sys.stderr.write(f"{NAME}: {' '.join(visible(message).split())}\n")
    return code
