"""`python -m ragmetrics_core.cli` is the command `ragmetrics`."""

from ragmetrics_core.cli import main

if __name__ == "__main__":
    main()
