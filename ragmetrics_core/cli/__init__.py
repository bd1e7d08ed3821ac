"""The command line: `ragmetrics evaluate`, `show`, `audit` and others.

Nothing is imported here, so that a missing extra can be explained.
"""

import sys
from typing import NoReturn

__all__ = ["main"]

EXTRA = frozenset({"rich", "typer"})


def main() -> NoReturn:
    """Run the command that the arguments name; always exits.

    Exit codes: 0 success, 1 no score has a value or an audit found a difference, 2 usage error,
    70 internal error, 130 interrupted.
    """
    try:
        from ragmetrics_core.cli._app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRA:
            raise
        print("the command line needs: pip install 'ragmetrics-core[cli]'", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        app()
    except KeyboardInterrupt:  # before the command began; from then on it says so itself
        sys.exit(130)
    sys.exit(0)
