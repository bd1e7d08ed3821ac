"""The application: all commands, and errors as one sentence."""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ragmetrics_core.cli import _cache
from ragmetrics_core.cli._audit import audit
from ragmetrics_core.cli._batch import catch_up, export, import_
from ragmetrics_core.cli._evaluate import evaluate, plan
from ragmetrics_core.cli._metrics import metrics
from ragmetrics_core.cli._options import add_commands
from ragmetrics_core.cli._probe import probe
from ragmetrics_core.cli._runs import correct, diff, merge, report, runs, verdicts
from ragmetrics_core.cli._screen import write_anything
from ragmetrics_core.cli._show import show
from ragmetrics_core.cli._study import study
from ragmetrics_core.errors import ConfigError, RagMetricsError, RecordError
from ragmetrics_core.report._terminal import visible

__all__ = ["app"]

NAME = "ragmetrics"
WRONG_USE, FAILED, OWN_MISTAKE, INTERRUPTED = 2, 1, 70, 130

# Where typer's usage errors come from differs between its releases; this is the class that they share.
UsageError: Any = typer.BadParameter.__bases__[0]


class _Commands(TyperGroup):
    """The group of all commands; whatever goes wrong in one ends as a sentence and an exit code."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> Any:
        """Run a command; always exits."""
        write_anything()
        sys.exit(self._run(args, {**extra, "prog_name": NAME, "standalone_mode": False}))

    def _run(self, args: Sequence[str] | None, extra: dict[str, Any]) -> int:
        try:
            code = super().main(args, **extra)
        except UsageError as error:
            where = error.ctx.command_path if error.ctx else NAME
            message = " ".join(error.format_message().split()).rstrip(".")
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
        except Exception as error:  # the boundary to the user: what gets here is a mistake in ragmetrics
            if "RAGMETRICS_TRACEBACK" in os.environ:
                raise
            told = f"a mistake in ragmetrics itself ({type(error).__name__}: {error})"
            hint = "please report it; with RAGMETRICS_TRACEBACK=1 the command says where"
            return _complain(f"{told}; {hint}", OWN_MISTAKE)
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
add_commands(app, probe, catch_up)
batch = typer.Typer(help="Ask the judge by file: write open requests down, read the replies back.")
cache = typer.Typer(help="Look into a journal of answered calls, or make it smaller.")
app.add_typer(add_commands(batch, export, import_), name="batch")
app.add_typer(add_commands(cache, _cache.stats, _cache.prune), name="cache")
app.add_typer(study, name="study")


@app.callback()
def start(
    context: typer.Context,
    is_version_wanted: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Evaluate retrieval-augmented generation; every score can be opened and recomputed from its record."""
    if is_version_wanted or context.invoked_subcommand is None:
        typer.echo(f"{NAME} {version(NAME)}" if is_version_wanted else context.get_help())
        raise typer.Exit


def _complain(message: str, code: int) -> int:
    sys.stderr.write(f"{NAME}: {' '.join(visible(message).split())}\n")
    return code
