"""The rule of pyproject.toml about warnings, for a program that a test starts.

`python -m tests.warning_rule PROGRAM ...` runs the program under it.
"""

import builtins
import runpy
import sys
import tomllib
import warnings
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def apply() -> None:
    """Take over the filters that pytest has, except those for pytest's own warnings."""
    settings = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    for line in settings["filterwarnings"]:
        action, message, category, module = [*line.split(":"), "", "", ""][:4]
        if not category.startswith("pytest."):
            kind = getattr(builtins, category or "Warning")
            warnings.filterwarnings(action, message, kind, module)


if __name__ == "__main__":
    apply()
    del sys.argv[0]
    sys.path.insert(0, str(Path(sys.argv[0]).parent))
    runpy.run_path(sys.argv[0], run_name="__main__")
