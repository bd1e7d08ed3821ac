"""Print the table: `python -m benchmarks.coverage`."""

import argparse
import time

from benchmarks.coverage import DESIGNS, __doc__, coverage
from benchmarks.coverage.design import HIGH, LOW


def main() -> None:
    """Print the coverage of every design."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.coverage", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--only", default="", help="designs whose name has this word")
    given = parser.parse_args()
    start = time.monotonic()
    print(f"{'interval':<32} {'data':<38} {'n':>4} {'truth':>7} {'coverage':>9} {'width':>7}")
    for design in DESIGNS:
        if given.only not in f"{design.interval} {design.data}":
            continue
        found = design.exact() if design.exact else coverage(design, simulations=given.simulations)
        mark = "" if LOW <= found.share <= HIGH else "  outside 93 to 97 %"
        none = f"  no interval in {found.without}" if found.without else ""
        print(
            f"{design.interval:<32} {design.data:<38} {design.n:>4} {design.truth:>7.3f} {found.share:>9.1%} "
            f"{found.width:>7.3f}{mark}{none}",
            flush=True,
        )
    print(f"{given.simulations} simulations each, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
