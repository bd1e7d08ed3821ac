"""Commands from functions: the signature gives the arguments and options, the docstring their help.

Positional parameters are arguments, keywords are options. A trailing underscore only avoids a clash with a
name of Python: `json_` is --json. A parameter whose type is a dataclass stands for its fields, and
`**settings` for the keys of a typed dictionary; their help comes from their own docstrings.
"""

import ast
import re
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter, Signature, cleandoc, getdoc, getsource, signature
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints, is_typeddict

import typer
from typer.core import TyperCommand

from ragmetrics_core.boundary.keywords import names_in
from ragmetrics_core.cli._arguments import Evaluating
from ragmetrics_core.cli._study_output import Testing
from ragmetrics_core.models import BudgetArgs, TrafficArgs
from ragmetrics_core.runs import EVALUATION_DEFAULTS

__all__ = ["add_commands"]

_GROUPS = {
    "Data and metrics": "only on question label source by good metrics variant prompts cards repeats "
    "full_repeats limit columns redact strict_shown",
    "Models": "judge checker judge_option embedder scorer",
    "Traffic": " ".join(names_in(TrafficArgs)),
    "Budget": " ".join(names_in(BudgetArgs)),
    "Output": "out requests overwrite add beside cache on_error keep_vectors date format_ min_ max_ fail_if",
}
"""The groups in which a command that asks a judge shows its options, in their order."""

_TOLD = re.compile(r"^ {4}(\w+): (.+(?:\n {5,}.+)*)", re.MULTILINE)
# typer writes the type of a list as Python does
_LIST = re.compile(r"<list\[([^\]]+)\]>")


class _Command(TyperCommand):
    """A command; if it uses a judge, its help has a section for each group of options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options; options without a group come last."""
        left = {each.name: each for each in self.get_params(ctx)}
        sections = {"Arguments": [name for name, each in left.items() if each.param_type_name == "argument"]}
        if "judge" in left:
            sections |= {title: names.split() for title, names in _GROUPS.items()}
        rows = {
            title: [left.pop(name) for name in names if name in left] for title, names in sections.items()
        }
        rows["Other options" if len(rows) > 1 else "Options"] = list(left.values())
        for title, options in rows.items():
            if options:
                with formatter.section(title):
                    records = [record for each in options if (record := each.get_help_record(ctx))]
                    formatter.write_dl([(_LIST.sub(r"<\1>", words), text) for words, text in records])


def add_commands(group: typer.Typer, *functions: Callable[..., None]) -> typer.Typer:
    """Add a command for each function to the group, under the function's name."""
    for function in functions:
        name = function.__name__.rstrip("_").replace("_", "-")
        group.command(name, cls=_Command, no_args_is_help=False)(_command_of(function))
    return group


def _command_of(function: Callable[..., None]) -> Callable[..., None]:
    """The function in the form typer needs: every argument and option a keyword with its help."""
    text, _, section = (getdoc(function) or "").partition("\n\nArgs:\n")
    told = dict(_TOLD.findall(section))
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = signature(function).parameters
    words: dict[str, str] = {}
    defaults = {**EVALUATION_DEFAULTS, **{name: each.default for name, each in parameters.items()}}
    for settings in (TrafficArgs, BudgetArgs, Testing, Evaluating, *groups.values()):
        words |= words_of(settings)
    for group in groups.values():
        defaults |= {field.name: field.default for field in fields(group)}
    options: list[Parameter] = []
    for name, each in parameters.items():
        kinds, is_argument = {name: hints[name]}, each.kind is Parameter.POSITIONAL_OR_KEYWORD
        if name in groups or each.kind is Parameter.VAR_KEYWORD:
            settings = groups.get(name) or get_args(hints[name])[0]
            kinds, is_argument = get_type_hints(settings, include_extras=True), False
        for key, kind in kinds.items():
            texts = told.get(key, ""), words.get(key, "")
            options.append(_option(key, kind, defaults[key], *texts, is_argument=is_argument))
    options.sort(key=lambda each: each.name not in parameters)

    @wraps(function)
    def command(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        function(**given)

    command.__doc__ = text
    command.__signature__ = Signature(options)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in options}
    return command


def _option(name: str, hint: Any, default: Any, told: str, words: str, *, is_argument: bool) -> Parameter:
    """A typer parameter: an argument, or the option of that name."""
    kind, *declared = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    option: Any = copy(declared[0]) if declared else typer.Argument() if is_argument else typer.Option()
    is_list = any(get_origin(each) is list for each in (kind, *get_args(kind)))
    if is_argument:
        option.metavar = option.metavar or (name.upper().removesuffix("S") if is_list else name.upper())
    elif option.default is ...:
        option.param_decls = (f"--{name.rstrip('_').replace('_', '-')}",)
    else:
        option.param_decls = (option.default, *option.param_decls)
    # the first paragraph of a setting's text, with names of settings as options
    text = re.sub(r"`(\w+)`", r"--\1", " ".join((told or option.help or words).partition("\n\n")[0].split()))
    text = text if is_list else text.partition(" Can be repeated")[0]
    option.help = text.replace("; None means no limit", "" if default is None else "; 0 means no limit")
    option.default = ... if default in (Parameter.empty, MISSING) else default
    option.show_default = default is not None
    kind = Path | None if Path in get_args(kind) and not is_list else kind
    return Parameter(name, Parameter.KEYWORD_ONLY, default=option, annotation=kind)


@cache
def words_of(settings: type) -> dict[str, str]:
    """Texts of settings, from the docstring of a class or the strings in a typed dictionary."""
    if not is_typeddict(settings):
        return dict(_TOLD.findall("\n".join(getdoc(each) or "" for each in reversed(settings.__mro__))))
    definition: Any = ast.parse(getsource(settings)).body[0]
    body: list[Any] = definition.body
    told = [(setting, text) for setting, text in pairwise(body) if isinstance(setting, ast.AnnAssign)]
    return {ast.unparse(setting.target): cleandoc(ast.literal_eval(text.value)) for setting, text in told}
