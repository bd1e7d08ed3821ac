"""A small language model as the judge of a few items that people labelled, with several ways to ask it.

Run: python -m benchmarks.small_model --judge openai:MODEL@URL [--each 20] [--cache FOLDER]

The sets are looked for in $RAGMETRICS_SHARED/data or ../shared/data beside the checkout. Of each the same
items are drawn every time, half of them good, of as many sources as there are. Cards go to
docs/small_model, from which docs/judges.py writes the page's tables; `embedded` is measured on the same
items. With a folder for answered calls a run that was stopped goes on where it was.
"""

import argparse
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

if not __package__:  # run as a file: the folder above must be importable
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.earlier_prompts import metric_of
from benchmarks.small_model_sets import SETS, Drawn, Row
from benchmarks.truth import ROOT, SHARED
from ragmetrics_core.errors import RagMetricsError
from ragmetrics_core.models import Cascade, as_judge
from ragmetrics_core.models.judges import judge_by_name
from ragmetrics_core.models.names import read_options
from ragmetrics_core.probe import compare_on, keep_card
from ragmetrics_core.protocol import Judge

CARDS = ROOT / "docs" / "small_model"


def main() -> None:
    """Measure, and keep a card for each set, metric and judge; it says what one way gains over another."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judge", required=True, help="the judge's name")
    parser.add_argument("--judge-option", action="append", default=[], help="as for `ragmetrics probe`")
    parser.add_argument("--each", type=int, default=20, help="how many items of each set")
    parser.add_argument("--only", help="some of the sets, separated by commas")
    parser.add_argument(
        "--metric",
        action="append",
        help="one of a set's ways to ask, as it is written in its file; or several",
    )
    parser.add_argument("--cache", type=Path, help="a folder for answered calls")
    parser.add_argument("--concurrency", type=int, default=3, help="calls in flight")
    given = parser.parse_args()
    CARDS.mkdir(exist_ok=True)
    judge = judge_by_name(given.judge, options=read_options(given.judge_option))
    for name in given.only.split(",") if given.only else SETS:
        drawn, embedded = SETS[name], as_judge("embedded")
        rows = list(drawn.rows(SHARED, given.each))
        # a cascade that is never sure knows all bands; one that always is takes no verdict of the model
        asked = [
            (judge, drawn.metrics),
            (Cascade(embedded, judge, unsure=(0.5, 0.5)), drawn.splits),
            (Cascade(embedded, judge, unsure=(0, 1)), (drawn.cascade,) if drawn.cascade else ()),
            (embedded, (*drawn.metrics, *drawn.splits)[:1]),
        ]
        for one, ways in asked:
            if chosen := [way for way in ways if given.metric is None or way in given.metric]:
                settings = {"cache": given.cache, "concurrency": given.concurrency}
                _measure(one, rows, chosen, name=name, drawn=drawn, **settings)


def _measure(
    judge: Judge, rows: list[Row], ways: list[str], *, name: str, drawn: Drawn, **settings: Any
) -> None:
    started = perf_counter()
    if drawn.label:  # rows that were made say by themselves what they are
        settings |= {"label": drawn.label, "source": drawn.source}
    metrics = [metric_of(way) for way in ways]
    try:
        cards = compare_on(judge, rows, metrics, name=name, timeout=1500, attempts=2, **settings)
    except RagMetricsError as error:
        print(f"{name}, {', '.join(ways)}: {error}", flush=True)
        return
    for card in cards:
        keep_card(CARDS, card)
        print(f"{card.metric}: {card.line}", flush=True)
    print(f"{perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
