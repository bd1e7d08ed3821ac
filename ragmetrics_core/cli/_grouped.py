"""Commands whose `--help` shows their options in groups."""

from typing import Any

from typer.core import TyperCommand

__all__ = ["BUDGET", "MEASURED", "MODELS", "OUTPUT", "TRAFFIC", "GroupedCommand"]

MEASURED, MODELS, TRAFFIC, BUDGET, OUTPUT = "Data and metrics", "Models", "Traffic", "Budget", "Output"
"""The groups, in the order in which every command shows them."""

_ORDER = ("Arguments", MEASURED, MODELS, TRAFFIC, BUDGET, OUTPUT)


class GroupedCommand(TyperCommand):
    """A command whose help has a section for each group that its options name as their panel."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options, the options of no group last."""
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in _ORDER}
        left: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            if (told := parameter.get_help_record(ctx)) is None:
                continue
            argument = "Arguments" if parameter.param_type_name == "argument" else None
            group = argument or getattr(parameter, "rich_help_panel", None)
            (left if group is None else sections[group]).append(told)
        is_grouped = any(sections[name] for name in _ORDER[1:])
        sections["Other options" if is_grouped else "Options"] = left
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
