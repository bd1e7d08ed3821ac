"""Scores of an application's traffic, from the traces that a collector kept.

    pip install 'ragmetrics-core[embedded]'
    python examples/traces.py [FILE] [--out runs/traces]

The traces in `data/traces.jsonl` are two turns of a conversation with a LangGraph application, as
openinference-instrumentation-langchain wrote them. Prints the samples in them, their faithfulness, and the
proof of the lowest score. Scores come from the embedded judge, which is there to try things out.
"""

import argparse
import shutil
from pathlib import Path

from ragmetrics_core import Sample, evaluate
from ragmetrics_core.traces import read_traces

TRACES = Path(__file__).parent / "data" / "traces.jsonl"


def main() -> None:
    """Read the samples, score them, and print the scores and a proof."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("file", type=Path, nargs="?", default=TRACES, help="traces, or a folder of them")
    options.add_argument("--out", type=Path, default=Path("runs/traces"), help="the run's folder")
    given = options.parse_args()
    shutil.rmtree(given.out, ignore_errors=True)

    for each in read_traces(given.file):
        if isinstance(each, Sample):
            print(f"> {each.question}\n{each.answer}")
            for context in each.contexts or ():
                print(f"  was shown: {context}")
        else:
            print(f"(skipped: {each})")

    run = evaluate(given.file, metrics=["faithfulness"], judge="embedded", out=given.out)
    scored = {record.sample_id: record.value for record in run.records() if record.value is not None}
    print("\nFaithfulness")
    for sample_id, value in scored.items():
        print(f"  {value:.2f}  {run.sample(sample_id).question}  (trace {sample_id})")
    if scored:
        lowest = min(scored, key=scored.__getitem__)
        print(f"\nProof of the lowest (also: ragmetrics show {given.out} {lowest} faithfulness)")
        print(run.score(lowest, "faithfulness").explain())


if __name__ == "__main__":
    main()
