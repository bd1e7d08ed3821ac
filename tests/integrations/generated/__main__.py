"""Run many cases: `python -m tests.integrations.generated FRAMEWORK COUNT [SEED]`."""

import sys
from collections import Counter

from tests.integrations.generated.running import outcomes


def main(framework: str, count: str, seed: str = "0") -> int:
    """Print a line for each case with problems, and their number by operation, source and step."""
    failed: Counter[str] = Counter()
    ran: Counter[str] = Counter()
    for case, _, _, problems in outcomes(framework, range(int(seed), int(seed) + int(count))):
        selection, part = case.operation.split(", ", 1)
        parts = [f"selection {selection}", f"part {part}", f"source {case.source}", f"step {case.step}"]
        ran.update(parts)
        if problems:
            failed.update([*parts, "cases"])
            print(f"{case.seed}: {case.name}: {'; '.join(problems)}", flush=True)
    print(f"\n{failed.pop('cases', 0)} of {count} cases differ")
    for part, number in failed.most_common():
        print(f"{number:6} of {ran[part]:6} {part}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
